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


def with_item(
    items: Sequence[Any], index: int, new: Any, opening: cst.BaseParenthesizableWhitespace
) -> list[Any]:
    """The items with another one at a place, set as the others are: in line, or one a line.

    `opening` is the space between the bracket and the first item.
    """
    if not items:
        return [new]
    separator = cst.Comma(whitespace_after=_separation(items, opening))
    if index < len(items):
        return [*items[:index], new.with_changes(comma=separator), *items[index:]]
    last = items[-1]
    if isinstance(last.comma, cst.Comma):
        end = last.comma.whitespace_after
        new = new.with_changes(comma=last.comma.with_changes(whitespace_after=_plain(end)))
    else:
        old_field, new_field = _AFTER[type(last)], _AFTER[type(new)]
        end = getattr(last, old_field)
        new = new.with_changes(**{new_field: _plain(end)})
        last = last.with_changes(**{old_field: cst.SimpleWhitespace("")})
    space = _with_comment_of(end, separator.whitespace_after)
    has_comment = isinstance(end, cst.ParenthesizedWhitespace) and end.first_line.comment
    if has_comment and not isinstance(space, cst.ParenthesizedWhitespace):
        # A comment needs the line's end behind it.
        space = end
    last = last.with_changes(comma=separator.with_changes(whitespace_after=space))
    return [*items[:-1], last, new]


_AFTER: dict[type[cst.CSTNode], str] = {
    cst.Param: "whitespace_after_param",
    cst.ParamSlash: "whitespace_after",
    cst.Arg: "whitespace_after_arg",
}


def _separation(
    items: Sequence[Any], opening: cst.BaseParenthesizableWhitespace
) -> cst.BaseParenthesizableWhitespace:
    """The space behind a comma between two items."""
    if len(items) > 1:
        return _plain(items[0].comma.whitespace_after)
    return _plain(opening) if isinstance(opening, cst.ParenthesizedWhitespace) else _SPACE


def _plain(space: cst.BaseParenthesizableWhitespace) -> cst.BaseParenthesizableWhitespace:
    """The space without comments."""
    if isinstance(space, cst.ParenthesizedWhitespace):
        return space.with_changes(first_line=cst.TrailingWhitespace(), empty_lines=[])
    return space


_SPACE = cst.SimpleWhitespace(" ")
