"""Code over several lines inside brackets, set to where it goes."""

from __future__ import annotations

from typing import TypeVar

import libcst as cst

Node = TypeVar("Node", bound=cst.CSTNode)
# What people indent by: other widths align code with a bracket.
_UNITS = ("\t", "  ", "    ", "        ")


def shifted(node: Node, place: str, unit: str) -> Node:
    """Code that begins at column 0 as it stands `place` deep, in steps of the file's `unit`."""
    found = _Margins()
    node.visit(found)
    own = min((margin for margin in found.margins if margin), key=len, default=unit)
    if not found.margins or (not place and own == unit):
        return node
    moved = node.visit(_Shift(place, own if own in _UNITS else unit, unit))
    assert isinstance(moved, type(node))
    return moved


class _Margins(cst.CSTVisitor):
    def __init__(self) -> None:
        super().__init__()
        self.margins: list[str] = []

    def visit_ParenthesizedWhitespace(self, node: cst.ParenthesizedWhitespace) -> None:  # noqa: N802 - libcst's naming
        self.margins.append(node.last_line.value)


class _Shift(cst.CSTTransformer):
    def __init__(self, place: str, own: str, unit: str) -> None:
        super().__init__()
        self._place, self._own, self._unit = place, own, unit

    def leave_ParenthesizedWhitespace(  # noqa: N802 - libcst's naming
        self,
        original_node: cst.ParenthesizedWhitespace,
        updated_node: cst.ParenthesizedWhitespace,
    ) -> cst.ParenthesizedWhitespace:
        lines = [
            line.with_changes(indent=True, whitespace=self._moved(line.whitespace))
            if line.comment is not None
            else line
            for line in updated_node.empty_lines
        ]
        return updated_node.with_changes(
            indent=True, empty_lines=lines, last_line=self._moved(updated_node.last_line)
        )

    def _moved(self, space: cst.SimpleWhitespace) -> cst.SimpleWhitespace:
        text = space.value
        steps = 0
        while text.startswith(self._own):
            text, steps = text[len(self._own) :], steps + 1
        return cst.SimpleWhitespace(self._place + self._unit * steps + text)
