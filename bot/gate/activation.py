"""Did the edited lines run? An edit that ran in no train episode can have helped in none.

`evolve` hands over, for each edit, its lines in the candidate's files, and the episodes in which
these were watched. What ran is said by the candidate's own processes: it could forge it, and
would gain only that an edit of no use is kept until the hidden tasks decide.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import Literal

from bot.records import Edit, Episode, Ran

EditLines = Mapping[str, Sequence[int]]
"""File → the lines that one edit made there, numbered from 1 in the candidate's files."""

Level = Literal["function", "import", "open", "nothing", "never", "unknown"]


@dataclass(frozen=True)
class Activation:
    """One edit's. `level` says what proves it, from strong to weak.

    `function`: one of its lines ran in a function. `import`: it holds nothing that runs in a
    function (a constant, an import, a class's field), and ran when its module was imported.
    `open`: it is in a file that is no code, and that was opened. `nothing`: what it asks for was
    there already, it has no line that could run. `unknown`: no process was watched, or one was
    started that could not be. `tasks` are those in whose episodes it was
    active, `episodes` how many episodes were watched; `loaded` says whether its file was.
    """

    level: Level
    tasks: tuple[str, ...] = ()
    episodes: int = 0
    loaded: bool = False

    @property
    def proven(self) -> bool:
        return self.level not in ("never", "unknown")


def find_activation(lines: EditLines | None, episodes: Iterable[Episode]) -> Activation:
    """What the episodes show of one edit; `lines` is None where they are not known."""
    if not lines:
        return Activation("unknown" if lines is None else "nothing")
    seen = [(episode.task_id, episode.ran) for episode in episodes if episode.ran is not None]
    in_function = {
        (file, line)
        for _, ran in seen
        for file, numbers in lines.items()
        for line in {*numbers}.intersection(ran.runnable.get(file, ()))
    }
    tasks: dict[str, None] = {}
    levels: set[Level] = set()
    for task, ran in seen:
        level = _level(lines, ran, only_functions=bool(in_function))
        if level is not None:
            levels.add(level)
            tasks[task] = None
    loaded = any(
        file in ran.runnable or file in ran.importable or file in ran.opened
        for _, ran in seen
        for file in lines
    )
    for level in ("function", "open", "import"):
        if level in levels:
            return Activation(level, tuple(tasks), len(seen), loaded)
    are_texts = any(not file.endswith(".py") for file in lines)
    unsure = any(ran.blind or (ran.other and are_texts) for _, ran in seen)
    if not seen or unsure:
        return Activation("unknown", episodes=len(seen), loaded=loaded)
    return Activation("never", episodes=len(seen), loaded=loaded)


def _level(lines: EditLines, ran: Ran, *, only_functions: bool) -> Level | None:
    """What one episode proves; import alone proves nothing of lines that are in functions."""
    for file, numbers in lines.items():
        if not {*numbers}.isdisjoint(ran.lines.get(file, ())):
            return "function"
        if file in ran.opened:
            return "open"
        if not only_functions and not {*numbers}.isdisjoint(ran.imported.get(file, ())):
            return "import"
    return None


def refuse_inactive(edits: Sequence[Edit], activations: Sequence[Activation]) -> str | None:
    """One sentence about the first edit that never ran, or None."""
    for number, (edit, activation) in enumerate(zip(edits, activations, strict=True), 1):
        if activation.level != "never":
            continue
        where = f"{edit.file}, {edit.target}" if edit.target else edit.file
        why = f"{edit.file} was never loaded"
        if activation.loaded:
            why = "nothing of it was reached"
        return (
            f"Edit {number} of {len(edits)} ({edit.op} in {where}) never ran in the "
            f"{activation.episodes} train episodes: {why}."
        )
    return None


def lines_of_edit(
    added: Iterable[int], removed: Iterable[int], before: bytes, after: bytes
) -> list[int]:
    """The lines to watch for one edit of a file, numbered in its new content.

    `added` are numbered there, `removed` in the old content. An edit that only takes away is
    proven by the lines around the gap.
    """
    numbers = sorted(added)
    gone = {*removed}
    if numbers or not gone:
        return numbers
    old, new = before.splitlines(), after.splitlines()
    around: set[int] = set()
    matcher = SequenceMatcher(None, old, new, autojunk=False)
    for kind, start, end, place, _ in matcher.get_opcodes():
        if kind in ("delete", "replace") and not gone.isdisjoint(range(start + 1, end + 1)):
            around |= {*_nearest(new, range(place, 0, -1)), *_nearest(new, range(place + 1, 10**9))}
    return sorted(around)


def _nearest(lines: Sequence[bytes], numbers: range) -> Iterable[int]:
    """The first of the numbered lines that is neither blank nor a comment."""
    for number in numbers:
        if number > len(lines):
            return
        text = lines[number - 1].strip()
        if text and not text.startswith(b"#"):
            yield number
            return
