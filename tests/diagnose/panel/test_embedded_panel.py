"""The weakest model there is plays every role, over HTTP, under a schema that is enforced."""

from __future__ import annotations

import asyncio
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
from bot.diagnose.panel.panel import run_panels
from bot.llm.budget import BudgetMeter
from bot.llm.client import open_client
from bot.llm.transcript import Transcript, replaying
from tests.diagnose.panel.library import FILES, Bench, situation

KEYS = ["tool_error/read_loan/unknown-field", "wrong_answer/model-text/x"]
SETTINGS = PanelSettings(rounds=2, attempts=2, prompt_tokens=3600, failing=2, passing=1)
TABLE = PanelTable(context=8192, slots=2, max_output_tokens=1200)


async def talk(transcript: Transcript, bench: Bench) -> list[PanelResult]:
    meter = BudgetMeter(Budget(model_calls=60), ModelTable())
    cases = [situation(key) for key in KEYS]
    async with open_client(TABLE, meter, transcript) as client:
        ask = replaying(transcript, client)
        return await run_panels(cases, bench.tools(), ask, SETTINGS)


@pytest.mark.slow
def test_the_embedded_model_plays_every_role() -> None:
    transcript, bench = Transcript(), Bench()
    results = asyncio.run(talk(transcript, bench))
    assert [result.pattern for result in results] == KEYS
    for result in results:
        print(result)
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
    for record in transcript.records:
        print(
            record.label,
            record.outcome,
            record.seconds,
            record.usage.prompt_tokens,
            record.answer[:300],
        )
    # The record alone gives the same again.
    cases = [situation(key) for key in KEYS]
    offline = replaying(Transcript.from_text(transcript.to_text()), None)
    again = asyncio.run(run_panels(cases, Bench().tools(), offline, SETTINGS))
    assert again == results
