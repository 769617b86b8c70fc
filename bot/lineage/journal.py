"""The journal of an `evolve` run: its episodes and levels, kept until it has ended.

It lies in the git folder (`<git>/ecdysis/<name>/`), so a clone does not see it and a killed run
goes on from it. One run at a time works on a repository. `gate` and `revert` keep theirs under
names of their own: they do not disturb an `evolve` that was interrupted.
"""

from __future__ import annotations

import fcntl
import json
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from bot.errors import RepositoryError


@dataclass
class Journal:
    """`start` and `base` are commits: where the run began, and the generation it has reached.

    `used` holds the level of every comparison so far and whether it accepted.
    """

    folder: Path
    settings: dict[str, Any]
    start: str
    base: str
    used: list[tuple[float, bool]] = field(default_factory=list)
    resumed: bool = False

    def save(self) -> None:
        """Write the run's state in one step: a reader sees the old or the new one."""
        body = {
            "settings": self.settings,
            "start": self.start,
            "base": self.base,
            "used": self.used,
        }
        temporary = self.folder / "run.json.new"
        temporary.write_text(json.dumps(body), encoding="utf-8")
        temporary.replace(self.folder / "run.json")

    def reach(self, base: str, used: list[tuple[float, bool]]) -> None:
        """A generation has been committed as `base`."""
        self.base, self.used = base, list(used)
        self.save()

    def comparisons(self) -> int:
        """How many were begun on the hidden tasks, by their episodes."""
        return len(list(self.folder.glob("select-*.jsonl")))

    def close(self) -> None:
        """The run has ended: the next one starts afresh."""
        shutil.rmtree(self.folder, ignore_errors=True)


@contextmanager
def open_journal(
    git_dir: Path,
    *,
    base: str,
    below: str | None,
    settings: dict[str, Any],
    name: str = "evolve",
) -> Iterator[Journal]:
    """The journal of the run that starts, or goes on, at the commit `base`.

    `below` is the commit that the generation ending at `base` stands on, if there is one: a run
    killed between committing it and writing its journal is still found. A journal of other settings
    or another base is discarded. Raises RepositoryError while another run works on this repository.
    """
    with hold_journals(git_dir):
        folder = git_dir / "ecdysis" / name
        journal = _read(folder, settings)
        if journal is None or journal.base not in (base, below):
            shutil.rmtree(folder, ignore_errors=True)
            folder.mkdir()
            journal = Journal(folder, settings, base, base)
        else:
            journal.resumed = True
            if journal.base != base:
                # What its comparisons were is not on record: they count, and hand nothing on.
                journal.base = base
                journal.used += [(0.0, False)] * (journal.comparisons() - len(journal.used))
        journal.save()
        yield journal


@contextmanager
def hold_journals(git_dir: Path) -> Iterator[None]:
    """Keep every run out meanwhile. RepositoryError while one works on this repository."""
    place = git_dir / "ecdysis"
    place.mkdir(parents=True, exist_ok=True)
    with (place / "evolve.lock").open("w", encoding="utf-8") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise RepositoryError(
                "Another run of `ecdysis` is at work in this repository.",
                "Wait for it, or stop it; what it has done so far is kept.",
            ) from None
        yield


def list_journals(git_dir: Path, before: float) -> dict[Path, int]:
    """Folder of a run in which nothing was written since `before` (seconds since 1970) → bytes.

    Journals of runs that were interrupted, and what `ecdysis run` keeps.
    """
    place = git_dir / "ecdysis"
    found = {}
    for folder in sorted([*place.glob("*/run.json"), *place.glob("runs/*/episodes.jsonl")]):
        files = [file.stat() for file in folder.parent.rglob("*") if file.is_file()]
        if max(stat.st_mtime for stat in files) < before:
            found[folder.parent] = sum(stat.st_size for stat in files)
    return found


def _read(folder: Path, settings: dict[str, Any]) -> Journal | None:
    try:
        body = json.loads((folder / "run.json").read_text(encoding="utf-8"))
        if body["settings"] != settings:
            return None
        used = [(float(level), bool(accepted)) for level, accepted in body["used"]]
        return Journal(folder, settings, str(body["start"]), str(body["base"]), used)
    except (OSError, ValueError, KeyError, TypeError):
        return None
