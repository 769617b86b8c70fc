"""Refs: listed in one call, moved by compare-and-swap in one transaction."""

from __future__ import annotations

import re
import time
from collections.abc import Sequence
from pathlib import Path

from bot.display import printable, scrub
from bot.errors import RepositoryError
from bot.git.calls import Caller, failure
from bot.git.names import check_oid, check_ref_name

OWN_REFS = ("refs/ecdysis/", "refs/heads/ecdysis/", "refs/notes/ecdysis")
STALE_LOCK_S = 5.0
_LOCK = re.compile(r"Unable to create '(.+\.lock)': File exists")
_PREFIX = re.compile(r"refs/[A-Za-z0-9._+/-]*")


RefChange = tuple[str, str | None, str | None]
"""Name, new oid (None: delete it), old oid (None: it must not exist)."""


class RefMoved(RepositoryError):
    """A compare-and-swap failed: the ref is no longer what it was expected to be."""


def list_refs(caller: Caller, *prefixes: str) -> dict[str, str]:
    """Ref name → oid, of the prefixes themselves and of what lies below them, sorted by name.

    A prefix that ends in `/` does not name a ref itself.
    """
    for prefix in prefixes:
        if not _PREFIX.fullmatch(prefix):
            shown = printable(prefix, 80)
            raise RepositoryError(f"{shown!r} is no prefix of ref names.", "Check it.")
    folders = {prefix.rstrip("/") for prefix in prefixes}
    output = caller.run("for-each-ref", "--format=%(objectname) %(refname)", *sorted(folders))
    lines = output.decode("utf-8", "surrogateescape").splitlines()
    refs = {name: oid for oid, _, name in (line.partition(" ") for line in lines)}
    for folder in folders.difference(prefixes):
        refs.pop(folder, None)
    return refs


def update_refs(caller: Caller, changes: Sequence[RefChange]) -> None:
    """Move, make or delete refs, all or none.

    Raises RefMoved when one is not what it was expected to be, RepositoryError when a name is
    not allowed or taken by another kind of ref.
    """
    lines = []
    for name, new, old in changes:
        check_ref_name(name)
        if new is None:
            lines.append(f"delete {name}\0{check_oid(old or '')}\0")
        elif old is None:
            lines.append(f"create {name}\0{check_oid(new)}\0")
        else:
            lines.append(f"update {name}\0{check_oid(new)}\0{check_oid(old)}\0")
    args = ("update-ref", "-z", "--stdin")
    answer = caller.answer(*args, input="".join(lines).encode())
    while answer.code != 0 and wait_for_lock(answer.stderr, [name for name, _, _ in changes]):
        answer = caller.answer(*args, input="".join(lines).encode())
    if answer.code == 0:
        return
    said = scrub(printable(answer.stderr, 400)).removeprefix("fatal: ")
    if "exists; cannot create" in said or "cannot process" in said:
        raise RepositoryError(
            f"A ref cannot be written because another has the name of its folder: {said}.",
            "Rename the one in the way, e.g. `git branch -m ecdysis my-ecdysis`.",
        )
    if " but expected " in said or "already exists" in said or "unable to resolve" in said:
        raise RefMoved(
            f"A ref was moved by someone else meanwhile: {said}.", "Run the command again."
        )
    raise failure(args, answer)


def wait_for_lock(stderr: str, names: Sequence[str]) -> bool:
    """True when a lock that git complains of is gone: released, or left behind by a killed run.

    Only locks of the refs in `names` that belong to the bot are ever removed, and only when they
    are older than any transaction takes.
    """
    found = _LOCK.search(stderr)
    if not found:
        return False
    lock = Path(found.group(1))
    ours = [name for name in names if name.startswith(OWN_REFS)]
    if not any(str(lock).endswith(f"/{name}.lock") for name in ours):
        return False
    while True:
        try:
            age = time.time() - lock.stat().st_mtime
            if age > STALE_LOCK_S:
                lock.unlink()
                return True
        except FileNotFoundError:
            return True
        except OSError:
            return False
        time.sleep(0.05)
