"""The strings in which a module lists its public names, `__all__`."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import libcst as cst

from bot.edit.names import own_statements
from bot.edit.tree import Path, Spot, walk


@dataclass(frozen=True)
class Export:
    """A name in `__all__`."""

    node: cst.SimpleString
    path: Path


def exported(module: cst.Module) -> list[Export]:
    """The names that `__all__` lists, where it is set, added to, or extended."""
    return [
        Export(spot.node, spot.path)
        for statement in own_statements(Spot(module))
        for value in _values(statement)
        for spot in walk(value, lambda node: True)
        if isinstance(spot.node, cst.SimpleString)
    ]


def _values(statement: Spot) -> Iterator[Spot]:
    node = statement.node
    if isinstance(node, cst.Assign):
        if any(_is_all(target.target) for target in node.targets):
            yield _value(statement, node.value)
    elif isinstance(node, cst.AnnAssign | cst.AugAssign):
        if _is_all(node.target) and node.value is not None:
            yield _value(statement, node.value)
    elif isinstance(node, cst.Expr) and isinstance(node.value, cst.Call):
        func = node.value.func
        if isinstance(func, cst.Attribute) and _is_all(func.value):
            yield _value(statement, node.value)


def _value(statement: Spot, value: cst.CSTNode) -> Spot:
    return Spot(value, (*statement.path, ("value", None)))


def _is_all(node: cst.CSTNode) -> bool:
    return isinstance(node, cst.Name) and node.value == "__all__"
