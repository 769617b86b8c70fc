"""Inspect AI logs in JSON, read without the inspect package; `.eval` is read by `inspect_eval`.

A log holds `eval`, `status`, `results` and `samples`; a sample is an episode, its `epoch` the
trial. A sample with an error is invalid; one without a score has no outcome.
"""

from __future__ import annotations

import re
from typing import Any

from bot.batch.formats.messages import arguments_of, text_of
from bot.batch.formats.tracebacks import BEGIN, LONGEST, exception_step
from bot.batch.formats.values import (
    as_count,
    as_dict,
    as_list,
    as_number,
    as_text,
    needed_text,
    shown,
)
from bot.records import (
    Episode,
    Expected,
    HarnessStep,
    ModelStep,
    Outcome,
    Step,
    ToolStep,
    Usage,
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
_WORDS = {"yes": 1.0, "true": 1.0, "no": 0.0, "false": 0.0}
_CUT = {"max_tokens", "model_length"}
_RAISED = re.compile(r"^[A-Za-z_][\w.]{0,200}(?=:|$)", re.MULTILINE)


def recognises(skeleton: Any) -> str | None:
    """Why a document is taken for an Inspect log, or None."""
    if isinstance(skeleton, dict) and {"version", "status", "eval", "plan"} <= skeleton.keys():
        return "Inspect AI log: eval, plan, status and samples"
    return None


def read_item(item: Any, skeleton: Any, file_name: str) -> Episode:
    """The episode of one sample. Raises ValueError, with what is wrong, for a half one."""
    sample, log = as_dict(item), as_dict(skeleton)
    evaluation = as_dict(log.get("eval"))
    model = as_text(evaluation.get("model")) or ""
    steps = read_steps(as_list(sample.get("messages")))
    _tell_last_stop(steps, as_dict(sample.get("output")))
    said = [step.content for step in steps if isinstance(step, ModelStep) and step.content]
    error = _error(sample, steps)
    score: float | None = None
    outcome: Outcome = "invalid"
    breakdown: dict[str, Any] = {}
    if error is None:
        score, breakdown = _scores(as_dict(sample.get("scores")), as_text(log.get("status")))
        outcome = "pass" if score >= 1 else "fail"
    limit = as_text(as_dict(sample.get("limit")).get("type"))
    ended = None if limit is None else _LIMITS.get(limit, f"source:{limit}")
    epoch = sample.get("epoch", 1)
    return Episode(
        source=f"{NAME}/{as_text(evaluation.get('task')) or 'unnamed'}",
        task_id=needed_text(sample, "id"),
        trial=epoch - 1 if type(epoch) is int else 0,
        model=model,
        steps=steps,
        answer=said[-1] if said else None,
        end_reason=ended if error is None else "infrastructure",
        error=error,
        score=score,
        outcome=outcome,
        score_breakdown=breakdown,
        wall_s=as_number(sample.get("total_time")),
        usage=_usage(as_dict(as_dict(sample.get("model_usage")).get(model))),
        expected=_expected(sample.get("target")),
    )


def read_steps(messages: list[Any]) -> list[Step]:
    """Steps of Inspect's messages: calls are `{id, function, arguments, parse_error}`.

    Results are matched by id, and in order where several calls have one id. A call that could
    not be parsed is one event: the tool message that repeats its error is left out.
    """
    steps: list[Step] = []
    unanswered: list[tuple[str | None, ToolStep | None]] = []  # None: not parsed
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
                step = _call(call, at)
                steps.append(step)
                parsed = step if isinstance(step, ToolStep) else None
                unanswered.append((as_text(call.get("id")), parsed))
        elif role == "tool":
            of = as_text(body.get("tool_call_id"))
            match = next((n for n, (name, _) in enumerate(unanswered) if name == of), None)
            if match is None:  # its call is not on record
                answered = ToolStep(name=as_text(body.get("function")) or "tool", **at)
                steps.append(answered)
            elif (found := unanswered.pop(match)[1]) is not None:
                answered = found
            else:
                continue
            error = as_dict(body.get("error"))
            answered.result = as_text(error.get("message")) or content
            answered.error = bool(error)
        elif role != "system":
            raise ValueError(f"message {position} has the role {shown(role)}")
    return steps


def _call(call: dict[str, Any], at: dict[str, Any]) -> ToolStep | HarnessStep:
    if unparsed := as_text(call.get("parse_error")):
        return HarnessStep(event="unparsed_action", message=unparsed, **at)
    arguments = arguments_of(call.get("arguments"))
    return ToolStep(name=needed_text(call, "function"), arguments=arguments, **at)


def _tell_last_stop(steps: list[Step], output: dict[str, Any]) -> None:
    """Only the last reply's reason to stop is kept in a sample: whether it was cut is told."""
    choice = as_dict(next(iter(as_list(output.get("choices"))), None))
    last = next((step for step in reversed(steps) if isinstance(step, ModelStep)), None)
    if last is None or text_of(as_dict(choice.get("message")).get("content")) != last.content:
        return
    reason = as_text(choice.get("stop_reason"))
    last.finish_reason = "length" if reason in _CUT else reason


def _error(sample: dict[str, Any], steps: list[Step]) -> str | None:
    """Why a sample counts for nothing: it raised (a step says where), or was taken back."""
    error = as_dict(sample.get("error"))
    if error:
        message, traceback = as_text(error.get("message")), as_text(error.get("traceback"))
        raised = _RAISED.search((traceback or "")[-LONGEST:].rpartition(BEGIN)[2])
        kind = raised[0] if raised else "error"
        steps.append(exception_step(kind, message, traceback, index=len(steps)))
        return message or kind
    if invalidation := as_dict(sample.get("invalidation")):
        return f"invalidated: {as_text(invalidation.get('reason')) or 'no reason given'}"
    return None


def _scores(scores: dict[str, Any], status: str | None) -> tuple[float, dict[str, Any]]:
    """The first score decides; the others, and the parts of composed ones, are its breakdown."""
    parts: dict[str, Any] = {}
    for name, score in scores.items():
        value = as_dict(score).get("value")
        for part, inner in value.items() if isinstance(value, dict) and value else [("", value)]:
            parts[f"{name}/{part}" if part else str(name)] = inner
    if not parts:
        why = "" if status in (None, "success") else f" (the log's status is {shown(status)})"
        raise ValueError(f"the sample has no score{why}; score the log first (inspect score)")
    first = next(iter(parts))
    decides = _number(parts[first])
    if decides is None:
        raise ValueError(
            f"the score {shown(first)} is {shown(parts[first])}, neither right nor wrong"
        )
    if not 0 <= decides <= 1:
        raise ValueError(
            f"the score {shown(first)} is {decides:g}: what passes, beyond 0 to 1, is not told"
        )
    told = {name: number for name, v in parts.items() if (number := _number(v)) is not None}
    return decides, told


def _number(value: Any) -> float | None:
    """A score's value as Inspect's own metrics take it: letters, words, or a number as text."""
    if not isinstance(value, str):
        return as_number(value)
    if value in _LETTERS:
        return _LETTERS[value]
    try:
        return as_number(float(value))
    except ValueError:
        return _WORDS.get(value.lower())


def _usage(usage: dict[str, Any]) -> Usage:
    return Usage(
        prompt_tokens=as_count(usage.get("input_tokens")),
        completion_tokens=as_count(usage.get("output_tokens")),
        cached_tokens=as_count(usage.get("input_tokens_cache_read")),
    )


def _expected(target: Any) -> Expected | None:
    """The answer that is wanted; of several that would do, none can be named."""
    if isinstance(target, list) and len(target) == 1:
        target = target[0]
    return Expected(answer=target.strip()) if isinstance(target, str) and target.strip() else None
