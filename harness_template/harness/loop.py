"""The loop around the model: ask, act, and stop when there is something to answer."""

from __future__ import annotations

import traceback
from pathlib import Path
from typing import Any

from harness.actions import Action, Result, dispatch_tool, parse_action
from harness.client import Desk
from harness.model import complete
from harness.prompt import build_messages

MAX_STEPS = 4
ROOT = Path(__file__).resolve().parents[1]


def run(task: dict[str, Any], desk: Desk, tools: list[dict[str, Any]]) -> dict[str, Any]:
    """The episode of one task: its steps, its answer, and why it ended."""
    steps: list[dict[str, Any]] = []
    episode = {"task_id": task["task_id"], "steps": steps, "answer": None}
    try:
        episode["end_reason"], episode["answer"] = converse(
            task["input"]["message"], desk, tools, steps
        )
    except Exception as error:
        steps.append(
            {
                "kind": "harness",
                "event": "exception",
                "type": type(error).__name__,
                "message": str(error),
                "frames": frames(error),
            }
        )
        episode.update(end_reason="exception", error=str(error))
    return episode


def converse(
    request: str, desk: Desk, tools: list[dict[str, Any]], steps: list[dict[str, Any]]
) -> tuple[str, str | None]:
    """Why the conversation ended, and the answer if there is one."""
    messages = build_messages(request, tools)
    for _ in range(MAX_STEPS):
        reply = complete(messages)
        steps.append(
            {"kind": "model", "content": reply.content, "finish_reason": reply.finish_reason}
        )
        action = parse_action(reply.content, tools)
        if action is None:
            steps.append({"kind": "harness", "event": "unparsed_action", "message": reply.content})
            return "no_action", reply.content
        result = act(action, desk, steps)
        answer = finish(result)
        if answer is not None:
            return "answer", answer
        messages += [
            {"role": "assistant", "content": reply.content},
            {"role": "user", "content": result.text},
        ]
    return "budget", None


def act(action: Action, desk: Desk, steps: list[dict[str, Any]]) -> Result:
    """The result of an action; actions among its arguments go first, their errors end it."""
    arguments: dict[str, str] = {}
    for name, value in action.arguments.items():
        if isinstance(value, Action):
            inner = act(value, desk, steps)
            if inner.error:
                return inner
            value = inner.text
        arguments[name] = value
    result = dispatch_tool(desk, action.name, arguments)
    steps.append(
        {
            "kind": "tool",
            "name": action.name,
            "arguments": arguments,
            "result": result.text,
            "error": result.error,
        }
    )
    return result


def finish(result: Result) -> str | None:
    """What a tool gave back is the answer; after an error the model may try again."""
    return None if result.error else result.text


def frames(error: BaseException) -> list[str]:
    """`file:function:line` of the harness's own frames, outermost first."""
    found = []
    for frame in traceback.extract_tb(error.__traceback__):
        path = Path(frame.filename)
        if path.is_relative_to(ROOT):
            found.append(f"{path.relative_to(ROOT)}:{frame.name}:{frame.lineno}")
    return found
