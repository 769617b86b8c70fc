"""Drift of names: one name becomes another, wherever it is used."""

from __future__ import annotations

import ast
import random
from collections.abc import Callable

import libcst as cst

from tests.helpers.drift.kind import Drift, Place, function_at, on_function, parsed, unused_word
from tests.helpers.drift.program import Files


class Rename(cst.CSTTransformer):
    """Names, and what else is asked for: `.old` attributes, `old=` keywords of calls of `called`.

    Programs use no name for two things, so scopes need not be told apart.
    """

    def __init__(
        self, old: str, new: str, *, attributes: bool = False, called: str | None = None
    ) -> None:
        super().__init__()
        self._old, self._new = old, new
        self._attributes, self._called = attributes, called

    def visit_Attribute_attr(self, node: cst.Attribute) -> None:
        pass

    def leave_Name(self, original: cst.Name, node: cst.Name) -> cst.Name:
        return node.with_changes(value=self._new) if node.value == self._old else node

    def leave_Attribute(self, original: cst.Attribute, node: cst.Attribute) -> cst.Attribute:
        if original.attr.value == self._old and not self._attributes:
            return node.with_changes(attr=original.attr)
        return node

    def leave_Arg(self, original: cst.Arg, node: cst.Arg) -> cst.Arg:
        return node.with_changes(keyword=original.keyword)

    def leave_Call(self, original: cst.Call, node: cst.Call) -> cst.Call:
        name = original.func
        bare = name.attr if isinstance(name, cst.Attribute) else name
        if self._called is None or getattr(bare, "value", None) != self._called:
            return node
        args = [
            arg.with_changes(keyword=cst.Name(self._new))
            if arg.keyword is not None and arg.keyword.value == self._old
            else arg
            for arg in node.args
        ]
        return node.with_changes(args=args)


class RenameKeyword(Rename):
    """Only the keywords."""

    def leave_Name(self, original: cst.Name, node: cst.Name) -> cst.Name:
        return node


def renamed_local(files: Files, place: Place, chance: random.Random) -> Drift | None:
    function = function_at(files, place)
    if function is None:
        return None
    stored = {
        node.id
        for node in ast.walk(function)
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
    }
    old = _choose(stored - set(_parameters(function)), place, chance)
    if old is None:
        return None
    new = unused_word(files, chance)
    return Drift(on_function(place, lambda node: node.visit(Rename(old, new))), place)


def renamed_parameter(files: Files, place: Place, chance: random.Random) -> Drift | None:
    function = function_at(files, place)
    old = _choose(set(_parameters(function)), place, chance) if function else None
    if old is None or function is None:
        return None
    new = unused_word(files, chance)
    inside = on_function(place, lambda node: node.visit(Rename(old, new)))
    called = place.name.removesuffix(".__init__").rpartition(".")[2]
    calls = _in_all(lambda: RenameKeyword(old, new, called=called))
    return Drift(lambda files: calls(inside(files)), place)


def renamed_function(files: Files, place: Place, chance: random.Random) -> Drift | None:
    outer, dot, old = place.name.rpartition(".")
    if old.startswith("__") or function_at(files, place) is None:
        return None
    new = f"{old}_{unused_word(files, chance)}"
    change = _in_all(lambda: Rename(old, new, attributes=True))
    return Drift(change, place.renamed(f"{outer}{dot}{new}"))


def renamed_constant(files: Files, place: Place, chance: random.Random) -> Drift | None:
    stored = {
        target.id
        for node in ast.parse(files[place.file]).body
        if isinstance(node, ast.Assign)
        for target in node.targets
        if isinstance(target, ast.Name)
    }
    old = _choose(stored & place.words, place, chance)
    if old is None:
        return None
    new = f"{old}_{unused_word(files, chance).upper()}"
    return Drift(_in_all(lambda: Rename(old, new, attributes=True)), place)


def _choose(names: set[str], place: Place, chance: random.Random) -> str | None:
    """One of the names, of those that the spec speaks of if there are any."""
    spoken = names & place.words or names
    return chance.choice(sorted(spoken)) if spoken else None


def _parameters(function: ast.FunctionDef) -> list[str]:
    spec = function.args
    every = [*spec.posonlyargs, *spec.args, *spec.kwonlyargs]
    return [arg.arg for arg in every if arg.arg not in ("self", "cls")]


def _in_all(make: Callable[[], cst.CSTTransformer]) -> Callable[[Files], Files]:
    def change(files: Files) -> Files:
        return {
            path: parsed(text).visit(make()).code if text else text for path, text in files.items()
        }

    return change
