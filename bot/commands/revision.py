"""The table of a revision: what most commands need first."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bot.config import CONFIG_FILES, HarnessTable, parse_config
from bot.errors import InputError

if TYPE_CHECKING:
    from bot.git.repository import Repository


def load_table(repository: Repository, rev: str) -> HarnessTable:
    """`[tool.ecdysis]` as it stands in revision `rev`, not in the work tree.

    `ecdysis.toml` wins over `pyproject.toml`. Raises InputError where neither holds the table.
    """
    tree = repository.tree_of(rev)
    for name in CONFIG_FILES:
        content = repository.read_file(tree, name)
        if content is None:
            continue
        if name == "pyproject.toml" and b"ecdysis" not in content:
            continue
        try:
            text = content.decode("utf-8-sig")
        except UnicodeDecodeError:
            raise InputError(f"{name} is not UTF-8.", "Save it as UTF-8 and commit it.") from None
        return parse_config(text, name)
    raise InputError(
        "This revision has no [tool.ecdysis] table, neither in ecdysis.toml nor in pyproject.toml.",
        "`ecdysis init` proposes one from the code; commit it then.",
    )
