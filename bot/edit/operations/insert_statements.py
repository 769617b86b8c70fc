"""Insert statements into a function, a class, or the module.

`place` is `start` (behind the docstring, the default), `end`, or `before` / `after` the one
statement of the target, however deep, whose structure is that of `anchor`.
Postcondition: the statements stand at that place.
"""

from __future__ import annotations

from typing import cast

import libcst as cst

from bot.edit.refusal import Refused
from bot.edit.structure import (
    Scope,
    Statement,
    code_shape,
    find_scope,
    is_docstring,
    parse_code,
    replace_node,
    statement_shape,
)
from bot.records import Edit

Block = cst.Module | cst.IndentedBlock | cst.SimpleStatementSuite
PLACES = ("start", "end", "before", "after")


def insert_statements(module: cst.Module, edit: Edit) -> cst.Module:
    place = (edit.model_extra or {}).get("place", "start")
    if place not in PLACES:
        raise Refused("unsupported", f"place is {place!r}; it must be one of {', '.join(PLACES)}.")
    scope = find_scope(module, edit.target)
    added = parse_code(edit.code, module)
    shapes = [statement_shape(module, node) for node in added]
    places = _find_places(module, scope, place, edit.anchor)
    # Inserted code may hold the anchor itself: look for what is done before counting places.
    if any(_stands(module, block, position, shapes) for block, position in places):
        return module
    if len(places) > 1:
        raise Refused("ambiguous", f"{edit.anchor!r} stands {len(places)} times in the target.")
    block, position = places[0]
    body = _statements(block)
    new_body = [*body[:position], *added, *body[position:]]
    if isinstance(block, cst.SimpleStatementSuite):
        return replace_node(module, block, cst.IndentedBlock(body=new_body))
    if isinstance(block, cst.Module):
        return block.with_changes(body=new_body)
    return replace_node(module, block, block.with_changes(body=new_body))


def _statements(block: Block) -> list[Statement]:
    """The statements of a block; those of `def f(): return 1` as one line."""
    if isinstance(block, cst.SimpleStatementSuite):
        whitespace = block.trailing_whitespace
        return [cst.SimpleStatementLine(body=block.body, trailing_whitespace=whitespace)]
    return cast(list[Statement], list(block.body))


def _stands(module: cst.Module, block: Block, position: int, shapes: list[str]) -> bool:
    """Whether statements of these shapes stand right before or behind a position."""
    body, size = _statements(block), len(shapes)
    around = body[position : position + size], body[max(position - size, 0) : position]
    return any([statement_shape(module, node) for node in part] == shapes for part in around)


def _find_places(
    module: cst.Module, scope: Scope, place: str, anchor: str
) -> list[tuple[Block, int]]:
    """Blocks, and positions in them, where the statements may be meant to stand."""
    outermost = scope if isinstance(scope, cst.Module) else cast(Block, scope.body)
    body = _statements(outermost)
    if place == "end":
        return [(outermost, len(body))]
    if place == "start":
        return [(outermost, 1 if body and is_docstring(body[0]) else 0)]
    try:
        wanted = code_shape(anchor)
    except SyntaxError:
        raise Refused("not_found", f"The anchor {anchor!r} is no statement.") from None
    found = [
        (block, position + (place == "after"))
        for block in _blocks(outermost)
        for position, node in enumerate(_statements(block))
        if statement_shape(module, node) == wanted
    ]
    if not found:
        raise Refused("not_found", f"There is no statement {anchor!r} in the target.")
    return found


def _blocks(outermost: Block) -> list[Block]:
    """A block and those inside it: of loops, conditions, inner functions."""
    found: list[Block] = []

    class Finder(cst.CSTVisitor):
        def on_visit(self, node: cst.CSTNode) -> bool:
            if isinstance(node, cst.Module | cst.IndentedBlock | cst.SimpleStatementSuite):
                found.append(node)
            return True

    outermost.visit(Finder())
    return found
