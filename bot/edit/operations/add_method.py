"""Add a method to the class `target`.

`code` is one function. `place` is `start` (before the first method), `end` (the default), or
`before` / `after` the method of the class whose name is `anchor`.
Postcondition: the class has a method with this code.
"""

from __future__ import annotations

import difflib

import libcst as cst

from bot.edit.additions import find_class, missing_statements, put_in_class
from bot.edit.blocks import Block, lines_of, own_block
from bot.edit.code import parse_statements
from bot.edit.header import free_first_comments
from bot.edit.refusal import Refused
from bot.edit.schema import AddMethod
from bot.edit.structure import flatten


def add_method(module: cst.Module, edit: AddMethod) -> cst.Module:
    new = parse_statements(edit.code, module)
    if len(new) != 1 or not isinstance(new[0], cst.FunctionDef):
        raise Refused("unsupported", "add_method takes the code of one function.")
    freed = free_first_comments(module)
    scope = find_class(freed, edit.target, edit.target_number)
    assert isinstance(scope.node, cst.ClassDef)
    if not missing_statements(freed, scope.node, new, edit.target):
        return module
    block = own_block(scope).node
    assert isinstance(block, Block)
    position, follow = _place(flatten(lines_of(block)), edit)
    return put_in_class(freed, scope, position, new[0], follow=follow)


def _place(statements: list[cst.CSTNode], edit: AddMethod) -> tuple[int, bool]:
    """The place in the class, and whether it belongs to what stands before."""
    methods = [
        (position, node.name.value)
        for position, node in enumerate(statements)
        if isinstance(node, cst.FunctionDef)
    ]
    if edit.place == "end" or (edit.place == "start" and not methods):
        return len(statements), True
    if edit.place == "start":
        return methods[0][0], False
    anchor = edit.anchor.strip()
    # A property and its setter are one thing.
    found = [position for position, name in methods if name == anchor]
    if not found:
        names = list(dict.fromkeys(name for _, name in methods))
        near = difflib.get_close_matches(anchor, names, n=3) or names[:8]
        hint = f" It has {', '.join(near)}." if near else ""
        raise Refused("not_found", f"{edit.target} has no method {anchor!r} of its own.{hint}")
    return (found[0], False) if edit.place == "before" else (found[-1] + 1, True)
