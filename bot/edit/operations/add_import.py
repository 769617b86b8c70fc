"""Add an import to a module.

`code` is one import statement; what of it is imported already is left out. It lands behind the
docstring and the `__future__` imports, among the module's first imports: in the group that it
belongs to (standard library, installed, own) and where the alphabet puts it there.
Postcondition: the names are imported at the top level, the same way.
"""

from __future__ import annotations

import sys
from typing import cast

import libcst as cst

from bot.edit.blocks import break_line, is_future, lines_of, start_of
from bot.edit.code import (
    blank_lines,
    is_definition,
    leading_lines,
    pad,
    split_lines,
    with_lines,
)
from bot.edit.header import free_first_comments
from bot.edit.imports import Import, imported, parse_import, source_of
from bot.edit.names import bindings, bound_by, bound_names, top_level
from bot.edit.refusal import Refused
from bot.edit.schema import AddImport
from bot.edit.structure import flatten
from bot.edit.tree import Spot, Statement, at_lines, walk


def add_import(module: cst.Module, edit: AddImport) -> cst.Module:
    line = _without_present(module, parse_import(edit.code, "add_import", module))
    if line is None:
        return module
    _refuse_taken(module, line)
    freed = free_first_comments(module)
    return freed.with_changes(body=_placed(freed, line))


def _without_present(
    module: cst.Module, line: cst.SimpleStatementLine
) -> cst.SimpleStatementLine | None:
    """The import without names that are imported in this way already; None where none is left."""
    node = cast(Import, line.body[0])
    present = {
        name
        for small in _certain_statements(module)
        if isinstance(small, Import)
        for name in imported(small)
    }
    missing = [name not in present for name in imported(node)]
    if not any(missing):
        return None
    if all(missing) or isinstance(node.names, cst.ImportStar):
        return line
    names = [alias for alias, absent in zip(node.names, missing, strict=True) if absent]
    names[-1] = names[-1].with_changes(comma=cst.MaybeSentinel.DEFAULT)
    return line.with_changes(body=[node.with_changes(names=names)])


def _certain_statements(module: cst.Module) -> list[cst.CSTNode]:
    """Statements that surely run at import; what an `if` holds may not."""
    conditional = {
        id(inner)
        for node in top_level(module)
        if isinstance(node, cst.If)
        for inner in _inside(node)
    }
    return [node for node in top_level(module) if id(node) not in conditional]


def _inside(node: cst.CSTNode) -> list[cst.CSTNode]:
    return [inner for inner in top_level(cst.Module([cast(Statement, node)])) if inner is not node]


def _refuse_taken(module: cst.Module, line: cst.SimpleStatementLine) -> None:
    node = cast(Import, line.body[0])
    if isinstance(node.names, cst.ImportStar):
        return
    existing = bindings(module)
    for alias, wanted in zip(node.names, imported(node), strict=True):
        name = bound_by(alias)
        taken = [
            other
            for other in existing.get(name, [])
            if not (isinstance(other, Import) and _agrees(other, wanted, name))
        ]
        if taken:
            raise Refused(
                "conflict",
                f"{name} means something else {at_lines(module, taken)}; import it `as` another "
                "name.",
            )


def _agrees(node: Import, wanted: tuple[str, str, str], name: str) -> bool:
    """Whether an import binds `name` to the same thing: `import a.b` and `import a.c` do."""
    for source, dotted, alias in imported(node):
        if (source, dotted, alias) == wanted:
            return True
        plain = not source and not alias and not wanted[0] and not wanted[2]
        if plain and dotted.split(".")[0] == name == wanted[1].split(".")[0]:
            return True
    return False


