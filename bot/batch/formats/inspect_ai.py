"""Inspect AI logs in JSON, read without the inspect package; `.eval` is read by `inspect_eval`.

A log holds `eval`, `status`, `results` and `samples`; a sample is an episode, its `epoch` the
trial. A sample with an error is invalid; one without a score has no outcome.
"""

from __future__ import annotations

from typing import Any

from bot.batch.formats.messages import arguments_of, text_of
from bot.batch.formats.values import as_dict, as_list, as_number, as_text, needed_text, shown
from bot.records import (
    Episode,
    Expected,
    HarnessStep,
    ModelStep,
    Outcome,
    Step,
    ToolStep,
    UserStep,
)

NAME = "inspect"
ITEMS = "samples"
_LIMITS = {
    "context": "context",
    "time": "timeout",
    "working": "timeout",
    "message": "budget",
    "token": "budget",
    "cost": "budget",
    "operator": "source:operator",
}
_LETTERS = {"C": 1.0, "I": 0.0, "P": 0.5, "N": 0.0}


def recognises(skeleton: Any) -> str | None:
    """Why a document is taken for an Inspect log, or None."""
    if isinstance(skeleton, dict) and {"version", "status", "eval", "plan"} <= skeleton.keys():
        return "Inspect AI log: eval, plan, status and samples"
    return None


def read_item(item: Any, skeleton: Any, file_name: str) -> Episode:
    """The episode of one sample. Raises ValueError, with what is wrong, for a half one."""
    sample, evaluation = as_dict(item), as_dict(as_dict(skeleton).get("eval"))
    error = as_dict(sample.get("error"))
    limit = as_text(as_dict(sample.get("limit")).get("type"))
    steps = read_steps(as_list(sample.get("messages")))
    score: float | None = None
    outcome: Outcome = "invalid"
    breakdown: dict[str, Any] = {}
    if not error:
        score, breakdown = _scores(as_dict(sample.get("scores")))
        outcome = "pass" if score >= 1 else "fail"
    target = sample.get("target")
    epoch = sample.get("epoch", 1)
    said = [step.content for step in steps if isinstance(step, ModelStep) and step.content]
    return Episode(
        source=f"{NAME}/{as_text(evaluation.get('task')) or 'unnamed'}",
        task_id=needed_text(sample, "id"),
        trial=epoch - 1 if type(epoch) is int else 0,
        model=as_text(evaluation.get("model")) or "",
        steps=steps,
        answer=said[-1] if said else None,
        end_reason="infrastructure"
        if error
        else _LIMITS.get(limit or "", limit and f"source:{limit}"),
        error=as_text(error.get("message")) or ("error" if error else None),
        score=score,
        outcome=outcome,
        score_breakdown=breakdown,
        expected=Expected(answer=target.strip()) if isinstance(target, str) and target else None,
    )


def read_steps(messages: list[Any]) -> list[Step]:
    """Steps of Inspect's messages: calls are `{id, function, arguments, parse_error}`."""
    steps: list[Step] = []
    calls: dict[str, ToolStep] = {}
    for position, message in enumerate(messages):
        body = as_dict(message)
        at: dict[str, Any] = {"index": len(steps), "position": position}
        role, content = body.get("role"), text_of(body.get("content"))
        if role == "user":
            steps.append(UserStep(content=content, **at))
        elif role == "assistant":
            steps.append(ModelStep(content=content, **at))
            for call in map(as_dict, as_list(body.get("tool_calls"))):
                at["index"] = len(steps)
                if as_text(call.get("parse_error")):
                    said = as_text(call["parse_error"])
                    steps.append(HarnessStep(event="unparsed_action", message=said, **at))
                    continue
                name = needed_text(call, "function")
                step = ToolStep(name=name, arguments=arguments_of(call.get("arguments")), **at)
                steps.append(step)
                calls[str(call.get("id"))] = step
        elif role == "tool":
            error = as_dict(body.get("error"))
            answered = calls.pop(str(body.get("tool_call_id")), None)
            if answered is None:  # its call is not on record
                answered = ToolStep(name=as_text(body.get("function")) or "tool", **at)
                steps.append(answered)
            answered.result = as_text(error.get("message")) or content
            answered.error = bool(error)
        elif role != "system":
            raise ValueError(f"message {position} has the role {shown(role)}")
    return steps


def _scores(scores: dict[str, Any]) -> tuple[float, dict[str, Any]]:
    """The first score decides; the others, and the parts of composed ones, are its breakdown."""
    breakdown: dict[str, Any] = {}
    for name, score in scores.items():
        value = as_dict(score).get("value")
        for part, inner in value.items() if isinstance(value, dict) else [("", value)]:
            number = _LETTERS.get(inner) if isinstance(inner, str) else as_number(inner)
            if number is not None:
                breakdown[f"{name}/{part}" if part else str(name)] = number
    if not breakdown:
        raise ValueError("the sample has no score; score the log first (inspect score)")
    return next(iter(breakdown.values())), breakdown
