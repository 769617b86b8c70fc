"""Replace a function's body; its signature, decorators and comments before it stay.

The docstring stays too, unless `code` begins with one.
Postcondition: the body has the structure of `code`.
"""

from __future__ import annotations

from typing import cast

import libcst as cst

from bot.edit.blocks import Block, break_line, lines_of, own_block
from bot.edit.code import leading_lines, parse_statements, split_lines, with_lines
from bot.edit.refusal import Refused
from bot.edit.schema import ReplaceFunctionBody
from bot.edit.structure import flatten, is_docstring, same
from bot.edit.targets import find_target
from bot.edit.tree import Statement, put_in_module


def replace_function_body(module: cst.Module, edit: ReplaceFunctionBody) -> cst.Module:
    scope = find_target(module, edit.target, edit.target_number)
    if not isinstance(scope.node, cst.FunctionDef):
        raise Refused("unsupported", f"{edit.target} is a class, not a function.")
    new = parse_statements(edit.code, module)
    spot = own_block(scope)
    block = cast(Block, spot.node)
    old = flatten(lines_of(block))
    kept = 1 if is_docstring(old[0]) and not is_docstring(flatten(new)[0]) else 0
    if same(old[kept:], flatten(new)):
        return module
    return put_in_module(module, spot.path, _with_body(block, new, kept))


def _with_body(block: Block, new: list[Statement], kept: int) -> cst.BaseSuite:
    """The block with its first `kept` statements and then `new`."""
    if isinstance(block, cst.SimpleStatementSuite) and not kept:
        return cst.IndentedBlock(body=new, header=block.trailing_whitespace)
    lines = lines_of(block)
    docstring, rest = break_line(lines[0], kept)
    replaced = [*rest, *lines[1:]]
    if docstring and replaced:
        apart, _ = split_lines(leading_lines(replaced[0]))
        new = [with_lines(new[0], [*apart, *leading_lines(new[0])]), *new[1:]]
    body = [*docstring, *new]
    if isinstance(block, cst.IndentedBlock):
        return block.with_changes(body=body)
    return cst.IndentedBlock(body=body)
