"""The one statement that assigns to a name, or to an attribute or an item."""

from __future__ import annotations

import difflib
from collections.abc import Sequence

import libcst as cst

from bot.edit.code import one_line
from bot.edit.names import bound_names, own_statements
from bot.edit.refusal import Refused
from bot.edit.structure import same
from bot.edit.targets import choose
from bot.edit.tree import Spot, walk

Assignment = cst.Assign | cst.AnnAssign | cst.AugAssign


def find_assignment(
    module: cst.Module, scope: Spot, name: str, number: int | None, where: str
) -> Spot:
    """The statement of a scope itself that gives a name its value. Refused for other bindings."""
    statements = list(own_statements(scope))
    found = [spot for spot in statements if name in bound_names(spot.node)]
    if not found:
        raise Refused("not_found", _missing(statements, name, where))
    return _chosen(module, found, cst.Name(name), number, where)


def find_assignment_to(
    module: cst.Module, scope: Spot, target: cst.BaseExpression, number: int | None, where: str
) -> Spot:
    """The same for an attribute or an item (`self.tools`), also in the functions of the scope."""
    if isinstance(target, cst.Name):
        return find_assignment(module, scope, target.value, number, where)
    found = assignments_to(scope, target)
    if not found:
        said = one_line(module, target)
        raise Refused("not_found", f"{_first(where)} assigns nothing to {said!r}.")
    return _chosen(module, found, target, number, where)


def assignments_to(scope: Spot, target: cst.BaseExpression) -> list[Spot]:
    """The statements that assign to it: to a name in the scope itself, to others all in it."""
    if isinstance(target, cst.Name):
        return [s for s in own_statements(scope) if target.value in bound_names(s.node)]
    closed = (cst.BaseExpression, cst.BaseSmallStatement)
    return [
        spot
        for spot in walk(scope, lambda node: not isinstance(node, closed))
        if any(same(one, target) for one in _targets(spot.node))
    ]


def not_plain(name: str, where: str) -> Refused:
    """The refusal of a name that is bound in another way."""
    return Refused("unsupported", f"{name} is not set by a plain assignment in {where}.")


def _chosen(
    module: cst.Module,
    found: Sequence[Spot],
    target: cst.BaseExpression,
    number: int | None,
    where: str,
) -> Spot:
    said = one_line(module, target)
    spot = choose(
        module,
        found,
        number,
        what=f"{said} is assigned",
        where=f" in {where}",
        nodes=[spot.node for spot in found],
    )
    targets = _targets(spot.node)
    if len(targets) != 1 or not same(targets[0], target):
        raise not_plain(said, where)
    return spot


def _targets(node: cst.CSTNode) -> list[cst.BaseExpression]:
    if isinstance(node, cst.Assign):
        return [target.target for target in node.targets]
    return [node.target] if isinstance(node, cst.AnnAssign | cst.AugAssign) else []


def _missing(statements: list[Spot], name: str, where: str) -> str:
    names = list(dict.fromkeys(n for spot in statements for n in bound_names(spot.node)))
    near = difflib.get_close_matches(name, names, n=3)
    hint = f" The nearest names are {', '.join(near)}." if near else ""
    return f"{_first(where)} assigns no {name!r}.{hint}"


def _first(where: str) -> str:
    """The place as the first word of a sentence; a name stays as it is."""
    return "This file" if where == "this file" else where
