"""Replace the one expression of a function (or the module) whose structure is that of `anchor`.

`code` may hold the anchor itself, so an expression can be wrapped.
Postcondition: `code` stands in the target, and no anchor outside of it.
"""

from __future__ import annotations

import libcst as cst

from bot.edit.refusal import Refused
from bot.edit.structure import find_expressions, find_scope, parse_expression, replace_node
from bot.records import Edit


def replace_expression(module: cst.Module, edit: Edit) -> cst.Module:
    scope = find_scope(module, edit.target)
    anchor = parse_expression(edit.anchor, module)
    code = parse_expression(edit.code, module)
    done = find_expressions(module, scope, code)
    inside = {
        id(node)
        for whole in done
        for node in find_expressions(module, whole, anchor)  # type: ignore[arg-type]
    }
    found = [node for node in find_expressions(module, scope, anchor) if id(node) not in inside]
    if not found and done:
        return module
    where = edit.target or "this file"
    if not found:
        raise Refused("not_found", f"There is no expression {edit.anchor!r} in {where}.")
    if len(found) > 1:
        raise Refused("ambiguous", f"{edit.anchor!r} stands {len(found)} times in {where}.")
    old = found[0]
    assert isinstance(old, cst.BaseExpression)
    return replace_node(module, old, code)
