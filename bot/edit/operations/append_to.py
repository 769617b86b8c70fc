"""Append an item to a list, tuple, set or dict.

`target` is a constant (`TOOLS`, `Config.TOOLS`), or a scope in which `anchor` is what is assigned
to (`tools`, `self.tools`) or the value itself. `code` is `x`, `*x`, `key: value` or `**x`. The
value is a literal, also in a call (`frozenset({…})`), or literals joined by `+` or `|`; the last
one that takes such an item gets it, set as its others are.
Postcondition: the item is in the value. Refused where a dict has the key with another value.
"""

from __future__ import annotations

from typing import cast

import libcst as cst

from bot.edit.code import one_line
from bot.edit.expressions import put_expression
from bot.edit.items import Item, Literal, added, entry_at, parse_item, places_of, value_of
from bot.edit.literals import change_value, literals_for
from bot.edit.refusal import Refused
from bot.edit.schema import AppendTo
from bot.edit.structure import same
from bot.edit.tree import Spot, at_lines


def append_to(module: cst.Module, edit: AppendTo) -> cst.Module:
    item = parse_item(edit.code, module)

    def append(whole: cst.Module, value: Spot, name: str) -> cst.Module:
        found = literals_for(whole, value, item, name)
        if _is_in(whole, found, item, name):
            return whole
        last = found[-1]
        new = added(cast(Literal, last.node), item, whole.default_indent)
        return put_expression(whole, last.path, new)

    return change_value(module, edit, append)


def _is_in(module: cst.Module, found: list[Spot], item: Item, name: str) -> bool:
    literals = [cast(Literal, spot.node) for spot in found]
    entries = [entry_at(one, place) for one in literals for place in places_of(one, item)]
    if not entries or not isinstance(item, cst.DictElement):
        return bool(entries)
    # Of equal keys, the last one counts.
    if same(value_of(entries[-1]), item.value):
        return True
    raise Refused(
        "conflict",
        f"{name} has {one_line(module, item.key)} already, {at_lines(module, entries[-1:])}, with "
        "another value; replace_expression can change that.",
    )
