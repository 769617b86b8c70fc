"""Small trajectories made in code: native episodes, and records like tau-bench's."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest


def shared_data(name: str) -> Path:
    """A file of the optional data folder; the test is skipped where it is absent."""
    root = Path(__file__).resolve().parents[2]
    folder = Path(os.environ.get("ECDYSIS_SHARED", root / ".." / "shared")) / "data"
    path = folder / name
    if not path.exists():
        pytest.skip(f"needs {name} of the optional data folder (ECDYSIS_SHARED)")
    return path


def native(task: str, outcome: str = "fail", *, trial: int = 0, **fields: Any) -> dict[str, Any]:
    """A native episode with one failing tool call."""
    step = {
        "kind": "tool",
        "name": "read",
        "arguments": {"field": "colour"},
        "result": "error: unknown field colour",
        "error": True,
    }
    score = {"pass": 1.0, "fail": 0.0}.get(outcome)
    body = {"source": "s", "task_id": task, "trial": trial, "model": "m", "outcome": outcome}
    return {**body, "score": score, "steps": [step], **fields}


def tau(
    task: int,
    reward: Any = 0.0,
    *,
    calls: list[tuple[str, dict[str, Any], str]] | None = None,
    expected: list[tuple[str, dict[str, Any]]] | None = None,
    trial: int = 0,
    **fields: Any,
) -> dict[str, Any]:
    """A tau-bench record; `calls` are (tool, arguments, result)."""
    messages: list[dict[str, Any]] = [
        {"role": "system", "content": "airline policy"},
        {"role": "user", "content": "help"},
    ]
    for number, (name, arguments, result) in enumerate(calls or []):
        call = {
            "id": f"c{number}",
            "type": "function",
            "function": {"name": name, "arguments": json.dumps(arguments)},
        }
        messages.append({"role": "assistant", "content": None, "tool_calls": [call]})
        messages.append(
            {"role": "tool", "tool_call_id": f"c{number}", "name": name, "content": result}
        )
    messages.append({"role": "assistant", "content": "done"})
    actions = [{"name": name, "kwargs": arguments} for name, arguments in expected or []]
    info = {"task": {"instruction": "x", "actions": actions, "outputs": []}}
    return {
        "task_id": task,
        "trial": trial,
        "reward": reward,
        "info": info,
        "traj": messages,
        **fields,
    }


def write_lines(path: Path, records: list[dict[str, Any]]) -> Path:
    path.write_text("".join(json.dumps(r) + "\n" for r in records), encoding="utf-8")
    return path
