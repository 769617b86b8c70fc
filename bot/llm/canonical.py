"""The canonical form of a model request: two requests with one digest ask the same."""

from __future__ import annotations

import hashlib
import json
from typing import Any

_NOT_ASKED = frozenset(
    {"stream", "stream_options", "user", "metadata", "store", "safety_identifier"}
)


def canonical_request(body: dict[str, Any]) -> dict[str, Any]:
    """`body` without what does not change the answer, and without empty values."""
    return {
        key: value for key, value in body.items() if key not in _NOT_ASKED and value is not None
    }


def request_digest(body: dict[str, Any]) -> str:
    """`sha256:` and the hex digest of the canonical request."""
    text = json.dumps(
        _plain(canonical_request(body)), sort_keys=True, separators=(",", ":"), ensure_ascii=True
    )
    return "sha256:" + hashlib.sha256(text.encode()).hexdigest()


def _plain(value: Any) -> Any:
    """Numbers in one form: `0` and `0.0` ask the same."""
    if isinstance(value, dict):
        return {key: _plain(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [_plain(inner) for inner in value]
    if isinstance(value, float) and value.is_integer():
        return int(value)
    return value
