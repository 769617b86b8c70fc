"""Set a constant: the one assignment to a plain name in the module or in a class.

`target` is the name (`LIMIT`, `Settings.limit`), `code` the new value.
Postcondition: the name is assigned this value.
"""

from __future__ import annotations

import difflib

import libcst as cst

from bot.edit.code import parse_expression
from bot.edit.expressions import put_expression
from bot.edit.names import bound_names, own_statements
from bot.edit.refusal import Refused
from bot.edit.schema import SetConstant
from bot.edit.structure import same
from bot.edit.targets import choose, find_target
from bot.edit.tree import Spot, put_in_module


def set_constant(module: cst.Module, edit: SetConstant) -> cst.Module:
    outer, _, name = edit.target.rpartition(".")
    scope = find_target(module, outer, edit.target_number)
    if isinstance(scope.node, cst.FunctionDef):
        raise Refused("unsupported", f"{outer} is a function; set_constant takes module and class.")
    value = parse_expression(edit.code, module)
    statements = list(own_statements(scope))
    found = [spot for spot in statements if name in bound_names(spot.node)]
    where = outer or "this file"
    if not found:
        raise Refused("not_found", _missing(statements, name, where))
    spot = choose(
        module,
        found,
        edit.number,
        what=f"{name} is assigned",
        where=f" in {where}",
        nodes=[spot.node for spot in found],
    )
    old = spot.node
    if not _assigns_only(old, name):
        raise Refused("unsupported", f"{name} is not set by a plain assignment in {where}.")
    if isinstance(old, cst.AnnAssign) and old.value is None:
        enclosed = old.with_changes(value=value, equal=cst.AssignEqual())
        return put_in_module(module, spot.path, enclosed)
    assert isinstance(old, cst.Assign | cst.AnnAssign)
    if same(old.value, value):
        return module
    return put_expression(module, (*spot.path, ("value", None)), value)


def _assigns_only(node: cst.CSTNode, name: str) -> bool:
    target = node.targets[0].target if isinstance(node, cst.Assign) else None
    if isinstance(node, cst.Assign) and len(node.targets) > 1:
        return False
    if isinstance(node, cst.AnnAssign):
        target = node.target
    return isinstance(target, cst.Name) and target.value == name


def _missing(statements: list[Spot], name: str, where: str) -> str:
    names = list(dict.fromkeys(n for spot in statements for n in bound_names(spot.node)))
    near = difflib.get_close_matches(name, names, n=3)
    hint = f" The nearest names are {', '.join(near)}." if near else ""
    return f"{where[0].upper()}{where[1:]} assigns no {name!r}.{hint}"
