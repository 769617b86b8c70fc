"""The client of the panel: it asks an endpoint, within the budget, and records every call.

Faults are typed results. Whatever an endpoint does, a question ends within its time, with a valid
answer or a Failed.
"""

from __future__ import annotations

import asyncio
import json
import re
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel

from bot.config import EMBEDDED, PanelTable, RoleTable
from bot.display import scrub
from bot.errors import BudgetSpent
from bot.llm.abilities import Abilities, AbilityBook, follows_schema
from bot.llm.answers import (
    Ask,
    Failed,
    Said,
    T,
    Turn,
    alternating,
    ask_until_valid,
    is_whole,
    read_answer,
    well_formed,
)
from bot.llm.budget import BudgetMeter
from bot.llm.endpoint import Endpoint, open_endpoint
from bot.llm.retry import Retry
from bot.llm.transcript import CallRecord, Transcript, question_digest, scrubbed
from bot.llm.transport import open_async_openai
from bot.llm.wire import Fault, estimate_tokens, exchange
from bot.records import Usage

if TYPE_CHECKING:
    import openai

__all__ = ["Ask", "Client", "Failed", "Turn", "open_client"]

LARGEST_ANSWER = 16 << 20  # bytes of one answer on the wire
Server = tuple[str, str | None, int, int, bool]


@dataclass
class Line:
    """The way to one server: its endpoint, an open client, and room for so many calls at once."""

    endpoint: Endpoint
    client: openai.AsyncOpenAI = field(repr=False)
    room: asyncio.Semaphore = field(repr=False)


@asynccontextmanager
async def open_client(
    panel: PanelTable,
    meter: BudgetMeter,
    transcript: Transcript,
    *,
    retry: Retry | None = None,
    book: AbilityBook | None = None,
) -> AsyncIterator[Client]:
    """The client for every role of `panel`, for as long as it is used.

    Raises EndpointError (no key, no embedded model) and InputError (a cap in dollars on a model
    without prices) before the first call.
    """
    async with AsyncExitStack() as stack:
        lines: dict[Server, Line] = {}
        for table in panel.models().values():
            meter.require_price(table)
            server = _server(table)
            if server not in lines:
                endpoint = stack.enter_context(open_endpoint(table))
                client = open_async_openai(endpoint, largest=LARGEST_ANSWER)
                stack.push_async_callback(client.close)
                lines[server] = Line(endpoint, client, asyncio.Semaphore(table.slots))
        yield Client(panel, meter, transcript, lines, retry or Retry(), book or AbilityBook())


