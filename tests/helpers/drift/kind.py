"""One drift: a change of a whole program that keeps what it does."""

from __future__ import annotations

import ast
import random
import textwrap
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

import libcst as cst

from tests.helpers.drift.program import Files

WORDS = ("entry", "chunk", "current", "amount", "piece", "outcome", "subject", "detail", "batch")


@dataclass(frozen=True)
class Place:
    """The function (dotted name) that drift happens in, and the words that the spec uses of it."""

    file: str
    name: str
    words: frozenset[str] = frozenset()

    def renamed(self, name: str) -> Place:
        return replace(self, name=name)


@dataclass(frozen=True)
class Drift:
    """`change` does the same to any version of the program; `place` is where the function is."""

    change: Callable[[Files], Files]
    place: Place


# Chooses what to do by the program before any edit; None where it holds nothing to do.
Maker = Callable[[Files, Place, random.Random], Drift | None]


@lru_cache(maxsize=64)
def parsed(text: str) -> cst.Module:
    """The tree of a module; nothing ever changes a tree."""
    return cst.parse_module(text)


def on_module(path: str, change: Callable[[cst.Module], cst.CSTNode]) -> Callable[[Files], Files]:
    """The change of one file."""

    def changed(files: Files) -> Files:
        module = change(parsed(files[path]))
        assert isinstance(module, cst.Module)
        return {**files, path: module.code}

    return changed


class OnFunction(cst.CSTTransformer):
    """Changes the function or class of a dotted name."""

    def __init__(self, name: str, change: Callable[..., cst.CSTNode]) -> None:
        super().__init__()
        self._name = name
        self._change = change
        self._inside: list[str] = []

    def visit_FunctionDef(self, node: cst.FunctionDef) -> bool:
        return self._enter(node.name.value)

    def visit_ClassDef(self, node: cst.ClassDef) -> bool:
        return self._enter(node.name.value)

    def visit_SimpleStatementLine(self, node: cst.SimpleStatementLine) -> bool:
        return False

    def leave_FunctionDef(self, _: cst.FunctionDef, node: cst.FunctionDef) -> cst.CSTNode:  # type: ignore[override]
        return self._leave(node)

    def leave_ClassDef(self, _: cst.ClassDef, node: cst.ClassDef) -> cst.CSTNode:  # type: ignore[override]
        return self._leave(node)

    def _enter(self, name: str) -> bool:
        self._inside.append(name)
        return self._name.startswith(".".join(self._inside) + ".")

    def _leave(self, node: cst.CSTNode) -> cst.CSTNode:
        here = ".".join(self._inside)
        self._inside.pop()
        return self._change(node) if here == self._name else node


def on_function(place: Place, change: Callable[..., cst.CSTNode]) -> Callable[[Files], Files]:
    """The change of the function at a place."""
    return on_module(place.file, lambda module: module.visit(OnFunction(place.name, change)))


def function_at(files: Files, place: Place) -> ast.FunctionDef | None:
    node: ast.AST = ast.parse(files[place.file])
    for part in place.name.split("."):
        found = [
            child
            for child in ast.iter_child_nodes(node)
            if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)
            and child.name == part
        ]
        if not found:
            return None
        node = found[0]
    return node if isinstance(node, ast.FunctionDef) else None


def unused_word(files: Files, chance: random.Random) -> str:
    """A word that no file holds."""
    whole = "\n".join(files.values())
    return chance.choice([word for word in WORDS if word not in whole])


def text_of(statement: cst.CSTNode) -> str:
    """A statement without its layout, comments and what stands before it."""
    code = cst.Module([]).code_for_node(statement)
    return ast.unparse(ast.parse(textwrap.dedent(code)))


def statements_of(code: str) -> list[cst.BaseStatement]:
    return list(cst.parse_module(textwrap.dedent(code)).body)  # type: ignore[arg-type]


def code_start(body: Sequence[cst.BaseStatement]) -> int:
    """The index behind the docstring of a block, and behind imports in a module."""
    for index, statement in enumerate(body):
        small = statement.body[0] if isinstance(statement, cst.SimpleStatementLine) else None
        is_text = isinstance(small, cst.Expr) and isinstance(small.value, cst.SimpleString)
        if not (is_text or isinstance(small, cst.Import | cst.ImportFrom)):
            return index
    return len(body)


def insert_below_imports(module: cst.Module, code: str) -> cst.Module:
    at = code_start(module.body)  # type: ignore[arg-type]
    body = [*module.body[:at], *statements_of(code), *module.body[at:]]
    return module.with_changes(body=body)


def blocks_of(function: cst.CSTNode) -> Iterator[cst.IndentedBlock]:
    """Every indented block in a function, the outermost last."""
    for child in function.children:
        yield from blocks_of(child)
        if isinstance(child, cst.IndentedBlock):
            yield child
