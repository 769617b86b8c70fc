"""Questions through the real client to a scripted server, over real sockets."""

import asyncio
import json
from collections.abc import Awaitable, Callable
from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from bot.config import Budget, PanelTable
from bot.llm.abilities import AbilityBook
from bot.llm.answers import Failed, Turn
from bot.llm.budget import BudgetMeter
from bot.llm.client import Client, open_client
from bot.llm.retry import Retry
from bot.llm.scripted import Answer, Script, ScriptedServer
from bot.llm.transcript import Transcript

QUICK = Retry(tries=3, first_s=0.005, longest_s=0.01, longest_asked_s=1.0)
LABEL = "lookup-order/1/analyst/0"
TURNS = [Turn("system", "You find causes."), Turn("user", "Why does lookup_order fail?")]


class Cause(BaseModel):
    """An answer like those of the panel."""

    model_config = ConfigDict(extra="forbid")

    layer: Literal["prompt", "tool"]
    steps: list[int] = Field(max_length=3)


GOOD = Cause(layer="tool", steps=[1, 2])
GOOD_TEXT = GOOD.model_dump_json()


@dataclass
class Asked:
    """What came of one or several questions."""

    results: list[Any]
    server: ScriptedServer
    meter: BudgetMeter
    transcript: Transcript = field(repr=False)

    @property
    def result(self) -> Any:
        return self.results[0]


def run(
    script: Script,
    *,
    questions: int = 1,
    budget: Budget | None = None,
    retry: Retry = QUICK,
    latency_s: float = 0.0,
    talk: Callable[[Client], Awaitable[list[Any]]] | None = None,
    **panel: Any,
) -> Asked:
    """Ask `questions` at once (or `talk` to the client) and close everything again."""

    async def ask_all(client: Client) -> list[Any]:
        labels = [f"lookup-order/1/analyst/{number}" for number in range(questions)]
        return await asyncio.gather(*(client(label, TURNS, Cause) for label in labels))

    async def work(table: PanelTable, meter: BudgetMeter, transcript: Transcript) -> list[Any]:
        async with open_client(table, meter, transcript, retry=retry, book=AbilityBook()) as client:
            return await (talk or ask_all)(client)

    with ExitStack() as stack:
        server = stack.enter_context(ScriptedServer(script, latency_s=latency_s))
        table = PanelTable(**{"base_url": server.base_url, "name": "scripted", **panel})
        meter = BudgetMeter(budget or Budget(), table)
        transcript = Transcript()
        results = asyncio.run(work(table, meter, transcript))
        assert (meter._held_tokens, meter._held_usd) == (0, 0.0)  # every reservation is settled
        return Asked(results, server, meter, transcript)


def always(answer: Answer) -> Script:
    return lambda request: answer


def refusing(message: str, **more: Any) -> bytes:
    """The body of an error, in the words of OpenAI's protocol."""
    return json.dumps(
        {"error": {"message": message, "type": "invalid_request_error", **more}}
    ).encode()


def kind(result: Any) -> str:
    assert isinstance(result, Failed), result
    assert result.reason.rstrip(".")
    return result.kind
