"""From the model's text to an action, and from an action to the desk."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, NamedTuple

from harness.client import Desk

CALL = re.compile(r"(\w+)\((.*)\)")


class Action(NamedTuple):
    """A tool call. An argument may be an action itself: its result is meant."""

    name: str
    arguments: dict[str, str | Action]


class Result(NamedTuple):
    text: str
    error: bool


def parse_action(reply: str, tools: list[dict[str, Any]]) -> Action | None:
    """The tool call that the reply consists of, with its arguments named; None if it is none."""
    match = CALL.fullmatch(reply.strip())
    if match is None:
        return None
    name, inside = match.groups()
    values = list(split_arguments(inside))
    known = next((tool for tool in tools if tool["name"] == name), None)
    parameters = list(known["parameters"]["properties"]) if known else []
    # Arguments that the tool does not have are passed on by position: the desk says what is wrong.
    names = parameters + [f"argument_{n}" for n in range(len(parameters) + 1, len(values) + 1)]
    parsed = [parse_action(value, tools) or value.strip("\"'") for value in values]
    return Action(name, dict(zip(names, parsed, strict=False)))


def split_arguments(inside: str) -> Iterator[str]:
    """The arguments between a call's brackets: split at commas, but not at those of inner calls."""
    depth, start = 0, 0
    for position, character in enumerate(inside + ","):
        depth += (character == "(") - (character == ")")
        if character == "," and depth == 0:
            if value := inside[start:position].strip():
                yield value
            start = position + 1


def dispatch_tool(desk: Desk, name: str, arguments: dict[str, str]) -> Result:
    """Let the desk run the tool."""
    reply = desk.call(name, arguments)
    return Result(reply["result"], reply["error"])
