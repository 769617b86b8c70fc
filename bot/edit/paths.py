"""Which files an edit may name: plain paths inside the editable part of the repository."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence

from bot.config import PathGlobs
from bot.display import printable
from bot.edit.refusal import Refused


class EditablePaths:
    """The table's globs. Protected ones also hold for other spellings of the same file.

    A case-insensitive or normalising file system would take `SCORING.py` for `scoring.py`.
    """

    def __init__(self, editable: Sequence[str], protected: Sequence[str]) -> None:
        self._editable = PathGlobs(editable)
        self._globs = ", ".join(editable) or "nothing"
        self._protected = PathGlobs(_spelling(glob) for glob in protected)

    def allows(self, path: str) -> bool:
        """Whether an edit may touch `path`."""
        try:
            self.check(path)
        except Refused:
            return False
        return True

    def check(self, path: str) -> None:
        """Raises Refused (not_editable, protected, workflow) where an edit may not touch `path`."""
        shown = printable(path, 200)
        if not is_plain_path(path):
            raise Refused(
                "not_editable",
                f"{shown!r} is not a plain path from the repository's root, such as a/b.py.",
            )
        parts = _spelling(path).split("/")
        if any(_means_git(part) for part in parts):
            raise Refused("not_editable", f"{shown} belongs to git and may never be edited.")
        if parts[:2] in ([".github", "workflows"], [".github", "actions"]):
            raise Refused(
                "workflow",
                f"{shown} runs with the repository's rights, and may never be edited by the bot.",
            )
        if self._protected.match(_spelling(path)):
            raise Refused("protected", f"{shown} is protected in the table.")
        if not self._editable.match(path):
            raise Refused(
                "not_editable", f"{shown} is not editable in the table, which has: {self._globs}."
            )


def is_plain_path(path: str) -> bool:
    """A relative path of ordinary parts: nothing that could lead out or means another file."""
    return (
        0 < len(path) <= 1024
        and not any(char in '\\:*?"<>|' or not char.isprintable() for char in path)
        and all(
            part not in ("", ".", "..") and part == part.strip() and not part.endswith(".")
            for part in path.split("/")
        )
    )


def _spelling(path: str) -> str:
    return unicodedata.normalize("NFKC", path).casefold()


def _means_git(part: str) -> bool:
    # `git~1` is how some file systems also call `.git`.
    # `.gitattributes` and `.gitmodules` name programs and places that git then uses.
    return part in (".git", ".gitattributes", ".gitmodules") or part.startswith("git~")
