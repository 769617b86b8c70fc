"""Where the files come from that a spec edits: a commit's tree, or the work tree.

What the named path does not itself hold is not read: behind a link or inside a submodule lies
another file than the one that was named, which other rules may protect.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import accumulate
from pathlib import Path

from bot.edit.refusal import Refused
from bot.git.objects import GITLINK, SYMLINK
from bot.git.repository import Repository

Reader = Callable[[str], bytes | None]


def read_commit(repository: Repository, tree: str) -> Reader:
    """Reads the files of a tree; None where there is no file. Refused behind links, submodules."""
    kinds = {SYMLINK: "a link", GITLINK: "a submodule"}
    away = {e.path: kinds[e.mode] for e in repository.list_files(tree) if e.mode in kinds}

    def read(path: str) -> bytes | None:
        for step in _steps(path):
            if step in away:
                raise _elsewhere(path, step, away[step])
        return repository.read_file(tree, path)

    return read


def read_work_tree(root: Path) -> Reader:
    """The same for the files of the work tree at `root`.

    Each name must stand in its folder as it is spelled: some file systems open `A.py` for `a.py`.
    """

    def read(path: str) -> bytes | None:
        try:
            for step in _steps(path):
                place = root / step
                if place not in place.parent.iterdir():
                    return None
                if place.is_symlink():
                    raise _elsewhere(path, step, "a link")
                if (place / ".git").exists():
                    raise _elsewhere(path, step, "a submodule")
            place = root / path
            return place.read_bytes() if place.is_file() else None
        except OSError:
            return None

    return read


def _steps(path: str) -> list[str]:
    """`a`, `a/b`, `a/b/c` of `a/b/c`."""
    return list(accumulate(path.split("/"), lambda one, other: f"{one}/{other}"))


def _elsewhere(path: str, step: str, kind: str) -> Refused:
    where = f"{step} is {kind}" if step == path else f"it lies behind {step}, which is {kind}"
    return Refused("not_editable", f"{path} is not edited: {where}.")
