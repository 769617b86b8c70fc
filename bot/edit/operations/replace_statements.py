"""Replace one run of statements of a function (or the module), told by the structure of `anchor`.

`code` may hold the anchor itself, so statements can be wrapped.
Postcondition: `code` stands in the target, and no anchor outside of it.
"""

from __future__ import annotations

import libcst as cst

from bot.edit.anchors import missing_statement, undecided
from bot.edit.blocks import Run, find_runs, is_inside, put_statements
from bot.edit.code import one_line, parse_anchor, parse_statements
from bot.edit.header import free_first_comments
from bot.edit.refusal import Refused
from bot.edit.schema import ReplaceStatements
from bot.edit.structure import flatten
from bot.edit.targets import choose, find_target
from bot.edit.tree import Spot, node_at, put_in_module


def replace_statements(module: cst.Module, edit: ReplaceStatements) -> cst.Module:
    new = parse_statements(edit.code, module)
    wanted = parse_anchor(edit.anchor, module)
    scope = find_target(module, edit.target, edit.target_number)
    done = find_runs(scope, new)
    found = [run for run in find_runs(scope, wanted) if not any(is_inside(run, d) for d in done)]
    if not found and done:
        return module
    where = edit.target or "this file"
    if not found:
        raise Refused("not_found", missing_statement(module, scope, wanted, where))
    first = one_line(module, flatten(wanted)[0])
    nodes = [run.statements[0] for run in found]
    if done and edit.number is not None:
        raise undecided(module, [run.statements[0] for run in done])
    run = choose(
        module,
        found,
        edit.number,
        what=f"The anchor {first!r} stands",
        where=f" in {where}",
        nodes=nodes,
    )
    freed = free_first_comments(module)
    block = Spot(node_at(freed, run.block.path), run.block.path)
    changed = put_statements(Run(block, run.start, run.stop), new)
    return put_in_module(freed, run.block.path, changed)
