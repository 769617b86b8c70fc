"""Set a constant: the one assignment to a plain name in the module or in a class.

`target` is the name (`LIMIT`, `Settings.limit`), `code` the new value.
Postcondition: the name is assigned this value.
"""

from __future__ import annotations

import libcst as cst

from bot.edit.refusal import Refused
from bot.edit.structure import (
    block_statements,
    expression_shape,
    find_scope,
    parse_expression,
    replace_node,
)
from bot.records import Edit


def set_constant(module: cst.Module, edit: Edit) -> cst.Module:
    outer, _, name = edit.target.rpartition(".")
    scope = find_scope(module, outer)
    value = parse_expression(edit.code, module)
    found = [
        small
        for line in block_statements(scope)
        if isinstance(line, cst.SimpleStatementLine)
        for small in line.body
        if _assigns(small, name)
    ]
    if not found:
        raise Refused("not_found", f"{outer or 'This file'} assigns no {name!r}.")
    if len(found) > 1:
        raise Refused("ambiguous", f"{name} is assigned {len(found)} times.")
    old = found[0]
    assert isinstance(old, cst.Assign | cst.AnnAssign)
    if old.value is None:
        raise Refused("not_found", f"{name} is declared without a value.")
    if expression_shape(module.code_for_node(old.value)) == expression_shape(edit.code):
        return module
    return replace_node(module, old.value, value)


def _assigns(small: cst.CSTNode, name: str) -> bool:
    if isinstance(small, cst.Assign):
        targets = [target.target for target in small.targets]
        return len(targets) == 1 and _is_name(targets[0], name)
    return isinstance(small, cst.AnnAssign) and _is_name(small.target, name)


def _is_name(node: cst.CSTNode, name: str) -> bool:
    return isinstance(node, cst.Name) and node.value == name
