"""From the model's text to an action, and from an action to the desk."""

from __future__ import annotations

import re
from typing import Any, NamedTuple

from harness.client import Desk

CALL = re.compile(r"(\w+)\((.*)\)")


class Action(NamedTuple):
    name: str
    arguments: dict[str, str]


class Result(NamedTuple):
    text: str
    error: bool


def parse_action(reply: str, tools: list[dict[str, Any]]) -> Action | None:
    """The tool call that the reply consists of, with its arguments named; None if it is none."""
    match = CALL.fullmatch(reply.strip())
    if match is None:
        return None
    name, inside = match.groups()
    values = [value.strip().strip("\"'") for value in inside.split(",") if value.strip()]
    known = next((tool for tool in tools if tool["name"] == name), None)
    parameters = list(known["parameters"]["properties"]) if known else []
    # Arguments that the tool does not have are passed on by position: the desk says what is wrong.
    names = parameters + [f"argument_{n}" for n in range(len(parameters) + 1, len(values) + 1)]
    return Action(name, dict(zip(names, values, strict=False)))


def dispatch_tool(desk: Desk, name: str, arguments: dict[str, str]) -> Result:
    """Let the desk run the tool."""
    reply = desk.call(name, arguments)
    return Result(reply["result"], reply["error"])
