"""What a text holds, as a tree: the comparison of two of them outside of an edit."""

from __future__ import annotations

import re
from collections.abc import Hashable, Iterator
from dataclasses import dataclass, field
from itertools import zip_longest


class Malformed(Exception):
    """The text is not of its format; `line` counts from 1."""

    def __init__(self, line: int, message: str) -> None:
        super().__init__(message)
        self.line = line


@dataclass(eq=False, slots=True)
class Node:
    """Something that stands from `start` to `stop` in a text.

    A leaf `says` what it is. With children, `says` tells the kind; an empty span means that it
    has no characters of its own, so that no edit is made in it. `chained`: where it is edited, its
    children may be held by what holds it.
    """

    start: int
    stop: int
    says: Hashable
    children: list[Node] = field(default_factory=list)
    chained: bool = False


def group(says: Hashable, *children: Node) -> Node:
    """A node that is nothing but its children."""
    return Node(0, 0, says, list(children))


def line_group(says: Hashable, text: str, start: int, stop: int) -> Node:
    """A node of the lines from `start` to `stop`, each a leaf without the white space around it."""
    found = re.finditer(r"\S(?:[^\r\n]*\S)?", text[start:stop])
    leaves = [Node(start + line.start(), start + line.end(), line.group()) for line in found]
    return group(says, *leaves)


def differing(old: Node, new: Node, start: int, stop: int, stop_after: int) -> int | None:
    """The place in the old text of the first leaf that has not stayed what and where it was.

    The edit replaces what is from `start` to `stop` by what is then from `start` to `stop_after`;
    leaves in there do not count. None where all others are the same.
    """
    places: dict[Hashable, int] = {}
    ours = _outside(old, start, stop, places)
    others = _outside(new, start, stop_after, places)
    for one, other in zip_longest(ours, others):
        if one is None:
            place: int = other[0].start
            return place if place < start else place - stop_after + stop
        if other is None or one[1:] != other[1:]:
            return one[0].start
    return None


def _outside(
    root: Node, start: int, stop: int, places: dict[Hashable, int]
) -> Iterator[tuple[Node, Hashable, int]]:
    """Each leaf outside of a span with what it says and a number for what holds it.

    A thing that holds leaves is known by its kind, by what holds it, and by which of these leaves
    is its first: so it is the same in two trees where the span is all that differs.
    """
    waiting = [(root, 0)]
    count = 0
    while waiting:
        node, place = waiting.pop()
        edited = node.start < stop and start < node.stop and node.start < node.stop
        if node.children:
            if not (edited and node.chained):
                key = (place, None if edited else node.says, count)
                place = places.setdefault(key, len(places) + 1)
            waiting += [(child, place) for child in reversed(node.children)]
        elif node.start < node.stop and not edited:
            yield node, node.says, place
            count += 1


def repeated_keys(root: Node) -> dict[Hashable, list[Node]]:
    """Keys that stand again in one mapping: what they say → where."""
    found: dict[Hashable, list[Node]] = {}
    for node in _walk(root):
        seen: set[Hashable] = set()
        for key in _keys(node):
            if key.says in seen:
                found.setdefault(key.says, []).append(key)
            seen.add(key.says)
    return found


def _keys(mapping: Node) -> Iterator[Node]:
    """The keys of a mapping, whose children are entries, that are plain leaves."""
    if mapping.says == "mapping":
        for entry in mapping.children:
            key = entry.children[0].children[0]
            if not key.children:
                yield key


def _walk(root: Node) -> Iterator[Node]:
    waiting = [root]
    while waiting:
        node = waiting.pop()
        yield node
        waiting += reversed(node.children)
