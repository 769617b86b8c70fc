"""Insert statements into a function, a class, or the module.

`place` is `start` (behind the docstring, the default), `end`, or `before` / `after` the one
statement of the block whose structure is that of `anchor`.
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

PLACES = ("start", "end", "before", "after")


def insert_statements(module: cst.Module, edit: Edit) -> cst.Module:
    place = (edit.model_extra or {}).get("place", "start")
    if place not in PLACES:
        raise Refused("unsupported", f"place is {place!r}; it must be one of {', '.join(PLACES)}.")
    scope = find_scope(module, edit.target)
    added = parse_code(edit.code, module)
    old_block, body = _block(scope)
    position = _position(module, body, place, edit.anchor)
    shapes = [statement_shape(module, node) for node in added]
    around = [
        body[position : position + len(added)],
        body[max(position - len(added), 0) : position],
    ]
    if any([statement_shape(module, node) for node in part] == shapes for part in around):
        return module
    new_body = [*body[:position], *added, *body[position:]]
    if isinstance(scope, cst.Module):
        return module.with_changes(body=new_body)
    assert old_block is not None
    return replace_node(module, old_block, _as_block(old_block, new_body))


def _block(scope: Scope) -> tuple[cst.BaseSuite | None, list[Statement]]:
    """The suite of a definition and its statements; `def f(): return 1` as an indented line."""
    if isinstance(scope, cst.Module):
        return None, list(scope.body)
    suite = scope.body
    if isinstance(suite, cst.SimpleStatementSuite):
        line = cst.SimpleStatementLine(
            body=suite.body, trailing_whitespace=suite.trailing_whitespace
        )
        return suite, [line]
    assert isinstance(suite, cst.IndentedBlock)
    return suite, cast(list[Statement], list(suite.body))


def _as_block(old: cst.BaseSuite, body: list[Statement]) -> cst.IndentedBlock:
    if isinstance(old, cst.IndentedBlock):
        return old.with_changes(body=body)
    return cst.IndentedBlock(body=body)


def _position(module: cst.Module, body: list[Statement], place: str, anchor: str) -> int:
    if place == "end":
        return len(body)
    if place == "start":
        return 1 if body and is_docstring(body[0]) else 0
    try:
        wanted = code_shape(anchor)
    except SyntaxError:
        raise Refused("not_found", f"The anchor {anchor!r} is no statement.") from None
    found = [i for i, node in enumerate(body) if statement_shape(module, node) == wanted]
    if not found:
        raise Refused("not_found", f"No statement of this block is {anchor!r}.")
    if len(found) > 1:
        raise Refused("ambiguous", f"{len(found)} statements of this block are {anchor!r}.")
    return found[0] + (place == "after")
