"""Blocks of statements: finding a run of statements in them, and putting others there."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import cast

import libcst as cst

from bot.edit.code import (
    blank_lines,
    is_definition,
    leading_lines,
    pad,
    split_lines,
    trailing_blanks,
    with_lines,
    without_blank_start,
)
from bot.edit.structure import flatten, is_docstring, same
from bot.edit.tree import Spot, Statement, node_at, walk

Block = cst.Module | cst.IndentedBlock | cst.SimpleStatementSuite
_WITHOUT_BLOCKS = (
    cst.BaseExpression,
    cst.BaseSmallStatement,
    cst.SimpleStatementLine,
    cst.Parameters,
    cst.Decorator,
)


@dataclass(frozen=True)
class Run:
    """Statements `start` to `stop` of a block, counted one by one (`a; b` is two)."""

    block: Spot
    start: int
    stop: int

    @property
    def statements(self) -> list[cst.CSTNode]:
        return flatten(lines_of(cast(Block, self.block.node)))[self.start : self.stop]


def blocks(scope: Spot) -> Iterator[Spot]:
    """The block of a module, function or class and those inside it, in the order of the code."""
    for spot in walk(scope, lambda node: not isinstance(node, _WITHOUT_BLOCKS)):
        if isinstance(spot.node, cst.Module | cst.IndentedBlock | cst.SimpleStatementSuite):
            yield spot


def own_block(scope: Spot) -> Spot:
    """The outermost block of a module, function or class."""
    if isinstance(scope.node, cst.Module):
        return scope
    body = scope.node.body  # type: ignore[attr-defined]
    return Spot(body, (*scope.path, ("body", None)))


def lines_of(block: Block) -> list[Statement]:
    """The statements of a block, line by line; those of `def f(): return 1` as one line."""
    if isinstance(block, cst.SimpleStatementSuite):
        whitespace = block.trailing_whitespace
        return [cst.SimpleStatementLine(body=block.body, trailing_whitespace=whitespace)]
    return cast(list[Statement], list(block.body))


def find_runs(scope: Spot, wanted: Sequence[cst.CSTNode]) -> list[Run]:
    """Every run of statements inside `scope` with the structure of `wanted`, in their order."""
    runs = [run for block in blocks(scope) for run in runs_in(block, wanted)]
    if len(runs) < 2:
        return runs
    closed = (cst.BaseExpression, cst.BaseSmallStatement)
    spots = enumerate(walk(scope, lambda node: not isinstance(node, closed)))
    order = {id(spot.node): number for number, spot in spots}
    return sorted(runs, key=lambda run: order[id(run.statements[0])])


def runs_in(block: Spot, wanted: Sequence[cst.CSTNode]) -> Iterator[Run]:
    """Those of one block itself."""
    shapes, statements = flatten(wanted), flatten(lines_of(cast(Block, block.node)))
    for start in range(len(statements) - len(shapes) + 1):
        stop = start + len(shapes)
        if same(statements[start:stop], shapes):
            yield Run(block, start, stop)


def start_of(block: Spot) -> int:
    """The first place for a statement: behind the docstring and, in a module, late imports."""
    statements = flatten(lines_of(cast(Block, block.node)))
    is_module = isinstance(block.node, cst.Module)
    position = 1 if statements and is_docstring(statements[0]) else 0
    while is_module and position < len(statements) and is_future(statements[position]):
        position += 1
    return position


def is_future(node: cst.CSTNode) -> bool:
    """Whether it is `from __future__ import …`."""
    return (
        isinstance(node, cst.ImportFrom)
        and not node.relative
        and isinstance(node.module, cst.Name)
        and node.module.value == "__future__"
    )


def is_inside(run: Run, other: Run) -> bool:
    """Whether a run stands in another one, or deeper in one of its statements."""
    outer, inner = other.block, run.block
    if inner.path == outer.path:
        return other.start <= run.start and run.stop <= other.stop
    if inner.path[: len(outer.path)] != outer.path:
        return False
    node = node_at(outer.node, inner.path[len(outer.path) : len(outer.path) + 1])
    return any(node is statement for statement in other.statements)


def put_statements(run: Run, new: Sequence[Statement]) -> Block:
    """The block with `new` in place of the run.

    A lone simple statement takes the very place of the old one; otherwise `a; b` is broken
    there. Comments before the run, and at its last line, stay unless `new` has its own.
    """
    block = cast(Block, run.block.node)
    lines = lines_of(block)
    first, before, _ = _locate(lines, run.start)
    last, _, after = _locate(lines, run.stop - 1)
    if first == last and is_bare(new):
        line = cast(cst.SimpleStatementLine, lines[first])
        if isinstance(line, cst.SimpleStatementLine):
            return _in_line(block, lines, first, before, after, new[0])
    lead = leading_lines(lines[first]) if not before else []
    added = list(new)
    own = leading_lines(added[0])
    apart, attached = split_lines(lead)
    added[0] = with_lines(added[0], [*apart, *(own or attached)])
    if not after and isinstance(lines[last], cst.SimpleStatementLine):
        added[-1] = _keep_comment(lines[last], added[-1])
    head, _ = break_line(lines[first], before)
    _, tail = break_line(lines[last], len(_smalls(lines[last])) - after)
    return _with_lines(block, [*lines[:first], *head, *added, *tail, *lines[last + 1 :]])


def take_out(run: Run) -> Block:
    """The block without the run; with `pass` where nothing would be left of it."""
    block = cast(Block, run.block.node)
    lines = lines_of(block)
    first, before, _ = _locate(lines, run.start)
    last, _, after = _locate(lines, run.stop - 1)
    head, _ = break_line(lines[first], before)
    _, tail = break_line(lines[last], len(_smalls(lines[last])) - after)
    previous = [*lines[:first], *head]
    following = [*tail, *lines[last + 1 :]]
    apart, _ = split_lines(leading_lines(lines[first])) if not before else ([], [])
    if following and not tail:
        has_head = isinstance(block, cst.Module) and bool(block.header)
        opens = not previous and not has_head
        following[0] = with_lines(following[0], _join(opens, apart, following[0]))
    elif tail and not before:
        following[0] = with_lines(tail[0], leading_lines(lines[first]))
    if not previous and not following and not isinstance(block, cst.Module):
        following = [cst.SimpleStatementLine(body=[cst.Pass()])]
        if isinstance(block, cst.SimpleStatementSuite):
            return block.with_changes(body=[cst.Pass()])
    kept = [] if following else [line for line in apart if line.comment is not None]
    if isinstance(block, cst.Module) and not (previous or following or kept or block.header):
        block = block.with_changes(has_trailing_newline=bool(block.footer))
    if kept and not isinstance(block, cst.SimpleStatementSuite):
        block = block.with_changes(footer=[*kept, *block.footer])
    return _with_lines(block, [*previous, *following])


def _join(opens: bool, apart: Sequence[cst.EmptyLine], following: Statement) -> list[cst.EmptyLine]:
    """The lines before what follows a deleted statement: its own, and what was not deleted.

    `opens`: it is the first in its block now.
    """
    own = leading_lines(following)
    if any(line.comment is not None for line in apart):
        return [*apart, *own]
    if opens and not apart:
        return without_blank_start(own)
    rest = without_blank_start(own)
    blanks = max(len(apart), len(own) - len(rest))
    return [*blank_lines(blanks), *rest] if len(own) - len(rest) < blanks else own


def insert_in(block_spot: Spot, position: int, new: Sequence[Statement], *, follow: bool) -> Block:
    """The block with `new` before its statement number `position`.

    `follow`: the new code belongs to what stands before it, and blank lines and comments that
    follow stay with what comes after; otherwise it stands below those blank lines, and only
    comments right on the next statement stay there.
    """
    block = cast(Block, block_spot.node)
    lines = lines_of(block)
    head: list[Statement] = []
    tail: list[Statement] = []
    if position >= len(flatten(lines)):
        index = len(lines)
    else:
        index, before, _ = _locate(lines, position)
        head, tail = break_line(lines[index], before)
    previous = [*lines[:index], *head]
    following = [*tail, *lines[index + 1 :]] if tail else lines[index + 1 :]
    least = 2 if isinstance(block, cst.Module) else 1
    added, following = _space(previous, list(new), following, least, follow)
    return _with_lines(block, [*previous, *added, *following])


def _space(
    previous: list[Statement],
    added: list[Statement],
    following: list[Statement],
    least: int,
    follow: bool,
) -> tuple[list[Statement], list[Statement]]:
    """Blank lines around inserted statements, as a person would set them."""
    apart: list[cst.EmptyLine] = []
    if following and not follow:
        apart, attached = split_lines(leading_lines(following[0]))
        following = [with_lines(following[0], attached), *following[1:]]
    if previous and (is_definition(added[0]) or is_definition(previous[-1])):
        apart = [*apart, *blank_lines(least - trailing_blanks(apart))]
    if following and (is_definition(added[-1]) or is_definition(following[0])):
        lines = pad(leading_lines(following[0]), least)
        following = [with_lines(following[0], lines), *following[1:]]
    lead = [*apart, *without_blank_start(leading_lines(added[0]))]
    return [with_lines(added[0], lead), *added[1:]], following


def _locate(lines: Sequence[Statement], position: int) -> tuple[int, int, int]:
    """Line of a statement, and how many statements of that line stand before and after it."""
    for index, line in enumerate(lines):
        count = len(_smalls(line))
        if position < count:
            return index, position, count - position - 1
        position -= count
    raise IndexError(position)


def _smalls(line: Statement) -> Sequence[cst.CSTNode]:
    return line.body if isinstance(line, cst.SimpleStatementLine) else [line]


def break_line(line: Statement, at: int) -> tuple[list[Statement], list[Statement]]:
    """A line of `a; b` as two, before and from statement number `at` on."""
    count = len(_smalls(line))
    if at <= 0:
        return [], [line]
    if at >= count:
        return [line], []
    assert isinstance(line, cst.SimpleStatementLine)
    body = list(line.body)
    body[at - 1] = body[at - 1].with_changes(semicolon=cst.MaybeSentinel.DEFAULT)
    head = cst.SimpleStatementLine(body=body[:at], leading_lines=line.leading_lines)
    return [head], [line.with_changes(body=body[at:], leading_lines=[])]


def is_bare(new: Sequence[Statement]) -> bool:
    """One simple statement without comments of its own."""
    return (
        len(new) == 1
        and isinstance(new[0], cst.SimpleStatementLine)
        and len(new[0].body) == 1
        and not new[0].leading_lines
        and new[0].trailing_whitespace.comment is None
    )


def _in_line(
    block: Block, lines: list[Statement], index: int, before: int, after: int, new: Statement
) -> Block:
    line = cast(cst.SimpleStatementLine, lines[index])
    old = line.body[len(line.body) - after - 1]
    small = cast(cst.SimpleStatementLine, new).body[0].with_changes(semicolon=old.semicolon)
    body = [*line.body[:before], small, *line.body[len(line.body) - after :]]
    if isinstance(block, cst.SimpleStatementSuite):
        return block.with_changes(body=body)
    return _with_lines(block, [*lines[:index], line.with_changes(body=body), *lines[index + 1 :]])


def _keep_comment(old: Statement, new: Statement) -> Statement:
    if not isinstance(new, cst.SimpleStatementLine) or new.trailing_whitespace.comment is not None:
        return new
    assert isinstance(old, cst.SimpleStatementLine)
    return new.with_changes(trailing_whitespace=old.trailing_whitespace)


def _with_lines(block: Block, lines: Sequence[Statement]) -> Block:
    if isinstance(block, cst.SimpleStatementSuite):
        return cst.IndentedBlock(body=lines)
    return block.with_changes(body=lines)
