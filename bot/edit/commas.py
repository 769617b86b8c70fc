"""Items with commas between them: names of an import, parameters, arguments."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeVar

import libcst as cst

Item = TypeVar("Item", bound=cst.CSTNode)


def without_item(items: Sequence[Item], index: int) -> list[Item]:
    """The items but for one. The last one's trailing comma, or its lack, stays as it was."""
    gone: Any = items[index]
    kept: list[Any] = [*items[:index], *items[index + 1 :]]
    if kept and index == len(kept):
        last = kept[-1]
        comma = gone.comma
        if isinstance(comma, cst.Comma) and isinstance(last.comma, cst.Comma):
            comma = comma.with_changes(
                whitespace_after=_with_comment_of(
                    last.comma.whitespace_after, comma.whitespace_after
                )
            )
        kept[-1] = last.with_changes(comma=comma)
    return kept


def _with_comment_of(
    said: cst.BaseParenthesizableWhitespace, space: cst.BaseParenthesizableWhitespace
) -> cst.BaseParenthesizableWhitespace:
    """A space with the comment at the end of the line that another one has."""
    if isinstance(said, cst.ParenthesizedWhitespace) and isinstance(
        space, cst.ParenthesizedWhitespace
    ):
        return space.with_changes(first_line=said.first_line)
    return space