def _placed(module: cst.Module, line: cst.SimpleStatementLine) -> list[Statement]:
    body = lines_of(module)
    start = start_of(Spot(module))
    if is_future(line.body[0]):
        return _first_of_all(body, start, line)
    # `"""Doc."""; x = 1` stays one line: the import goes behind it.
    start = _split_at(body, start)[1]
    stop = start = _first_import(body, start, line)
    while stop < len(body) and _is_import(body[stop]):
        stop += 1
    if stop == start:
        if start == 0 and body:
            added, *after = _take_lines(line, body, True)
            return [added, *_set_off(after)]
        lead = blank_lines(1) if start else []
        added = with_lines(line, [*lead, *leading_lines(line)])
        return [*body[:start], added, *_set_off(body[start:])]
    key = _group(line)
    place = max((i + 1 for i in range(start, stop) if _group(body[i]) <= key), default=start)
    before, after = body[:place], body[place:]
    is_first = place == start
    if place < stop and _group(body[place])[0] == key[0]:
        return [*before, *_take_lines(line, after, is_first or _group(before[-1])[0] != key[0])]
    if is_first:
        added, *after = _take_lines(line, after, True)
        return [*before, added, *_set_off(after)]
    if _group(before[-1])[0] != key[0]:
        added = with_lines(line, [*blank_lines(1), *leading_lines(line)])
        return [*before, added, *(_set_off(after) if place < stop else after)]
    return [*before, line, *after]


def _first_of_all(
    lines: list[Statement], position: int, line: cst.SimpleStatementLine
) -> list[Statement]:
    """A `__future__` import right behind the docstring and others of its kind."""
    body, start = _split_at(lines, position, may_break=True)
    if start and is_future(flatten(body[:start])[-1]):
        return [*body[:start], line, *body[start:]]
    if start < len(body) and _is_import(body[start]):
        added, *after = _take_lines(line, body[start:], True)
        return [*body[:start], added, *_set_off(after)]
    if start:
        line = line.with_changes(leading_lines=[*blank_lines(1), *line.leading_lines])
    return [*body[:start], line, *_set_off(body[start:])]


def _first_import(body: list[Statement], start: int, line: cst.SimpleStatementLine) -> int:
    """The first import behind nothing but simple statements (`__version__ = …`), else `start`.

    Those statements may not use what is imported.
    """
    names = {name for small in line.body for name in bound_names(small)}
    for index in range(start, len(body)):
        if _is_import(body[index]):
            return index
        spots = walk(Spot(body[index]), lambda node: True)
        used = any(isinstance(spot.node, cst.Name) and spot.node.value in names for spot in spots)
        if used or not isinstance(body[index], cst.SimpleStatementLine):
            break
    return start


def _split_at(
    lines: list[Statement], position: int, *, may_break: bool = False
) -> tuple[list[Statement], int]:
    """The lines, and the index of the first one behind statement number `position` - 1.

    With `may_break`, a line that holds that statement and others is broken in two.
    """
    counted = 0
    for index, line in enumerate(lines):
        if counted >= position:
            return lines, index
        counted += len(flatten([line]))
        if counted > position and may_break:
            head, tail = break_line(line, position - counted + len(flatten([line])))
            return [*lines[:index], *head, *tail, *lines[index + 1 :]], index + 1
    return lines, len(lines)


def _take_lines(
    line: cst.SimpleStatementLine, following: list[Statement], take: bool
) -> list[Statement]:
    """The new line before others; with `take`, below the blank lines that stand before those."""
    if not take:
        return [line, *following]
    apart, attached = split_lines(leading_lines(following[0]))
    added = with_lines(line, [*apart, *leading_lines(line)])
    return [added, with_lines(following[0], attached), *following[1:]]


def _set_off(following: list[Statement]) -> list[Statement]:
    """At least one blank line between the import and the code, two before a definition."""
    if not following:
        return []
    least = 2 if is_definition(following[0]) else 1
    return [with_lines(following[0], pad(leading_lines(following[0]), least)), *following[1:]]


def _is_import(node: cst.CSTNode) -> bool:
    return isinstance(node, cst.SimpleStatementLine) and all(
        isinstance(small, Import) for small in node.body
    )


def _group(line: cst.CSTNode) -> tuple[int, bool, str]:
    """Where an import belongs: future, standard, installed or own; plain or from; its name."""
    node = cast(Import, flatten([line])[0])
    if isinstance(node, cst.ImportFrom):
        name = source_of(node)
        if name.startswith("."):
            return 3, True, name
    else:
        name = node.names[0].evaluated_name
    top = name.split(".")[0]
    group = 0 if top == "__future__" else 1 if top in sys.stdlib_module_names else 2
    return group, isinstance(node, cst.ImportFrom), name.lower()
