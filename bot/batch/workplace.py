"""Where episodes run: a scratch folder with copies of harness revisions.

Each episode gets a fresh copy of the candidate's files, without `.git`, the split files and what
the table hides; protected files are those of the base revision. The scorer and the environment
run in copies of the base revision.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import tempfile
import threading
from pathlib import Path

from bot.config import HarnessTable, PathGlobs
from bot.git.repository import Repository
from bot.sandbox import remove_tree

_PREFIX = "ecd-"


class Workplace:
    """A scratch folder; `close` removes it, and folders that killed runs left are removed too."""

    def __init__(self, repository: Repository, table: HarnessTable, base: str) -> None:
        self._repository, self._table, self._base = repository, table, base
        self._hidden = PathGlobs(table.hidden)
        _remove_stale()
        # Unix socket paths have room for about 100 bytes: the folder's name stays short.
        self.folder = Path(tempfile.mkdtemp(prefix=f"{_PREFIX}{os.getpid()}-"))
        self._lock = threading.Lock()
        self._pristine: dict[str, Path] = {}
        self._number = 0

    def close(self) -> None:
        remove_tree(self.folder)

    def episode_folder(self) -> Path:
        """A new folder for one episode."""
        with self._lock:
            self._number += 1
            folder = self.folder / f"{self._number}"
        folder.mkdir()
        return folder

    def private_folder(self) -> Path:
        """A new folder whose name no candidate can know beforehand."""
        return Path(tempfile.mkdtemp(prefix="p", dir=self.folder))

    def copy(self, tree: str, destination: Path, *, whole: bool) -> Path:
        """A fresh copy of the revision in `destination`; for an episode without hidden files."""
        source = self.pristine(tree)

        def leave_out(folder: str, names: list[str]) -> list[str]:
            inside = Path(folder).relative_to(source)
            return [name for name in names if self._hidden.match((inside / name).as_posix())]

        shutil.copytree(source, destination, symlinks=True, ignore=None if whole else leave_out)
        return destination

    def pristine(self, tree: str) -> Path:
        """The revision's files as exported once; nothing foreign is run in this copy."""
        with self._lock:
            if tree not in self._pristine:
                folder = self.folder / f"t{len(self._pristine)}"
                self._export(tree, folder)
                self._pristine[tree] = folder
            return self._pristine[tree]

    def _export(self, tree: str, folder: Path) -> None:
        splits = set(self._table.splits.paths().values())
        if tree == self._base:
            self._repository.export(tree, folder, skip=splits.__contains__)
            return
        protected = PathGlobs(self._table.never_edited())
        self._repository.export(
            tree, folder, skip=lambda path: path in splits or protected.match(path)
        )
        self._repository.export(
            self._base, folder, skip=lambda path: path in splits or not protected.match(path)
        )


def _remove_stale() -> None:
    """Scratch folders of processes that are gone."""
    for folder in Path(tempfile.gettempdir()).glob(f"{_PREFIX}*-*"):
        owner = folder.name.removeprefix(_PREFIX).split("-")[0]
        if not owner.isdigit():
            continue
        try:
            os.kill(int(owner), 0)
        except ProcessLookupError:
            with contextlib.suppress(OSError):
                if folder.stat().st_uid == os.getuid():
                    remove_tree(folder)
        except OSError:
            continue
