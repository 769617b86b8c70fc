"""Drift of places: functions, imports and modules stand elsewhere."""

from __future__ import annotations

import ast
import random
import re
from pathlib import PurePosixPath

import libcst as cst

from tests.helpers.drift.kind import (
    Drift,
    OnFunction,
    Place,
    function_at,
    insert_below_imports,
    on_module,
    parsed,
    statements_of,
    unused_word,
)
from tests.helpers.drift.program import Files

Definition = cst.FunctionDef | cst.ClassDef


def moved_in_file(files: Files, place: Place, chance: random.Random) -> Drift | None:
    """The function, or method, behind another one of its block."""
    outer, _, name = place.name.rpartition(".")
    names = _definitions(files, place.file, outer)
    if name not in names:
        return None
    position = names.index(name)
    others = [other for i, other in enumerate(names) if i not in (position, position - 1)]
    if not others:
        return None
    behind = chance.choice(others)

    def move(node: cst.CSTNode) -> cst.CSTNode:
        block = node.body if isinstance(node, cst.ClassDef) else node
        assert isinstance(block, cst.IndentedBlock | cst.Module)
        moved = next(line for line in block.body if _name(line) == name)
        body = [line for line in block.body if line is not moved]
        at = next(i for i, line in enumerate(body) if _name(line) == behind) + 1
        block = block.with_changes(body=[*body[:at], moved, *body[at:]])
        return node.with_changes(body=block) if isinstance(node, cst.ClassDef) else block

    if outer:
        return Drift(on_module(place.file, lambda m: m.visit(OnFunction(outer, move))), place)
    return Drift(on_module(place.file, move), place)


def moved_into_class(files: Files, place: Place, chance: random.Random) -> Drift | None:
    """A function becomes a static method, a method one of a base class."""
    if function_at(files, place) is None:
        return None
    outer, _, name = place.name.rpartition(".")
    if outer and name not in _definitions(files, place.file, outer):
        return None
    word = unused_word(files, chance).title()

    def make_static(node: cst.FunctionDef) -> cst.CSTNode:
        line = cst.Decorator(cst.Name("staticmethod"))
        method = node.with_changes(decorators=[line, *node.decorators], leading_lines=[])
        made = cst.ClassDef(
            cst.Name(word), cst.IndentedBlock([method]), leading_lines=node.leading_lines
        )
        return cst.FlattenSentinel([made, *statements_of(f"\n\n{name} = {word}.{name}\n")])

    def make_base(node: cst.ClassDef) -> cst.CSTNode:
        assert isinstance(node.body, cst.IndentedBlock)
        method = next(line for line in node.body.body if _name(line) == name)
        rest = [line for line in node.body.body if line is not method] or statements_of("pass")
        base = cst.ClassDef(
            cst.Name(word),
            cst.IndentedBlock([method.with_changes(leading_lines=[])]),
            leading_lines=node.leading_lines,
        )
        derived = node.with_changes(
            bases=[cst.Arg(cst.Name(word)), *node.bases], body=node.body.with_changes(body=rest)
        )
        return cst.FlattenSentinel([base, derived])

    change, of = (make_base, outer) if outer else (make_static, name)
    return Drift(
        on_module(place.file, lambda module: module.visit(OnFunction(of, change))),
        place.renamed(f"{word}.{name}"),
    )


def moved_to_module(files: Files, place: Place, chance: random.Random) -> Drift | None:
    """The function (or its class), with all that it uses, in a new module; imported from there."""
    top = place.name.partition(".")[0]
    word = unused_word(files, chance)
    path = str(PurePosixPath(place.file).with_name(f"{word}.py"))
    module = ast.parse(files[place.file])
    moved = _used_by(module, top)
    if top not in moved or len(moved) > len(module.body) * 2 / 3:
        return None

    def change(files: Files) -> Files:
        old = parsed(files[place.file])
        taken = _used_by(ast.parse(files[place.file]), top)
        imports = [line for line in old.body if _is_import(line)]
        gone = [line for line in old.body if set(_bound(line)) & taken]
        rest = [line for line in old.body if line not in gone]
        names = ", ".join(sorted(taken))
        kept = insert_below_imports(
            old.with_changes(body=rest), f"from {_dotted(path)} import {names}\n"
        )
        new = cst.Module(body=[*imports, *gone])
        return {**files, place.file: kept.code, path: new.code}

    return Drift(change, Place(path, place.name, place.words))


