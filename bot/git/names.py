"""Guards for everything that is handed to git as a name: revisions, refs, paths, messages."""

from __future__ import annotations

import re
import unicodedata

from bot.display import printable
from bot.errors import RepositoryError, UsageError

_REF = re.compile(r"refs/[A-Za-z0-9_][A-Za-z0-9._+-]*(?:/[A-Za-z0-9_][A-Za-z0-9._+-]*)+")
_OID = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")
LONGEST_NAME = 250
LONGEST_PATH = 4096


def check_revision(revision: str) -> str:
    """`revision`, if it cannot be taken for an option or break a line. UsageError otherwise."""
    if not revision or revision.startswith("-") or len(revision) > LONGEST_NAME:
        raise UsageError(
            f"{printable(revision, 80)!r} is not a revision.",
            "Name a branch, a tag or a commit.",
        )
    if any(unicodedata.category(char) == "Cc" for char in revision):
        raise UsageError("A revision holds no control characters.", "Name a branch or a commit.")
    return revision


def check_oid(oid: str) -> str:
    """`oid`, if it is a full object name (SHA-1 or SHA-256)."""
    if not _OID.fullmatch(oid):
        raise RepositoryError(
            f"{printable(oid, 80)!r} is not a full object name.", "Resolve the revision first."
        )
    return oid


def check_ref_name(name: str) -> str:
    """`name`, if it is a full ref name that the bot may write.

    Stricter than git: plain characters, below `refs/`, nothing that reads as an option, a
    revision expression or `HEAD`. Git's own rules are asked on top when a ref is written.
    """
    if (
        not _REF.fullmatch(name)
        or len(name) > LONGEST_NAME
        or ".." in name
        or any(part.endswith((".lock", ".")) or part == "HEAD" for part in name.split("/"))
    ):
        raise RepositoryError(
            f"{printable(name, 80)!r} is not a ref name the bot writes.",
            "Use letters, digits, '-', '_' and '.' only, as in refs/heads/ecdysis/gen-0001.",
        )
    return name


def check_path(path: str) -> str:
    """`path`, if it names a file inside a tree: relative, no `..`, nothing of `.git`."""
    bad = not path or "\0" in path or len(path) > LONGEST_PATH
    for part in path.split("/"):
        # Some systems fold case and drop trailing dots, spaces and ignorable characters.
        folded = "".join(c for c in part if unicodedata.category(c) != "Cf").lower().rstrip(". ")
        if part in ("", ".", "..") or folded in (".git", "git~1"):
            bad = True
    if bad:
        raise RepositoryError(
            f"{printable(path, 120)!r} is not a path inside the repository.",
            "Paths are relative to the repository's root, without '..' and '.git'.",
        )
    return path


def clean_message(message: str) -> str:
    """A commit message without NUL, CR and other control characters; ends with one newline."""
    lines = message.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    kept = (printable(line, lines=True).rstrip() for line in lines)
    text = "\n".join(kept).strip("\n")
    return (text or "(no message)") + "\n"
