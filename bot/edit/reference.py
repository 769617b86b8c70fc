"""The operations in words, for whoever writes edits: from each operation's own description."""

from __future__ import annotations

import importlib
from functools import cache

from bot.edit.schema import SCHEMAS, fields_of

_LAST_PART = "\nPostcondition:"
_EVERY = "file, "


@cache
def describe_operations() -> str:
    """A paragraph an operation: its name, what it does, its fields beside `op` and `file`."""
    return "\n\n".join(_describe(op) for op in SCHEMAS)


def _describe(op: str) -> str:
    text = importlib.import_module(f"bot.edit.operations.{op}").__doc__ or ""
    said = text.partition(_LAST_PART)[0].replace("\n\n", "\n").strip()
    return f"## {op}\n{said}\nFields: {fields_of(op).removeprefix(_EVERY)}."
