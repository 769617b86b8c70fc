"""Edits on a text, without the child processes, for the many small tests of operations."""

from __future__ import annotations

import base64
import sys
import textwrap
from typing import Any

from bot.edit.refusal import Refused
from bot.edit.schema import read_fields
from bot.edit.worker import apply_edits
from bot.records import Edit

PYTHON = sys.executable


def block(text: str) -> str:
    """A before or after block, without its indentation in the test."""
    return textwrap.dedent(text.removeprefix("\n"))


def edit_bytes(content: bytes, *edits: dict[str, Any], file: str = "a.py") -> bytes:
    """The file after the edits. Raises Refused."""
    fields = []
    for edit in edits:
        whole = Edit(file=file, **edit)
        fields.append({"op": whole.op} | read_fields(whole.op, whole).model_dump())
    answer = apply_edits({file: content}, fields)
    if "kind" in answer:
        raise Refused(answer["kind"], answer["message"], answer["edit"])
    assert not answer["unread"], answer
    return base64.b64decode(answer["files"][file]) if file in answer["files"] else content


def edit_code(source: str, *edits: dict[str, Any], file: str = "a.py") -> str:
    """The same for text."""
    return edit_bytes(source.encode(), *edits, file=file).decode()


def refusal(source: str, *edits: dict[str, Any], file: str = "a.py") -> tuple[str, str]:
    """Kind and message of the refusal that the edits get."""
    try:
        result = edit_code(source, *edits, file=file)
    except Refused as refused:
        return refused.kind, refused.message
    raise AssertionError(f"not refused, but: {result}")
