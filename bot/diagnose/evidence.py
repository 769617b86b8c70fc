"""Questions that operators ask of the failing episodes: an operator acts on what is shown there."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from bot.records import Episode, ToolStep


def tool_steps(episodes: Iterable[Episode], *, failed: bool | None = None) -> Iterator[ToolStep]:
    """The tool calls of episodes; with `failed`, only those that did or did not fail."""
    for episode in episodes:
        for step in episode.steps:
            if isinstance(step, ToolStep) and (failed is None or step.error == failed):
                yield step


def tasks_where(
    episodes: Iterable[Episode], holds: Callable[[ToolStep], bool], *, failed: bool | None = True
) -> list[str]:
    """Ids of the tasks with a tool call for which `holds`, each once, in order."""
    return list(
        dict.fromkeys(
            episode.task_id
            for episode in episodes
            if any(holds(step) for step in tool_steps([episode], failed=failed))
        )
    )
