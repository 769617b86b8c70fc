"""Trees out of trees and folders out of trees, each through a private index.

The private index and an empty private work tree give what `git add` and `git checkout` would:
clean and smudge filters, line ends, attributes — those of the tree, not of the user's files.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path, PurePosixPath

from bot.errors import RepositoryError
from bot.git.calls import Caller
from bot.git.names import check_oid, check_path
from bot.git.objects import GITLINK, REGULAR, SYMLINK, TreeEntry, read_blobs


class CannotWrite(RepositoryError):
    """A change does not fit the tree: a folder, symlink or submodule is in its way."""


@contextmanager
def private_index(git_dir: Path, work: Path | None = None) -> Iterator[dict[str, str]]:
    """The environment of git calls that use an index, and a work tree, of their own.

    Without `work`, an empty folder that is removed at the end.
    """
    with tempfile.TemporaryDirectory(prefix="ecdysis-") as scratch:
        place = work or Path(scratch, "work")
        place.mkdir(exist_ok=True)
        yield {
            "GIT_DIR": str(git_dir),
            "GIT_WORK_TREE": str(place),
            "GIT_INDEX_FILE": str(Path(scratch, "index")),
        }


def write_tree(
    caller: Caller,
    git_dir: Path,
    base: str,
    entries: Sequence[TreeEntry],
    changes: Mapping[str, bytes | None],
) -> str:
    """`base`, whose leaves are `entries`, with `changes` (None deletes); the new tree's oid."""
    modes = _modes(entries, changes)
    with private_index(git_dir) as env:
        work = Path(env["GIT_WORK_TREE"])
        for path, content in changes.items():
            if content is not None:
                file = work / path
                file.parent.mkdir(parents=True, exist_ok=True)
                file.write_bytes(content)
                file.chmod(0o755 if modes[path] == "100755" else 0o644)
        place = caller.at(work)
        place.run("read-tree", check_oid(base), env=env)
        options = ("-c", "core.fileMode=true", "update-index", "-z", "--add", "--remove")
        # Attributes first: they decide how the other files are stored.
        for paths in _attributes_first(changes):
            named = b"".join(os.fsencode(path) + b"\0" for path in paths)
            place.run(*options, "--stdin", input=named, env=env)
        return place.run("write-tree", env=env).decode().strip()


def _attributes_first(changes: Mapping[str, bytes | None]) -> list[list[str]]:
    """The changed paths in one or two groups, `.gitattributes` files in the first."""
    attributes = [path for path in changes if PurePosixPath(path).name == ".gitattributes"]
    rest = [path for path in changes if path not in attributes]
    return [group for group in (attributes, rest) if group]


def _modes(entries: Sequence[TreeEntry], changes: Mapping[str, bytes | None]) -> dict[str, str]:
    """Path → mode of every changed file; CannotWrite where the tree has no room for it."""
    known = {entry.path: entry.mode for entry in entries}
    after = known.keys() - {path for path, content in changes.items() if content is None}
    after |= {path for path, content in changes.items() if content is not None}
    folders = _folders(after)
    modes = {}
    for path, content in changes.items():
        mode = known.get(check_path(path))
        if mode is None and content is None:
            raise CannotWrite(f"{path} cannot be deleted: there is no such file.", "Check it.")
        if mode in (SYMLINK, GITLINK) and content is not None:
            what = "a symbolic link" if mode == SYMLINK else "a submodule"
            raise CannotWrite(f"{path} is {what}, not a file.", "Edit the file behind it.")
        if content is None:
            continue
        if path in folders:
            raise CannotWrite(f"{path} is a folder, not a file.", "Name a file in it.")
        for parent in _folders([path]) & after:
            raise CannotWrite(f"{parent} is a file, so {path} cannot be.", "Name another path.")
        modes[path] = mode if mode in REGULAR else "100644"
    return modes


def _folders(paths: Iterable[str]) -> set[str]:
    """Every folder that holds one of the paths, without the root."""
    folders: set[str] = set()
    for path in {path.rpartition("/")[0] for path in paths}:
        folder = path
        while folder and folder not in folders:
            folders.add(folder)
            folder = folder.rpartition("/")[0]
    return folders


def graft(
    caller: Caller, git_dir: Path, base: str | None, entries: Mapping[str, tuple[str, str] | None]
) -> str:
    """`base` (or nothing) with stored objects put at paths, or (None) removed; the tree's oid."""
    gone = ("0", "0" * len(base or ""))
    lines = b"".join(
        f"{mode} {check_oid(oid)}\t".encode() + os.fsencode(check_path(path)) + b"\0"
        for path, (mode, oid) in ((path, entry or gone) for path, entry in entries.items())
    )
    with private_index(git_dir) as env:
        place = caller.at(Path(env["GIT_WORK_TREE"]))
        if base:
            place.run("read-tree", check_oid(base), env=env)
        place.run("update-index", "-z", "--index-info", input=lines, env=env)
        return place.run("write-tree", env=env).decode().strip()


def export(
    caller: Caller,
    git_dir: Path,
    tree: str,
    entries: Sequence[TreeEntry],
    destination: Path,
    skip: Callable[[str], bool],
) -> None:
    """Write the files of `tree` below `destination`, as a checkout would.

    Symbolic links that lead out of the tree are left out; submodules become empty folders;
    `skip(path)` leaves a leaf out.
    """
    destination = destination.absolute()
    destination.mkdir(parents=True, exist_ok=True)
    wanted = [entry for entry in entries if not skip(entry.path)]
    files = [entry.path for entry in wanted if entry.mode in REGULAR]
    with private_index(git_dir, destination) as env:
        place = caller.at(destination)
        place.run("read-tree", check_oid(tree), env=env)
        named = b"".join(os.fsencode(path) + b"\0" for path in files)
        place.run("checkout-index", "--force", "-z", "--stdin", input=named, env=env)
    links = [entry for entry in wanted if entry.mode == SYMLINK]
    targets = read_blobs(caller, [link.oid for link in links])
    for entry in wanted:
        if entry.mode == GITLINK:
            (destination / entry.path).mkdir(parents=True, exist_ok=True)
    for link in links:
        target = os.fsdecode(targets[link.oid])
        if stays_inside(link.path, target):
            created = destination / link.path
            created.parent.mkdir(parents=True, exist_ok=True)
            # A damaged tree can hold both `a` and `a/b`: never write through a link.
            if created.parent.resolve() == destination.resolve() / PurePosixPath(link.path).parent:
                created.symlink_to(target)
    _drop_escaping_links(destination, [link.path for link in links])


def stays_inside(path: str, target: str) -> bool:
    """Whether the link at `path` leads, by its words alone, to a place inside the tree."""
    if not target or target.startswith("/") or "\0" in target:
        return False
    depth = len(PurePosixPath(path).parent.parts)
    for part in target.split("/"):
        if part == "..":
            depth -= 1
        elif part not in ("", "."):
            depth += 1
        if depth < 0:
            return False
    return True


def _drop_escaping_links(destination: Path, links: Sequence[str]) -> None:
    """Remove links that leave the folder only through another link (`a -> b/..`)."""
    root = destination.resolve()
    for path in links:
        link = destination / path
        if link.is_symlink():
            try:
                inside = link.resolve().is_relative_to(root)
            except (OSError, RuntimeError):  # a loop
                inside = False
            if not inside:
                link.unlink()
