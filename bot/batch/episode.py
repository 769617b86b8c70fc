"""From what a harness process left behind to an episode that can be trusted.

The harness is foreign code: what it wrote is size-capped and validated, a score that it gave
itself is taken out, and its model calls are those that the proxy saw.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import orjson
from pydantic import ValidationError

from bot.batch.nesting import TOO_DEEP, is_too_deep
from bot.display import printable, scrub
from bot.llm.proxy import Call
from bot.records import Episode, HarnessStep, ModelStep, Usage
from bot.sandbox import Finished

SCORER_FIELDS = ("score", "outcome", "score_breakdown")
LAST_WORDS = 600
_TRACEBACK = re.compile(r"Traceback \(most recent call last\):\n", re.MULTILINE)
_FRAME = re.compile(r'^ +File "(?P<file>[^"]+)", line (?P<line>\d+), in (?P<function>\S+)')
_RAISED = re.compile(r"^(?P<type>[A-Za-z_][\w.]*)(?:: (?P<message>.*))?$")


def read_written(path: Path, cap_mb: int) -> tuple[dict[str, Any] | None, str]:
    """The JSON object that a harness wrote, or None and one sentence why not."""
    try:
        if path.is_symlink() or not path.is_file():
            return None, "The harness wrote no episode."
        if path.stat().st_size > cap_mb << 20:
            return None, f"The harness wrote an episode of over {cap_mb} MB."
        return parse_written(path.read_bytes())
    except OSError as error:
        return None, f"The episode cannot be read: {error.strerror}."


def parse_written(content: bytes) -> tuple[dict[str, Any] | None, str]:
    """Like `read_written`, from bytes."""
    try:
        body = orjson.loads(content)
    except orjson.JSONDecodeError as error:
        return None, f"The harness wrote an episode that is not JSON: {error.msg}."
    if not isinstance(body, dict):
        return None, "The harness wrote an episode that is no JSON object."
    if is_too_deep(body):
        return None, f"The harness wrote an episode that is {TOO_DEEP}."
    return body, ""


def make_episode(
    body: dict[str, Any] | None,
    *,
    identity: dict[str, Any],
    calls: list[Call],
    finished: Finished | None,
    timed_out: bool,
    why_not: str,
    root: Path,
) -> Episode:
    """The episode, not yet scored: outcome `fail` until the scorer says otherwise.

    `identity` holds source, task_id, trial, model, harness. A harness that crashed, hung, or
    wrote nothing usable gets an episode that says so; `root` is the copy that it ran in.
    """
    ignored = sorted(set(body or {}) & set(SCORER_FIELDS))
    problem = why_not
    episode: Episode | None = None
    if body is not None:
        own = {k: v for k, v in body.items() if k not in (*SCORER_FIELDS, "ran")}
        if own.get("task_id", identity["task_id"]) != identity["task_id"]:
            problem = "The harness wrote an episode of another task."
        else:
            try:
                episode = Episode.model_validate({**own, **identity, "outcome": "fail"})
            except ValidationError as error:
                first = error.errors()[0]
                key = ".".join(str(part) for part in first["loc"])
                problem = f"The harness wrote a malformed episode: {key}: {first['msg']}."
    if episode is None:
        episode = Episode(**identity, outcome="fail", end_reason="exception", error=problem)
        if not timed_out and traceback_of(finished) == "":
            # Analysis points at steps: a failure without any would have no place.
            episode.steps.append(HarnessStep(event="no_usable_episode", message=problem))
    if timed_out:
        episode.end_reason = "timeout"
        episode.error = "The harness did not end within its time."
        if not episode.steps and not calls:
            episode.steps.append(HarnessStep(event="no_usable_episode", message=episode.error))
    elif finished is not None and finished.code != 0:
        _tell_crash(episode, finished, root)
    if ignored:
        episode.__pydantic_extra__ = {**(episode.model_extra or {}), "ignored_fields": ignored}
    _reconcile(episode, calls)
    return episode


def traceback_of(finished: Finished | None) -> str:
    """What stderr says from the last traceback on; "" without one."""
    said = finished.stderr.decode("utf-8", "replace") if finished is not None else ""
    starts = [match.end() for match in _TRACEBACK.finditer(said)]
    return said[starts[-1] :] if starts else ""


def _tell_crash(episode: Episode, finished: Finished, root: Path) -> None:
    """What a process that ended badly said last; a traceback becomes a harness step."""
    said = finished.stderr.decode("utf-8", "replace")
    step = traceback_step(traceback_of(finished), root)
    already = any(isinstance(s, HarnessStep) and s.event == "exception" for s in episode.steps)
    if step is not None and not already:
        episode.steps.append(step)
    episode.end_reason = "exception"
    code = finished.code or 0
    how = f"was killed by signal {-code}" if code < 0 else f"exited with {code}"
    if finished.over:
        how = f"was ended: {finished.over}"
    last = f": {scrub(printable(said[-LAST_WORDS:]))}" if said.strip() else ""
    episode.error = f"The harness {how}{last}"


def traceback_step(traceback: str, root: Path) -> HarnessStep | None:
    """A traceback as a step; frames outside the harness are left out."""
    frames: list[str] = []
    for line in traceback.splitlines():
        if frame := _FRAME.match(line):
            place = Path(frame["file"])
            if place.is_relative_to(root):
                relative = place.relative_to(root).as_posix()
                frames.append(f"{relative}:{frame['function']}:{frame['line']}")
        elif not line.startswith(" ") and (raised := _RAISED.match(line)):
            return HarnessStep(
                event="exception",
                type=raised["type"].rsplit(".", 1)[-1],
                message=scrub(printable(raised["message"] or "", LAST_WORDS)),
                frames=frames,
            )
    return None


def _reconcile(episode: Episode, calls: list[Call]) -> None:
    """Number the steps, and let the proxy say which requests and tokens there were.

    Model steps are the answered calls in order. A harness that reports none gets them from the
    proxy; usage totals are always the proxy's.
    """
    answered = [call for call in calls if call.response is not None]
    written = [step for step in episode.steps if isinstance(step, ModelStep)]
    if not written:
        episode.steps[:0] = [ModelStep(content=_reply(call)) for call in answered]
        written = [step for step in episode.steps if isinstance(step, ModelStep)]
    if len(written) == len(answered):
        for step, call in zip(written, answered, strict=True):
            step.request_digest, step.usage = call.request_digest, call.usage
            step.finish_reason = step.finish_reason or _finish_reason(call)
    for index, any_step in enumerate(episode.steps):
        any_step.index = index
    episode.usage = Usage(
        model_calls=len(calls),
        prompt_tokens=sum(call.usage.prompt_tokens or 0 for call in calls),
        completion_tokens=sum(call.usage.completion_tokens or 0 for call in calls),
        cached_tokens=sum(call.usage.cached_tokens or 0 for call in calls),
    )


def _choice(call: Call) -> dict[str, Any]:
    choices = (call.response or {}).get("choices")
    first = choices[0] if isinstance(choices, list) and choices else {}
    return first if isinstance(first, dict) else {}


def _reply(call: Call) -> str | None:
    choice = _choice(call)
    message = choice.get("message")
    content = message.get("content") if isinstance(message, dict) else choice.get("text")
    return _storable(content)


def _finish_reason(call: Call) -> str | None:
    return _storable(_choice(call).get("finish_reason"))


def _storable(text: Any) -> str | None:
    """Text of an answer; half characters, which JSON may escape, cannot be written as UTF-8."""
    return text.encode("utf-8", "replace").decode() if isinstance(text, str) else None
