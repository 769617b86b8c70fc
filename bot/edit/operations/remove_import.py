"""Remove an import from a module.

`code` is one import statement; what it imports is imported no more, and other names of the same
statement stay. A statement without names goes, and with it the comment at its line; a block that
is left empty gets a `pass`. Refused while the module uses a name, unless `unused_only` is false.
Postcondition: no statement at the top level imports these names in this way.
"""

from __future__ import annotations

from typing import cast

import libcst as cst

from bot.edit.blocks import Block, lines_of
from bot.edit.code import blank_lines, leading_lines, split_lines, trailing_blanks, with_lines
from bot.edit.commas import items_of, read_row, without_item
from bot.edit.header import free_first_comments
from bot.edit.import_uses import uses_of
from bot.edit.imports import Import, imported, parse_import
from bot.edit.names import own_statements
from bot.edit.refusal import Refused
from bot.edit.schema import RemoveImport
from bot.edit.structure import flatten
from bot.edit.tree import Path, Spot, Statement, at_lines, node_at, put_at

Names = set[tuple[str, str, str]]


def remove_import(module: cst.Module, edit: RemoveImport) -> cst.Module:
    line = parse_import(edit.code, "remove_import", module)
    names = set(imported(cast(Import, line.body[0])))
    found = [
        spot
        for spot in own_statements(Spot(module))
        if isinstance(spot.node, Import) and names & set(imported(spot.node))
    ]
    if not found:
        return module
    if edit.unused_only:
        _refuse_used(module, found, names)
    freed = free_first_comments(module)
    # Those inside others first, so that the ways stay right.
    for path in sorted({_block_path(spot.path) for spot in found}, key=len, reverse=True):
        block = cast(Block, node_at(freed, path))
        freed = cast(cst.Module, put_at(freed, path, _without(block, names)))
    return freed


def _block_path(path: Path) -> Path:
    """The way to the block of a simple statement."""
    last = max(i for i, (name, _) in enumerate(path) if name == "body")
    line = path[:last]
    # `a; b` on a line of a block: two steps of that name.
    return line[:-1] if line and line[-1][0] == "body" and line[-1][1] is not None else line


def _refuse_used(module: cst.Module, found: list[Spot], names: Names) -> None:
    for spot in found:
        node = cast(Import, spot.node)
        if isinstance(node.names, cst.ImportStar):
            raise Refused(
                "conflict",
                f"It cannot be told which names {at_lines(module, [node])} come from the star; "
                "with unused_only: false, the import is removed anyway.",
            )
        for name, used in uses_of(module, node, names):
            raise Refused(
                "conflict",
                f"{name} is still used {at_lines(module, used)}; with unused_only: false, the "
                "import is removed anyway.",
            )


def _without(block: Block, names: Names) -> Block:
    lines: list[Statement] = []
    removed: list[cst.EmptyLine] | None = None
    for line in lines_of(block):
        left = _reduced(line, names)
        if left is None:
            removed = leading_lines(line) if removed is None else _joined(removed, line)
            continue
        if removed is not None:
            lead = _joined(removed, left)
            if isinstance(block, cst.Module) and not lines:
                lead = _below_header(list(block.header), lead)
            left, removed = with_lines(left, lead), None
        lines.append(left)
    if isinstance(block, cst.SimpleStatementSuite):
        body = cast(cst.SimpleStatementLine, lines[0]).body if lines else [cst.Pass()]
        return block.with_changes(body=body)
    if not lines and isinstance(block, cst.IndentedBlock):
        said = [line for line in removed or [] if line.comment]
        lines = [cst.SimpleStatementLine(body=[cst.Pass()], leading_lines=said)]
    return block.with_changes(body=lines)


def _joined(removed: list[cst.EmptyLine], following: Statement) -> list[cst.EmptyLine]:
    """The lines before what follows a removed statement.

    A comment right above the removed one goes with it, unless it heads a group that goes on.
    """
    apart, attached = split_lines(removed)
    own = leading_lines(following)
    if not own:
        return [*apart, *attached] if _is_import(following) else apart
    blanks = next((i for i, line in enumerate(own) if line.comment), len(own))
    missing = trailing_blanks(apart) - blanks
    return [*apart[: len(apart) - trailing_blanks(apart)], *blank_lines(max(missing, 0)), *own]


def _below_header(header: list[cst.EmptyLine], lines: list[cst.EmptyLine]) -> list[cst.EmptyLine]:
    """What was below an import, at the top of the file: no blank line twice."""
    surplus = trailing_blanks(header) if header else len(lines)
    while lines and surplus and lines[0].comment is None:
        lines, surplus = lines[1:], surplus - 1
    return lines


def _is_import(line: cst.CSTNode) -> bool:
    return all(isinstance(small, Import) for small in flatten([line]))


def _reduced(line: Statement, names: Names) -> Statement | None:
    """A line without these imports; None where nothing is left of it."""
    if not isinstance(line, cst.SimpleStatementLine):
        return line
    body = [_reduced_import(small, names) for small in line.body]
    kept = [small for small in body if small is not None]
    if not kept:
        return None
    if kept == list(line.body):
        return line
    if body[-1] is None:
        kept[-1] = kept[-1].with_changes(semicolon=line.body[-1].semicolon)
    return line.with_changes(body=kept)


def _reduced_import(node: cst.BaseSmallStatement, names: Names) -> cst.BaseSmallStatement | None:
    if not isinstance(node, Import):
        return node
    if isinstance(node.names, cst.ImportStar):
        return None if names & set(imported(node)) else node
    opening, closing = cst.SimpleWhitespace(""), cst.SimpleWhitespace("")
    lpar = node.lpar if isinstance(node, cst.ImportFrom) else None
    rpar = node.rpar if isinstance(node, cst.ImportFrom) else None
    row = read_row(
        node.names,
        lpar.whitespace_after if lpar else opening,
        rpar.whitespace_before if rpar else closing,
    )
    for index, one in reversed(list(enumerate(imported(node)))):
        if one in names:
            row = without_item(row, index)
    if len(row.items) == len(node.names):
        return node
    if not row.items:
        return None
    node = node.with_changes(names=items_of(row, bracketed=True))
    if lpar and rpar:
        lpar = lpar.with_changes(whitespace_after=row.gaps[0])
        rpar = rpar.with_changes(whitespace_before=row.gaps[-1])
        return node.with_changes(lpar=lpar, rpar=rpar)
    return node
