"""Static check: an edit may hold no task id and no expected answer of the tasks that judge it."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

from bot.records import Task

_WORD = re.compile(r"[\w.@-]+")
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
    words = set(_WORD.findall(added)) - set(_WORD.findall(known_text))
    lowered = {word.lower() for word in words}
    named = [(task, f"the task {task.task_id}", task.task_id) for task in train]
    named += [(task, "a hidden task", "a hidden task") for task in hidden]
    for task, as_task, whose in named:
        if task.task_id.lower() in lowered:
            return f"The edit names {as_task}."
        for answer in _answers(task.expected):
            if len(answer) < SHORTEST_ANSWER:
                continue
            parts = _WORD.findall(answer)
            if len(parts) == 1 and answer.lower() in lowered:
                return f"The edit holds the expected answer of {whose}."
            if len(parts) > 1 and answer in added and answer not in known_text:
                return f"The edit holds the expected answer of {whose}."
    return None


def _answers(expected: Any) -> list[str]:
    """Every text and number inside `expected`, as text."""
    if isinstance(expected, dict):
        return [answer for value in expected.values() for answer in _answers(value)]
    if isinstance(expected, list):
        return [answer for value in expected for answer in _answers(value)]
    if isinstance(expected, bool) or expected is None:
        return []
    return [str(expected).strip()]
