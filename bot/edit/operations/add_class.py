"""Add a class to a module, or to another class.

`code` holds it. `place` is `before` (the default) or `after` the top-level function or class that
`target` names or lies in; without a target, the end of the module, before an `if __name__ == …`
block. With `start` or `end`, it stands in the class `target`, behind its docstring or as its last.
Postcondition: there is a class of that name, with this code, in the module or in `target`.
"""

from __future__ import annotations

import libcst as cst

from bot.edit.additions import find_class, missing_statements, place_beside, put_in_class
from bot.edit.blocks import Block, insert_in, lines_of, own_block, start_of
from bot.edit.code import parse_statements
from bot.edit.header import free_first_comments
from bot.edit.refusal import Refused
from bot.edit.schema import AddClass
from bot.edit.structure import flatten
from bot.edit.tree import Spot


def add_class(module: cst.Module, edit: AddClass) -> cst.Module:
    new = parse_statements(edit.code, module)
    if len(new) != 1 or not isinstance(new[0], cst.ClassDef):
        raise Refused("unsupported", "add_class takes the code of one class.")
    freed = free_first_comments(module)
    if edit.place in ("start", "end"):
        scope = find_class(freed, edit.target, edit.target_number)
        assert isinstance(scope.node, cst.ClassDef)
        if not missing_statements(freed, scope.node, new, edit.target):
            return module
        block = own_block(scope)
        assert isinstance(block.node, Block)
        is_start = edit.place == "start"
        position = start_of(block) if is_start else len(flatten(lines_of(block.node)))
        return put_in_class(freed, scope, position, new[0], follow=True)
    if not missing_statements(module, module, new, "this file"):
        return module
    position, follow = place_beside(freed, edit.target, edit.target_number, edit.place)
    changed = insert_in(Spot(freed), position, new, follow=follow)
    assert isinstance(changed, cst.Module)
    return changed
