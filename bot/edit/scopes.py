"""The scopes of a module, and every mention of a name in them: which names mean the same thing.

The rules are those of the language reference, 4.2 "Naming and binding". libcst's own analysis
takes several times as long, and does not know type parameters or what a `match` binds.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Literal

import libcst as cst

from bot.edit.tree import Path, Spot

Kind = Literal["module", "class", "function", "comprehension", "types"]


@dataclass(eq=False)
class Mention:
    """A place where a name stands.

    `spot` is the name itself, the import that makes it, or the string of an annotation.
    """

    name: str
    spot: Spot
    scope: Scope
    binds: bool


@dataclass(eq=False)
class Scope:
    """Where names are bound. `types` is that of type parameters, around a function or class."""

    kind: Kind
    spot: Spot
    outer: Scope | None
    bound: set[str] = field(default_factory=set)
    declared: dict[str, Literal["global", "nonlocal"]] = field(default_factory=dict)

    def around(self) -> Iterator[Scope]:
        """The scope itself, and those around it, whose names code in it may mean."""
        yield self
        sees_class = self.kind == "types"
        outer = self.outer
        while outer is not None:
            if outer.kind != "class" or sees_class:
                yield outer
            sees_class = False
            outer = outer.outer

    def meaning(self, name: str) -> Scope | None:
        """The scope whose name is meant by `name` here; None for a built-in or an unknown one."""
        for scope in self.around():
            declared = scope.declared.get(name)
            if declared == "global":
                return scope.module
            if declared is None and name in scope.bound:
                return scope
        return None

    @property
    def module(self) -> Scope:
        scope = self
        while scope.outer is not None:
            scope = scope.outer
        return scope

    def is_in(self, other: Scope) -> bool:
        """Whether it is the other scope, or lies in it."""
        scope: Scope | None = self
        while scope is not None and scope is not other:
            scope = scope.outer
        return scope is other


@dataclass
class Scopes:
    """What a module's code says of names. `calls` and `attributes` have the scope they stand in.

    `printed` are the names of `f"{name=}"`; `stars` are the `from … import *`.
    """

    module: Scope
    all: list[Scope] = field(default_factory=list)
    mentions: list[Mention] = field(default_factory=list)
    calls: list[tuple[Spot, Scope]] = field(default_factory=list)
    attributes: list[tuple[Spot, Scope]] = field(default_factory=list)
    printed: list[Mention] = field(default_factory=list)
    stars: list[Spot] = field(default_factory=list)

    def of(self, path: Path) -> Scope:
        """The scope that a module, function or class makes."""
        return next(s for s in self.all if s.spot.path == path and s.kind != "types")

    def bind(self) -> None:
        """Work out what each scope binds, from its mentions."""
        for scope in self.all:
            scope.bound.clear()
        for mention in self.mentions:
            if mention.binds:
                declared = mention.scope.declared.get(mention.name)
                owner = self.module if declared == "global" else mention.scope
                if declared != "nonlocal":
                    owner.bound.add(mention.name)

    def mentions_of(self, name: str, scope: Scope) -> list[Mention]:
        """Every mention of the name that a scope binds, in the order of the code."""
        return [m for m in self.mentions if m.name == name and m.scope.meaning(name) is scope]


def scan(module: cst.Module) -> Scopes:
    """The scopes of a module."""
    from bot.edit.scanning import Scanner

    scanner = Scanner(module)
    scanner.below(Spot(module), scanner.found.module)
    scanner.found.bind()
    return scanner.found
