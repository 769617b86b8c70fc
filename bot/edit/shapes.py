"""What code looks like when the names that are its own business are left out.

Two functions that differ in their locals' names, annotations and layout have one shape.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

import libcst as cst

from bot.edit.structure import plain
from bot.edit.tree import Spot, field_names, walk

Shape = object
# Names that stand for something outside of the code around them.
_FOREIGN = {
    (cst.Attribute, "attr"),
    (cst.Arg, "keyword"),
    (cst.ImportAlias, "name"),
    (cst.ImportFrom, "module"),
    (cst.MatchKeywordElement, "key"),
    (cst.NameItem, "name"),
}
# What may be said of a name's type changes nothing that runs.
_TYPES = {(cst.Param, "annotation"), (cst.FunctionDef, "returns")}
_BOUND = {
    (cst.AssignTarget, "target"),
    (cst.AnnAssign, "target"),
    (cst.AugAssign, "target"),
    (cst.For, "target"),
    (cst.CompFor, "target"),
    (cst.AsName, "name"),
    (cst.NamedExpr, "target"),
    (cst.Param, "name"),
    (cst.FunctionDef, "name"),
    (cst.ClassDef, "name"),
    (cst.ImportAlias, "asname"),
    (cst.MatchAs, "name"),
    (cst.MatchStar, "name"),
    (cst.MatchMapping, "rest"),
}
_UNPACKING = (cst.Tuple, cst.List, cst.Element, cst.StarredElement)


def shape(value: object, name: Callable[[str], str]) -> Shape:
    """A hashable form of code, with each of its own names replaced by `name(it)`."""
    flat = plain(value)
    if isinstance(flat, list):
        return tuple(shape(item, name) for item in flat)
    if isinstance(flat, cst.Name):
        return ("Name", name(flat.value))
    if isinstance(flat, cst.AnnAssign) and flat.value is not None:
        return ("Assign", (("AssignTarget", shape(flat.target, name)),), shape(flat.value, name))
    if isinstance(flat, cst.CSTNode):
        kind = type(flat)
        parts: list[object] = [kind.__name__]
        for field in field_names(kind):
            if (kind, field) in _FOREIGN:
                parts.append(shape(getattr(flat, field), str))
            elif (kind, field) not in _TYPES:
                parts.append(shape(getattr(flat, field), name))
        return tuple(parts)
    return flat


def without(names: frozenset[str]) -> Callable[[str], str]:
    """For `shape`: all of these names look alike."""
    return lambda name: "" if name in names else name


def renamed(names: Mapping[str, str]) -> Callable[[str], str]:
    """For `shape`: the names as they are called elsewhere."""
    return lambda name: names.get(name, name)


def own_names(scope: cst.CSTNode) -> frozenset[str]:
    """The names that a function binds, those of what is nested in it included.

    Its own name is not among them, nor what it declares global or nonlocal. For a class or a
    module: none, since others use their names.
    """
    if not isinstance(scope, cst.FunctionDef):
        return frozenset()
    found: set[str] = set()
    outside: set[str] = set()
    for spot in walk(Spot(scope), lambda node: True):
        node = spot.node
        if isinstance(node, cst.Global | cst.Nonlocal):
            outside |= {item.name.value for item in node.names}
        for field in field_names(type(node)):
            if (type(node), field) in _BOUND and not (node is scope and field == "name"):
                found |= set(_targets(getattr(node, field)))
        if isinstance(node, cst.ImportAlias) and node.asname is None:
            found.add(node.evaluated_name.split(".")[0])
    return frozenset(found - outside)


def _targets(target: object) -> Iterator[str]:
    if isinstance(target, cst.AsName):
        yield from _targets(target.name)
    elif isinstance(target, cst.Name):
        yield target.value
    elif isinstance(target, cst.Tuple | cst.List):
        for element in target.elements:
            yield from _targets(element.value)


def used_names(nodes: Sequence[cst.CSTNode]) -> frozenset[str]:
    """Every name in the code that is not an attribute, a keyword or a name of another module."""
    found: set[str] = set()
    stack: list[cst.CSTNode] = list(nodes)
    while stack:
        node = stack.pop()
        if isinstance(node, cst.Name):
            found.add(node.value)
        for field in field_names(type(node)):
            if (type(node), field) not in _FOREIGN:
                value = getattr(node, field)
                values = value if isinstance(value, list | tuple) else [value]
                stack += [item for item in values if isinstance(item, cst.CSTNode)]
    return frozenset(found)


def rename_in(code: cst.CSTNode, names: Mapping[str, str]) -> cst.CSTNode:
    """The code with its names replaced; attributes, keywords, other modules' names stay."""

    class Renamer(cst.CSTTransformer):
        def __init__(self) -> None:
            super().__init__()
            self.foreign: set[int] = set()

        def on_visit(self, node: cst.CSTNode) -> bool:
            for field in field_names(type(node)):
                value = getattr(node, field)
                if (type(node), field) in _FOREIGN and value is not None:
                    self.foreign.add(id(value))
            # `a.b` in an import is an attribute of nothing that is called by a name here.
            return id(node) not in self.foreign

        def leave_Name(  # noqa: N802 - libcst's naming
            self, original_node: cst.Name, updated_node: cst.Name
        ) -> cst.Name:
            if id(original_node) in self.foreign:
                return updated_node
            return updated_node.with_changes(
                value=names.get(updated_node.value, updated_node.value)
            )

    changed = code.visit(Renamer())
    assert isinstance(changed, cst.CSTNode)
    return changed
