"""One call of the model, at any OpenAI-compatible endpoint."""

from __future__ import annotations

import json
import os
import urllib.request
from typing import NamedTuple

MAX_TOKENS = 48


class Reply(NamedTuple):
    content: str
    finish_reason: str


def complete(messages: list[dict[str, str]]) -> Reply:
    """The model's reply to a conversation."""
    body = {
        "model": os.environ["OPENAI_MODEL"],
        "messages": messages,
        "max_tokens": MAX_TOKENS,
        "temperature": 0,
    }
    request = urllib.request.Request(
        os.environ["OPENAI_BASE_URL"].rstrip("/") + "/chat/completions",
        json.dumps(body).encode(),
        {
            "Content-Type": "application/json",
            "Authorization": f"Bearer {os.environ.get('OPENAI_API_KEY', '')}",
        },
    )
    with urllib.request.urlopen(request, timeout=120) as response:
        choice = json.load(response)["choices"][0]
    return Reply(choice["message"]["content"] or "", choice["finish_reason"])
