"""Add a field to the class `target`: `name: type = value`, `name: type` or `name = value`.

It stands behind the last field, before the methods.
Postcondition: the class has this field, with this type and value.
"""

from __future__ import annotations

import libcst as cst

from bot.edit.additions import find_class, missing_statements, put_in_class
from bot.edit.blocks import Block, lines_of, own_block
from bot.edit.code import is_definition, parse_statements
from bot.edit.field_order import refuse_unfit
from bot.edit.header import free_first_comments
from bot.edit.refusal import Refused
from bot.edit.schema import AddField
from bot.edit.structure import flatten, is_docstring
from bot.edit.tree import Statement


def add_field(module: cst.Module, edit: AddField) -> cst.Module:
    new = _parse(edit, module)
    freed = free_first_comments(module)
    scope = find_class(freed, edit.target, edit.target_number)
    assert isinstance(scope.node, cst.ClassDef)
    if not missing_statements(freed, scope.node, [new], edit.target):
        return module
    refuse_unfit(freed, scope.node, flatten([new])[0])
    block = own_block(scope).node
    assert isinstance(block, Block)
    statements = flatten(lines_of(block))
    return put_in_class(freed, scope, _place(statements), new, follow=True)


def _parse(edit: AddField, module: cst.Module) -> Statement:
    statements = parse_statements(edit.code, module)
    parts = flatten(statements)
    node = parts[0]
    targets: list[cst.CSTNode] = []
    if isinstance(node, cst.Assign):
        targets = [target.target for target in node.targets]
    elif isinstance(node, cst.AnnAssign):
        targets = [node.target]
    if len(parts) != 1 or len(targets) != 1 or not isinstance(targets[0], cst.Name):
        raise Refused(
            "unsupported", "add_field takes one field: name: type = value, or name = value."
        )
    return statements[0]


def _place(statements: list[cst.CSTNode]) -> int:
    """Behind the last field before the first method, and what is said of it in a string."""
    stop = next((i for i, node in enumerate(statements) if is_definition(node)), len(statements))
    fields = [
        i
        for i, node in enumerate(statements[:stop])
        if isinstance(node, cst.Assign | cst.AnnAssign)
    ]
    if not fields:
        return 1 if is_docstring(statements[0]) else 0
    place = fields[-1] + 1
    return place + 1 if place < stop and is_docstring(statements[place]) else place
