"""Add a decorator to the function or class `target`.

`code` is `@x(1)` or `x(1)`. `place` is `outermost` (above the others, the default) or `innermost`.
Comments stay where they stand: those before the function above all of its decorators.
Postcondition: it has that decorator.
"""

from __future__ import annotations

import libcst as cst

from bot.edit.code import parse_statements
from bot.edit.dedent import dedent_code
from bot.edit.header import free_first_comments
from bot.edit.refusal import Refused
from bot.edit.schema import AddDecorator
from bot.edit.structure import same
from bot.edit.targets import find_target
from bot.edit.tree import node_at, put_in_module


def add_decorator(module: cst.Module, edit: AddDecorator) -> cst.Module:
    new = _parse(edit.code, module)
    spot = find_target(module, edit.target, edit.target_number)
    freed = free_first_comments(module)
    old = node_at(freed, spot.path)
    assert isinstance(old, cst.FunctionDef | cst.ClassDef)
    if any(same(decorator, new) for decorator in old.decorators):
        return module
    outermost = edit.place == "outermost"
    decorators = [new, *old.decorators] if outermost else [*old.decorators, new]
    return put_in_module(freed, spot.path, old.with_changes(decorators=decorators))


def _parse(code: str, module: cst.Module) -> cst.Decorator:
    text = dedent_code(code)
    if not text.startswith(("@", "#")):
        text = f"@{text}"
    statement = parse_statements(f"{text}\ndef decorated(): pass", module)[0]
    if not isinstance(statement, cst.FunctionDef) or len(statement.decorators) != 1:
        raise Refused("unsupported", "add_decorator takes one decorator: @x(1), or x(1).")
    return statement.decorators[0].with_changes(leading_lines=statement.leading_lines)
