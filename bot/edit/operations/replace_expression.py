"""Replace the one expression of a function (or the module) whose structure is that of `anchor`.

`code` may hold the anchor itself, so an expression can be wrapped. What is assigned to is no
expression here: `x` means the value of `x`.
Postcondition: `code` stands in the target, and no anchor outside of it.
"""

from __future__ import annotations

import libcst as cst

from bot.edit.anchors import nearest, undecided
from bot.edit.code import one_line, parse_expression
from bot.edit.expressions import expressions, find_expressions, put_expression
from bot.edit.refusal import Refused
from bot.edit.schema import ReplaceExpression
from bot.edit.targets import choose, find_target
from bot.edit.tree import Spot, line_numbers


def replace_expression(module: cst.Module, edit: ReplaceExpression) -> cst.Module:
    scope = find_target(module, edit.target, edit.target_number)
    wanted = _parse_anchor(edit.anchor, module)
    new = parse_expression(edit.code, module)
    done = find_expressions(scope, new)
    found = [
        spot
        for spot in find_expressions(scope, wanted)
        if not any(spot.path[: len(whole.path)] == whole.path for whole in done)
    ]
    if not found and done:
        return module
    where = edit.target or "this file"
    if not found:
        raise Refused("not_found", _missing(module, scope, wanted, where))
    if done and edit.number is not None:
        raise undecided(module, [spot.node for spot in done])
    spot = choose(
        module,
        found,
        edit.number,
        what=f"The anchor {one_line(module, wanted)!r} stands",
        where=f" in {where}",
        nodes=[spot.node for spot in found],
    )
    return put_expression(module, spot.path, new)


def _parse_anchor(anchor: str, module: cst.Module) -> cst.BaseExpression:
    try:
        return parse_expression(anchor, module)
    except Refused:
        raise Refused(
            "would_not_compile",
            f"The anchor {anchor.strip()[:80]!r} is no expression; replace_statements takes "
            "statements.",
        ) from None


def _missing(module: cst.Module, scope: Spot, wanted: cst.BaseExpression, where: str) -> str:
    message = f"There is no expression {one_line(module, wanted)!r} in {where}."
    alike = [s.node for s in expressions(scope) if type(s.node) is type(wanted)]
    near = nearest(module, wanted, alike)
    if near is None:
        return message
    line = line_numbers(module, [near])[0]
    return f"{message} The nearest is at line {line}: {one_line(module, near)!r}."
