"""One item of a list, tuple, set or dict literal: reading it, finding it, adding, taking it out.

`dict(a=1)` and the empty `set()`, `list()`, `tuple()`, `dict()`, `frozenset()` count as literals.
"""

from __future__ import annotations

import keyword
from collections.abc import Callable
from dataclasses import replace
from typing import Any, cast

import libcst as cst

from bot.edit.arguments import keyword_argument, with_argument
from bot.edit.code import parse_expression
from bot.edit.commas import NOTHING, Row, items_of, read_row, with_item, without_item
from bot.edit.dedent import dedent_code
from bot.edit.refusal import Refused
from bot.edit.structure import same
from bot.edit.tree import has_comment

Item = cst.BaseElement | cst.BaseDictElement
Literal = cst.List | cst.Tuple | cst.Set | cst.Dict | cst.Call
_EMPTY: dict[str, Callable[[], cst.BaseExpression]] = {
    "list": lambda: cst.List([]),
    "tuple": lambda: cst.Tuple([]),
    "set": lambda: cst.Set([cst.Element(cst.Name("_"))]),
    "dict": lambda: cst.Dict([]),
}


def parse_item(code: str, module: cst.Module) -> Item:
    """`x`, `*x`, `key: value` or `**x`. Refused for anything else, and for comments beside it."""
    node = parse_expression(f"{{{dedent_code(code).strip()}\n}}", module)
    if not isinstance(node, cst.Set | cst.Dict) or len(node.elements) != 1:
        raise Refused("unsupported", f"{code.strip()[:80]!r} is not one element or `key: value`.")
    item = node.elements[0].with_changes(comma=cst.MaybeSentinel.DEFAULT)
    beside = node.with_changes(elements=[node.elements[0].with_changes(**_bare(item))])
    if has_comment(beside):
        raise Refused("unsupported", "An item takes no comment beside it.")
    return item


def _bare(item: Item) -> dict[str, cst.CSTNode]:
    """The fields of an item without what it says."""
    name = cst.Name("_")
    return {"key": name, "value": name} if isinstance(item, cst.DictElement) else {"value": name}


def is_pair(item: Item) -> bool:
    """Whether it belongs into a dict."""
    return isinstance(item, cst.BaseDictElement)


def is_dict(literal: Literal) -> bool:
    return isinstance(literal, cst.Dict) or called(literal) == "dict"


def called(node: cst.CSTNode) -> str:
    """The plain name of what a call calls; empty for others."""
    is_plain = isinstance(node, cst.Call) and isinstance(node.func, cst.Name)
    return cast(Any, node).func.value if is_plain else ""


def is_empty_call(node: cst.CSTNode) -> bool:
    """`set()`, `list()`, `tuple()`, `dict()`, `frozenset()`."""
    names = (*_EMPTY, "frozenset")
    return isinstance(node, cst.Call) and not node.args and called(node) in names


def places_of(literal: Literal, item: Item) -> list[int]:
    """Where the item stands among those of a literal; a pair, or a bare key, by its key."""
    wanted = item.value if is_dict(literal) and isinstance(item, cst.Element) else None
    if isinstance(item, cst.DictElement):
        wanted = item.key
    if wanted is not None:
        return [i for i, one in enumerate(_entries(literal)) if same(key_of(one), wanted)]
    return [i for i, one in enumerate(_entries(literal)) if _is_same(one, item)]


def _entries(literal: Literal) -> list[Any]:
    return list(literal.args if isinstance(literal, cst.Call) else literal.elements)


def entry_at(literal: Literal, index: int) -> cst.CSTNode:
    """The item at a place, as it stands there."""
    return cast(cst.CSTNode, _entries(literal)[index])


def key_of(entry: cst.CSTNode) -> cst.BaseExpression | None:
    """The key of an entry of a dict: of `a=1` the text `'a'`."""
    if isinstance(entry, cst.Arg):
        name = entry.keyword
        return None if name is None else cst.SimpleString(repr(name.value))
    return entry.key if isinstance(entry, cst.DictElement) else None


def value_of(entry: cst.CSTNode) -> cst.BaseExpression:
    return cast(cst.BaseExpression, cast(Any, entry).value)


def _is_same(entry: cst.CSTNode, item: Item) -> bool:
    if isinstance(entry, cst.Arg):
        is_star = entry.star == "**" and isinstance(item, cst.StarredDictElement)
        return is_star and same(entry.value, item.value)
    return type(entry) is type(item) and same(value_of(entry), item.value)


def added(literal: Literal, item: Item, unit: str) -> cst.BaseExpression:
    """The literal with one more item at its end. `unit` is the file's indentation.

    Refused where a call of `dict` cannot take it.
    """
    if isinstance(literal, cst.Call):
        return _added_to_call(literal, item, unit)
    row = _read(literal)
    if isinstance(literal, cst.Tuple):
        row = _without_needed_comma(row)
    row = with_item(row, len(row.items), item, unit)
    return _written(literal, row)


