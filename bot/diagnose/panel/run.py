"""All panels of a run, side by side."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass

from bot.diagnose.catalog import Situation
from bot.diagnose.panel.briefing import Briefing, brief
from bot.diagnose.panel.interface import PanelResult, PanelSettings, Tools
from bot.diagnose.panel.panel import Panel
from bot.llm.answers import Ask, Failed, T, Turn


async def run_panel(
    situation: Situation, tools: Tools, ask: Ask, settings: PanelSettings
) -> PanelResult:
    """What one panel makes of one pattern."""
    (result,) = await run_panels([situation], tools, ask, settings)
    return result


async def run_panels(
    situations: Sequence[Situation], tools: Tools, ask: Ask, settings: PanelSettings
) -> list[PanelResult]:
    """One panel a pattern, side by side; the results are in the order of the situations.

    The situations are of one base revision, and no two of one pattern. The first question is
    answered before other panels ask: from then on the server has the shared prefix in its cache.
    """
    briefings = brief(situations, tools, settings)
    seats, bench, warm = asyncio.Semaphore(settings.parallel), asyncio.Lock(), asyncio.Event()
    warming = _Warming(ask, warm)

    async def work(position: int, briefing: Briefing) -> PanelResult:
        if position:
            await warm.wait()
        async with seats:
            try:
                return await Panel(briefing, tools, warming, settings, bench).talk()
            finally:
                warm.set()

    try:
        async with asyncio.TaskGroup() as group:
            work_of = [group.create_task(work(n, b)) for n, b in enumerate(briefings)]
    except BaseExceptionGroup as several:
        raise several.exceptions[0] from None
    return [task.result() for task in work_of]


@dataclass(frozen=True)
class _Warming:
    """Asks, and says when an answer has come."""

    ask: Ask
    warm: asyncio.Event

    async def __call__(self, label: str, turns: Sequence[Turn], answer: type[T]) -> T | Failed:
        try:
            return await self.ask(label, turns, answer)
        finally:
            self.warm.set()
