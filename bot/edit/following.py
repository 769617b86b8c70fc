"""Where a function, class or name of one revision has gone in another one."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

import libcst as cst

from bot.edit.names import bindings
from bot.edit.refusal import Refused
from bot.edit.shapes import Shape, own_names, shape, without
from bot.edit.structure import is_docstring
from bot.edit.targets import definitions, find_target
from bot.edit.tree import Spot

Definition = cst.FunctionDef | cst.ClassDef


@dataclass(frozen=True)
class Place:
    """A definition (or, with an empty name, a module) in a file."""

    file: str
    name: str
    node: cst.CSTNode


class Revision:
    """Python files of one revision, parsed: path → module."""

    def __init__(self, modules: Mapping[str, cst.Module]) -> None:
        self.modules = dict(modules)

    def put(self, file: str, module: cst.Module) -> None:
        """Another module in place of a file's."""
        self.modules[file] = module
        self.__dict__.pop("places", None)

    @cached_property
    def places(self) -> list[Place]:
        """Every function and class, those inside others included."""
        return [
            Place(file, name, node)
            for file, module in self.modules.items()
            for name, node in named_definitions(Spot(module))
        ]

    def of_shape(self, wanted: Shape) -> list[Place]:
        return [place for place in self.places if definition_shape(place.node) == wanted]

    def named(self, last: str) -> list[Place]:
        """Those whose dotted name ends with `last`."""
        return [place for place in self.places if place.name.rpartition(".")[2] == last]


def named_definitions(scope: Spot, prefix: str = "") -> Iterator[tuple[str, Definition]]:
    """Dotted names and nodes of everything defined inside a scope."""
    for spot in definitions(scope):
        assert isinstance(spot.node, Definition)
        name = f"{prefix}{spot.node.name.value}"
        yield name, spot.node
        yield from named_definitions(spot, f"{name}.")


def definition_shape(node: cst.CSTNode) -> Shape:
    """The shape of a definition without its own name, decorators and docstring."""
    assert isinstance(node, Definition)
    body = node.body
    if isinstance(body, cst.IndentedBlock) and body.body:
        first = body.body[0]
        if isinstance(first, cst.SimpleStatementLine) and is_docstring(first.body[0]):
            lines = [first.with_changes(body=first.body[1:])] if len(first.body) > 1 else []
            body = body.with_changes(body=[*lines, *body.body[1:]])
    head = node.params if isinstance(node, cst.FunctionDef) else node.bases
    name = without(own_names(node))
    return (type(node).__name__, shape(head, name), shape(body, name))


def find_again(place: Place, old: Revision, new: Revision, file: str) -> list[Place]:
    """Where a definition of `old` may be in `new`, the likeliest first.

    Under its own name in the same file (`file` is what that is called now); where something of
    exactly its shape stands; where its name stands alone in the whole revision.
    """
    found: list[Place] = []
    if file in new.modules:
        try:
            spot = find_target(new.modules[file], place.name)
            found.append(Place(file, place.name, spot.node))
        except Refused as refused:
            if refused.kind == "ambiguous":
                raise
    if not place.name:
        return found or _modules_again(place, new)
    wanted = definition_shape(place.node)
    if len(old.of_shape(wanted)) == 1:
        alike = new.of_shape(wanted)
        found += alike if len(alike) == 1 else []
    last = place.name.rpartition(".")[2]
    if not found and len(old.named(last)) == 1:
        namesakes = new.named(last)
        found += namesakes if len(namesakes) == 1 else []
    alike = [other for other in found if type(other.node) is type(place.node)]
    return list({(other.file, other.name): other for other in alike}.values())


def _modules_again(place: Place, new: Revision) -> list[Place]:
    """The one module that defines most of what a module that is gone has defined."""
    assert isinstance(place.node, cst.Module)
    names = set(bindings(place.node))
    shared = {file: len(names & set(bindings(module))) for file, module in new.modules.items()}
    best = [file for file, count in shared.items() if 2 * count > len(names)]
    return [Place(file, "", new.modules[file]) for file in best] if len(best) == 1 else []


def assigned_in(revision: Revision, name: str) -> list[str]:
    """The files whose top level gives `name` a value, rather than importing it."""
    return [
        file
        for file, module in revision.modules.items()
        if any(
            isinstance(node, cst.Assign | cst.AnnAssign) for node in bindings(module).get(name, [])
        )
    ]


def follow_globals(old: cst.Module, new: cst.Module) -> dict[str, str]:
    """Names of the module's top level that are gone → what has their definition's shape now.

    Only where that is one name, and one that `old` did not have.
    """
    before, after = bindings(old), bindings(new)
    gone = {name for name in before if name not in after}
    fresh = {name for name in after if name not in before}
    found: dict[str, str] = {}
    for name in gone:
        wanted = [_defined(node, name) for node in before[name]]
        alike = [
            other for other in fresh if [_defined(node, other) for node in after[other]] == wanted
        ]
        if len(alike) == 1 and alike[0] not in found.values():
            found[name] = alike[0]
    return found


def _defined(node: cst.CSTNode, name: str) -> Shape:
    """The shape of the statement that binds a name, without that name."""
    own = own_names(node) | {name}
    if isinstance(node, Definition):
        return ("definition", definition_shape(node))
    return shape(node, without(own))
