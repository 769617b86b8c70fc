"""Set a keyword argument at one call in a function, a class or the module.

`anchor` is the call (`client.get(url)`) or only what is called (`client.get`), `keyword` the name
and `code` the value. Refused where the call may pass the argument in another way.
Postcondition: the call passes this value by this keyword.
"""

from __future__ import annotations

from collections.abc import Sequence

import libcst as cst

from bot.edit.anchors import open_place
from bot.edit.arguments import enclosed, with_keyword
from bot.edit.calls import called_function, calls_of, is_callee, missing_call
from bot.edit.code import one_line, parse_expression
from bot.edit.commas import indentation, read_row
from bot.edit.expressions import expressions, put_expression
from bot.edit.layout import shifted
from bot.edit.parameters import kind_in, missing_parameter
from bot.edit.refusal import Refused
from bot.edit.schema import SetArgument
from bot.edit.structure import same
from bot.edit.targets import choose, find_target
from bot.edit.tree import Spot, at_lines


def set_argument(module: cst.Module, edit: SetArgument) -> cst.Module:
    scope = find_target(module, edit.target, edit.target_number)
    wanted = parse_expression(edit.anchor, module)
    value = parse_expression(edit.code, module)
    where = edit.target or "this file"
    if isinstance(wanted, cst.Call):
        done = [
            spot
            for spot in expressions(scope)
            if _passes(spot.node, edit.keyword, value)
            and same(_others(spot.node, edit.keyword), _others(wanted, edit.keyword))
        ]
        spot = open_place(module, scope, wanted, done=done, number=edit.number, where=where)
    elif is_callee(wanted):
        found = _calls(scope, wanted, edit.keyword, value)
        if not found:
            raise missing_call(module, scope, wanted, where)
        spot = _chosen(module, found, wanted, edit, value, where)
    else:
        said = one_line(module, wanted)
        raise Refused("unsupported", f"The anchor {said!r} is no call, and nothing that is called.")
    return module if spot is None else _put(module, spot, edit.keyword, value)


def _passes(node: cst.CSTNode, keyword: str, value: cst.BaseExpression) -> bool:
    place = _place(node, keyword)
    return isinstance(node, cst.Call) and place >= 0 and same(node.args[place].value, value)


def _place(node: cst.CSTNode, keyword: str) -> int:
    args: Sequence[cst.Arg] = node.args if isinstance(node, cst.Call) else []
    names = [arg.keyword.value if arg.keyword else "" for arg in args]
    return names.index(keyword) if keyword in names else -1


def _others(node: cst.CSTNode, keyword: str) -> cst.CSTNode:
    """A call without the argument."""
    assert isinstance(node, cst.Call)
    return node.with_changes(
        args=[arg for arg in node.args if arg.keyword is None or arg.keyword.value != keyword]
    )


def _calls(
    scope: Spot, callee: cst.BaseExpression, keyword: str, value: cst.BaseExpression
) -> list[Spot]:
    """The calls, but for those in a value that the edit has brought."""
    found = calls_of(scope, callee)
    brought = [
        (*spot.path, ("args", _place(spot.node, keyword)))
        for spot in found
        if _passes(spot.node, keyword, value)
    ]
    return [spot for spot in found if not any(spot.path[: len(p)] == p for p in brought)]


def _chosen(
    module: cst.Module,
    found: list[Spot],
    callee: cst.BaseExpression,
    edit: SetArgument,
    value: cst.BaseExpression,
    where: str,
) -> Spot | None:
    """The call that is meant; None where it passes the value, or where all do."""
    if edit.number is None and all(_passes(s.node, edit.keyword, value) for s in found):
        return None
    spot = choose(
        module,
        found,
        edit.number,
        what=f"{one_line(module, callee)} is called",
        where=f" in {where}",
        nodes=[spot.node for spot in found],
    )
    return None if _passes(spot.node, edit.keyword, value) else spot


def _put(module: cst.Module, spot: Spot, keyword: str, value: cst.BaseExpression) -> cst.Module:
    call = spot.node
    assert isinstance(call, cst.Call)
    place = _place(call, keyword)
    unit = module.default_indent
    if place >= 0:
        depth = indentation(read_row(call.args, call.whitespace_before_args), place)
        path = (*spot.path, ("args", place), ("value", None))
        return put_expression(module, path, enclosed(shifted(value, depth, unit)))
    if any(arg.star == "**" for arg in call.args):
        raise Refused(
            "conflict",
            f"The call {at_lines(module, [call])} passes a mapping, and it cannot be told whether "
            f"that has {keyword} already.",
        )
    _refuse_unfit(module, spot, keyword)
    return put_expression(module, spot.path, with_keyword(call, keyword, value, unit))


def _refuse_unfit(module: cst.Module, spot: Spot, keyword: str) -> None:
    """Refused where the module tells that the function does not take the argument so."""
    known = called_function(module, spot)
    if known is None:
        return
    call = spot.node
    assert isinstance(call, cst.Call)
    function, bound, is_certain = known
    name = function.name.value
    where = at_lines(module, [call])
    field, param = kind_in(function.params, keyword)
    takes_any = function.params.star_kwarg is not None
    if param is None or field in ("star_arg", "star_kwarg"):
        if is_certain and not takes_any:
            raise missing_parameter(function, name, keyword)
        return
    if field == "kwonly_params":
        return
    if field == "posonly_params":
        if not takes_any:
            raise Refused("conflict", f"{name} takes {keyword} by position only.")
        return
    position = [*function.params.posonly_params, *function.params.params].index(param) - bound
    count = next((i for i, arg in enumerate(call.args) if arg.keyword or arg.star), len(call.args))
    if position < count:
        raise Refused("conflict", f"The call {where} passes {keyword} by position already.")
    if any(arg.star for arg in call.args):
        raise Refused(
            "conflict",
            f"The call {where} passes `*`, and it cannot be told whether that reaches {keyword}.",
        )
