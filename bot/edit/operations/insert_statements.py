"""Insert statements into a function, a class, or the module.

`place` is `start` (behind the docstring and `__future__` imports, the default), `end`, or
`before` / `after` the one statement of the target, however deep, with the structure of `anchor`.
Nothing is put before a docstring, which would be none then.
Postcondition: the statements stand at that place. Where they stand elsewhere in the same block,
it cannot be told whether that is meant, and the edit is refused.
"""

from __future__ import annotations

from typing import cast

import libcst as cst

from bot.edit.anchors import missing_statement
from bot.edit.blocks import (
    Block,
    Run,
    find_runs,
    insert_in,
    is_inside,
    lines_of,
    own_block,
    runs_in,
    start_of,
)
from bot.edit.code import one_line, parse_anchor, parse_statements
from bot.edit.header import free_first_comments
from bot.edit.refusal import Refused
from bot.edit.schema import InsertStatements
from bot.edit.structure import flatten, is_docstring
from bot.edit.targets import choose, find_target
from bot.edit.tree import Spot, Statement, at_lines, node_at, put_in_module

_DOCUMENTED = (cst.Module, cst.FunctionDef, cst.ClassDef)


def insert_statements(module: cst.Module, edit: InsertStatements) -> cst.Module:
    new = parse_statements(edit.code, module)
    scope = find_target(module, edit.target, edit.target_number)
    if edit.place in ("start", "end"):
        block = own_block(scope)
        position = start_of(block) if edit.place == "start" else _length(block)
        runs = list(runs_in(block, new))
        if any(position in (run.start, run.stop) for run in runs):
            return module
    else:
        anchored = _find_anchor(module, scope, edit, new)
        if anchored is None:
            return module
        block, runs = anchored.block, list(runs_in(anchored.block, new))
        position = anchored.start if edit.place == "before" else anchored.stop
        # Right at the anchor, on the side that is asked for.
        if any(position == (r.stop if edit.place == "before" else r.start) for r in runs):
            return module
    if runs:
        raise Refused(
            "conflict",
            f"These statements stand {at_lines(module, [runs[0].statements[0]])} already, not "
            f"where they are to go; say more with the edit, or use replace_statements.",
        )
    if edit.place == "before" and position == 0:
        _refuse_before_docstring(module, block)
    freed = free_first_comments(module)
    target = cast(Block, node_at(freed, block.path))
    changed = insert_in(
        Spot(target, block.path), position, new, follow=edit.place in ("after", "end")
    )
    return put_in_module(freed, block.path, changed)


def _refuse_before_docstring(module: cst.Module, block: Spot) -> None:
    owner = node_at(module, block.path[:-1])
    first = flatten(lines_of(cast(Block, block.node)))[0]
    if isinstance(owner, _DOCUMENTED) and is_docstring(first):
        raise Refused(
            "conflict",
            f"Before the docstring {at_lines(module, [first])}, which would be none then, nothing "
            "is inserted; place = start is behind it.",
        )


def _length(block: Spot) -> int:
    return len(flatten(lines_of(cast(Block, block.node))))


def _find_anchor(
    module: cst.Module, scope: Spot, edit: InsertStatements, new: list[Statement]
) -> Run | None:
    """Where the anchor stands; None where that is only inside of what is to be inserted."""
    wanted = parse_anchor(edit.anchor, module)
    found = find_runs(scope, wanted)
    where = edit.target or "this file"
    if not found:
        raise Refused("not_found", missing_statement(module, scope, wanted, where))
    # Inserted code may hold the anchor itself.
    inserted = find_runs(scope, new)
    outside = [run for run in found if not any(is_inside(run, other) for other in inserted)]
    if not outside:
        return None
    first = one_line(module, flatten(wanted)[0])
    nodes = [run.statements[0] for run in outside]
    return choose(
        module,
        outside,
        edit.number,
        what=f"The anchor {first!r} stands",
        where=f" in {where}",
        nodes=nodes,
    )
