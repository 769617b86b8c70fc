"""The weakest model there is plays every role, over HTTP, under a schema that is enforced."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import get_args

import pytest

from bot.config import Budget, ModelTable, PanelTable
from bot.diagnose.panel.interface import (
    ModelsFault,
    PanelFailed,
    PanelResult,
    PanelSettings,
    Proposed,
    Rejected,
    RejectionKind,
)
from bot.diagnose.panel.run import run_panels
from bot.llm.answers import Ask, Failed, T, Turn
from bot.llm.budget import BudgetMeter
from bot.llm.client import open_client
from bot.llm.transcript import Transcript, replaying
from tests.diagnose.panel.library import FILES, Bench, panel, situation

KEYS = ["analyst", "engineer", "critic", "moderator"]
SETTINGS = PanelSettings(rounds=1, attempts=1, prompt_tokens=2000, failing=2, passing=1)
TABLE = PanelTable(context=4096, slots=2, max_output_tokens=256, timeout_s=600)


class Cast:
    """The model plays the role after which the pattern is called, a script the others."""

    def __init__(self, model: Ask) -> None:
        self.model, self.script = model, panel()

    async def __call__(self, label: str, turns: Sequence[Turn], answer: type[T]) -> T | Failed:
        played, role = label.partition("-")[0], label.split("/")[2]
        return await (self.model if played == role else self.script)(label, turns, answer)


async def talk(transcript: Transcript, bench: Bench) -> list[PanelResult]:
    meter = BudgetMeter(Budget(model_calls=60), ModelTable())
    async with open_client(TABLE, meter, transcript) as client:
        return await run_panels(CASES, bench.tools(), Cast(client), SETTINGS)


CASES = [situation(key) for key in KEYS]


@pytest.mark.slow
def test_the_embedded_model_plays_every_role() -> None:
    transcript, bench = Transcript(), Bench()
    results = asyncio.run(talk(transcript, bench))
    assert [result.pattern for result in results] == KEYS
    for result in results:
        if isinstance(result, Proposed):
            changed = {p for p, text in bench.trees[result.tree].items() if text != FILES.get(p)}
            assert changed
            assert all(path.startswith("agent/") for path in changed)
        elif isinstance(result, Rejected):
            assert result.kind in get_args(RejectionKind)
        elif isinstance(result, PanelFailed):
            assert result.kind in ("truncated", "repetition", "wrong_schema", "not_json", "empty")
        else:
            assert isinstance(result, ModelsFault)
    played = {record.label.split("/")[2] for record in transcript.records}
    assert played == {"analyst", "engineer", "critic", "moderator"}
    assert {record.settings["form"] for record in transcript.records} == {"json_schema"}
    # The record alone gives the same again.
    offline = Cast(replaying(Transcript.from_text(transcript.to_text()), None))
    again = asyncio.run(run_panels(CASES, Bench().tools(), offline, SETTINGS))
    assert again == results
