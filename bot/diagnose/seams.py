"""Seams: the named functions of a harness where an operator may act, found without running it."""

from __future__ import annotations

import ast
from collections.abc import Callable
from dataclasses import dataclass

from bot.config import HarnessTable


@dataclass(frozen=True)
class Seam:
    """A function of the harness: where it is, and its parsed definition."""

    name: str  # prompt, parse_action, …
    file: str
    function: str  # dotted name in the file
    node: ast.FunctionDef | ast.AsyncFunctionDef
    module: ast.Module
    source: str

    @property
    def parameters(self) -> list[ast.arg]:
        """Positional and keyword parameters, without self and cls."""
        arguments = self.node.args
        every = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]
        return [a for a in every if a.arg not in ("self", "cls")]


def module_paths(module: str) -> list[str]:
    """Where a module may be, relative to the repository's root, likeliest first."""
    base = module.replace(".", "/")
    return [
        candidate
        for root in ("", "src/")
        for candidate in (f"{root}{base}.py", f"{root}{base}/__init__.py")
    ]


def find_seam(name: str, table: HarnessTable, read: Callable[[str], bytes | None]) -> Seam | None:
    """The seam of that name, or None where the table or the code has no such function."""
    where = table.seams.get(name)
    if where is None:
        return None
    module_name, function = where.split(":", 1)
    for path in module_paths(module_name):
        content = read(path)
        if content is None:
            continue
        try:
            module = ast.parse(content)
            source = content.decode("utf-8-sig")
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            return None
        node = find_function(module, function)
        return Seam(name, path, function, node, module, source) if node else None
    return None


def find_function(module: ast.Module, dotted: str) -> ast.FunctionDef | ast.AsyncFunctionDef | None:
    """The one function of that dotted name (`Class.method`); None where none or several are."""
    body: list[ast.stmt] = module.body
    *outer, last = dotted.split(".")
    for part in outer:
        found = [n for n in body if isinstance(n, ast.ClassDef) and n.name == part]
        if len(found) != 1:
            return None
        body = found[0].body
    functions = [
        n for n in body if isinstance(n, ast.FunctionDef | ast.AsyncFunctionDef) and n.name == last
    ]
    return functions[0] if len(functions) == 1 else None
