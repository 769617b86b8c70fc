"""Train episodes as text for the roles: which are shown, and how much of each.

A step's text is also what a citation of it is checked against, so both are made here.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence

from bot.diagnose.catalog import Situation
from bot.diagnose.panel.fence import clean, cut, indented
from bot.diagnose.panel.room import CHARACTERS_A_TOKEN, Piece, choose, tokens
from bot.display import count, printable
from bot.records import Episode, HarnessStep, ModelStep, Step, ToolStep

LONGEST_TEXT = 600
SHORTEST_TEXT = 80
MOST_STEPS = 14
AROUND = 2
LARGEST_STEP = 100_000
LONGEST_NAME = 120
NOTHING = "(nothing)"


def step_text(step: Step) -> str:
    """What a step says, cleaned and whole (to 100,000 characters): this can be quoted.

    Of an empty one, too.
    """
    if isinstance(step, ToolStep):
        result = step.result if isinstance(step.result, str) else _json(step.result)
        text = f"{step.name} {_json(step.arguments)} -> {result}"
    elif isinstance(step, HarnessStep):
        said = [step.event, step.type, step.message, *step.frames]
        text = " ".join(part for part in said if part)
    else:
        text = step.content or ""
    return clean(cut(text, LARGEST_STEP)) or NOTHING


def failing_episodes(situation: Situation, number: int) -> list[Episode]:
    """Of the episodes that show the pattern, one a task, those with the fewest steps first."""
    return _one_a_task(sorted(situation.showing, key=_length))[:number]


def passing_episodes(situation: Situation, number: int) -> list[Episode]:
    """Passing episodes in contrast, one a task, the most telling first.

    Those that show the pattern and pass all the same; other trials of failing tasks; those that
    call the tool which the pattern names; the rest.
    """
    failing = {episode.task_id for episode in situation.showing}
    some_show_it = situation.pattern.passed_episodes > 0  # looking for it takes its time

    def rank(episode: Episode) -> int:
        if some_show_it and situation.at(episode):
            return 0
        if episode.task_id in failing:
            return 1
        calls = (step.name for step in episode.steps if isinstance(step, ToolStep))
        return 2 if situation.pattern.component in calls else 3

    passing = [episode for episode in situation.episodes if episode.outcome == "pass"]
    ranked = sorted(passing, key=lambda episode: (rank(episode), *_length(episode)))
    return _one_a_task(ranked)[:number]


def excerpt(situation: Situation, episode: Episode, room: int) -> Piece:
    """An episode in about `room` tokens: task, what was expected, steps that matter, its end."""
    limit = min(LONGEST_TEXT, max(room * CHARACTERS_A_TOKEN // 5, SHORTEST_TEXT))
    head = [f"episode of task {shown_name(episode.task_id)}, trial {episode.trial}: "]
    head[0] += episode.outcome
    task = situation.tasks.get(episode.task_id)
    if task is not None:
        head += ["input", _body(_json(task.input), limit)]
        if task.expected is not None:
            head += ["expected", _body(_json(task.expected), limit)]
    tail = [f"end: {shown_name(episode.end_reason or 'not said')}"]
    if episode.answer is not None:
        tail += ["answer", _body(episode.answer, limit)]
    room -= tokens("\n".join([*head, *tail]))
    rows = _steps(episode.steps, situation.at(episode), limit, room)
    return Piece(f"a run ({episode.outcome})", "\n".join([*head, *rows, *tail]))


def _steps(steps: Sequence[Step], events: set[int], limit: int, room: int) -> list[str]:
    """The steps that there is room for, in their order, with the number of those between."""
    wanted = _by_importance(steps, events)
    pieces = [
        Piece("", f"{_heading(steps[p], events)}\n{_body(step_text(steps[p]), limit)}")
        for p in wanted
    ]
    chosen, _ = choose(pieces, room)
    shown = {p: piece.text for p, piece in zip(wanted, pieces, strict=True) if piece in chosen}
    rows, last = [], -1
    for position in [*sorted(shown), len(steps)]:
        if position > last + 1:
            rows.append(f"({count(position - last - 1, 'step')} left out)")
        rows += [shown[position]] if position in shown else []
        last = position
    return rows


def _by_importance(steps: Sequence[Step], events: set[int]) -> list[int]:
    """Positions of the steps at the events, around them, the first ones and the last ones."""
    at = [position for position, step in enumerate(steps) if step.index in events]
    around = [p + d for d in (0, -1, 1, -AROUND, AROUND) for p in at[:MOST_STEPS]]
    wanted = [*around, 0, len(steps) - 1, 1, len(steps) - 2, *range(min(len(steps), MOST_STEPS))]
    real = [position for position in dict.fromkeys(wanted) if 0 <= position < len(steps)]
    return real[:MOST_STEPS]


def _heading(step: Step, events: set[int]) -> str:
    mark = "  <- the pattern's event" if step.index in events else ""
    error = " error" if isinstance(step, ToolStep) and step.error else ""
    end = (
        f" {shown_name(step.finish_reason)}"
        if isinstance(step, ModelStep) and step.finish_reason
        else ""
    )
    return f"step {step.index} {step.kind}{error}{end}{mark}"


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, default=str)


def _body(text: str, limit: int) -> str:
    return indented(cut(clean(cut(text, LARGEST_STEP)), limit))


def shown_name(text: str) -> str:
    return printable(clean(cut(text, LARGEST_STEP)), LONGEST_NAME)


def _length(episode: Episode) -> tuple[int, str, int]:
    return len(episode.steps), episode.task_id, episode.trial


def _one_a_task(episodes: Iterable[Episode]) -> list[Episode]:
    found: dict[str, Episode] = {}
    for episode in episodes:
        found.setdefault(episode.task_id, episode)
    return list(found.values())
