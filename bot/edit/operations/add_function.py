"""Add functions, and constants that they use, to a module.

`code` holds them; with `target`, they stand before (or, with `place`, after) the top-level
function or class that it names or lies in; else at the end of the module, but before an
`if __name__ == …` block.
Postcondition: every name that `code` defines is defined at the top level, with this code.
"""

from __future__ import annotations

import libcst as cst

from bot.edit.blocks import insert_in, lines_of
from bot.edit.code import parse_statements
from bot.edit.header import free_first_comments
from bot.edit.names import bindings, bound_names
from bot.edit.refusal import Refused
from bot.edit.schema import AddFunction
from bot.edit.structure import flatten, same_statements
from bot.edit.targets import find_target
from bot.edit.tree import Spot, Statement, at_lines

_ADDED = (cst.FunctionDef, cst.ClassDef, cst.Assign, cst.AnnAssign)


def add_function(module: cst.Module, edit: AddFunction) -> cst.Module:
    missing = _find_missing(module, parse_statements(edit.code, module))
    if not missing:
        return module
    freed = free_first_comments(module)
    position, follow = _place(freed, edit)
    changed = insert_in(Spot(freed), position, missing, follow=follow)
    assert isinstance(changed, cst.Module)
    return changed


def _find_missing(module: cst.Module, wanted: list[Statement]) -> list[Statement]:
    existing = bindings(module)
    missing: list[Statement] = []
    for statement in wanted:
        parts = flatten([statement])
        names = [name for part in parts for name in bound_names(part)]
        if not names or not all(isinstance(part, _ADDED) for part in parts):
            raise Refused(
                "unsupported",
                "add_function takes definitions and assignments; add_import takes imports.",
            )
        present = [name for name in names if name in existing]
        if not present:
            missing.append(statement)
            continue
        for name in present:
            if not same_statements([existing[name][0]], [statement]) or len(existing[name]) > 1:
                raise Refused(
                    "conflict",
                    f"{name} exists in this file already, {at_lines(module, existing[name])}, with "
                    "other code; choose another name, or replace that.",
                )
    return missing


def _place(module: cst.Module, edit: AddFunction) -> tuple[int, bool]:
    """The place among the module's statements, and whether it belongs to what stands before."""
    lines = lines_of(module)
    index, follow = len(lines), True
    if edit.target:
        scope = find_target(module, edit.target, edit.target_number)
        index = scope.path[0][1] or 0
        follow = edit.place == "after"
        index += follow
    else:
        for position, line in enumerate(lines):
            if _is_main_guard(line):
                # What is said before the guard is about the guard.
                index = position
                break
    return len(flatten(lines[:index])), follow


def _is_main_guard(node: cst.CSTNode) -> bool:
    return (
        isinstance(node, cst.If)
        and isinstance(node.test, cst.Comparison)
        and isinstance(node.test.left, cst.Name)
        and node.test.left.value == "__name__"
    )