def module_renamed(files: Files, place: Place, chance: random.Random) -> Drift:
    path = str(PurePosixPath(place.file).with_name(f"{unused_word(files, chance)}.py"))
    old, new = _dotted(place.file), _dotted(path)

    def change(files: Files) -> Files:
        return {
            path if name == place.file else name: re.sub(rf"\b{re.escape(old)}\b", new, text)
            for name, text in files.items()
        }

    return Drift(change, Place(path, place.name, place.words))


def reordered_imports(files: Files, place: Place, chance: random.Random) -> Drift:
    """The imports in another order, `from a import b, c` as two."""
    seed = chance.random()

    def reorder(module: cst.Module) -> cst.Module:
        lines: list[cst.SimpleStatementLine] = []
        first = next((i for i, line in enumerate(module.body) if _is_import(line)), 0)
        for line in module.body:
            if _is_import(line):
                lines += statements_of("\n".join(_one_by_one(line)))  # type: ignore[arg-type]
        lines.sort(key=lambda line: random.Random(f"{seed}{_bound(line)}").random())
        rest = [line for line in module.body if not _is_import(line)]
        return module.with_changes(body=[*rest[:first], *lines, *rest[first:]])

    return Drift(on_module(place.file, reorder), place)


def _one_by_one(line: cst.CSTNode) -> list[str]:
    node = ast.parse(cst.Module([]).code_for_node(line)).body[0]
    assert isinstance(node, ast.Import | ast.ImportFrom)
    texts = []
    for alias in node.names:
        one = type(node)(**{**vars(node), "names": [alias]})
        texts.append(ast.unparse(one))
    return texts


def _definitions(files: Files, path: str, outer: str) -> list[str]:
    """The names that a module, or a class in it, defines; none where `outer` is no class."""
    body = ast.parse(files[path]).body
    for part in outer.split(".") if outer else ():
        found = [n.body for n in body if isinstance(n, ast.ClassDef) and n.name == part]
        body = found[0] if found else []
    return [n.name for n in body if isinstance(n, ast.FunctionDef | ast.ClassDef)]


def _used_by(module: ast.Module, name: str) -> set[str]:
    """The top-level names that a definition needs, itself included; imports are left out."""
    bound: dict[str, ast.stmt] = {}
    for node in module.body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            bound[node.name] = node
        elif isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            bound[node.targets[0].id] = node
    needed, open_names = set(), [name]
    while open_names:
        one = open_names.pop()
        if one in bound and one not in needed:
            needed.add(one)
            open_names += [n.id for n in ast.walk(bound[one]) if isinstance(n, ast.Name)]
    return needed


def _bound(line: cst.CSTNode) -> list[str]:
    if isinstance(line, Definition):
        return [line.name.value]
    small = line.body[0] if isinstance(line, cst.SimpleStatementLine) else None
    if isinstance(small, cst.Assign):
        return [t.target.value for t in small.targets if isinstance(t.target, cst.Name)]
    if isinstance(small, cst.Import | cst.ImportFrom):
        return [cst.Module([]).code_for_node(small)]
    return []


def _name(line: cst.CSTNode) -> str:
    return line.name.value if isinstance(line, Definition) else ""


def _is_import(line: cst.CSTNode) -> bool:
    return isinstance(line, cst.SimpleStatementLine) and isinstance(
        line.body[0], cst.Import | cst.ImportFrom
    )


def _dotted(path: str) -> str:
    return path.removesuffix(".py").replace("/", ".")
