"""Refusals for anchors: what is there instead, and what cannot be decided."""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from typing import cast

import libcst as cst

from bot.edit.blocks import Block, blocks, lines_of
from bot.edit.code import one_line
from bot.edit.expressions import expressions, find_expressions
from bot.edit.refusal import Refused
from bot.edit.structure import flatten
from bot.edit.targets import choose
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


def open_place(
    module: cst.Module,
    scope: Spot,
    wanted: cst.BaseExpression,
    *,
    done: Sequence[Spot],
    number: int | None,
    where: str,
) -> Spot | None:
    """The place of an anchor that is to be changed, outside of those that are changed already.

    None where all are. `done` are the places that look as the edit would make them.
    """
    found = [
        spot
        for spot in find_expressions(scope, wanted)
        if not any(spot.path[: len(whole.path)] == whole.path for whole in done)
    ]
    if not found and done:
        return None
    if not found:
        raise Refused("not_found", missing_expression(module, scope, wanted, where))
    if done and number is not None:
        raise undecided(module, [spot.node for spot in done])
    return choose(
        module,
        found,
        number,
        what=f"The anchor {one_line(module, wanted)!r} stands",
        where=f" in {where}",
        nodes=[spot.node for spot in found],
    )


def missing_expression(
    module: cst.Module, scope: Spot, wanted: cst.BaseExpression, where: str
) -> str:
    """What to say of an anchor that is not there: the expression most like it."""
    message = f"There is no expression {one_line(module, wanted)!r} in {where}."
    alike = [spot.node for spot in expressions(scope) if type(spot.node) is type(wanted)]
    near = nearest(module, wanted, alike)
    if near is None:
        return message
    line = line_numbers(module, [near])[0]
    return f"{message} The nearest is at line {line}: {one_line(module, near)!r}."


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
