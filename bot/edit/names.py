"""Which names a module's top level, or a class, binds, and by which statements."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from bot.edit.tree import Spot, walk


def bindings(scope: cst.Module | cst.ClassDef) -> dict[str, list[cst.CSTNode]]:
    """Name → the statements that bind it, also those inside `if`, `try` and loops."""
    found: dict[str, list[cst.CSTNode]] = {}
    for node in top_level(scope):
        for name in bound_names(node):
            found.setdefault(name, []).append(node)
    return found


def top_level(scope: cst.Module | cst.ClassDef) -> Iterator[cst.CSTNode]:
    """The statements that run when the module is imported, outside functions and other classes."""
    for spot in own_statements(Spot(scope)):
        yield spot.node


def own_statements(scope: Spot) -> Iterator[Spot]:
    """A scope's statements, also those in its `if` and `try` blocks, in the order of the code."""
    closed = (cst.FunctionDef, cst.ClassDef, cst.BaseExpression, cst.BaseSmallStatement)
    for spot in walk(scope, lambda node: node is scope.node or not isinstance(node, closed)):
        if spot is not scope and isinstance(
            spot.node, cst.BaseSmallStatement | cst.BaseCompoundStatement
        ):
            yield spot


def bound_names(node: cst.CSTNode) -> list[str]:
    """What a statement binds by itself: a function, a class, assigned or imported names."""
    if isinstance(node, cst.FunctionDef | cst.ClassDef):
        return [node.name.value]
    if isinstance(node, cst.Assign):
        return [name for target in node.targets for name in _targets(target.target)]
    if isinstance(node, cst.AnnAssign | cst.AugAssign | cst.For):
        return list(_targets(node.target))
    if isinstance(node, cst.Import | cst.ImportFrom) and not isinstance(node.names, cst.ImportStar):
        return [bound_by(alias) for alias in node.names]
    return []


def bound_by(alias: cst.ImportAlias) -> str:
    """The name that an import makes."""
    return alias.evaluated_alias or alias.evaluated_name.split(".")[0]


def _targets(target: cst.CSTNode) -> Iterator[str]:
    if isinstance(target, cst.Name):
        yield target.value
    elif isinstance(target, cst.Tuple | cst.List):
        for element in target.elements:
            yield from _targets(element.value)


def last_name(node: cst.CSTNode) -> str:
    """`b` of `a.b` and of `b`; empty for others."""
    if isinstance(node, cst.Attribute):
        return node.attr.value
    return node.value if isinstance(node, cst.Name) else ""
