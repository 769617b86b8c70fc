"""Replace the one expression of a function (or the module) whose structure is that of `anchor`.

`code` may hold the anchor itself, so an expression can be wrapped. What is assigned to is no
expression here: `x` means the value of `x`.
Postcondition: `code` stands in the target, and no anchor outside of it.
"""

from __future__ import annotations

import libcst as cst

from bot.edit.anchors import open_place
from bot.edit.code import parse_expression
from bot.edit.expressions import find_expressions, put_expression
from bot.edit.refusal import Refused
from bot.edit.schema import ReplaceExpression
from bot.edit.targets import find_target


def replace_expression(module: cst.Module, edit: ReplaceExpression) -> cst.Module:
    scope = find_target(module, edit.target, edit.target_number)
    wanted = _parse_anchor(edit.anchor, module)
    new = parse_expression(edit.code, module)
    spot = open_place(
        module,
        scope,
        wanted,
        done=find_expressions(scope, new),
        number=edit.number,
        where=edit.target or "this file",
    )
    return module if spot is None else put_expression(module, spot.path, new)


def _parse_anchor(anchor: str, module: cst.Module) -> cst.BaseExpression:
    try:
        return parse_expression(anchor, module)
    except Refused:
        raise Refused(
            "would_not_compile",
            f"The anchor {anchor.strip()[:80]!r} is no expression; replace_statements takes "
            "statements.",
        ) from None