@dataclass
class Client:
    """An Ask over HTTP; from `open_client`. Cancelling a call leaves nothing running."""

    panel: PanelTable
    meter: BudgetMeter
    transcript: Transcript
    lines: dict[Server, Line]
    retry: Retry
    book: AbilityBook

    async def __call__(self, label: str, turns: Sequence[Turn], answer: type[T]) -> T | Failed:
        return await ask_until_valid(label, turns, answer, self.call)

    def model(self, label: str) -> str:
        """The name of the model that answers `label`."""
        return self._table(label).name

    async def call(
        self,
        label: str,
        turns: Sequence[Turn],
        answer: type[BaseModel],
        complaint: Sequence[Turn] = (),
    ) -> Said:
        """One question, tried until there is an answer or no hope; recorded with its outcome."""
        table = self._table(label)
        line = self.lines[_server(table)]
        asked = scrubbed(alternating([*turns, *complaint]))
        spent: list[Usage] = []
        async with line.room:
            started = time.monotonic()
            left = self.meter.wall_left()
            try:
                async with asyncio.timeout(min(self.panel.ask_s, left or self.panel.ask_s)):
                    said, how = await self._answered(line, table, asked, answer, spent)
            except TimeoutError:
                how = self._known(line, table, answer)
                said = Said(failed=self._late(left))
        said = replace(said, text=clean(said.text))
        result = read_answer(said, answer)
        failed = result if isinstance(result, Failed) else None
        self.transcript.append(
            CallRecord(
                label=label,
                digest=question_digest(table.name, turns, answer),
                model=table.name,
                settings={**line.endpoint.settings, **_settings(table), "form": how.form},
                turns=asked,
                answer=said.text,
                finish=said.finish,
                outcome=failed.kind if failed else "answered",
                reason=failed.reason if failed else "",
                failed=said.failed is not None,
                usage=_sum(spent),
                seconds=round(time.monotonic() - started, 3),
            )
        )
        return said

    async def _answered(
        self,
        line: Line,
        table: RoleTable,
        turns: Sequence[Turn],
        answer: type[BaseModel],
        spent: list[Usage],
    ) -> tuple[Said, Abilities]:
        """Try, learn how to ask, and try again, until there is an answer or no hope."""
        how = self._known(line, table, answer)
        tried, failures, about_schema = {how}, 0, False
        while True:
            try:
                said = await self._try(line, table, how, turns, answer, spent)
            except BudgetSpent as error:
                return Said(failed=Failed("budget", str(error))), how
            except Fault as fault:
                lesson = how.after(fault.words) if fault.words else None
                if lesson is None and fault.words and not fault.again:
                    lesson = how.lower()  # it does not say what it minds; most often it is this
                if lesson is not None and lesson not in tried:
                    about_schema |= "invalid schema" in (fault.words or "").lower()
                    how = lesson
                    tried.add(how)
                    continue
                failures += 1
                pause = self.retry.pause(failures, fault.asked_s) if fault.again else None
                if pause is None:
                    return Said(failed=fault.failed()), how
                await asyncio.sleep(pause)
            else:
                self._learn(line, table, answer, how, said, only_this_schema=about_schema)
                return said, how

    async def _try(
        self,
        line: Line,
        table: RoleTable,
        how: Abilities,
        turns: Sequence[Turn],
        answer: type[BaseModel],
        spent: list[Usage],
    ) -> Said:
        """One exchange, paid for. Raises Fault and BudgetSpent."""
        body = {"model": table.name, **how.body(turns, answer, table.max_output_tokens)}
        for name in ("temperature", "seed"):
            if (value := getattr(table, name)) is not None and name not in how.dropped:
                body[name] = value
        asked = estimate_tokens(json.dumps([body["messages"], body.get("response_format")]))
        held = self.meter.reserve(table, asked, table.max_output_tokens)
        usage = Usage(prompt_tokens=asked)  # what is paid where nobody says more, as when cancelled
        try:
            said, usage = await exchange(
                line.client,
                line.endpoint,
                body,
                timeout_s=table.timeout_s,
                most_tokens=table.max_output_tokens,
            )
        except Fault as fault:
            usage = fault.usage
            raise
        finally:
            self.meter.settle(held, usage)
            spent.append(usage)
        return said

    def _table(self, label: str) -> RoleTable:
        """The role's model; the role is the third part of a label."""
        return self.panel.of(label.split("/")[2])

    def _known(self, line: Line, table: RoleTable, answer: type[BaseModel]) -> Abilities:
        return self.book.get(_shown(line, table), table.name, answer)

    def _learn(
        self,
        line: Line,
        table: RoleTable,
        answer: type[BaseModel],
        how: Abilities,
        said: Said,
        *,
        only_this_schema: bool,
    ) -> None:
        """Remember how the answer was got; one rung lower where its form was not kept."""
        if said.finish == "stop" and said.failed is None and said.text.strip():
            kept = is_whole(said.text) if how.form == "json_object" else True
            if how.form == "json_schema":
                kept = follows_schema(said.text, answer)
            how = how if kept else how.lower() or how
        alone = answer if only_this_schema else None
        self.book.learn(_shown(line, table), table.name, how, alone)

    def _late(self, left: float | None) -> Failed:
        if left is not None and left <= self.panel.ask_s:
            try:
                self.meter.check()
            except BudgetSpent as error:
                return Failed("budget", str(error))
        return Failed(
            "timeout", f"No answer within {self.panel.ask_s:g} s, retries included; raise ask_s."
        )


def clean(text: str) -> str:
    """`text` as it may be kept: without secrets, also where JSON spells them in escapes."""
    return scrub(_ESCAPED.sub(_plainly, well_formed(text)))


_ESCAPED = re.compile(r"(?<!\\)((?:\\\\)*)\\u00([2-7][0-9a-fA-F])")


def _plainly(escape: re.Match[str]) -> str:
    """The character itself, where JSON could as well write it so."""
    character = chr(int(escape[2], 16))
    return escape[0] if character in '"\\\x7f' else escape[1] + character


def _server(table: RoleTable) -> Server:
    """What has to be the same for two roles to share a server and its key."""
    return table.base_url, table.api_key_env, table.slots, table.context, table.prompt_cache


def _shown(line: Line, table: RoleTable) -> str:
    """The server's name in the book of abilities: without a password, or a port of the moment."""
    return EMBEDDED if table.base_url == EMBEDDED else str(line.endpoint.settings["base_url"])


def _settings(table: RoleTable) -> dict[str, Any]:
    names = ("temperature", "seed", "max_output_tokens")
    return {"model": table.name} | {name: getattr(table, name) for name in names}


def _sum(spent: Sequence[Usage]) -> Usage:
    """All tries of one question together; `model_calls` counts them."""
    return Usage(
        model_calls=len(spent),
        prompt_tokens=sum(usage.prompt_tokens or 0 for usage in spent),
        completion_tokens=sum(usage.completion_tokens or 0 for usage in spent),
        cached_tokens=sum(usage.cached_tokens or 0 for usage in spent),
    )
