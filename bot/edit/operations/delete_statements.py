"""Delete one run of statements of a function (or the module), told by the structure of `anchor`.

Comments right on the deleted statements go with them, others stay; an emptied block gets `pass`.
Postcondition: no such statements stand in the target. Where none stand and none are like them
the edit is a no-op; where something like them stands it is refused, since that may be meant.
"""

from __future__ import annotations

import libcst as cst

from bot.edit.anchors import missing_statement, nearest_statement
from bot.edit.blocks import Run, find_runs, take_out
from bot.edit.code import one_line, parse_anchor
from bot.edit.header import free_first_comments
from bot.edit.refusal import Refused
from bot.edit.schema import DeleteStatements
from bot.edit.structure import flatten
from bot.edit.targets import choose, find_target
from bot.edit.tree import Spot, node_at, put_in_module


def delete_statements(module: cst.Module, edit: DeleteStatements) -> cst.Module:
    wanted = parse_anchor(edit.anchor, module)
    scope = find_target(module, edit.target, edit.target_number)
    found = find_runs(scope, wanted)
    where = edit.target or "this file"
    if not found:
        if nearest_statement(module, scope, wanted) is None:
            return module
        raise Refused("not_found", missing_statement(module, scope, wanted, where))
    run = choose(
        module,
        found,
        edit.number,
        what=f"The anchor {one_line(module, flatten(wanted)[0])!r} stands",
        where=f" in {where}",
        nodes=[run.statements[0] for run in found],
    )
    freed = free_first_comments(module)
    block = Spot(node_at(freed, run.block.path), run.block.path)
    return put_in_module(freed, run.block.path, take_out(Run(block, run.start, run.stop)))
