"""Add functions, and constants that they use, to a module.

`code` holds them; with `target`, they stand before (or, with `place`, after) the top-level
function or class that it names or lies in; else at the end of the module, but before an
`if __name__ == …` block.
Postcondition: every name that `code` defines is defined at the top level, with this code.
"""

from __future__ import annotations

import libcst as cst

from bot.edit.additions import missing_statements, place_beside
from bot.edit.blocks import insert_in
from bot.edit.code import parse_statements
from bot.edit.header import free_first_comments
from bot.edit.names import bound_names
from bot.edit.refusal import Refused
from bot.edit.schema import AddFunction
from bot.edit.structure import flatten
from bot.edit.tree import Spot, Statement

_ADDED = (cst.FunctionDef, cst.ClassDef, cst.Assign, cst.AnnAssign)


def add_function(module: cst.Module, edit: AddFunction) -> cst.Module:
    missing = missing_statements(module, module, _parse(edit, module), "this file")
    if not missing:
        return module
    freed = free_first_comments(module)
    position, follow = place_beside(freed, edit.target, edit.target_number, edit.place)
    changed = insert_in(Spot(freed), position, missing, follow=follow)
    assert isinstance(changed, cst.Module)
    return changed


def _parse(edit: AddFunction, module: cst.Module) -> list[Statement]:
    statements = parse_statements(edit.code, module)
    for statement in statements:
        parts = flatten([statement])
        names = [name for part in parts for name in bound_names(part)]
        if not names or not all(isinstance(part, _ADDED) for part in parts):
            raise Refused(
                "unsupported",
                "add_function takes definitions and assignments; add_import takes imports.",
            )
    return statements
