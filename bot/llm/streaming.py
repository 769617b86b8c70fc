"""A whole answer as server-sent events, for harnesses that ask for a stream."""

from __future__ import annotations

import json
from typing import Any


def as_stream(answer: dict[str, Any], request: dict[str, Any]) -> bytes:
    """The events of a stream that gives `answer` in one piece per choice."""
    base = {k: v for k, v in answer.items() if k not in ("choices", "usage", "object")}
    is_chat = answer.get("object") == "chat.completion" or "messages" in request
    kind = "chat.completion.chunk" if is_chat else "text_completion"
    choices = [choice for choice in answer.get("choices") or [] if isinstance(choice, dict)]
    chunks = []
    for choice in choices:
        index = choice.get("index", 0)
        if is_chat:
            delta = _delta(choice.get("message") or {})
            chunks.append([{"index": index, "delta": delta, "finish_reason": None}])
            end = {"index": index, "delta": {}, "finish_reason": choice.get("finish_reason")}
            chunks.append([end])
        else:
            chunks.append([choice])
    events = [{**base, "object": kind, "choices": chunk} for chunk in chunks]
    options = request.get("stream_options")
    if isinstance(options, dict) and options.get("include_usage"):
        events.append({**base, "object": kind, "choices": [], "usage": answer.get("usage")})
    lines = [f"data: {json.dumps(event)}\n\n" for event in events]
    return "".join([*lines, "data: [DONE]\n\n"]).encode()


def _delta(message: dict[str, Any]) -> dict[str, Any]:
    delta = {key: value for key, value in message.items() if key != "tool_calls"}
    calls = message.get("tool_calls")
    if isinstance(calls, list):
        delta["tool_calls"] = [
            {"index": index, **call} for index, call in enumerate(calls) if isinstance(call, dict)
        ]
    return delta
