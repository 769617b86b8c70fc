"""Which statements of a function of one revision are which of another's.

Statements correspond where they have one shape in one order, the function's own names left out.
What was wrapped into a new block, or moved, corresponds where its shape is unique on both sides.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from difflib import SequenceMatcher

import libcst as cst

from bot.edit.shapes import Shape, own_names, shape, without
from bot.edit.structure import flatten, is_docstring, plain
from bot.edit.tree import Spot, children, field_names, walk

Statements = Sequence[cst.CSTNode]
_STATEMENT = (cst.BaseSmallStatement, cst.BaseCompoundStatement)
BODIES = frozenset({"body", "orelse", "finalbody", "handlers", "cases"})


@dataclass
class Alignment:
    """Of two functions. `pairs` leads from a statement's id to the one it has become."""

    pairs: dict[int, cst.CSTNode] = field(default_factory=dict)
    votes: Counter[tuple[str, str]] = field(default_factory=Counter)

    def names(self) -> dict[str, str]:
        """Own name → what it is called now. A name whose uses disagree is left out."""
        found: dict[str, str] = {}
        taken: dict[str, str] = {}
        for (old, new), _ in self.votes.most_common():
            if old not in found and new not in taken:
                found[old], taken[new] = new, old
        return found

    def undecided(self) -> frozenset[str]:
        """Own names that have become several, or share what they have become."""
        names = self.names()
        return frozenset(old for old, new in self.votes if names.get(old) != new)


def align(old: cst.CSTNode, new: cst.CSTNode) -> Alignment:
    """The alignment of two functions, or of two classes or modules."""
    found = Alignment()
    own, others = own_names(old), own_names(new)
    if isinstance(old, cst.FunctionDef) and isinstance(new, cst.FunctionDef):
        _align_parameters(found, old, new)
    work = _Work(found, own, others)
    work.blocks(body_of(old), body_of(new))
    work.unique(old, new)
    for name in own & others:
        # A name that both have and that nothing contradicts is the same name.
        if not any(name in pair for pair in found.votes):
            found.votes[name, name] += 1
    return found


def body_of(node: cst.CSTNode) -> list[cst.CSTNode]:
    """The statements of a function, class or module, without its docstring."""
    block = node.body if isinstance(node, cst.FunctionDef | cst.ClassDef) else node
    statements = flatten(block.body)  # type: ignore[attr-defined]
    return statements[1:] if statements and is_docstring(statements[0]) else statements


def lockstep(old: object, new: object) -> Iterator[tuple[cst.CSTNode, cst.CSTNode]]:
    """The nodes of two pieces of code with one shape, pair by pair."""
    left, right = plain(old), plain(new)
    if isinstance(left, list) and isinstance(right, list):
        for one, other in zip(left, right, strict=False):
            yield from lockstep(one, other)
    elif isinstance(left, cst.CSTNode) and isinstance(right, cst.CSTNode):
        yield left, right
        if type(left) is type(right):
            for name in field_names(type(left)):
                yield from lockstep(getattr(left, name), getattr(right, name))


def _align_parameters(found: Alignment, old: cst.FunctionDef, new: cst.FunctionDef) -> None:
    before, after = _parameters(old), _parameters(new)
    if len(before) == len(after):
        found.votes.update(zip(before, after, strict=True))


def _parameters(function: cst.FunctionDef) -> list[str]:
    spots = walk(Spot(function.params), lambda node: not isinstance(node, cst.Param))
    names = [spot.node.name.value for spot in spots if isinstance(spot.node, cst.Param)]
    return [name for name in names if name not in ("self", "cls")]


