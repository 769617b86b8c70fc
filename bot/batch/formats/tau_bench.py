"""tau-bench result files, and AgentRx's, which hold the same records.

A JSON list of records `{task_id, trial, reward, info, traj}`; `traj` is a list of OpenAI-style
messages, `info.task.actions` are the expected actions. A record whose `info.error` is set did not
run to its end: it is invalid, not failed. There is no field for the model or the domain: the
model is taken from the file's name, the domain from the tools that the records name.

AgentRx's files carry `records` beside these; their `trial` is the row's number, no repetition.
"""

from __future__ import annotations

import math
import re
from typing import Any

import orjson

from bot.batch.formats.messages import read_messages, role_of
from bot.batch.formats.values import as_list
from bot.batch.nesting import DEEPEST, TOO_DEEP, is_too_deep
from bot.display import printable
from bot.records import (
    FORMAT_VERSION,
    Action,
    Episode,
    Expected,
    ModelStep,
    Step,
    ToolStep,
    Usage,
    built,
)

NAME = "tau-bench"
CHECKS_DEPTH = True
_MODEL_IN_NAME = re.compile(r"(gpt|claude|gemini|llama|qwen|mistral|deepseek|o\d)[\w.-]*", re.I)
_DOMAIN_TOOLS = {
    "airline": {"book_reservation", "get_reservation_details", "cancel_reservation"},
    "retail": {"get_order_details", "find_user_id_by_name_zip", "get_product_details"},
}
PASSING = 1.0


def recognises(record: Any) -> str | None:
    """Why a record is taken for tau-bench's, or None."""
    if isinstance(record, dict) and {"task_id", "traj"} <= record.keys():
        kind = "AgentRx" if "records" in record else NAME
        return f"{kind} records: task_id and traj"
    return None


def model_of(file_name: str) -> str:
    """The model that the file's name names, else `unknown`."""
    stem = re.sub(r"\.(json|jsonl)?(\.gz|\.zst)?$", "", file_name)
    match = _MODEL_IN_NAME.search(stem)
    return match.group(0) if match else "unknown"


def read_record(record: dict[str, Any], file_name: str) -> Episode:
    """The episode of one record. Raises ValueError, with what is wrong, for a half one."""
    if not isinstance(record.get("traj"), list):
        raise ValueError("traj is not a list of messages")
    if record.get("task_id") is None:
        raise ValueError("there is no task_id")
    info = record.get("info") if isinstance(record.get("info"), dict) else {}
    assert isinstance(info, dict)
    steps = read_messages(record["traj"])
    error = info.get("error")
    if error is None and "reward" not in record:
        raise ValueError("there is no reward")
    score = None if error is not None else _reward(record["reward"])
    task = info.get("task") if isinstance(info.get("task"), dict) else {}
    assert isinstance(task, dict)
    outcome = "invalid" if score is None else "pass" if score >= PASSING else "fail"
    last = next((s for s in reversed(steps) if isinstance(s, ModelStep) and s.content), None)
    trial = record.get("trial", 0)
    task_id = str(record["task_id"])
    if not task_id:
        raise ValueError("task_id is empty")
    values = {
        "format_version": FORMAT_VERSION,
        "source": f"{NAME}/{domain_of(record['traj'], steps, task)}",
        "task_id": task_id,
        "trial": 0 if "records" in record or type(trial) is not int else trial,
        "model": model_of(file_name.rpartition("/")[2]),
        "harness": "",
        "steps": steps,
        "answer": last.content if last else None,
        "end_reason": "infrastructure" if error is not None else None,
        "error": None if error is None else str(error),
        "score": score,
        "outcome": outcome,
        "score_breakdown": {},
        "wall_s": None,
        "usage": Usage(),
        "expected": _expected(task),
        "ran": None,
    }
    return built(Episode, values)


def _reward(reward: Any) -> float:
    """A finite number; a boolean, text, null or NaN is none."""
    is_number = isinstance(reward, int | float) and not isinstance(reward, bool)
    if not is_number or not math.isfinite(reward):
        raise ValueError(f"reward is {printable(orjson.dumps(reward).decode(), 40)}, not a number")
    return float(reward)


def _named(actions: Any) -> list[dict[str, Any]]:
    return [action for action in as_list(actions) if isinstance(action, dict) and "name" in action]


def domain_of(messages: list[Any], steps: list[Step], task: dict[str, Any]) -> str:
    """`airline` or `retail` by the tools that a record names, else `unknown`."""
    named = {step.name for step in steps if isinstance(step, ToolStep)}
    named |= {str(action["name"]) for action in _named(task.get("actions"))}
    fits = {domain: len(named & tools) for domain, tools in _DOMAIN_TOOLS.items()}
    best = max(fits, key=lambda domain: fits[domain])
    if fits[best]:
        return best
    system = next((str(m.get("content")) for m in messages if role_of(m) == "system"), "").lower()
    return next((domain for domain in _DOMAIN_TOOLS if domain in system), "unknown")


def _expected(task: dict[str, Any]) -> Expected | None:
    if not isinstance(task.get("actions"), list):
        return None
    if is_too_deep(task["actions"], DEEPEST - 10):
        raise ValueError(TOO_DEEP)
    return Expected(
        actions=[
            Action(name=str(a["name"]), arguments=a.get("kwargs") or a.get("arguments") or {})
            for a in _named(task["actions"])
        ],
        outputs=[str(output) for output in as_list(task.get("outputs"))],
    )
