"""Set a constant: the one assignment to a plain name in the module or in a class.

`target` is the name (`LIMIT`, `Settings.limit`), `code` the new value.
Postcondition: the name is assigned this value.
"""

from __future__ import annotations

import libcst as cst

from bot.edit.assignments import find_assignment, not_plain
from bot.edit.code import parse_expression
from bot.edit.expressions import put_expression
from bot.edit.refusal import Refused
from bot.edit.schema import SetConstant
from bot.edit.structure import same
from bot.edit.targets import find_target
from bot.edit.tree import put_in_module


def set_constant(module: cst.Module, edit: SetConstant) -> cst.Module:
    outer, _, name = edit.target.rpartition(".")
    scope = find_target(module, outer, edit.target_number)
    if isinstance(scope.node, cst.FunctionDef):
        raise Refused("unsupported", f"{outer} is a function; set_constant takes module and class.")
    value = parse_expression(edit.code, module)
    where = outer or "this file"
    spot = find_assignment(module, scope, name, edit.number, where)
    old = spot.node
    if isinstance(old, cst.AugAssign):
        raise not_plain(name, where)
    if isinstance(old, cst.AnnAssign) and old.value is None:
        enclosed = old.with_changes(value=value, equal=cst.AssignEqual())
        return put_in_module(module, spot.path, enclosed)
    assert isinstance(old, cst.Assign | cst.AnnAssign)
    if same(old.value, value):
        return module
    return put_expression(module, (*spot.path, ("value", None)), value)