def _added_to_call(call: cst.Call, item: Item, unit: str) -> cst.BaseExpression:
    name = called(call)
    if name == "dict":
        argument = _as_argument(item)
        if argument is not None:
            if any(arg.star == "**" for arg in call.args) and not argument.star:
                raise Refused(
                    "conflict",
                    "The call of dict takes a mapping, and it cannot be told whether it has "
                    f"{argument.keyword and argument.keyword.value} already.",
                )
            return with_argument(call, argument, unit)
        if call.args:
            raise Refused("unsupported", "The key is no name, which a call of dict needs.")
    if name == "frozenset":
        row = with_item(Row((), (NOTHING,), False), 0, item, unit)
        return call.with_changes(args=[cst.Arg(_written(_EMPTY["set"](), row))])
    row = with_item(Row((), (call.whitespace_before_args,), False), 0, item, unit)
    return _written(_EMPTY[name](), row)


def _as_argument(item: Item) -> cst.Arg | None:
    """The argument that a call of `dict` takes for a pair; None where it can take none."""
    if isinstance(item, cst.StarredDictElement):
        return cst.Arg(star="**", value=item.value)
    if not isinstance(item, cst.DictElement) or not isinstance(item.key, cst.SimpleString):
        return None
    name = item.key.evaluated_value
    if not isinstance(name, str) or not name.isidentifier() or keyword.iskeyword(name):
        return None
    return keyword_argument(name, item.value)


def removed(literal: Literal, places: list[int]) -> cst.BaseExpression:
    """The literal without the items at these places."""
    row = _read(literal)
    for place in reversed(places):
        row = without_item(row, place)
    if isinstance(literal, cst.Call):
        args = items_of(row, bracketed=False)
        return literal.with_changes(args=args, whitespace_before_args=row.gaps[0])
    if isinstance(literal, cst.Set) and not row.items:
        lpar, rpar = literal.lpar, literal.rpar
        call = cst.Call(cst.Name("set"), lpar=lpar, rpar=rpar)
        return call.with_changes(whitespace_before_args=row.gaps[0])
    return _written(literal, row)


def _without_needed_comma(row: Row) -> Row:
    """The row of `(x,)`, whose comma is no matter of style."""
    if len(row.items) != 1 or isinstance(row.gaps[-1], cst.ParenthesizedWhitespace):
        return row
    if isinstance(row.gaps[0], cst.ParenthesizedWhitespace):
        return replace(row, trailing=False)
    # `(1, )` has its space for the comma, `( 1, )` for the bracket.
    return replace(row, gaps=(row.gaps[0], row.gaps[0]), trailing=False)


def _read(literal: Literal) -> Row:
    if isinstance(literal, cst.Call):
        return read_row(literal.args, literal.whitespace_before_args)
    if isinstance(literal, cst.Tuple) and not literal.lpar:
        return read_row(literal.elements, NOTHING, NOTHING)
    first, last = _brackets(literal)
    return read_row(literal.elements, first.whitespace_after, last.whitespace_before)


def _brackets(literal: Literal | cst.BaseExpression) -> tuple[Any, Any]:
    if isinstance(literal, cst.Tuple):
        return literal.lpar[-1], literal.rpar[0]
    if isinstance(literal, cst.List):
        return literal.lbracket, literal.rbracket
    assert isinstance(literal, cst.Set | cst.Dict)
    return literal.lbrace, literal.rbrace


def _written(literal: cst.BaseExpression, row: Row) -> cst.BaseExpression:
    if isinstance(literal, cst.Tuple):
        # A tuple of one is made by its comma.
        row = replace(row, trailing=row.trailing or len(row.items) == 1)
        if not row.items and not literal.lpar:
            literal = literal.with_changes(lpar=[cst.LeftParen()], rpar=[cst.RightParen()])
    literal = literal.with_changes(elements=items_of(row, bracketed=True))
    if isinstance(literal, cst.Tuple) and not literal.lpar:
        return literal
    first, last = _brackets(literal)
    first = first.with_changes(whitespace_after=row.gaps[0])
    last = last.with_changes(whitespace_before=row.gaps[-1] if row.items else NOTHING)
    if isinstance(literal, cst.Tuple):
        return literal.with_changes(
            lpar=[*literal.lpar[:-1], first], rpar=[last, *literal.rpar[1:]]
        )
    if isinstance(literal, cst.List):
        return literal.with_changes(lbracket=first, rbracket=last)
    return literal.with_changes(lbrace=first, rbrace=last)
