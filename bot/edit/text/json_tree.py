"""JSON, and JSON Lines, as a tree of what it holds."""

from __future__ import annotations

import json
import re

from bot.edit.text.lines import LINE_END
from bot.edit.text.nodes import Malformed, Node, group

_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|[{}\[\],:]|[^\s{}\[\],:"]+')


def read_json(text: str) -> Node:
    """The tree of a JSON text. Raises Malformed."""
    _check(text, 1)
    return _tree(text)


def read_json_lines(text: str) -> Node:
    """The tree of a text with one JSON value on each line that is not blank. Raises Malformed."""
    for number, line in enumerate(LINE_END.split(text), 1):
        if line.strip():
            _check(line, number)
    return _tree(text)


def _check(text: str, first: int) -> None:
    try:
        # Numbers are not made: one with thousands of digits is well-formed, too.
        json.loads(text, parse_int=str, parse_float=str)
    except json.JSONDecodeError as error:
        line = first + len(LINE_END.findall(text, 0, error.pos))
        raise Malformed(line, error.msg) from None


def _tree(text: str) -> Node:
    """The tree of a text that is well-formed."""
    root = group("sequence")
    opened = [root]
    key: Node | None = None
    for match in _TOKEN.finditer(text):
        token = match.group()
        if token in "}]":
            closed = opened.pop()
            if not closed.children:
                closed.stop = match.end()
        elif token == ":":
            # What was taken for a value was a key.
            key = opened[-1].children.pop()
        elif token != ",":
            node = _leaf(match.start(), token)
            held = node if key is None else group("entry", group("key", key), node)
            opened[-1].children.append(held)
            key = None
            if token in "{[":
                opened.append(node)
    return root


def _leaf(start: int, token: str) -> Node:
    if token in "{[":
        return Node(start, start, "mapping" if token == "{" else "sequence")
    # One key may be written in several ways.
    return Node(start, start + len(token), json.loads(token) if token[0] == '"' else (token,))
