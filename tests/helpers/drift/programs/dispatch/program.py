"""Run the tool that an action names."""

import shlex
from dataclasses import dataclass, field
from typing import Any

LIMIT = 40
QUIET = {"note"}


@dataclass
class Result:
    text: str
    failed: bool = False
    details: dict[str, Any] = field(default_factory=dict)


class Tools:
    """The tools by name, and what was called."""

    def __init__(self, store=None):
        self.store = dict(store or {})
        self.history = []

    def run(self, name, line):
        words = shlex.split(line)
        if name not in QUIET:
            self.history.append(name)
        method = getattr(self, f"do_{name}", None)
        if method is None:
            return Result(f"no tool {name}", failed=True)
        try:
            return method(words)
        except KeyError as error:
            return Result(f"missing {error}", failed=True)

    def rehearse(self, name, line):
        words = shlex.split(line)
        if name not in QUIET:
            self.history.append("try " + name)
        method = getattr(self, f"do_{name}", None)
        if method is None:
            return Result(f"no tool {name}", failed=True)
        return Result(f"would run {name} with {len(words)} words")

    def do_get(self, words):
        key = words[0] if words else "all"
        if key == "all":
            return Result(" ".join(sorted(self.store)))
        value = self.store[key]
        return Result(clip(str(value)), details={"key": key})

    def do_put(self, words):
        key, *rest = words or [""]
        value = " ".join(rest)
        self.store[key] = value
        return Result(clip(str(value)), details={"key": key, "size": len(value)})

    def do_drop(self, words):
        key = words[0] if words else ""
        value = self.store.pop(key)
        return Result(clip(str(value)), details={"key": key})

    def do_note(self, words):
        self.history.append(" ".join(words))
        return Result("noted")


def clip(text):
    if len(text) <= LIMIT:
        return text
    kept = text[: LIMIT - 3]
    return kept + "..."


def shorten(text):
    if len(text) <= LIMIT:
        return text
    kept = text[3 - LIMIT :]
    return "..." + kept


def show(result):
    mark = "!" if result.failed else ">"
    details = ", ".join(f"{key}={value}" for key, value in sorted(result.details.items()))
    if details:
        return f"{mark} {result.text} ({details})"
    return f"{mark} {result.text}"


def preview(result):
    mark = "?" if result.failed else ">"
    details = ", ".join(f"{key}={value}" for key, value in sorted(result.details.items()))
    if details:
        return f"{mark} {shorten(result.text)} ({details})"
    return f"{mark} {shorten(result.text)}"
