from __future__ import annotations

import asyncio

from bot.diagnose.panel.estimate import estimate
from bot.diagnose.panel.interface import PanelSettings
from bot.diagnose.panel.room import tokens
from bot.diagnose.panel.run import run_panels
from tests.diagnose.panel.library import NARROW, Bench, edit, panel, situation

CASES = [situation("a"), situation("b"), situation("c")]


def test_the_estimate_is_near_what_is_asked() -> None:
    settings = PanelSettings()
    told = estimate(CASES, Bench().tools(), settings)
    assert (told.panels, told.calls, told.most_calls) == (3, 12, 72)
    script = panel()
    asyncio.run(run_panels(CASES, Bench().tools(), script, settings))
    asked = sum(tokens(turn.content) for _, turns in script.asked for turn in turns)
    assert len(script.asked) == told.calls
    assert 0.9 * asked < told.prompt_tokens < 1.6 * asked
    assert 0.5 * asked < told.cached_tokens < asked


def test_no_more_is_asked_than_the_estimate_says() -> None:
    settings = PanelSettings(rounds=2, attempts=2)
    script = panel(engineer=[edit(target="RULES"), edit()], moderator=[NARROW])
    asyncio.run(run_panels(CASES, Bench().tools(), script, settings))
    assert len(script.asked) == 3 * 8 < estimate(CASES, Bench().tools(), settings).most_calls


def test_nothing_costs_nothing() -> None:
    told = estimate([], Bench().tools(), PanelSettings())
    assert (told.calls, told.prompt_tokens, told.cached_tokens) == (0, 0, 0)
