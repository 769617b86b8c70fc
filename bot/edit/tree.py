"""Moving about in a syntax tree: nodes with the way to them, and putting others in their place."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import libcst as cst
from libcst.metadata import MetadataWrapper, PositionProvider

Path = tuple[tuple[str, int | None], ...]
Statement = cst.SimpleStatementLine | cst.BaseCompoundStatement

_LAYOUT_NAMES = """
    lpar rpar lbracket rbracket lbrace rbrace comma semicolon colon first_colon second_colon
    separator dot leading_lines lines_after_decorators trailing_whitespace header footer indent
    newline encoding default_indent default_newline has_trailing_newline
"""
_LAYOUT = frozenset(_LAYOUT_NAMES.split())
# Where the order of a node's fields is not the order of the code.
_ORDER: dict[type[cst.CSTNode], tuple[str, ...]] = {
    cst.IfExp: ("body", "test", "orelse"),
    cst.FunctionDef: (
        *("decorators", "asynchronous", "name", "type_parameters", "params", "returns", "body"),
    ),
    cst.ClassDef: ("decorators", "name", "type_parameters", "bases", "keywords", "body"),
    cst.Parameters: (
        *("posonly_params", "posonly_ind", "params", "star_arg", "kwonly_params", "star_kwarg"),
    ),
    cst.GeneratorExp: ("elt", "for_in"),
    cst.Param: ("star", "name", "annotation", "default"),
    cst.Arg: ("star", "keyword", "value"),
    cst.CompFor: ("asynchronous", "target", "iter", "ifs", "inner_for_in"),
    cst.For: ("asynchronous", "target", "iter", "body", "orelse"),
    cst.With: ("asynchronous", "items", "body"),
    cst.ImportFrom: ("relative", "module", "names"),
}


@dataclass(frozen=True)
class Spot:
    """A node and the way to it: fields, with the index where a field holds a sequence."""

    node: cst.CSTNode
    path: Path = ()


@cache
def field_names(kind: type[cst.CSTNode]) -> tuple[str, ...]:
    """The fields that hold more than layout, in the order of the code."""
    if kind in _ORDER:
        return _ORDER[kind]
    return tuple(
        field.name
        for field in dataclasses.fields(kind)
        if field.name not in _LAYOUT
        and not field.name.startswith("whitespace")
        # In an f-string, `{x=}` prints; elsewhere the sign is layout.
        and (field.name != "equal" or kind is cst.FormattedStringExpression)
    )


def children(spot: Spot) -> Iterator[tuple[str, Spot]]:
    """The nodes right below, with the field that holds them, in the order of the code."""
    for name in field_names(type(spot.node)):
        value = getattr(spot.node, name)
        if isinstance(value, cst.CSTNode):
            yield name, Spot(value, (*spot.path, (name, None)))
        elif isinstance(value, list | tuple):
            for index, item in enumerate(value):
                if isinstance(item, cst.CSTNode):
                    yield name, Spot(item, (*spot.path, (name, index)))


def walk(start: Spot, enter: Callable[[cst.CSTNode], bool]) -> Iterator[Spot]:
    """Nodes from `start` on, in the order of the code; only into those that `enter` is true of."""
    stack = [start]
    while stack:
        spot = stack.pop()
        yield spot
        if enter(spot.node):
            stack.extend(reversed([child for _, child in children(spot)]))


def has_comment(node: cst.CSTNode) -> bool:
    """Whether a comment stands anywhere in a node, its layout included."""
    return isinstance(node, cst.Comment) or any(map(has_comment, node.children))


def node_at(root: cst.CSTNode, path: Path) -> cst.CSTNode:
    """The node to which a way leads."""
    for name, index in path:
        value = getattr(root, name)
        root = value if index is None else value[index]
    return root


def put_at(root: cst.CSTNode, path: Path, new: cst.CSTNode) -> cst.CSTNode:
    """`root` with the node at the end of a way replaced; everything beside the way is shared."""
    nodes = [node_at(root, path[:length]) for length in range(len(path))]
    for node, (name, index) in zip(reversed(nodes), reversed(path), strict=True):
        if index is None:
            new = node.with_changes(**{name: new})
        else:
            items = list(getattr(node, name))
            items[index] = new
            new = node.with_changes(**{name: items})
    return new


def put_all(root: cst.CSTNode, changes: Mapping[Path, cst.CSTNode]) -> cst.CSTNode:
    """`root` with the nodes at the ends of several ways replaced; none lies below another."""
    if () in changes:
        return changes[()]
    steps: dict[tuple[str, int | None], dict[Path, cst.CSTNode]] = {}
    for path, new in changes.items():
        steps.setdefault(path[0], {})[path[1:]] = new
    fields: dict[str, Any] = {}
    for (name, index), below in steps.items():
        value = fields.get(name, getattr(root, name))
        if index is None:
            fields[name] = put_all(value, below)
        else:
            items = list(value)
            items[index] = put_all(items[index], below)
            fields[name] = items
    return root.with_changes(**fields)


def put_in_module(module: cst.Module, path: Path, new: cst.CSTNode) -> cst.Module:
    """`put_at` for a module."""
    result = put_at(module, path, new)
    assert isinstance(result, cst.Module)
    return result


def line_numbers(module: cst.Module, nodes: Sequence[cst.CSTNode]) -> list[int]:
    """The lines on which nodes of the module begin. Slow: for refusals only."""
    wrapper = MetadataWrapper(module, unsafe_skip_copy=True)
    positions = wrapper.resolve(PositionProvider)
    return [positions[node].start.line for node in nodes]


def at_lines(module: cst.Module, nodes: Sequence[cst.CSTNode]) -> str:
    """`at line 3`, `at lines 3, 8 and 9`."""
    lines = [str(line) for line in line_numbers(module, nodes)]
    if len(lines) == 1:
        return f"at line {lines[0]}"
    shown = lines if len(lines) <= 10 else [*lines[:9], f"{len(lines) - 9} more"]
    return f"at lines {', '.join(shown[:-1])} and {shown[-1]}"
