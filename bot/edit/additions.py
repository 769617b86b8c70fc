"""Adding definitions and assignments to a module or a class: what is missing, and where it goes."""

from __future__ import annotations

from collections.abc import Sequence

import libcst as cst

from bot.edit.blocks import Block, break_line, insert_in, lines_of, own_block
from bot.edit.code import leading_lines, pad, with_lines
from bot.edit.names import bindings, bound_names
from bot.edit.refusal import Refused
from bot.edit.structure import flatten, is_docstring, same_statements
from bot.edit.targets import find_target
from bot.edit.tree import Spot, Statement, at_lines, put_in_module


def missing_statements(
    module: cst.Module,
    scope: cst.Module | cst.ClassDef,
    wanted: Sequence[Statement],
    where: str,
) -> list[Statement]:
    """Those of `wanted` whose names the scope does not bind yet.

    Refused("conflict") where it binds one of them to other code, or several times.
    """
    existing = bindings(scope)
    missing: list[Statement] = []
    for statement in wanted:
        names = [name for part in flatten([statement]) for name in bound_names(part)]
        present = [name for name in names if name in existing]
        if not present:
            missing.append(statement)
            continue
        for name in present:
            if not same_statements([existing[name][0]], [statement]) or len(existing[name]) > 1:
                raise Refused(
                    "conflict",
                    f"{name} exists in {where} already, {at_lines(module, existing[name])}, with "
                    "other code; choose another name, or replace that.",
                )
    return missing


def place_beside(
    module: cst.Module, target: str, number: int | None, place: str
) -> tuple[int, bool]:
    """The place among the module's statements, and whether it belongs to what stands before.

    Beside the top-level statement that holds `target`; without one, at the end of the module,
    before an `if __name__ == …` block.
    """
    lines = lines_of(module)
    index, follow = len(lines), True
    if target:
        scope = find_target(module, target, number)
        index = scope.path[0][1] or 0
        follow = place == "after"
        index += follow
    else:
        for position, line in enumerate(lines):
            if _is_main_guard(line):
                # What is said before the guard is about the guard.
                index = position
                break
    return len(flatten(lines[:index])), follow


def find_class(module: cst.Module, target: str, number: int | None) -> Spot:
    """The class of that dotted name."""
    scope = find_target(module, target, number)
    if not isinstance(scope.node, cst.ClassDef):
        raise Refused("unsupported", f"{target} is a function, not a class.")
    return scope


def put_in_class(
    module: cst.Module, scope: Spot, position: int, new: Statement, *, follow: bool
) -> cst.Module:
    """The module with `new` before statement number `position` of a class.

    A `pass` or `...` that only filled the class goes; what is said beside it stays.
    """
    block = own_block(scope)
    suite = block.node
    assert isinstance(suite, cst.IndentedBlock | cst.SimpleStatementSuite)
    statements = flatten(lines_of(suite))
    if _is_filler(statements[-1]) and all(is_docstring(other) for other in statements[:-1]):
        position = len(statements) - 1
        changed = _in_place_of_filler(suite, new)
    else:
        changed = insert_in(block, position, [new], follow=follow)
    if position == 1 and is_docstring(statements[0]):
        docstring, added, *others = lines_of(changed)
        added = with_lines(added, pad(leading_lines(added), 1))
        changed = changed.with_changes(body=[docstring, added, *others])
    return put_in_module(module, block.path, changed)


def _in_place_of_filler(
    suite: cst.IndentedBlock | cst.SimpleStatementSuite, new: Statement
) -> Block:
    lines = lines_of(suite)
    docstring, rest = break_line(lines[-1], len(flatten(lines[-1:])) - 1)
    kept = [*lines[:-1], *docstring]
    if isinstance(suite, cst.SimpleStatementSuite):
        if not kept:
            return cst.IndentedBlock(body=[new], header=suite.trailing_whitespace)
        suite = cst.IndentedBlock(body=[])
    filler = rest[0]
    assert isinstance(filler, cst.SimpleStatementLine)
    comment = filler.trailing_whitespace.comment
    said = [cst.EmptyLine(comment=comment)] if comment else []
    added = with_lines(new, [*leading_lines(filler), *said, *leading_lines(new)])
    if not kept:
        return suite.with_changes(body=[added])
    return insert_in(Spot(suite.with_changes(body=kept)), len(kept), [added], follow=True)


def _is_filler(node: cst.CSTNode) -> bool:
    return isinstance(node, cst.Pass) or (
        isinstance(node, cst.Expr) and isinstance(node.value, cst.Ellipsis)
    )


def _is_main_guard(node: cst.CSTNode) -> bool:
    return (
        isinstance(node, cst.If)
        and isinstance(node.test, cst.Comparison)
        and isinstance(node.test.left, cst.Name)
        and node.test.left.value == "__name__"
    )
