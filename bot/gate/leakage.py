"""Static check: an edit may hold no task id and no expected answer of the tasks that judge it."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

from bot.records import Edit, ModificationSpec, Task

_WORD = re.compile(r"[\w.@-]+")
_EDGES = ".@-"
SHORTEST_ANSWER = 3


def find_leak(spec: ModificationSpec, tasks: Iterable[Task], known_text: str) -> str | None:
    """One sentence naming what leaked into the spec's code, or None.

    `known_text` is what the harness may know anyway (its files and tool contract before the
    edit): words that stand there are no leak. Answers shorter than three characters are too
    common to tell.
    """
    added = "\n".join(_brought(edit) for edit in spec.edits)
    lowered = {word.lower() for word in _words(added) - _words(known_text)}
    added, known_text = _plain(added), _plain(known_text)
    for task in tasks:
        if task.task_id.lower() in lowered:
            return f"The edit names the task {task.task_id}."
        for answer in _answers(task.expected):
            if len(answer) < SHORTEST_ANSWER:
                continue
            parts = _WORD.findall(answer)
            bare = parts[0].strip(_EDGES) if parts else ""
            meant = {answer.lower(), bare.lower() if len(bare) >= SHORTEST_ANSWER else ""}
            if len(parts) == 1 and not meant.isdisjoint(lowered):
                return f"The edit holds the expected answer of {task.task_id}."
            if len(parts) > 1 and _plain(answer) in added and _plain(answer) not in known_text:
                return f"The edit holds the expected answer of {task.task_id}."
    return None


def _brought(edit: Edit) -> str:
    """All text that an edit brings: some operations have it in further fields, as `argument`."""
    return "\n".join([edit.code, *map(str, (edit.model_extra or {}).values())])


def _words(text: str) -> set[str]:
    """The words, also without the stop of a sentence that they end."""
    found = set(_WORD.findall(text))
    return (found | {word.strip(_EDGES) for word in found}) - {""}


def _plain(text: str) -> str:
    return " ".join(text.lower().split())


def _answers(expected: Any) -> list[str]:
    """Every text and number inside `expected`, as text."""
    if isinstance(expected, dict):
        return [answer for value in expected.values() for answer in _answers(value)]
    if isinstance(expected, list):
        return [answer for value in expected for answer in _answers(value)]
    if isinstance(expected, bool) or expected is None:
        return []
    return [str(expected).strip()]
