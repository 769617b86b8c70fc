"""Reading and writing git objects in batches; nothing here touches an index or a work tree."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

from bot.errors import RepositoryError
from bot.git.calls import Caller
from bot.git.names import check_oid

REGULAR = ("100644", "100755")
SYMLINK = "120000"
GITLINK = "160000"
AT_ONCE = 1500
"""Objects that one call of git reads, where commits are gone through one by one."""
# Git writes these four in this order; what follows (encoding, signature) is read more slowly.
_HEAD = re.compile(
    rb"tree ([0-9a-f]+)\n((?:parent [0-9a-f]+\n)*)author (.*) -?\d+ [+-]\d+\n"
    rb"committer .* (\d+) [+-]\d+"
)


@dataclass(frozen=True)
class TreeEntry:
    """One leaf of a tree: a file, a symlink (120000) or a submodule (160000).

    `path` may hold surrogates where its bytes are not UTF-8; `os.fsencode` gives the bytes.
    """

    mode: str
    oid: str
    path: str


class CommitRecord(NamedTuple):
    """A commit as it is stored; `when` is the committer's time in seconds since 1970."""

    oid: str
    tree: str
    parents: tuple[str, ...]
    author: str
    when: int
    message: str


def list_tree(caller: Caller, tree: str) -> list[TreeEntry]:
    """Every leaf below `tree`, in git's order."""
    output = caller.run("ls-tree", "-r", "-z", "--full-tree", check_oid(tree))
    entries = []
    for line in output.split(b"\0")[:-1]:
        head, _, path = line.partition(b"\t")
        mode, _, oid = head.decode().split(" ")
        entries.append(TreeEntry(mode, oid, os.fsdecode(path)))
    return entries


def read_objects(caller: Caller, oids: Iterable[str]) -> dict[str, tuple[str, bytes]]:
    """Oid → (type, content) for those that exist, by one `cat-file --batch`."""
    wanted = [check_oid(oid) for oid in dict.fromkeys(oids)]
    if not wanted:
        return {}
    output = caller.run(
        "cat-file", "--batch", "--buffer", input=("\n".join(wanted) + "\n").encode()
    )
    found: dict[str, tuple[str, bytes]] = {}
    position = 0
    while position < len(output):
        end = output.index(b"\n", position)
        words = output[position:end].decode().split(" ")
        position = end + 1
        if len(words) == 3 and words[2].isdigit():
            size = int(words[2])
            found[words[0]] = (words[1], output[position : position + size])
            position += size + 1
    return found


def read_blobs(caller: Caller, oids: Iterable[str]) -> dict[str, bytes]:
    """Oid → content. RepositoryError when one is missing (a partial or damaged clone)."""
    wanted = list(dict.fromkeys(oids))
    found = read_objects(caller, wanted)
    for oid in wanted:
        if oid not in found or found[oid][0] != "blob":
            raise RepositoryError(
                f"The object {oid} is missing from the repository.",
                "Run `git fsck`; in a partial clone, fetch the missing objects.",
            )
    return {oid: found[oid][1] for oid in wanted}


def read_commits(caller: Caller, oids: Iterable[str]) -> Iterator[CommitRecord]:
    """Those that exist and are commits. Of many, git reads the next while the last are used."""
    wanted = list(dict.fromkeys(oids))
    parts = [wanted[at : at + AT_ONCE] for at in range(0, len(wanted), AT_ONCE)]
    if len(parts) < 2:
        found: Iterable[dict[str, tuple[str, bytes]]] = map(partial(read_objects, caller), parts)
        yield from _commits(found)
        return
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(1) as ahead:
        yield from _commits(ahead.map(partial(read_objects, caller), parts))


def _commits(parts: Iterable[dict[str, tuple[str, bytes]]]) -> Iterator[CommitRecord]:
    for part in parts:
        for oid, (kind, content) in part.items():
            if kind == "commit":
                yield parse_commit(oid, content)


