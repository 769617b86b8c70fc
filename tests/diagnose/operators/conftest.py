"""A small harness in memory, train episodes, and what an operator makes of them."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Mapping
from typing import Any

import pytest

from bot.config import HarnessTable
from bot.diagnose.catalog import Operator, Situation
from bot.edit.apply import Applied, apply_spec
from bot.records import (
    Attribution,
    Contrast,
    Episode,
    HarnessStep,
    ModelStep,
    ModificationSpec,
    Pattern,
    Task,
    ToolStep,
)

TOOLS = [
    {
        "name": "read_loan",
        "description": "Read one field of a loan.",
        "parameters": {
            "type": "object",
            "properties": {
                "loan_id": {"format": "loan-id", "pattern": "^L\\d{3}$", "examples": ["L101"]},
                "field": {
                    "oneOf": [
                        {"const": "due", "description": "the day on which it is to come back"},
                        {"const": "fee", "description": "the amount to pay for being late"},
                        {"const": "reader", "description": "the number of who borrowed it"},
                    ]
                },
            },
        },
        "returns": {"reader": {"format": "reader-id"}},
    },
    {
        "name": "read_reader",
        "description": "Read one field of a reader.",
        "parameters": {
            "type": "object",
            "properties": {
                "reader_id": {"format": "reader-id", "pattern": "^R\\d{3}$", "examples": ["R001"]},
                "field": {"oneOf": [{"const": "phone", "description": "telephone"}]},
            },
        },
    },
]

LIBRARY = {
    "agent/prompt.py": '''"""What the model is told."""


def build(question: str) -> list[dict[str, str]]:
    """The conversation so far."""
    return [{"role": "system", "content": "Use the tools."}, {"role": "user", "content": question}]
''',
    "agent/actions.py": '''"""Actions."""

from __future__ import annotations


def parse(reply: str):
    """A (name, arguments) pair, or None."""
    if "(" not in reply:
        return None
    return reply


# Runs a tool.
def dispatch(shelf, name: str, arguments: dict[str, str]) -> str:
    """What the tool gives back."""
    return shelf.run(name, arguments)
''',
    "agent/loop.py": '''"""The loop."""

LIMIT = 32


def ask(messages, client):
    return client.create(messages=messages, max_tokens=LIMIT)


def run(question, client):
    messages = [question]
    for _ in range(3):
        reply = ask(messages, client)
        action = parse(reply)
        if action is None:
            return None
    return reply
''',
    "tools.json": json.dumps({"tools": TOOLS}),
}

SEAMS = {
    "prompt": "agent.prompt:build",
    "parse_action": "agent.actions:parse",
    "dispatch_tool": "agent.actions:dispatch",
    "model_call": "agent.loop:ask",
}


def table(**changes: Any) -> HarnessTable:
    values: dict[str, Any] = {
        "source": "library",
        "run": ["run", "{task}", "{episode}"],
        "score": ["score", "{task}", "{episode}"],
        "editable": ["agent/**"],
        "contract": "tools.json",
        "seams": SEAMS,
        "splits": {"train": "train.jsonl", "select": "select.jsonl"},
    }
    return HarnessTable.model_validate(values | changes)


def call(name: str, arguments: dict[str, str], *, error: bool = False, task: str = "t1") -> Episode:
    """A failed episode with one parsed call."""
    written = f"{name}({', '.join(arguments.values())})"
    return Episode(
        task_id=task,
        outcome="fail",
        steps=[
            ModelStep(content=written),
            ToolStep(name=name, arguments=arguments, result="error" if error else "x", error=error),
        ],
    )


def reply(text: str, task: str = "t1", finish_reason: str = "stop") -> Episode:
    """A failed episode whose reply was no action."""
    return Episode(
        task_id=task,
        outcome="fail",
        steps=[
            ModelStep(content=text, finish_reason=finish_reason),
            HarnessStep(event="unparsed_action", message=text),
        ],
    )


GOOD = call("read_loan", {"loan_id": "L200", "field": "due"}, task="good")


def situation(
    showing: list[Episode],
    *,
    kind: str = "tool_error",
    component: str = "read_loan",
    files: Mapping[str, str] = LIBRARY,
    **changes: Any,
) -> Situation:
    pattern = Pattern(
        key=f"{kind}/{component}/x",
        kind=kind,
        component=component,
        template="x",
        layer="environment-contract",
        distinct_tasks=len(showing),
        failed_episodes=len(showing),
        passed_episodes=0,
        failed_events=len(showing),
        passed_events=0,
        contrast=Contrast(p_value="unavailable"),
        attribution=Attribution(label="undetermined", probability=0.5, reasons=["r"]),
        promotion="trial",
        evidence=[],
    )
    return Situation(
        pattern=pattern,
        episodes=[GOOD, *showing],
        showing=showing,
        table=table(**changes),
        read=lambda path: files[path].encode() if path in files else None,
        tasks={e.task_id: Task(task_id=e.task_id, input={}) for e in (GOOD, *showing)},
        at=lambda episode: {step.index for step in episode.steps},
    )


Propose = Callable[..., dict[str, str]]


@pytest.fixture
def applied() -> Propose:
    """Files after an operator's spec; asserts that it applies, and is a no-op the second time."""

    def work(operator: Operator, case: Situation) -> dict[str, str]:
        spec = operator.propose(case)
        assert isinstance(spec, ModificationSpec), spec
        assert spec.origin == f"catalog:{operator.name}"
        files = {path: case.read(path) for path in LIBRARY}
        for _ in range(2):
            result = apply_spec(
                spec, files.get, editable=["agent/**"], protected=[], python=sys.executable
            )
            assert isinstance(result, Applied), result
            files |= result.files
        assert result.files == {}
        changed = {path for path, content in files.items() if content != case.read(path)}
        assert changed == {edit.file for edit in spec.edits}
        return {path: (content or b"").decode() for path, content in files.items()}

    return work
