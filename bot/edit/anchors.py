"""Refusals for anchors: what is there instead, and what cannot be decided."""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from typing import cast

import libcst as cst

from bot.edit.blocks import Block, blocks, lines_of
from bot.edit.code import one_line
from bot.edit.refusal import Refused
from bot.edit.structure import flatten
from bot.edit.tree import Spot, Statement, at_lines, line_numbers

MOST_COMPARED = 2000


def missing_statement(
    module: cst.Module, scope: Spot, wanted: Sequence[Statement], where: str
) -> str:
    """What to say of an anchor that is not there: the statement most like it."""
    first = one_line(module, flatten(wanted)[0])
    message = f"There is no statement {first!r} in {where}."
    near = nearest_statement(module, scope, wanted)
    if near is None:
        return message
    line = line_numbers(module, [near])[0]
    if one_line(module, near) == first:
        return f"{message} Line {line} begins like it, but goes on differently."
    return f"{message} The nearest is at line {line}: {one_line(module, near)!r}."


def nearest_statement(
    module: cst.Module, scope: Spot, wanted: Sequence[Statement]
) -> cst.CSTNode | None:
    """The statement of a scope that looks most like the first wanted one; None: none does."""
    statements = [
        statement
        for block in blocks(scope)
        for statement in flatten(lines_of(cast(Block, block.node)))
    ]
    return nearest(module, flatten(wanted)[0], statements)


def nearest(
    module: cst.Module, wanted: cst.CSTNode, nodes: Sequence[cst.CSTNode]
) -> cst.CSTNode | None:
    """The node whose first line looks most like that of the wanted one."""
    texts = [one_line(module, node, 200) for node in nodes[:MOST_COMPARED]]
    near = difflib.get_close_matches(one_line(module, wanted, 200), texts, n=1)
    return nodes[texts.index(near[0])] if near else None


def undecided(module: cst.Module, nodes: Sequence[cst.CSTNode]) -> Refused:
    """The refusal of a numbered anchor beside code that stands there: its number is open."""
    return Refused(
        "conflict",
        f"The new code stands {at_lines(module, nodes)} already, so it cannot be told which "
        "number is meant; narrow the target or give a larger anchor.",
    )
