"""Answers of roles, and what programs print, as text for the next question."""

from __future__ import annotations

import re

from pydantic import BaseModel

# What a program prints differently at each run would make another question of the same state.
_DURATION = re.compile(r"\b\d+(?:\.\d+)? ?(?:s|ms|secs?|seconds?)\b")
_ADDRESS = re.compile(r"\b0x[0-9a-fA-F]{4,}\b")
_FOLDERS = re.compile(r"(?<![\w.])/(?:[\w.+@~-]+/)+(?=[\w.+@~-]+/[\w.+@~-]+)")


def steady(text: str) -> str:
    """`text` without durations, addresses and the folders of absolute paths but the last one."""
    text = _DURATION.sub("some time", text)
    return _FOLDERS.sub(".../", _ADDRESS.sub("0x...", text))


def tell(answer: BaseModel) -> str:
    """An answer as indented `name: value` lines; text of several lines stands below its name."""
    return "\n".join(_lines(answer.model_dump(), ""))


def _lines(value: object, indent: str) -> list[str]:
    if isinstance(value, dict):
        return [row for name, inner in value.items() for row in _named(f"{name}:", inner, indent)]
    if isinstance(value, list):
        return [row for inner in value for row in _named("-", inner, indent)]
    return [f"{indent}{row}" for row in str(value).split("\n")]


def _named(name: str, value: object, indent: str) -> list[str]:
    if value in ("", []):
        return [f"{indent}{name} none"]
    if isinstance(value, dict | list) or "\n" in str(value):
        return [f"{indent}{name}", *_lines(value, f"{indent}    ")]
    return [f"{indent}{name} {value}"]
