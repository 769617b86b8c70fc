"""Static check: an edit may hold no task id and no expected answer of the tasks that judge it."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

from bot.records import ModificationSpec, Task

_WORD = re.compile(r"[\w.@-]+")
_EDGES = ".@-"
SHORTEST_ANSWER = 3


def find_leak(
    added: str, train: Iterable[Task], hidden: Iterable[Task], known_text: str
) -> str | None:
    """One sentence naming what leaked into the `added` code, or None.

    The sentence is read by who proposes the next spec, so it names a task of `train` and none of
    the `hidden` ones.

    `known_text` is what the harness may know anyway (its files and tool contract before the
    edit): words that stand there are no leak. Answers shorter than three characters are too
    common to tell.
    """
    lowered = {word.lower() for word in _words(added) - _words(known_text)}
    added, known_text = _plain(added), _plain(known_text)
    named = [(task, f"the task {task.task_id}", task.task_id) for task in train]
    named += [(task, "a hidden task", "a hidden task") for task in hidden]
    for task, as_task, whose in named:
        if task.task_id.lower() in lowered:
            return f"The edit names {as_task}."
        for answer in _answers(task.expected):
            if len(answer) < SHORTEST_ANSWER:
                continue
            parts = _WORD.findall(answer)
            bare = parts[0].strip(_EDGES) if parts else ""
            meant = {answer.lower(), bare.lower() if len(bare) >= SHORTEST_ANSWER else ""}
            if len(parts) == 1 and not meant.isdisjoint(lowered):
                return f"The edit holds the expected answer of {whose}."
            if len(parts) > 1 and _plain(answer) in added and _plain(answer) not in known_text:
                return f"The edit holds the expected answer of {whose}."
    return None


def all_text(spec: ModificationSpec) -> str:
    """All text that edits bring: some operations have it in further fields, as `argument`."""
    return "\n".join(
        text
        for edit in spec.edits
        for text in (edit.code, *map(str, (edit.model_extra or {}).values()))
    )


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
