"""Train episodes as text for the roles: which are shown, and how much of each.

A step's text is also what a citation of it is checked against, so both are made here.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence

from bot.diagnose.catalog import Situation
from bot.diagnose.panel.fence import clean, cut, indented
from bot.diagnose.panel.room import Piece
from bot.display import printable
from bot.records import Episode, HarnessStep, ModelStep, Step, ToolStep

LONGEST_STEP = 600
MOST_STEPS = 14
AROUND = 2
LONGEST_TASK = 500
LARGEST_STEP = 100_000


def step_text(step: Step) -> str:
    """What a step says, cleaned and whole (to 100,000 characters): this can be quoted."""
    if isinstance(step, ToolStep):
        arguments = json.dumps(step.arguments, ensure_ascii=False, default=str)
        result = step.result
        if not isinstance(result, str):
            result = json.dumps(result, ensure_ascii=False, default=str)
        text = f"{step.name} {arguments} -> {result}"
    elif isinstance(step, HarnessStep):
        said = [step.event, step.type, step.message, *step.frames]
        text = " ".join(part for part in said if part)
    else:
        text = step.content or ""
    return clean(cut(text, LARGEST_STEP))


def failing_episodes(situation: Situation, number: int) -> list[Episode]:
    """Of the episodes that show the pattern, one a task, those with the fewest steps first."""
    return _one_a_task(sorted(situation.showing, key=_length))[:number]


def passing_episodes(situation: Situation, number: int) -> list[Episode]:
    """Passing episodes in contrast, one a task, the most telling first.

    Those that show the pattern and pass all the same; other trials of failing tasks; those that
    call the tool which the pattern names; the rest.
    """
    failing = {episode.task_id for episode in situation.showing}

    def rank(episode: Episode) -> int:
        if situation.at(episode):
            return 0
        if episode.task_id in failing:
            return 1
        calls = (step.name for step in episode.steps if isinstance(step, ToolStep))
        return 2 if situation.pattern.component in calls else 3

    passing = [episode for episode in situation.episodes if episode.outcome == "pass"]
    ranked = sorted(passing, key=lambda episode: (rank(episode), *_length(episode)))
    return _one_a_task(ranked)[:number]


def excerpt(situation: Situation, episode: Episode) -> Piece:
    """An episode as text: its task, what was expected, the steps that matter, how it ended."""
    events = situation.at(episode)
    head = (
        f"episode of task {shown_name(episode.task_id)}, trial {episode.trial}: {episode.outcome}"
    )
    rows = [head]
    task = situation.tasks.get(episode.task_id)
    if task is not None:
        rows += ["input", _body(json.dumps(task.input, ensure_ascii=False), LONGEST_TASK)]
        if task.expected is not None:
            expected = json.dumps(task.expected, ensure_ascii=False, default=str)
            rows += ["expected", _body(expected, LONGEST_TASK)]
    kept = _kept(episode.steps, events)
    last = -1
    for position in kept:
        if position > last + 1:
            rows.append(f"({position - last - 1} steps left out)")
        step = episode.steps[position]
        rows += [_heading(step, events), _body(step_text(step), LONGEST_STEP)]
        last = position
    if last < len(episode.steps) - 1:
        rows.append(f"({len(episode.steps) - 1 - last} steps left out)")
    rows.append(f"end: {shown_name(episode.end_reason or 'not said')}")
    if episode.answer is not None:
        rows += ["answer", _body(episode.answer, LONGEST_STEP)]
    return Piece(f"a run ({episode.outcome})", "\n".join(rows))


def _kept(steps: Sequence[Step], events: set[int]) -> list[int]:
    """Positions of the steps that are shown: around the events, then the first and the last."""
    at = [position for position, step in enumerate(steps) if step.index in events]
    around = [p + d for d in (0, -1, 1, -AROUND, AROUND) for p in at]
    wanted = [*around[:MOST_STEPS], 0, 1, len(steps) - 1, len(steps) - 2, *range(len(steps))]
    real = [position for position in dict.fromkeys(wanted) if 0 <= position < len(steps)]
    return sorted(real[:MOST_STEPS])


def _heading(step: Step, events: set[int]) -> str:
    mark = "  <- the pattern's event" if step.index in events else ""
    error = " error" if isinstance(step, ToolStep) and step.error else ""
    end = (
        f" {shown_name(step.finish_reason)}"
        if isinstance(step, ModelStep) and step.finish_reason
        else ""
    )
    return f"step {step.index} {step.kind}{error}{end}{mark}"


def _body(text: str, limit: int) -> str:
    return indented(cut(clean(cut(text, LARGEST_STEP)), limit))


def shown_name(text: str) -> str:
    return clean(printable(text, 120))


def _length(episode: Episode) -> tuple[int, str, int]:
    return len(episode.steps), episode.task_id, episode.trial


def _one_a_task(episodes: Iterable[Episode]) -> list[Episode]:
    found: dict[str, Episode] = {}
    for episode in episodes:
        found.setdefault(episode.task_id, episode)
    return list(found.values())
