"""What of a harness's files is known to it, and may be read by who looks for a repair."""

from __future__ import annotations

from bot.config import HarnessTable, PathGlobs
from bot.git.repository import Repository


def read_open(repository: Repository, table: HarnessTable, tree: str, path: str) -> bytes | None:
    """A file of `tree`; None where there is none, and for the hidden and sealed tasks."""
    closed = PathGlobs([*table.splits.hidden_paths(), *table.hidden])
    return None if closed.match(path) else repository.read_file(tree, path)


def known_text(repository: Repository, table: HarnessTable, tree: str) -> str:
    """What the harness of `tree` may know: all its text but tasks and what episodes never see.

    What stands here leaks nothing when an edit brings it again.
    """
    closed = PathGlobs([*table.splits.paths().values(), *table.hidden])
    return "\n".join(
        content.decode("utf-8", "replace")
        for path, content in repository.read_files(tree).items()
        if not closed.match(path)
    )
