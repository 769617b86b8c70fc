"""Wrap one call in a function, a class or the module in other code.

`anchor` is the call (`client.get(url)`), with its `await` where what comes out is to be wrapped
(`await client.get(url)`), or only what is called (`client.get`). `code` is an expression in which
`...` stands for the call (`retry(lambda: ...)`), or only what is to be called with it (`str`).
Refused where the call would mean something else there: an await or a name in another scope.
Postcondition: the call stands wrapped so.
"""

from __future__ import annotations

import libcst as cst

from bot.edit.anchors import missing_expression
from bot.edit.calls import calls_of, is_callee, missing_call
from bot.edit.code import one_line, parse_expression
from bot.edit.expressions import find_expressions, put_expression
from bot.edit.refusal import Refused
from bot.edit.schema import WrapCall
from bot.edit.structure import same
from bot.edit.targets import choose, find_target
from bot.edit.tree import Path, Spot, node_at
from bot.edit.wrapping import Wrapper, parse_wrapper, refuse_other_meaning


def wrap_call(module: cst.Module, edit: WrapCall) -> cst.Module:
    scope = find_target(module, edit.target, edit.target_number)
    wanted = parse_expression(edit.anchor, module)
    wrapper = parse_wrapper(edit.code, module)
    where = edit.target or "this file"
    found = _outside(module, wrapper, _find(module, scope, wanted, where))
    if edit.number is None and all(_is_wrapped(module, wrapper, spot) for spot in found):
        return module
    spot = choose(
        module,
        found,
        edit.number,
        what=f"{one_line(module, wanted)!r} stands",
        where=f" in {where}",
        nodes=[spot.node for spot in found],
    )
    if _is_wrapped(module, wrapper, spot):
        return module
    refuse_other_meaning(module, wrapper, spot)
    return put_expression(module, spot.path, wrapper.around(module, spot.node))


def _find(module: cst.Module, scope: Spot, wanted: cst.BaseExpression, where: str) -> list[Spot]:
    if is_callee(wanted):
        found = calls_of(scope, wanted)
        if not found:
            raise missing_call(module, scope, wanted, where)
        return found
    core = wanted.expression if isinstance(wanted, cst.Await) else wanted
    if not isinstance(core, cst.Call):
        said = one_line(module, wanted)
        raise Refused(
            "unsupported",
            f"The anchor {said!r} is no call, and nothing that is called; replace_expression can "
            "wrap it.",
        )
    found = find_expressions(scope, wanted)
    if not found:
        raise Refused("not_found", missing_expression(module, scope, wanted, where))
    return found


def _is_wrapped(module: cst.Module, wrapper: Wrapper, spot: Spot) -> bool:
    length = len(spot.path) - len(wrapper.hole)
    if length < 0 or spot.path[length:] != wrapper.hole:
        return False
    return same(node_at(module, spot.path[:length]), wrapper.plainly_around(spot.node))


def _outside(module: cst.Module, wrapper: Wrapper, found: list[Spot]) -> list[Spot]:
    """Those that are no part of a wrapper that stands there already."""
    wrapped = [spot.path for spot in found if _is_wrapped(module, wrapper, spot)]
    depth = len(wrapper.hole)
    return [
        spot
        for spot in found
        if not any(
            _starts(spot.path, call[: len(call) - depth]) and not _starts(spot.path, call)
            for call in wrapped
        )
    ]


def _starts(path: Path, start: Path) -> bool:
    return path[: len(start)] == start
