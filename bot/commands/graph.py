"""The column of marks beside the generations: which one stands on which."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Node:
    """Something with a place in the graph, its first line and those below it.

    `parent` is the key of what it stands on: None ends its line here. A `mark` other than `*`
    stands beside the line of `parent` and does not continue it.
    """

    key: Hashable
    parent: Hashable | None
    head: str
    body: Sequence[str] = ()
    mark: str = "*"


def draw(nodes: Sequence[Node]) -> Iterator[str]:
    """The lines of the nodes, newest first, each behind the lines that pass it."""
    lanes: list[Hashable] = []
    for node in nodes:
        if node.mark == "x":
            passing = "| " * len(lanes)
            yield f"{passing}x {node.head}"
            yield from (f"{passing}  {line}" for line in node.body)
            continue
        if node.key not in lanes:
            lanes.append(node.key)
        place = lanes.index(node.key)
        for other in range(len(lanes) - 1, place, -1):
            if lanes[other] == node.key:
                yield _join(len(lanes), place, other)
                del lanes[other]
        marks = [node.mark if lane == place else "|" for lane in range(len(lanes))]
        yield f"{' '.join(marks)} {node.head}"
        if node.parent is None:
            marks[place] = " "
        else:
            marks[place] = "|"
        yield from (f"{' '.join(marks)} {line}" for line in node.body)
        if node.parent is None:
            del lanes[place]
        else:
            lanes[place] = node.parent


def _join(lanes: int, place: int, other: int) -> str:
    """The line on which lane `other` runs into lane `place`, left of it: `|_|/ |`."""
    cells = list("| " * lanes)
    cells[2 * other] = " "
    for column in range(2 * place + 1, 2 * other - 1, 2):
        cells[column] = "_"
    cells[2 * other - 1] = "/"
    return "".join(cells).rstrip()
