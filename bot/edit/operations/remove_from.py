"""Remove an item from a list, tuple, set or dict.

`target`, `anchor` and `code` are as for append_to; of a dict the key alone is enough. The
comments of other items stay. Refused where a list or tuple has the item several times.
Postcondition: the item is not in the value.
"""

from __future__ import annotations

from typing import cast

import libcst as cst

from bot.edit.code import one_line
from bot.edit.expressions import put_expression
from bot.edit.items import (
    Item,
    Literal,
    called,
    entry_at,
    is_dict,
    parse_item,
    places_of,
    removed,
    value_of,
)
from bot.edit.literals import change_value, literals_for
from bot.edit.refusal import Refused
from bot.edit.schema import RemoveFrom
from bot.edit.structure import same
from bot.edit.tree import Spot, at_lines, node_at, put_in_module


def remove_from(module: cst.Module, edit: RemoveFrom) -> cst.Module:
    item = parse_item(edit.code, module)

    def remove(whole: cst.Module, value: Spot, name: str) -> cst.Module:
        found = literals_for(whole, value, item, name, may_be_key=True)
        _check(whole, found, item, name)
        for spot in found:
            literal = cast(Literal, spot.node)
            places = places_of(literal, item)
            if places:
                whole = _put(whole, spot, removed(literal, places))
        return whole

    return change_value(module, edit, remove)


def _check(module: cst.Module, found: list[Spot], item: Item, name: str) -> None:
    literals = [cast(Literal, spot.node) for spot in found]
    entries = [entry_at(one, place) for one in literals for place in places_of(one, item)]
    ordered = not any(isinstance(one, cst.Set) or is_dict(one) for one in literals)
    if ordered and len(entries) > 1:
        raise Refused(
            "ambiguous",
            f"{one_line(module, item)!r} stands {len(entries)} times in {name}, "
            f"{at_lines(module, entries)}; replace_expression can change the whole.",
        )
    if not isinstance(item, cst.DictElement):
        return
    others = [one for one in entries if not same(value_of(one), item.value)]
    if others:
        raise Refused(
            "conflict",
            f"{name} has {one_line(module, item.key)} with another value, "
            f"{at_lines(module, others)}; give the key alone to remove it all the same.",
        )


def _put(module: cst.Module, spot: Spot, new: cst.BaseExpression) -> cst.Module:
    if called(new) == "set" and spot.path[-2:] == (("args", 0), ("value", None)):
        around = node_at(module, spot.path[:-2])
        assert isinstance(around, cst.Call)
        if called(around) in ("set", "frozenset") and len(around.args) == 1:
            # `frozenset({x})` is made `frozenset()`.
            inner = cast(cst.Call, new)
            empty = around.with_changes(
                args=[], whitespace_before_args=inner.whitespace_before_args
            )
            return put_in_module(module, spot.path[:-2], empty)
    return put_expression(module, spot.path, new)
