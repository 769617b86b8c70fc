"""Which edited lines run in an episode: what the tracer is given, and what it noted.

The tracer (`tracer.py`) runs in the harness's own processes, in the sandbox. It is shown a folder
with itself and the lines, and writes into a folder of its place. What it noted is read like
anything that a harness wrote: it may be forged, torn or huge.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from bot.batch.tracer import shuts_out
from bot.records import Ran

TRACER = Path(__file__).with_name("tracer.py")
Lines = Mapping[str, Iterable[int]]
"""File of a harness revision → numbers of the lines to watch, from 1."""

CAP = 4 << 20
_TURN = 8  # bytes


def can_watch(command: Sequence[str]) -> bool:
    """Whether the harness's first process will start the tracer, as far as its command tells."""
    return not any(map(shuts_out, command))


@dataclass(frozen=True)
class Plan:
    """`folder` is to be put at the head of a process's PYTHONPATH."""

    folder: Path
    lines: Mapping[str, frozenset[int]]


def write_plan(folder: Path, lines: Lines) -> Plan:
    """The tracer and the lines for it, in a new folder."""
    plan = Plan(folder, {file: frozenset(at) for file, at in lines.items()})
    folder.mkdir()
    shutil.copyfile(TRACER, folder / "sitecustomize.py")
    entries = (f"{file}\t{','.join(map(str, sorted(at)))}\n" for file, at in plan.lines.items())
    (folder / "plan").write_text("".join(entries), encoding="utf-8")
    return plan


@dataclass
class Notes:
    """The tracer's notes of one place, read after each of its episodes.

    `folder` is where the harness may write; `turn` a file that only the bot writes, where a worker
    runs task after task. What was imported or opened holds for all later tasks.
    """

    plan: Plan
    folder: Path
    turn: Path | None = None
    _turns: int = 0
    _read: int = 0
    _lasting: Ran | None = None

    def make(self) -> None:
        self.folder.mkdir()
        if self.turn is not None:
            self.turn.write_bytes(bytes(_TURN))

    def env(self) -> dict[str, str]:
        turn = {"ECDYSIS_TURN": str(self.turn)} if self.turn is not None else {}
        return {"ECDYSIS_RAN": str(self.folder), **turn}

    def next_turn(self) -> None:
        """The worker is about to be given a task."""
        if self.turn is not None:
            self._turns += 1
            with self.turn.open("r+b") as file:  # the same file: it is mapped into memory
                file.write(self._turns.to_bytes(_TURN, "little"))

    def read(self) -> Ran | None:
        """What ran in the latest episode; None where no process was watched."""
        kept = self._lasting or Ran()
        ran = Ran(
            runnable=kept.runnable,
            importable=kept.importable,
            imported=kept.imported,
            opened=kept.opened,
            blind=kept.blind,
            other=kept.other,
        )
        watched = self._lasting is not None
        for turn, kind, file, numbers in self._new_records():
            watched = watched or kind == "watched"
            if kind in ("blind", "other"):
                setattr(ran, kind, True)
            elif file not in self.plan.lines:
                continue
            elif kind == "opened" and file not in ran.opened:
                ran.opened.append(file)
            elif kind in _KINDS and (kind != "ran" or turn == self._turns):
                known = getattr(ran, _KINDS[kind])
                of_plan = self.plan.lines[file].intersection(numbers)
                known[file] = sorted(of_plan.union(known.get(file, ())))
        if not watched:
            return None
        self._lasting = ran.model_copy(deep=True)
        return ran

    def _new_records(self) -> Iterable[tuple[int, str, str, list[int]]]:
        """Whole records that were written since the last look; what is no record is left out."""
        try:
            file = os.open(self.folder / "lines", os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
        except OSError:
            return
        with os.fdopen(file, "rb") as notes:
            try:
                notes.seek(self._read)
                content = notes.read(CAP)
            except OSError:
                return
        content = content[: content.rfind(b"\n") + 1]
        self._read += len(content)
        for line in content.decode("utf-8", "replace").splitlines():
            try:
                turn, kind, name, numbers = line.split("\t")
                yield int(turn), kind, name, [int(n) for n in numbers.split(",") if n]
            except ValueError:
                continue


_KINDS = {"can": "runnable", "import": "importable", "ran": "lines", "imported": "imported"}
"""Kind of a record → the field of `Ran` that its lines belong to."""
