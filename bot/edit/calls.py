"""Calls named by their code, or by what they call."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from bot.edit.anchors import nearest
from bot.edit.callers import callers_of, decorator_name
from bot.edit.code import one_line
from bot.edit.expressions import expressions
from bot.edit.names import bound_names, last_name
from bot.edit.refusal import Refused
from bot.edit.scopes import scan
from bot.edit.structure import same
from bot.edit.targets import definitions
from bot.edit.tree import Spot, line_numbers


def calls_of(scope: Spot, callee: cst.BaseExpression) -> list[Spot]:
    """The calls of what has the structure of `callee`, in the order of the code."""
    return [
        spot
        for spot in expressions(scope)
        if isinstance(spot.node, cst.Call) and same(spot.node.func, callee)
    ]


def is_callee(node: cst.CSTNode) -> bool:
    """Whether an anchor names what is called, rather than the call."""
    return isinstance(node, cst.Name | cst.Attribute | cst.Subscript)


def missing_call(
    module: cst.Module, scope: Spot, callee: cst.BaseExpression, where: str
) -> Refused:
    """The refusal of a callee that is not called: what is called that looks most like it."""
    message = f"There is no call of {one_line(module, callee)!r} in {where}."
    found = [spot.node.func for spot in expressions(scope) if isinstance(spot.node, cst.Call)]
    near = nearest(module, callee, found)
    if near is None:
        return Refused("not_found", message)
    line = line_numbers(module, [near])[0]
    said = one_line(module, near)
    return Refused("not_found", f"{message} The nearest is at line {line}: {said!r}.")


def called_function(module: cst.Module, call: Spot) -> tuple[cst.FunctionDef, int, bool] | None:
    """The function of the module that is called, and how many first parameters are bound.

    The third is whether its signature surely is that of the call: nothing decorates or overrides
    it. None where the module does not tell what is called.
    """
    assert isinstance(call.node, cst.Call)
    candidates = list(_named(Spot(module), call.node.func))
    found = scan(module) if candidates else None
    for spot in candidates:
        assert found is not None
        callers = callers_of(module, found, spot)
        for site in callers.calls:
            if site.spot.path == call.path and len(callers.definitions) == 1:
                function = spot.node
                assert isinstance(function, cst.FunctionDef)
                decorators = {decorator_name(decorator) for decorator in function.decorators}
                is_plain = decorators <= {"staticmethod", "classmethod"}
                return function, site.bound, is_plain and not callers.overrides
    return None


def _named(scope: Spot, callee: cst.BaseExpression) -> Iterator[Spot]:
    """The functions with the name of what is called, and the `__init__` of classes with it."""
    name = last_name(callee)
    for spot in definitions(scope):
        node = spot.node
        assert isinstance(node, cst.FunctionDef | cst.ClassDef)
        if isinstance(node, cst.FunctionDef) and node.name.value == name:
            yield spot
        if isinstance(node, cst.ClassDef) and node.name.value == name:
            yield from (s for s in definitions(spot) if bound_names(s.node) == ["__init__"])
        yield from _named(spot, callee)
