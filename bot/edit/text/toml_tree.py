"""TOML as a tree: tables that hold statements."""

from __future__ import annotations

import re
import tomllib
from typing import Any

from bot.edit.text.nodes import Malformed, Node, group

_TOKEN = re.compile(
    r'"""(?:[^\\]|\\.)*?"{3,5}'
    r"|'''.*?'{3,5}"
    r'|"(?:[^"\\]|\\.)*"'
    r"|'[^']*'"
    r"|#[^\n]*|[\[{]|[\]}]|\n|[^\s\"'#\[\]{}]+",
    re.DOTALL,
)
_AT_LINE = re.compile(r" \(at (?:line (\d+), column \d+|end of document)\)$")


def read_toml(text: str) -> Node:
    """The tree of a TOML text. Raises Malformed.

    A table holds its statements; one of an array of tables also holds the tables inside of it.
    """
    try:
        tomllib.loads(text)
    except ValueError as error:
        found = _AT_LINE.search(str(error))
        line = int(found[1]) if found and found[1] else text.count("\n") + 1
        raise Malformed(line, _AT_LINE.sub("", str(error))) from None
    root = table = group("root")
    elements: dict[tuple[str, ...], Node] = {}
    for start, stop in _statements(text):
        statement = Node(start, stop, text[start:stop])
        if text[start] != "[":
            table.children.append(statement)
            continue
        path, is_element = _header(text[start:stop])
        table = group("table", statement)
        outer = [elements[path[:i]] for i in range(len(path)) if path[:i] in elements]
        (outer[-1] if outer else root).children.append(table)
        if is_element:
            elements = {at: node for at, node in elements.items() if at[: len(path)] != path}
            elements[path] = table
    return root


def _statements(text: str) -> list[tuple[int, int]]:
    """Where the statements stand, comments left out."""
    found: list[tuple[int, int]] = []
    depth, is_fresh = 0, True
    for match in _TOKEN.finditer(text):
        token = match.group()
        if token == "\n" and not depth:
            is_fresh = True
        elif token[0] not in "#\n":
            if is_fresh:
                found.append((match.start(), match.end()))
                is_fresh = False
            found[-1] = (found[-1][0], match.end())
            depth += {"[": 1, "{": 1, "]": -1, "}": -1}.get(token, 0)
    return found


def _header(text: str) -> tuple[tuple[str, ...], bool]:
    """The path of a table's header, and whether it begins an element of an array of tables."""
    path: list[str] = []
    value: Any = tomllib.loads(text)
    is_element = False
    while value:
        is_element = isinstance(value, list)
        if is_element:
            value = value[0]
        else:
            [(name, value)] = value.items()
            path.append(name)
    return tuple(path), is_element
