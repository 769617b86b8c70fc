"""promptfoo results: `{results: {results: [...]}}`, one result an episode.

`failureReason` tells why a result did not succeed: 1 an assertion (a failure, although `error` is
set then too), 2 an error of the provider or of promptfoo itself (invalid).
"""

from __future__ import annotations

import hashlib
import json
from typing import Any

from bot.batch.formats.values import as_count, as_dict, as_list, as_number, as_text, shown
from bot.records import Episode, Expected, HarnessStep, ModelStep, Outcome, Step, Usage, UserStep

NAME = "promptfoo"
ITEMS = "results.results"
_ASSERTION, _ERROR = 1, 2


def recognises(skeleton: Any) -> str | None:
    """Why a document is taken for promptfoo's, or None."""
    results = skeleton.get("results") if isinstance(skeleton, dict) else None
    if isinstance(results, dict) and {"results", "stats"} <= results.keys():
        return "promptfoo results: results.results and results.stats"
    return None


def read_item(item: Any, skeleton: Any, file_name: str) -> Episode:
    """The episode of one result. Raises ValueError, with what is wrong, for a half one."""
    result, document = as_dict(item), as_dict(skeleton)
    config = as_dict(document.get("config"))
    grading = as_dict(result.get("gradingResult"))
    outcome = _outcome(result, grading)
    said = _said(as_dict(result.get("response")).get("output"))
    prompt = as_text(as_dict(result.get("prompt")).get("raw"))
    steps: list[Step] = []
    if prompt is not None:
        steps.append(UserStep(index=0, content=prompt))
    if said is not None:
        steps.append(ModelStep(index=len(steps), content=said))
    if outcome == "fail":
        for check in _failed_checks(grading):
            steps.append(HarnessStep(index=len(steps), event="check_failed", message=check))
    task_id, trial = _task(result, _repeats(document, config))
    score, latency = as_number(result.get("score")), as_number(result.get("latencyMs"))
    if score is None:  # success is the verdict; the score only grades it
        score = float(outcome == "pass")
    return Episode(
        source=f"{NAME}/{as_text(config.get('description')) or 'unnamed'}",
        task_id=task_id,
        trial=trial,
        model=_provider(result),
        steps=steps,
        answer=said,
        end_reason="infrastructure" if outcome == "invalid" else "answer",
        error=(as_text(result.get("error")) or "error") if outcome == "invalid" else None,
        score=None if outcome == "invalid" else score,
        outcome=outcome,
        score_breakdown=_breakdown(result, grading),
        wall_s=None if latency is None else latency / 1000,
        usage=_usage(as_dict(as_dict(result.get("response")).get("tokenUsage"))),
        expected=_expected(as_list(as_dict(result.get("testCase")).get("assert"))),
    )


def _outcome(result: dict[str, Any], grading: dict[str, Any]) -> Outcome:
    """`error` tells nothing: it is set where an assertion failed, too."""
    success, reason = result.get("success"), result.get("failureReason")
    if not isinstance(success, bool):
        raise ValueError(f"success is {shown(success)}, neither true nor false")
    if success:
        if reason in (_ASSERTION, _ERROR):
            raise ValueError(f"success is true, but failureReason is {reason}")
        return "pass"
    if reason == _ERROR:
        return "invalid"
    if reason != _ASSERTION and grading.get("pass") is not False:
        raise ValueError(
            f"failureReason is {shown(reason)} and no assertion failed: nothing tells a failure "
            "from an error"
        )
    return "fail"


def _repeats(document: dict[str, Any], config: dict[str, Any]) -> bool:
    """Whether each test was run several times (`--repeat`)."""
    options = as_dict(document.get("runtimeOptions")), as_dict(config.get("evaluateOptions"))
    return any((as_count(option.get("repeat")) or 1) > 1 for option in options)


def _task(result: dict[str, Any], repeats: bool) -> tuple[str, int]:
    """Task id and trial. promptfoo numbers repetitions of a test as tests of their own.

    They are told by what promptfoo groups them by itself, the description and the variables.
    """
    number = as_count(result.get("testIdx"))
    if number is not None and not repeats:
        return f"test {number}", 0
    case = as_dict(result.get("testCase"))
    description = as_text(case.get("description")) or ""
    values = as_dict(result.get("vars")) or as_dict(case.get("vars"))
    if not values and not description:
        raise ValueError("there is neither testIdx nor vars nor a description")
    digest = hashlib.sha256(_json([description, values]).encode()).hexdigest()
    return f"{(description or _json(values))[:60]} {digest[:8]}", number or 0


def _provider(result: dict[str, Any]) -> str:
    provider = result.get("provider")
    name = as_text(as_dict(provider).get("id")) if isinstance(provider, dict) else as_text(provider)
    prompt = as_text(result.get("promptIdx"))
    return f"{name or 'unknown'}" + (f" prompt {prompt}" if prompt not in (None, "0") else "")


def _said(output: Any) -> str | None:
    if output is None or isinstance(output, str):
        return output
    return _json(output)


def _json(value: Any) -> str:
    """Compact JSON with sorted keys; not by orjson, which refuses whole numbers over 64 bits."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"))


def _failed_checks(grading: dict[str, Any]) -> list[str]:
    parts = [as_dict(part) for part in as_list(grading.get("componentResults"))] or [grading]
    return [
        f"{as_text(as_dict(part.get('assertion')).get('type')) or 'check'}: "
        f"{as_text(part.get('reason')) or 'not met'}"
        for part in parts
        if part.get("pass") is False
    ]


def _breakdown(result: dict[str, Any], grading: dict[str, Any]) -> dict[str, Any]:
    named = as_dict(result.get("namedScores")) or as_dict(grading.get("namedScores"))
    return {str(k): n for k, v in named.items() if (n := as_number(v)) is not None}


def _usage(used: dict[str, Any]) -> Usage:
    return Usage(
        model_calls=as_count(used.get("numRequests")),
        prompt_tokens=as_count(used.get("prompt")),
        completion_tokens=as_count(used.get("completion")),
        cached_tokens=as_count(used.get("cached")),
    )


def _expected(assertions: list[Any]) -> Expected | None:
    """The answer that the only assertion wants, word for word; a template is none."""
    only = as_dict(assertions[0]) if len(assertions) == 1 else {}
    value = only.get("value")
    if only.get("type") != "equals" or not isinstance(value, str) or "{{" in value:
        return None
    return Expected(answer=value)
