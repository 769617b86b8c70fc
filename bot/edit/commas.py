"""Items with commas between them: names of an import, parameters, arguments, elements.

A row keeps what stands between the brackets apart from the items: the white space and comments
before each item, and before the closing bracket.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import libcst as cst

from bot.edit.code import split_lines
from bot.edit.layout import shifted

Space = cst.BaseParenthesizableWhitespace
NOTHING = cst.SimpleWhitespace("")
_SPACE = cst.SimpleWhitespace(" ")
# Where items that stand in no brackets of their own have the space behind them.
_AFTER: dict[type[cst.CSTNode], str] = {
    cst.Param: "whitespace_after_param",
    cst.ParamSlash: "whitespace_after",
    cst.Arg: "whitespace_after_arg",
}


@dataclass(frozen=True)
class Row:
    """`gaps[i]` stands before item i, the last one before the closing bracket.

    `trailing`: a comma stands behind the last item.
    """

    items: tuple[Any, ...]
    gaps: tuple[Space, ...]
    trailing: bool


def read_row(items: Sequence[Any], opening: Space, closing: Space | None = None) -> Row:
    """The row of items. `opening` and `closing` are the spaces inside the brackets.

    `closing` is None where the last item has it: for parameters and arguments.
    """
    if not items:
        return Row((), (opening,), False)
    between = [item.comma.whitespace_after for item in items[:-1]]
    last = items[-1]
    end = closing or NOTHING
    trailing = isinstance(last.comma, cst.Comma)
    if trailing and _is_nothing(end):
        end = last.comma.whitespace_after
    elif closing is None:
        end = getattr(last, _AFTER[type(last)])
    return Row(tuple(items), (opening, *between, end), trailing)


def items_of(row: Row, *, bracketed: bool) -> list[Any]:
    """The items with their commas; the last one has the last gap unless a bracket has it."""
    items = [
        _with_comma(item, gap) for item, gap in zip(row.items[:-1], row.gaps[1:-1], strict=True)
    ]
    for last in row.items[-1:]:
        end = NOTHING if bracketed else row.gaps[-1]
        comma = last.comma
        # A comment before the comma needs it.
        said = isinstance(comma, cst.Comma) and not _is_nothing(_uncommented(comma))
        if row.trailing or said:
            items.append(_with_comma(last, end))
        else:
            field = {} if bracketed else {_AFTER[type(last)]: end}
            items.append(last.with_changes(comma=cst.MaybeSentinel.DEFAULT, **field))
    return items


def with_item(row: Row, index: int, new: Any, unit: str) -> Row:
    """The row with another item at a place, set as the others are: in line, or one a line.

    `unit` is the file's indentation.
    """
    if not row.items:
        return _only(row.gaps[0], new, unit)
    gaps = list(row.gaps)
    between = _separation(row)
    old = gaps[index]
    if index == len(row.items):
        gaps[index:] = _behind(old, between, gaps[0])
    elif isinstance(old, cst.ParenthesizedWhitespace) and isinstance(
        between, cst.ParenthesizedWhitespace
    ):
        # What is said above an item stays above it.
        below = between.with_changes(empty_lines=old.empty_lines)
        gaps[index : index + 1] = [old.with_changes(empty_lines=[]), below]
    else:
        gaps[index : index + 1] = [old, between]
    items = [*row.items[:index], _fitted(new, gaps, index, unit), *row.items[index:]]
    return replace(row, items=tuple(items), gaps=tuple(gaps))


def without_item(row: Row, index: int) -> Row:
    """The row without one item. A comma behind the last one, or its lack, stays as it was.

    The comment at its line goes with it, and one right above it, unless that heads a group that
    goes on.
    """
    items = [*row.items[:index], *row.items[index + 1 :]]
    gap = _joined(row, index)
    if not items:
        return Row((), (gap if _has_comment(gap) else NOTHING,), False)
    gaps = (*row.gaps[:index], gap, *row.gaps[index + 2 :])
    return replace(row, items=tuple(items), gaps=gaps)


def indentation(row: Row, index: int) -> str:
    """How far the line on which an item stands is indented, as seen from its statement."""
    lines = [gap for gap in row.gaps[: index + 1] if isinstance(gap, cst.ParenthesizedWhitespace)]
    return lines[-1].last_line.value if lines else ""


def _fitted(new: Any, gaps: Sequence[Space], index: int, unit: str) -> Any:
    place = indentation(Row((), tuple(gaps), False), index)
    return shifted(new, place, unit)


def _only(opening: Space, new: Any, unit: str) -> Row:
    """A row of one item between brackets that held none."""
    if not isinstance(opening, cst.ParenthesizedWhitespace):
        return Row((shifted(new, "", unit),), (opening, NOTHING), False)
    said = [line.whitespace.value for line in opening.empty_lines if line.comment is not None]
    place = said[-1] if said else opening.last_line.value + unit
    before = opening.with_changes(last_line=cst.SimpleWhitespace(place))
    return Row((shifted(new, place, unit),), (before, _plain(opening)), True)


def _separation(row: Row) -> Space:
    """The space behind a comma between two items."""
    if len(row.items) > 1:
        return _plain(row.gaps[1])
    return _plain(row.gaps[0]) if isinstance(row.gaps[0], cst.ParenthesizedWhitespace) else _SPACE


def _behind(end: Space, between: Space, opening: Space) -> tuple[Space, Space]:
    """The gaps before and behind a new last item.

    The comment at the line of the item before stays there, those on lines of their own stay
    before the bracket: above the new item they would seem to be about it.
    """
    if not isinstance(end, cst.ParenthesizedWhitespace) or end.first_line.comment is None:
        return between, end
    breaks = (gap for gap in (between, opening) if isinstance(gap, cst.ParenthesizedWhitespace))
    place = next(breaks, end)
    before = end.with_changes(empty_lines=[], indent=place.indent, last_line=place.last_line)
    return before, end.with_changes(first_line=cst.TrailingWhitespace())


def _joined(row: Row, index: int) -> Space:
    """What stands between the neighbours of an item that goes."""
    before, after = row.gaps[index], row.gaps[index + 1]
    is_last = index == len(row.items) - 1
    if isinstance(before, cst.ParenthesizedWhitespace):
        if isinstance(after, cst.ParenthesizedWhitespace):
            return _joined_lines(row, index, before, after)
        if is_last:
            before = before.with_changes(empty_lines=_above(row, index, before, after))
            return before if _has_comment(before) else after
        return before
    if isinstance(after, cst.ParenthesizedWhitespace):
        if index > 0:
            return after
        unsaid = after.first_line.with_changes(comment=None, whitespace=NOTHING)
        below = after.with_changes(first_line=unsaid)
        return below if _has_comment(below) else before
    return after if is_last else before


def _joined_lines(
    row: Row, index: int, before: cst.ParenthesizedWhitespace, after: cst.ParenthesizedWhitespace
) -> Space:
    """The same for an item that has its lines to itself."""
    above, below = _above(row, index, before, after), list(after.empty_lines)
    is_blank = index == len(row.items) - 1 or (below and below[0].comment is None)
    if is_blank and above and above[-1].comment is None:
        # One blank line is enough between what is left, and none before a bracket.
        above.pop()
    return before.with_changes(
        empty_lines=[*above, *below], indent=after.indent, last_line=after.last_line
    )


def _above(
    row: Row, index: int, before: cst.ParenthesizedWhitespace, after: Space
) -> list[cst.EmptyLine]:
    """The lines above an item that stay: those right on it go if they are about it alone.

    Above the only item, they may be about all that is to come.
    """
    apart, attached = split_lines(before.empty_lines)
    is_last = index == len(row.items) - 1
    goes_on = isinstance(after, cst.ParenthesizedWhitespace) and not after.empty_lines
    if len(row.items) == 1 or (goes_on and not is_last):
        return [*apart, *attached]
    return apart


def _plain(gap: Space) -> Space:
    """The space without comments and blank lines."""
    if isinstance(gap, cst.ParenthesizedWhitespace):
        return gap.with_changes(first_line=cst.TrailingWhitespace(), empty_lines=[])
    return gap


def _has_comment(gap: Space) -> bool:
    return isinstance(gap, cst.ParenthesizedWhitespace) and (
        gap.first_line.comment is not None or any(line.comment for line in gap.empty_lines)
    )


def _uncommented(comma: cst.Comma) -> Space:
    return comma.whitespace_before if _has_comment(comma.whitespace_before) else NOTHING


def _is_nothing(gap: Space) -> bool:
    return isinstance(gap, cst.SimpleWhitespace) and not gap.value


def _with_comma(item: Any, gap: Space) -> Any:
    if isinstance(item.comma, cst.Comma):
        return item.with_changes(comma=item.comma.with_changes(whitespace_after=gap))
    field = {_AFTER[type(item)]: NOTHING} if type(item) in _AFTER else {}
    return item.with_changes(comma=cst.Comma(whitespace_after=gap), **field)
