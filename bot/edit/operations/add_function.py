"""Add functions, and constants that they use, to a module.

`code` holds them; with `target`, they stand before that top-level function or class, else at the
end of the module but before an `if __name__ == …` block.
Postcondition: every name that `code` defines is defined at the top level, with this code.
"""

from __future__ import annotations

import libcst as cst

from bot.edit.refusal import Refused
from bot.edit.structure import Statement, find_scope, parse_code, statement_shape
from bot.records import Edit


def add_function(module: cst.Module, edit: Edit) -> cst.Module:
    statements = parse_code(edit.code, module)
    existing = {
        name: statement_shape(module, node) for node in module.body for name in defined_names(node)
    }
    missing = []
    for statement in statements:
        names = defined_names(statement)
        if not names:
            raise Refused("unsupported", "add_function takes definitions and assignments only.")
        present = [name for name in names if name in existing]
        if not present:
            missing.append(statement)
        elif any(existing[name] != statement_shape(module, statement) for name in present):
            raise Refused("conflict", f"{present[0]} exists in this file already, with other code.")
    if not missing:
        return module
    return module.with_changes(body=_with_added(module, missing, edit.target))


def _with_added(module: cst.Module, added: list[Statement], target: str) -> list[Statement]:
    body = list(module.body)
    place = _place(module, target)
    two = [cst.EmptyLine(indent=False), cst.EmptyLine(indent=False)]
    first = _after_blank_lines(added[0], two if place else [])
    following = body[place:]
    if following and place == 0:
        following[0] = _after_blank_lines(following[0], two)
    return [*body[:place], first, *added[1:], *following]


def _place(module: cst.Module, target: str) -> int:
    if target:
        outer = target.split(".")[0]
        find_scope(module, target)
        for position, node in enumerate(module.body):
            if outer in defined_names(node) or any(
                getattr(getattr(inner, "name", None), "value", None) == outer
                for inner in getattr(getattr(node, "body", None), "body", ())
            ):
                return position
    for position, node in enumerate(module.body):
        if _is_main_guard(node):
            return position
    return len(module.body)


def _is_main_guard(node: cst.CSTNode) -> bool:
    return (
        isinstance(node, cst.If)
        and isinstance(node.test, cst.Comparison)
        and isinstance(node.test.left, cst.Name)
        and node.test.left.value == "__name__"
    )


def _after_blank_lines(statement: Statement, blank: list[cst.EmptyLine]) -> Statement:
    """The statement with `blank` before it, its own comments kept."""
    lines = list(getattr(statement, "leading_lines", ()))
    while lines and lines[0].comment is None:
        lines.pop(0)
    return statement.with_changes(leading_lines=[*blank, *lines])


def defined_names(node: cst.CSTNode) -> list[str]:
    """What a top-level statement defines: a function, a class, or assigned names."""
    if isinstance(node, cst.FunctionDef | cst.ClassDef):
        return [node.name.value]
    names = []
    if isinstance(node, cst.SimpleStatementLine):
        for small in node.body:
            targets: list[cst.BaseExpression] = []
            if isinstance(small, cst.Assign):
                targets = [t.target for t in small.targets]
            elif isinstance(small, cst.AnnAssign):
                targets = [small.target]
            names += [t.value for t in targets if isinstance(t, cst.Name)]
    return names
