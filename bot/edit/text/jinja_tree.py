"""A Jinja template as a tree: its lines of text and its names, within blocks and expressions."""

from __future__ import annotations

from collections.abc import Hashable

import jinja2
from jinja2 import nodes

from bot.edit.text.lines import Lines
from bot.edit.text.nodes import Malformed, Node, group

# What they bring must not make a template malformed; others' tags cannot be known.
_EXTENSIONS = ["jinja2.ext.do", "jinja2.ext.loopcontrols"]
# They say nothing of their own, and where one begins and ends depends on what stands beside it.
_TRANSPARENT = (nodes.Output, nodes.BinExpr, nodes.Concat)


def read_jinja(text: str) -> Node:
    """The tree of a template. Raises Malformed. A thing of a template takes whole lines."""
    try:
        template = jinja2.Environment(extensions=_EXTENSIONS).parse(text)
    except jinja2.TemplateSyntaxError as error:
        message = (error.message or "syntax error").rstrip(".")
        raise Malformed(error.lineno, message) from None
    starts = Lines(text).starts
    starts.append(len(text) + 1)
    return group("template", *(node for part in template.body for node in _read(part, starts)))


def _read(node: nodes.Node, starts: list[int]) -> list[Node]:
    if isinstance(node, nodes.TemplateData):
        lines = enumerate(node.data.split("\n"), node.lineno)
        return [_on_lines(at, at, line.strip(), starts) for at, line in lines if line.strip()]
    last = node.lineno
    if isinstance(node, nodes.Const) and isinstance(node.value, str):
        last += node.value.count("\n")
    says: list[object] = [type(node).__name__]
    children: list[Node] = []
    for name, value in node.iter_fields():
        parts = value if isinstance(value, list) else [value]
        if any(isinstance(part, nodes.Node) for part in parts):
            inside = [child for part in parts for child in _read(part, starts)]
            children += [group(name, *inside)] if isinstance(node, nodes.Stmt) else inside
        elif value is not None and value != []:
            says.append(repr(value))
    if isinstance(node, _TRANSPARENT):
        return children
    read = _on_lines(node.lineno, last, tuple(says), starts)
    read.children = children
    read.chained = isinstance(node, nodes.Expr)
    return [read]


def _on_lines(first: int, last: int, says: Hashable, starts: list[int]) -> Node:
    """A leaf on lines `first` to `last`, without the line end behind them."""
    last = min(last, len(starts) - 1)
    return Node(starts[first - 1], starts[last] - 1, says)