def parse_commit(oid: str, content: bytes) -> CommitRecord:
    """A commit from its stored bytes; unknown encodings and bad bytes never raise."""
    head, _, body = content.partition(b"\n\n")
    usual = _HEAD.fullmatch(head)
    if usual:
        tree, parents, name, when = usual.groups()
        return CommitRecord(
            oid,
            tree.decode(),
            tuple(parents.decode().split()[1::2]),
            name.decode("utf-8", "replace"),
            int(when),
            body.decode("utf-8", "replace"),
        )
    fields: dict[str, list[str]] = {}
    for line in head.decode("utf-8", "replace").split("\n"):
        if not line.startswith(" "):  # a folded header: the signature
            name, _, value = line.partition(" ")
            fields.setdefault(name, []).append(value)
    encoding = fields.get("encoding", ["utf-8"])[0]
    try:
        message = body.decode(encoding, "replace")
    except LookupError:
        message = body.decode("utf-8", "replace")
    committer = fields.get("committer", [""])[0].split(" ")
    seconds = committer[-2] if len(committer) > 2 else ""
    author = " ".join(fields.get("author", [""])[0].split(" ")[:-2])
    return CommitRecord(
        oid=oid,
        tree=fields.get("tree", [""])[0],
        parents=tuple(fields.get("parent", [])),
        author=author,
        when=int(seconds) if seconds.isdigit() else 0,
        message=message,
    )


def disk_sizes(caller: Caller, tips: Iterable[str], without: Iterable[str]) -> dict[str, int]:
    """Object → bytes on disk, of what is reachable from `tips` and not from `without`."""
    lines = [check_oid(oid) for oid in tips] + [f"^{check_oid(oid)}" for oid in without]
    # What a partial clone does not hold takes no space.
    args = ("rev-list", "--objects", "--no-object-names", "--missing=allow-any", "--stdin")
    found = caller.run(*args, input="".join(f"{line}\n" for line in lines).encode())
    sizes = caller.run("cat-file", "--batch-check=%(objectname) %(objectsize:disk)", input=found)
    pairs = (line.split(" ") for line in sizes.decode().splitlines())
    return {oid: int(size) for oid, size in pairs if size.isdigit()}


def changed_files(
    caller: Caller, pairs: Iterable[tuple[str, str]]
) -> dict[tuple[str, str], dict[str, tuple[str, str] | None]]:
    """Pair of trees → path → (mode, oid) in the second one, None where it is gone there."""
    wanted = dict.fromkeys((check_oid(old), check_oid(new)) for old, new in pairs)
    lines = "".join(f"{old} {new}\n" for old, new in wanted)
    output = caller.run("diff-tree", "--stdin", "-r", "-z", "--no-renames", input=lines.encode())
    found: dict[tuple[str, str], dict[str, tuple[str, str] | None]] = {}
    changes: dict[str, tuple[str, str] | None] = {}
    parts = iter(output.split(b"\0"))
    for part in parts:
        head, _, entry = part.rpartition(b"\n")
        if head:  # `OLD NEW`, before the first entry of a pair
            old, _, new = head.decode().rpartition("\n")[2].partition(" ")
            changes = found[old, new] = {}
        if entry:
            _, mode, _, oid, _ = entry.decode().split(" ")
            changes[os.fsdecode(next(parts))] = None if mode == "000000" else (mode, oid)
    return found


def write_blob(caller: Caller, data: bytes) -> str:
    """Store `data` as it is, without any filter; its oid."""
    return caller.run("hash-object", "-w", "--stdin", "--no-filters", input=data).decode().strip()


def make_tree(caller: Caller, entries: Mapping[str, tuple[str, str]]) -> str:
    """A tree of direct entries: name → (mode, oid); mode 040000 for a subtree. Its oid."""
    kinds = {"040000": "tree", GITLINK: "commit"}
    lines = b"".join(
        f"{mode} {kinds.get(mode, 'blob')} {check_oid(oid)}\t".encode() + os.fsencode(name) + b"\0"
        for name, (mode, oid) in entries.items()
    )
    return caller.run("mktree", "-z", input=lines).decode().strip()
