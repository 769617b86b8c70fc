"""TOML as a tree: tables that hold statements."""

from __future__ import annotations

import re
import tomllib
from typing import Any

from bot.edit.text.nodes import Malformed, Node, group, line_group

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
    elements: dict[int, tuple[Node, Node]] = {}  # the last of each array, and what holds it
    numbers: dict[tuple[int, str], int] = {}  # of paths, by the path around and the name
    for start, stop in _statements(text):
        statement = _statement(text, start, stop)
        if text[start] != "[":
            table.children.append(statement)
            continue
        path, is_element = _header(text[start:stop])
        table = group("table", statement)
        holder, number = root, 0
        for name in path:
            known = elements.get(number)
            if known is not None and known[1] is holder:
                holder = known[0]
            number = numbers.setdefault((number, name), len(numbers) + 1)
        holder.children.append(table)
        if is_element:
            elements[number] = (table, holder)
    return root


def _statement(text: str, start: int, stop: int) -> Node:
    """The lines of a statement, each in the brackets that are open where it begins."""
    lines = line_group("statement", text, start, stop)
    opened = [group("statement")]
    tokens = _TOKEN.finditer(text, start, stop)
    token = next(tokens, None)
    for line in lines.children:
        while token is not None and token.start() < line.start:
            opened, token = _brackets(opened, token.group()), next(tokens, None)
        opened[-1].children.append(line)
    return opened[0]


def _brackets(opened: list[Node], token: str) -> list[Node]:
    """The brackets that are open behind a token."""
    if token in ("]", "}"):
        return opened[:-1]
    if token in ("[", "{"):
        inner = group("brackets")
        opened[-1].children.append(inner)
        return [*opened, inner]
    return opened


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


def _header(text: str) -> tuple[list[str], bool]:
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
    return path, is_element
