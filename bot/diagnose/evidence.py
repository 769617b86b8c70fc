"""What failing episodes show where the pattern's events are: an operator acts on nothing else."""

from __future__ import annotations

from collections.abc import Callable

from bot.diagnose.catalog import Situation
from bot.records import ToolStep


def tasks_where(situation: Situation, holds: Callable[[ToolStep], bool]) -> list[str]:
    """Ids of the tasks with a tool call, at an event of the pattern, for which `holds`.

    Each once, in order; none where less than half of the pattern's tasks have one: then the
    pattern is about something else.
    """
    showing = dict.fromkeys(episode.task_id for episode in situation.showing)
    found = dict.fromkeys(
        episode.task_id
        for episode in situation.showing
        for step in episode.steps
        if isinstance(step, ToolStep) and step.index in situation.at(episode) and holds(step)
    )
    return list(found) if 2 * len(found) >= len(showing) else []
