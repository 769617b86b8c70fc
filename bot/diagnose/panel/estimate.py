"""What panels will cost, said before anything is asked."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from bot.diagnose.catalog import Situation
from bot.diagnose.panel.briefing import brief
from bot.diagnose.panel.interface import PanelSettings, Tools
from bot.diagnose.panel.prompt_files import prompt
from bot.diagnose.panel.room import tokens

ROLES = 4
ANSWER_TOKENS = 400
"""Of one answer, at a guess: the forms have room for two to five times as many."""


@dataclass(frozen=True)
class Estimate:
    """Calls and tokens of `panels` panels, where each agrees in its first round.

    `cached_tokens` of the prompts were sent before. `most_calls` is the limit of rounds and
    attempts, without the repairs of answers that do not fit their form.
    """

    panels: int
    calls: int
    most_calls: int
    prompt_tokens: int
    cached_tokens: int
    completion_tokens: int


def estimate(situations: Sequence[Situation], tools: Tools, settings: PanelSettings) -> Estimate:
    """What `run_panels` will cost at least, and how many calls at most."""
    briefings = brief(situations, tools, settings)
    panels = len(briefings)
    calls = ROLES * panels
    roles = (
        tokens(prompt("analyst", tasks=2))
        + tokens(prompt("engineer", operations=tools.operations))
        + tokens(prompt("critic"))
        + tokens(prompt("moderator", round=1, rounds=settings.rounds, last=""))
    )
    shared = tokens(prompt("system")) + (tokens(briefings[0].shared) if briefings else 0)
    own = sum(tokens(briefing.own) for briefing in briefings)
    said = ANSWER_TOKENS * sum(range(ROLES)) * panels
    return Estimate(
        panels=panels,
        calls=calls,
        most_calls=calls * settings.rounds * settings.attempts,
        prompt_tokens=calls * shared + ROLES * own + panels * roles + said,
        cached_tokens=max(calls - 1, 0) * shared + (ROLES - 1) * own,
        completion_tokens=calls * ANSWER_TOKENS,
    )