@dataclass
class _Work:
    found: Alignment
    own: frozenset[str]
    others: frozenset[str]

    def old_shape(self, node: object) -> Shape:
        return shape(node, without(self.own))

    def new_shape(self, node: object) -> Shape:
        return shape(node, without(self.others))

    def blocks(self, old: Statements, new: Statements) -> None:
        """Align two lists of statements, and what is in those that differ inside only."""
        before = [self.old_shape(node) for node in old]
        after = [self.new_shape(node) for node in new]
        matcher = SequenceMatcher(None, before, after, autojunk=False)
        for kind, a, b, c, d in matcher.get_opcodes():
            if kind == "equal":
                for one, other in zip(old[a:b], new[c:d], strict=True):
                    self.pair(one, other)
            elif kind == "replace":
                self.changed(old[a:b], new[c:d])

    def changed(self, old: Statements, new: Statements) -> None:
        """Compound statements with one head, in their order: their blocks are aligned."""
        heads = [self.head(node, self.own) for node in old]
        others = [self.head(node, self.others) for node in new]
        matcher = SequenceMatcher(None, heads, others, autojunk=False)
        for a, c, size in matcher.get_matching_blocks():
            for one, other in zip(old[a : a + size], new[c : c + size], strict=True):
                if isinstance(one, cst.BaseCompoundStatement):
                    self.found.pairs[id(one)] = other
                    self.vote_head(one, other)
                    for (_, left), (_, right) in zip(inner(one), inner(other), strict=False):
                        self.blocks(left, right)

    def head(self, node: cst.CSTNode, own: frozenset[str]) -> Shape:
        """What stands before the colon; for a simple statement something that nothing equals."""
        if not isinstance(node, cst.BaseCompoundStatement):
            return id(node)
        parts = [
            shape(getattr(node, name), without(own))
            for name in field_names(type(node))
            if name not in BODIES and name != "decorators"
        ]
        return (type(node).__name__, tuple(name for name, _ in inner(node)), *parts)

    def vote_head(self, old: cst.CSTNode, new: cst.CSTNode) -> None:
        for name in field_names(type(old)):
            if name not in BODIES and name != "decorators":
                self.vote(getattr(old, name), getattr(new, name))

    def pair(self, old: cst.CSTNode, new: cst.CSTNode) -> None:
        self.vote(old, new)
        for one, other in lockstep(old, new):
            if isinstance(one, _STATEMENT):
                self.found.pairs[id(one)] = other

    def vote(self, old: object, new: object) -> None:
        for one, other in lockstep(old, new):
            if not isinstance(one, cst.Name) or not isinstance(other, cst.Name):
                continue
            if one.value in self.own and other.value in self.others:
                self.found.votes[one.value, other.value] += 1

    def unique(self, old: cst.CSTNode, new: cst.CSTNode) -> None:
        """Pair what is left and has a shape that nothing else has."""
        taken = {id(node) for node in self.found.pairs.values()}
        left = [n for n in statements_in(old) if id(n) not in self.found.pairs]
        right = [n for n in statements_in(new) if id(n) not in taken]
        before = Counter(self.old_shape(node) for node in left)
        after = Counter(self.new_shape(node) for node in right)
        places = {self.new_shape(node): node for node in right}
        for node in left:
            key = self.old_shape(node)
            if before[key] == after[key] == 1 and id(node) not in self.found.pairs:
                self.pair(node, places[key])


def inner(node: cst.CSTNode) -> list[tuple[str, list[cst.CSTNode]]]:
    """The blocks of a compound statement, in the order of the code, with their kinds."""
    found: list[tuple[str, list[cst.CSTNode]]] = []
    for name, child in children(Spot(node)):
        if name in BODIES:
            part = child.node
            block = part if isinstance(part, cst.BaseSuite) else getattr(part, "body", None)
            if isinstance(part, cst.If):  # elif
                found.append(("elif", [part]))
            elif isinstance(block, cst.BaseSuite):
                found.append((type(part).__name__, flatten(block.body)))
    return found


def statements_in(scope: cst.CSTNode) -> list[cst.CSTNode]:
    """Every statement inside of a function, class or module, however deep."""
    closed = (cst.BaseExpression, cst.BaseSmallStatement)
    spots = walk(Spot(scope), lambda node: not isinstance(node, closed))
    return [s.node for s in spots if isinstance(s.node, _STATEMENT) and s.node is not scope]
