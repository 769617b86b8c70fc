"""Packages of PyPI in two versions: drift as it happened, and edits of the older version.

A correct application is known where the function of the same name exists in both versions (in
the same file, or, if it is nowhere else, in another one) and holds the anchor exactly once in
both. It is made on the newer version with `ast`, apart from the bot; an outcome is correct that
has the same syntax tree.
"""

from __future__ import annotations

import ast
import random
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from bot.edit.dedent import dedent_code
from bot.edit.refusal import Refused
from bot.records import Edit, ModificationSpec
from tests.edit.making import edit_bytes
from tests.edit.random_edits import BLOCK, functions
from tests.helpers.drift.program import Files

PAIRS = (
    ("attrs", "21.4.0", "24.2.0"),
    ("click", "8.0.4", "8.1.8"),
    ("httpx", "0.18.2", "0.28.1"),
    ("jinja2", "2.11.3", "3.1.6"),
    ("markdown-it-py", "1.1.0", "3.0.0"),
    ("packaging", "21.3", "24.2"),
    ("requests", "2.25.1", "2.32.3"),
    ("tabulate", "0.8.9", "0.9.0"),
    ("tomlkit", "0.7.2", "0.13.2"),
)
EXPRESSION = "probe_value('x')"
LARGEST = 100_000
MOST_TRIES = 1_000


@dataclass(frozen=True)
class PackageEdit:
    """An edit of the older version; `onto_file` has the tree `wanted` after it.

    Both are None where no correct application is known.
    """

    spec: ModificationSpec
    edited: Files
    onto_file: str | None
    wanted: str | None


@dataclass(frozen=True)
class _Place:
    file: str
    name: str
    node: ast.AST


def package_files(name: str, version: str, cache: Path) -> Files | None:
    """The Python files of a wheel; None where it cannot be had."""
    folder = cache / f"{name}-{version}"
    if not list(folder.glob("*.whl")):
        command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps"]
        command += ["--only-binary", ":all:", "--dest", str(folder), f"{name}=={version}"]
        if subprocess.run(command, capture_output=True, check=False).returncode != 0:
            return None
    with zipfile.ZipFile(next(folder.glob("*.whl"))) as wheel:
        return {
            member.filename: wheel.read(member).decode("utf-8")
            for member in wheel.infolist()
            if member.filename.endswith(".py") and member.file_size < LARGEST
        }


def package_edits(base: Files, onto: Files, chance: random.Random) -> Iterator[PackageEdit]:
    """Random edits of functions that are not the same text in both versions, as many as asked."""
    places = _places(base)
    there = _places(onto)
    same = {ast.unparse(place.node) for place in there}
    changed = [place for place in places if ast.unparse(place.node) not in same]
    moved = [place for place in places if base[place.file] != onto.get(place.file)]
    for _ in range(MOST_TRIES if moved else 0):
        place = chance.choice(changed if changed and chance.random() < 0.7 else moved)
        edit = _random_edit(base, place, chance)
        if edit is None:
            continue
        try:
            text = edit_bytes(base[place.file].encode(), edit.model_dump(exclude={"file"}))
        except Refused:
            continue
        target = _same_function(place, places, there)
        file, wanted = None, None
        if target is not None:
            wanted = _tree_after(onto[target.file], target.name, edit)
            file = target.file if wanted else None
        yield PackageEdit(_spec(edit), {**base, place.file: text.decode()}, file, wanted)


def _spec(edit: Edit) -> ModificationSpec:
    return ModificationSpec(
        title="A random edit",
        pattern="drift",
        layer="procedural-skill",
        hypothesis="None.",
        origin="benchmark",
        edits=[edit],
    )


def _places(files: Files) -> list[_Place]:
    """The functions that have their dotted name in a file alone."""
    found = []
    for file, text in files.items():
        every = list(functions(ast.parse(text)))
        names = [name for name, _ in every]
        found += [_Place(file, name, node) for name, node in every if names.count(name) == 1]
    return found


def _same_function(place: _Place, places: list[_Place], there: list[_Place]) -> _Place | None:
    for other in there:
        if (other.file, other.name) == (place.file, place.name):
            return other
    last = place.name.rpartition(".")[2]
    if sum(p.name.rpartition(".")[2] == last for p in places) != 1:
        return None
    found = [other for other in there if other.name.rpartition(".")[2] == last]
    return found[0] if len(found) == 1 else None


def _random_edit(files: Files, place: _Place, chance: random.Random) -> Edit | None:
    """An edit at an anchor that the function holds once."""
    op = chance.choice(["insert_statements", "replace_statements", "replace_expression"])
    fits = _is_expression if op == "replace_expression" else _is_statement
    nodes = [node for node in ast.walk(place.node) if node is not place.node and fits(node)]
    if not nodes:
        return None
    node = chance.choice(nodes)
    anchor = ast.get_source_segment(files[place.file], node, padded=True)
    if anchor is None or len(_equal(place.node, node)) != 1:
        return None
    return Edit.model_validate(
        {
            "op": op,
            "file": place.file,
            "target": place.name,
            "anchor": anchor,
            "code": EXPRESSION if op == "replace_expression" else BLOCK,
        }
        | ({"place": chance.choice(["before", "after"])} if op == "insert_statements" else {})
    )


def _is_expression(node: ast.AST) -> bool:
    stored = isinstance(getattr(node, "ctx", None), ast.Store | ast.Del)
    kinds = ast.Call | ast.BinOp | ast.Compare | ast.BoolOp | ast.Attribute
    return isinstance(node, kinds) and not stored


def _is_statement(node: ast.AST) -> bool:
    """Not of definitions with decorators, and of texts by themselves."""
    if not isinstance(node, ast.stmt) or getattr(node, "decorator_list", None):
        return False
    return not (isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant))


def _equal(function: ast.AST, wanted: ast.AST) -> list[ast.AST]:
    dump = ast.dump(wanted)
    return [node for node in ast.walk(function) if ast.dump(node) == dump]


def _tree_after(text: str, name: str, edit: Edit) -> str | None:
    """`tree_of` a file after an edit, made with `ast`; None without exactly one anchor."""
    tree = ast.parse(text)
    function = dict(functions(tree))[name]
    wanted = ast.parse(_dedented(edit.anchor)).body[0]
    if isinstance(wanted, ast.Expr) and edit.op == "replace_expression":
        wanted = wanted.value  # type: ignore[assignment]
    found = _equal(function, wanted)
    if len(found) != 1:
        return None
    new = ast.parse(edit.code).body
    for parent in ast.walk(function):
        for field, value in ast.iter_fields(parent):
            if value is found[0]:
                setattr(parent, field, new[0].value)  # type: ignore[attr-defined]
            elif isinstance(value, list) and any(item is found[0] for item in value):
                at = next(i for i, item in enumerate(value) if item is found[0])
                value[at : at + 1] = _replacement(edit, value[at], new)
    return ast.dump(tree)


def tree_of(text: str) -> str:
    return ast.dump(ast.parse(text))


def _replacement(edit: Edit, old: ast.AST, new: list[ast.stmt]) -> list[ast.AST]:
    if edit.op == "replace_expression":
        return [new[0].value]  # type: ignore[attr-defined]
    if edit.op == "replace_statements":
        return [*new]
    before = edit.model_dump()["place"] == "before"
    return [*new, old] if before else [old, *new]


def _dedented(anchor: str) -> str:
    """As it parses: the first line says how deep all are, and an expression needs brackets."""
    text = dedent_code(anchor)
    try:
        ast.parse(text)
    except SyntaxError:
        return f"({text})"
    return text
