"""The edits that undo an edit: found by comparing the syntax trees, and believed only when tried.

An edit has an inverse where the two trees differ in statements of one block, or in expressions,
and the edits that put the old ones back give the very bytes of before. Of other files, the lines
are compared.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, cast

import libcst as cst

from bot.edit.blocks import Block, find_runs, lines_of
from bot.edit.documents import Document, PythonDocument, TextDocument
from bot.edit.expressions import find_expressions
from bot.edit.following import named_definitions
from bot.edit.operations import OPERATIONS
from bot.edit.parameters import find_function, kind_in
from bot.edit.refusal import Refused
from bot.edit.schema import SCHEMAS
from bot.edit.structure import flatten, same
from bot.edit.tree import Spot, Statement, walk

Fields = dict[str, Any]
_BLOCKS = (cst.Module, cst.IndentedBlock, cst.SimpleStatementSuite)
_OPPOSITES = {"append_to": "remove_from", "remove_from": "append_to"}


@dataclass(frozen=True)
class Difference:
    """What stands at one place of two trees: lines of a block (with it), or an expression each."""

    old: Sequence[Statement] | cst.BaseExpression
    new: Sequence[Statement] | cst.BaseExpression
    block: cst.CSTNode
    position: int = 0


def undo(before: Document, after: Document, edit: Fields) -> list[Fields]:
    """The edits, in order, that lead from `after` back to `before`. Refused where none do."""
    if isinstance(before, TextDocument) or isinstance(after, TextDocument):
        undoing = [_restore_lines(before.content, after.content, edit)]
        if _leads_back(before, after, undoing):
            return undoing
        raise Refused("unsupported", f"This {edit['op']} has no inverse.")
    return _undo_in_tree(before, after, edit)


def _undo_in_tree(before: PythonDocument, after: PythonDocument, edit: Fields) -> list[Fields]:
    opposite = _opposite(before.tree, edit)
    if opposite is not None and _leads_back(before, after, [opposite]):
        return [opposite]
    # An expression is put back rather than the statement around it, where that can be said.
    for finely in (True, False):
        undoing = _put_back(before, after, edit, finely)
        if undoing and _leads_back(before, after, undoing):
            return undoing
    raise Refused("unsupported", f"This {edit['op']} has no inverse.")


def _restore_lines(before: bytes, after: bytes, edit: Fields) -> Fields:
    """The replacement of the lines that differ, with those around them where they need company."""
    old, new = (
        content.decode("utf-8", "surrogateescape").removeprefix("\ufeff").splitlines(True)
        for content in (before, after)
    )
    shorter = min(len(old), len(new))
    start = next((i for i in range(shorter) if old[i] != new[i]), shorter)
    shorter -= start
    end = next((i for i in range(shorter) if old[-1 - i] != new[-1 - i]), shorter)
    # What is put back, and what it stands for, must both hold text.
    while start > 0 and not "".join(old[start : len(old) - end]).strip():
        start -= 1
    while end > 0 and not "".join(old[start : len(old) - end]).strip():
        end -= 1
    anchor, code = ("".join(lines[start : len(lines) - end]) for lines in (new, old))
    others = len(re.findall(f"(?={re.escape(anchor)})", "".join(new[:start]) + anchor))
    several = "".join(new).count(anchor) > 1
    return {
        "op": "edit_text",
        "file": edit["file"],
        "anchor": anchor,
        "code": code,
        "number": others if several else None,
    }


def _put_back(
    before: PythonDocument, after: PythonDocument, edit: Fields, finely: bool
) -> list[Fields]:
    undoing = []
    for difference in differences(before.tree, after.tree, finely=finely):
        made = _restore(before, after, difference)
        if made is None:
            return []
        undoing.append({"file": edit["file"], **made})
    return undoing


def _opposite(module: cst.Module, edit: Fields) -> Fields | None:
    """The edit of a kind that by its name undoes another; None where there is none.

    `module` is that of before.
    """
    if edit["op"] == "rename":
        outer, _, name = str(edit["target"]).rpartition(".")
        return edit | {"target": f"{outer}.{edit['to']}".lstrip("."), "to": name}
    if edit["op"] == "set_default":
        spot = find_function(module, edit["target"], edit.get("target_number"))
        assert isinstance(spot.node, cst.FunctionDef)
        _, param = kind_in(spot.node.params, edit["parameter"])
        default = param.default if param is not None else None
        return None if default is None else edit | {"code": module.code_for_node(default)}
    opposite = _OPPOSITES.get(edit["op"])
    return edit | {"op": opposite} if opposite else None


def _leads_back(before: Document, after: Document, edits: Sequence[Fields]) -> bool:
    document: Document = after
    try:
        for edit in edits:
            schema = SCHEMAS[edit["op"]].model_validate(edit)
            document = document.with_tree(OPERATIONS[edit["op"]](document.tree, schema))
        return document.content == before.content
    except (Refused, cst.CSTValidationError):
        return False


def differences(
    old: cst.CSTNode, new: cst.CSTNode, *, finely: bool = False
) -> Iterator[Difference]:
    """Where two trees differ, as deep as an edit can reach, in the order of the code.

    `finely`: also inside simple statements.
    """
    if old is new or same(old, new):
        return
    if isinstance(old, _BLOCKS) and isinstance(new, _BLOCKS):
        yield from _in_block(old, new, finely)
    elif isinstance(old, cst.BaseExpression) and isinstance(new, cst.BaseExpression):
        yield Difference(old, new, new)
    elif type(old) is type(new):
        pairs = list(zip(old.children, new.children, strict=False))
        if len(old.children) != len(new.children):
            return
        for one, other in pairs:
            yield from differences(one, other, finely=finely)


def _in_block(old: Block, new: Block, finely: bool) -> Iterator[Difference]:
    before, after = lines_of(old), lines_of(new)
    start = 0
    while start < min(len(before), len(after)) and same(before[start], after[start]):
        start += 1
    end = 0
    while end < min(len(before), len(after)) - start and same(before[-1 - end], after[-1 - end]):
        end += 1
    gone, come = before[start : len(before) - end], after[start : len(after) - end]
    is_simple = not gone or not isinstance(gone[0], cst.BaseCompoundStatement)
    if len(gone) == len(come) == 1 and (finely or not is_simple):
        inside = list(differences(gone[0], come[0], finely=finely))
        if inside:
            yield from inside
            return
    yield Difference(gone, come, new, start)


def _restore(
    before: PythonDocument, after: PythonDocument, difference: Difference
) -> Fields | None:
    """The edit that puts back what was at one place; None where no operation can."""
    target = _around(after.tree, difference.block)
    scope = Spot(next((n for name, n in _definitions(after.tree) if name == target), after.tree))
    if isinstance(difference.new, cst.BaseExpression):
        found = [s.node for s in find_expressions(scope, difference.new)]
        assert isinstance(difference.old, cst.BaseExpression)
        return {
            "op": "replace_expression",
            "target": target,
            "anchor": after.tree.code_for_node(difference.new),
            "code": before.tree.code_for_node(difference.old),
            "number": _number(found, difference.new),
        }
    old, new = (cast(Sequence[Statement], s) for s in (difference.old, difference.new))
    if not new:
        return _insertion(before, target, difference)
    runs = [run.statements[0] for run in find_runs(scope, new)]
    fields = {
        "target": target,
        "anchor": _text(after.tree, new),
        "number": _number(runs, flatten(new)[0]),
    }
    if old:
        return {"op": "replace_statements", "code": _text(before.tree, old), **fields}
    return {"op": "delete_statements", **fields}


def _insertion(before: PythonDocument, target: str, difference: Difference) -> Fields:
    lines = lines_of(cast(Block, difference.block))
    fields: Fields = {
        "op": "insert_statements",
        "target": target,
        "code": _text(before.tree, cast(Sequence[Statement], difference.old)),
    }
    if difference.position < len(lines):
        anchor = _text(before.tree, [lines[difference.position]])
        return fields | {"place": "before", "anchor": anchor}
    return fields | {"place": "after", "anchor": _text(before.tree, [lines[-1]])}


def _text(module: cst.Module, lines: Sequence[Statement]) -> str:
    return "".join(module.code_for_node(line) for line in lines).strip("\r\n")


def _number(found: Sequence[cst.CSTNode], wanted: cst.CSTNode) -> int | None:
    if len(found) < 2:
        return None
    return next((i + 1 for i, node in enumerate(found) if node is wanted), None)


def _around(module: cst.Module, node: cst.CSTNode) -> str:
    """The dotted name of the innermost definition that a node stands in; "" for the module."""
    names = [
        name
        for name, definition in _definitions(module)
        if any(spot.node is node for spot in walk(Spot(definition), lambda n: True))
        or any(child is node for child in definition.children)
    ]
    return max(names, key=len, default="")


def _definitions(module: cst.Module) -> list[tuple[str, cst.CSTNode]]:
    return list(named_definitions(Spot(module)))
