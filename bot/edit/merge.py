"""Three versions of a block of statements into one: by structure, not by lines.

What only one side has changed is taken from that side. Where both have changed one statement, its
blocks are merged if its head is the same in all three; else the merge is refused.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from difflib import SequenceMatcher
from typing import cast

import libcst as cst

from bot.edit.alignment import BODIES, inner
from bot.edit.blocks import Block, lines_of
from bot.edit.refusal import Refused
from bot.edit.shapes import Shape, renamed, shape
from bot.edit.tree import Statement, field_names

Lines = Sequence[Statement]


class Merge:
    """`names`: what the base's names are called in `theirs`; `ours` has those names already."""

    def __init__(self, names: Mapping[str, str], where: str) -> None:
        self._names, self._where = names, where

    def lines(self, base: Lines, ours: Lines, theirs: Lines) -> list[Statement]:
        """The lines of `theirs` with what `ours` changes against `base`."""
        in_ours = self._matches(base, ours)
        in_theirs = self._matches(base, theirs)
        merged: list[Statement] = []
        start = (0, 0, 0)
        for at in range(len(base) + 1):
            if at == len(base):
                stop = (len(base), len(ours), len(theirs))
            elif at in in_ours and at in in_theirs:
                stop = (at, in_ours[at], in_theirs[at])
            else:
                continue
            parts = [
                side[a:b] for side, a, b in zip((base, ours, theirs), start, stop, strict=True)
            ]
            merged += self._region(*parts)
            if at < len(base):
                merged.append(theirs[stop[2]])
            start = (stop[0] + 1, stop[1] + 1, stop[2] + 1)
        return merged

    def _region(self, base: Lines, ours: Lines, theirs: Lines) -> list[Statement]:
        """What stands between two lines that all three have."""
        old, mine, other = self._old(base), self._new(ours), self._new(theirs)
        if mine in (old, other):
            return list(theirs)
        if other == old:
            return list(ours)
        if len(theirs) == len(base):
            return self._onto(base, ours, theirs, lambda line, mine, other: (mine, other))
        if len(ours) == len(base):
            return self._onto(base, theirs, ours, lambda line, other, mine: (mine, other))
        raise self._conflict(base)

    def _onto(
        self,
        base: Lines,
        moving: Lines,
        fixed: Lines,
        order: Callable[[Statement, Statement, Statement], tuple[Statement, Statement]],
    ) -> list[Statement]:
        """The changes of one side on the other, whose lines are the base's one by one."""
        before, after = self._old(base), self._new(moving)
        merged: list[Statement] = []
        matcher = SequenceMatcher(None, before, after, autojunk=False)
        for kind, a, b, c, d in matcher.get_opcodes():
            if kind == "equal":
                merged += fixed[a:b]
            elif self._new(fixed[a:b]) == before[a:b]:
                merged += moving[c:d]
            elif b - a == d - c:
                merged += [
                    self._inside(line, *order(line, one, other))
                    for line, one, other in zip(base[a:b], moving[c:d], fixed[a:b], strict=True)
                ]
            else:
                raise self._conflict(base[a:b])
        return merged

    def _inside(self, base: Statement, ours: Statement, theirs: Statement) -> Statement:
        """One statement that both have changed, or one of them."""
        old, mine, other = self._old([base]), self._new([ours]), self._new([theirs])
        if mine in (old, other):
            return theirs
        if other == old:
            return ours
        blocks = [[kind for kind, _ in inner(node)] for node in (base, ours, theirs)]
        if not self._one_head(base, ours, theirs) or not blocks[0] == blocks[1] == blocks[2]:
            raise self._conflict([base])
        return cast(Statement, self._bodies(base, ours, theirs))

    def _one_head(self, base: Statement, ours: Statement, theirs: Statement) -> bool:
        if not isinstance(theirs, cst.BaseCompoundStatement):
            return False
        if not type(base) is type(ours) is type(theirs):
            return False
        heads = [name for name in field_names(type(base)) if name not in BODIES]
        return all(
            self._old(getattr(base, name))
            == self._new(getattr(ours, name))
            == self._new(getattr(theirs, name))
            for name in heads
        )

    def _bodies(self, base: object, ours: object, theirs: cst.CSTNode) -> cst.CSTNode:
        """`theirs` with each of its blocks merged."""
        changes: dict[str, object] = {}
        for name in field_names(type(theirs)):
            one, two, three = (getattr(node, name) for node in (base, ours, theirs))
            if name not in BODIES or three is None:
                continue
            if isinstance(three, cst.BaseSuite):
                changes[name] = self._suite(one, two, three)
            elif isinstance(three, cst.CSTNode):
                changes[name] = self._bodies(one, two, three)
            else:
                changes[name] = [self._bodies(*n) for n in zip(one, two, three, strict=True)]
        return theirs.with_changes(**changes)

    def _suite(
        self, base: cst.BaseSuite, ours: cst.BaseSuite, theirs: cst.BaseSuite
    ) -> cst.BaseSuite:
        old, mine, other = (lines_of(cast(Block, suite)) for suite in (base, ours, theirs))
        merged = self.lines(old, mine, other)
        if self._new(merged) == self._new(other):
            return theirs
        if isinstance(theirs, cst.IndentedBlock):
            return theirs.with_changes(body=merged)
        return cst.IndentedBlock(body=merged)

    def _matches(self, base: Lines, new: Lines) -> dict[int, int]:
        matcher = SequenceMatcher(None, self._old(base), self._new(new), autojunk=False)
        return {a + i: b + i for a, b, size in matcher.get_matching_blocks() for i in range(size)}

    def _old(self, value: object) -> list[Shape]:
        values = value if isinstance(value, list | tuple) else [value]
        return [shape(item, renamed(self._names)) for item in values]

    def _new(self, value: object) -> list[Shape]:
        values = value if isinstance(value, list | tuple) else [value]
        return [shape(item, str) for item in values]

    def _conflict(self, base: Lines) -> Refused:
        lines = [cst.Module([]).code_for_node(line).strip().split("\n")[0] for line in base[:1]]
        what = f"{lines[0][:80]!r}" if lines else "the same place"
        return Refused(
            "conflict", f"The edit and the new base both change {what} in {self._where}."
        )
