"""How the client asks: it learns what a server can do, keeps caps and keeps keys."""

import asyncio
import gc
import json
import time
from pathlib import Path
from typing import Any

import pytest

from bot.config import Budget, PanelTable
from bot.errors import EndpointError, InputError
from bot.llm.budget import BudgetMeter
from bot.llm.client import Client, clean, open_client
from bot.llm.scripted import EVENTS, Answer, Fault, ScriptedServer, event
from bot.llm.transcript import Transcript
from tests.llm.asking import (
    GOOD,
    GOOD_TEXT,
    LABEL,
    QUICK,
    TURNS,
    Cause,
    always,
    kind,
    refusing,
    run,
)

pytestmark = pytest.mark.usefixtures("own_cache")
KEY = "sk-a-very-secret-key-0001"


def forms(requests: list[dict[str, Any]]) -> list[str]:
    return [request.get("response_format", {}).get("type", "text") for request in requests]


def test_a_schema_is_asked_for_where_the_server_can() -> None:
    asked = run(always(GOOD_TEXT))
    assert asked.result == GOOD
    (sent,) = asked.server.requests
    schema = sent["response_format"]["json_schema"]
    assert (schema["name"], schema["strict"]) == ("Cause", True)
    assert schema["schema"]["additionalProperties"] is False
    assert schema["schema"]["required"] == ["layer", "steps"]
    assert sent["messages"] == [
        {"role": "system", "content": "You find causes."},
        {"role": "user", "content": "Why does lookup_order fail?"},
    ]
    assert (sent["temperature"], sent["seed"], sent["max_tokens"]) == (0.0, 1, 4096)


@pytest.mark.parametrize(
    "words",
    ["response_format.type json_schema is not supported", "this is not possible here"],
)
def test_a_server_without_schemas_is_asked_for_text_and_remembered(words: str) -> None:
    def script(request: dict[str, Any]) -> Answer:
        if "response_format" in request:
            return Fault(400, body=refusing(words))
        return f"Here you are:\n```json\n{GOOD_TEXT}\n```\nGood luck!"

    def ask_twice(client: Client) -> Any:
        async def talk() -> list[Any]:
            return [await client(LABEL, TURNS, Cause), await client(LABEL + "0", TURNS, Cause)]

        return talk()

    asked = run(script, talk=ask_twice)
    assert asked.results == [GOOD, GOOD]
    assert forms(asked.server.requests) == ["json_schema", "json_object", "text", "text"]
    order = asked.server.requests[-1]["messages"][-1]["content"]
    assert order.startswith("Why does lookup_order fail?\n\nAnswer with one JSON object")
    assert '"enum": ["prompt", "tool"]' in order
    assert [record.settings["form"] for record in asked.transcript.records] == ["text", "text"]
    assert [turn.content for turn in asked.transcript.records[0].turns] == [
        turn.content for turn in TURNS
    ]


def test_what_was_learned_outlives_the_run(own_cache: Path) -> None:
    def script(request: dict[str, Any]) -> Answer:
        return (
            Fault(400, body=refusing("no grammar")) if "response_format" in request else GOOD_TEXT
        )

    with ScriptedServer(script) as server:
        for _ in range(2):
            assert run(script, base_url=server.base_url).result == GOOD
        assert forms(server.requests) == ["json_schema", "json_object", "text", "text"]
        book = own_cache / "abilities.json"
        page = json.loads(book.read_text())
        (abilities,) = [page[key][1] for key in page]
        assert abilities == {"form": "text", "limit": "max_tokens", "dropped": []}
        key = next(iter(page))
        page[key][0] -= 8 * 86_400
        book.write_text(json.dumps(page))
        assert run(script, base_url=server.base_url).result == GOOD
        assert forms(server.requests)[4] == "json_schema"
        book.write_text("{torn")
        assert run(script, base_url=server.base_url).result == GOOD


def test_a_server_that_ignores_the_schema_is_told_it_in_words() -> None:
    def script(request: dict[str, Any]) -> Answer:
        told = "fits this JSON schema" in request["messages"][-1]["content"]
        return GOOD_TEXT if told else "The cause is the tool."

    asked = run(script)
    assert asked.result == GOOD
    assert forms(asked.server.requests) == ["json_schema", "json_object"]


def test_a_server_that_fails_over_a_grammar_is_asked_without_one() -> None:
    def script(request: dict[str, Any]) -> Answer:
        if "json_schema" in json.dumps(request.get("response_format", "")):
            return Fault(500, body=refusing("failed to parse grammar"))
        return GOOD_TEXT

    asked = run(script)
    assert asked.result == GOOD
    assert forms(asked.server.requests) == ["json_schema", "json_object"]


def test_a_passing_failure_teaches_nothing() -> None:
    answers: list[Answer] = [Fault(500, body=refusing("stream broke; temperature too high"))]
    asked = run(lambda request: answers.pop() if answers else GOOD_TEXT)
    assert asked.result == GOOD
    assert {"stream", "temperature", "response_format"} <= set(asked.server.requests[1])


def test_a_schema_that_the_server_cannot_have_says_nothing_about_others() -> None:
    class Open(Cause):
        pass

    def script(request: dict[str, Any]) -> Answer:
        if "Open" in json.dumps(request.get("response_format", "")):
            return Fault(400, body=refusing("Invalid schema for response_format 'Open'"))
        return GOOD_TEXT

    def talk(client: Client) -> Any:
        async def ask() -> list[Any]:
            answers = [Open, Cause, Open]
            return [
                await client(f"p/1/analyst/{number}", TURNS, answer)
                for number, answer in enumerate(answers)
            ]

        return ask()

    asked = run(script, talk=talk)
    assert [result.layer for result in asked.results] == ["tool"] * 3
    assert forms(asked.server.requests) == [
        *("json_schema", "json_object"),
        "json_schema",
        "json_object",
    ]


def test_a_reasoning_model_is_asked_as_it_wants() -> None:
    def script(request: dict[str, Any]) -> Answer:
        if "max_tokens" in request:
            words = "Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead."
            return Fault(400, body=refusing(words, param="max_tokens"))
        for name in ("temperature", "seed"):
            if name in request:
                return Fault(400, body=refusing(f"Unsupported value: '{name}'", param=name))
        return f"<think>Is it {{the tool}}? {GOOD_TEXT[:-2]}, 3]}}</think>\n{GOOD_TEXT}"

    asked = run(script, questions=1)
    assert asked.result == GOOD
    assert len(asked.server.requests) == 4
    last = asked.server.requests[-1]
    assert last["max_completion_tokens"] == 4096
    assert not {"max_tokens", "temperature", "seed"} & set(last)
    assert last["response_format"]["type"] == "json_schema"
    assert asked.meter.model_calls == 4


def test_a_server_without_streams_is_read_whole() -> None:
    def script(request: dict[str, Any]) -> Answer:
        if "stream" in request:
            return Fault(422, body=b'{"detail": "stream is not supported"}')
        return GOOD_TEXT

    asked = run(script)
    assert asked.result == GOOD
    assert asked.meter.tokens > 0


def test_a_role_has_its_own_model() -> None:
    def talk(client: Client) -> Any:
        async def ask() -> list[Any]:
            return [await client(f"p/1/{role}/0", TURNS, Cause) for role in ("analyst", "engineer")]

        return ask()

    engineer = {"name": "larger", "temperature": None, "max_output_tokens": 100}
    asked = run(always(GOOD_TEXT), talk=talk, engineer=engineer)
    small, large = asked.server.requests
    assert (small["model"], small["max_tokens"]) == ("scripted", 4096)
    assert (large["model"], large["max_tokens"]) == ("larger", 100)
    assert "temperature" not in large
    assert [record.model for record in asked.transcript.records] == ["scripted", "larger"]
    assert asked.transcript.records[1].settings["max_output_tokens"] == 100


def test_calls_at_once_are_as_many_as_slots() -> None:
    at_once = [0, 0]

    def script(request: dict[str, Any]) -> Answer:
        at_once[0] += 1
        at_once[1] = max(at_once)
        time.sleep(0.05)
        at_once[0] -= 1
        return GOOD_TEXT

    asked = run(script, questions=6, slots=2)
    assert asked.results == [GOOD] * 6
    assert at_once[1] == 2


@pytest.mark.parametrize(
    ("cap", "most"), [({"model_calls": 3}, 3), ({"tokens": 1200}, 3), ({"usd": 0.0012}, 3)]
)
def test_a_cap_is_never_passed(cap: dict[str, Any], most: int) -> None:
    """Each question holds back 72 tokens or more of prompt and 300 of answer, all at once."""
    prices = {"usd_per_million_prompt": 1.0, "usd_per_million_completion": 1.0}
    asked = run(
        always(GOOD_TEXT),
        questions=8,
        slots=8,
        latency_s=0.1,
        budget=Budget(**cap),
        max_output_tokens=300,
        **prices,
    )
    assert asked.results.count(GOOD) <= most
    assert asked.results.count(GOOD) == len(asked.server.requests) > 0
    refused = [result for result in asked.results if result != GOOD]
    assert {kind(result) for result in refused} == {"budget"}
    assert "A higher one is set in [tool.ecdysis.budget]" in refused[0].reason
    assert asked.meter.model_calls <= (cap.get("model_calls") or 8)
    assert asked.meter.tokens <= (cap.get("tokens") or 10**9)
    assert len(asked.transcript.records) == 8


def test_answers_that_cost_more_than_was_held_pass_a_cap_once_at_most() -> None:
    """The endpoint reports ten times what an answer may have; the calls in flight still end."""
    usage = {"prompt_tokens": 2000, "completion_tokens": 1000}
    choice = {"index": 0, "message": {"content": GOOD_TEXT}, "finish_reason": "stop"}
    whole = {"object": "chat.completion", "choices": [choice], "usage": usage}
    asked = run(
        always(whole),
        questions=12,
        slots=3,
        latency_s=0.05,
        budget=Budget(tokens=4000),
        max_output_tokens=100,
    )
    assert asked.results.count(GOOD) == len(asked.server.requests)
    assert 2 <= len(asked.server.requests) <= 1 + 3
    assert asked.meter.tokens == 3000 * len(asked.server.requests)


def test_the_cap_on_time_ends_calls_in_flight() -> None:
    started = time.monotonic()
    asked = run(always(GOOD_TEXT), latency_s=1.0, budget=Budget(wall_s=0.4))
    assert kind(asked.result) == "budget"
    assert "wall_s" in asked.result.reason
    assert time.monotonic() - started < 2.5


def test_cached_tokens_are_counted_and_paid_apart() -> None:
    usage = {
        "prompt_tokens": 1000,
        "completion_tokens": 100,
        "prompt_tokens_details": {"cached_tokens": 800},
    }
    whole = {
        "object": "chat.completion",
        "choices": [{"index": 0, "message": {"content": GOOD_TEXT}, "finish_reason": "stop"}],
        "usage": usage,
    }
    prices = {
        "usd_per_million_prompt": 2.0,
        "usd_per_million_cached": 0.5,
        "usd_per_million_completion": 10.0,
    }
    asked = run(always(whole), **prices)
    assert (asked.meter.tokens, asked.meter.cached_tokens) == (1100, 800)
    assert asked.meter.usd == pytest.approx((200 * 2 + 800 * 0.5 + 100 * 10) / 1e6)
    assert "800 of them cached" in asked.meter.summary()
    assert asked.transcript.records[0].usage.cached_tokens == 800


def test_a_cap_in_dollars_needs_a_price() -> None:
    with pytest.raises(InputError, match="nobody knows what scripted costs") as caught:
        run(always(GOOD_TEXT), budget=Budget(usd=1.0))
    assert "usd_per_million_prompt" in caught.value.next_step
    own = {"name": "other", "usd_per_million_prompt": None}
    prices = {"usd_per_million_prompt": 1.0, "usd_per_million_completion": 1.0}
    with pytest.raises(InputError, match="what other costs"):
        run(always(GOOD_TEXT), budget=Budget(usd=1.0), critic=own, **prices)


def test_the_key_reaches_the_endpoint_and_nothing_else(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PANEL_KEY", f" {KEY}\n")
    monkeypatch.setenv("OPENAI_ORG_ID", "org-of-the-user")

    def script(request: dict[str, Any]) -> Answer:
        return json.dumps({"layer": "tool", "steps": [1, 2], "seen": f"Bearer {KEY}"})

    asked = run(script, api_key_env="PANEL_KEY")
    headers = {name.lower(): value for name, value in asked.server.headers[0].items()}
    assert headers["authorization"] == f"Bearer {KEY}"
    assert "org-of-the-user" not in json.dumps(headers)
    escaped = KEY.replace("s", "\\u0073")
    said = [
        Fault(401, body=refusing(f"Incorrect API key provided: {KEY}.")),
        Fault(401, body=refusing(f"Incorrect API key provided: {KEY[:7]}****{KEY[-4:]}.")),
        Fault(401, body=refusing(f"The key that begins with {KEY[:14]} is unknown")),
        Fault(400, body=refusing(f'headers: {{"Authorization": "Bearer {KEY}"}}')),
        Fault(500, {"Content-Type": "text/plain"}, f"x-api-key: {KEY}".encode()),
        Fault(302, {"Location": f"http://other.example/?key={KEY}"}),
        Fault(200, body=refusing(KEY)),
        f'{{"layer": "tool", "steps": [], "note": "{escaped}"}}',
    ]
    for answer in said:
        asked = run(always(answer), api_key_env="PANEL_KEY")
        told = repr(asked.result) + asked.transcript.to_text()
        for start in range(len(KEY) - 8):
            assert KEY[start : start + 8] not in told, answer
        assert escaped not in told
        assert "****" not in told
        assert "\\\\u0073k-a" not in told


def test_a_secret_is_gone_however_json_spells_it() -> None:
    secret = "sk-" + "a1" * 12
    assert clean(f"x {secret} y") == "x [secret] y"
    assert clean(secret.replace("k", "\\u006b").replace("a", "\\u0061")) == "[secret]"
    kept = r'{"a": "\u0022 \u005c \u00e4 \u000a \\u0073", "b": "\\\u0073"}'
    assert json.loads(clean(kept)) == json.loads(kept)


def test_a_password_in_the_url_is_used_and_not_told() -> None:
    with ScriptedServer(always(Fault(500, body=refusing("hunter2word is wrong")))) as server:
        url = server.base_url.replace("http://", "http://me:hunter2word@")
        asked = run(always("x"), base_url=url)
        assert kind(asked.result) == "unreachable"
        assert server.headers[0]["Authorization"].startswith("Basic ")
    told = repr(asked.result) + asked.transcript.to_text()
    assert "hunter2" not in told
    assert "http://[secret]@127.0.0.1" in told


def test_a_network_proxy_is_not_used_for_this_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    monkeypatch.delenv("NO_PROXY", raising=False)
    monkeypatch.delenv("no_proxy", raising=False)
    assert run(always(GOOD_TEXT)).result == GOOD


def test_a_missing_key_is_told_before_the_first_call(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NO_SUCH_KEY", raising=False)
    with pytest.raises(EndpointError, match="NO_SUCH_KEY"):
        run(always(GOOD_TEXT), api_key_env="NO_SUCH_KEY")


def test_a_cancelled_question_leaves_nothing_behind() -> None:
    async def work(server: ScriptedServer) -> tuple[BudgetMeter, Transcript]:
        table = PanelTable(base_url=server.base_url, name="scripted")
        meter, transcript = BudgetMeter(Budget(), table), Transcript()
        async with open_client(table, meter, transcript, retry=QUICK) as client:
            asking = [
                asyncio.create_task(client(f"p/1/critic/{number}", TURNS, Cause))
                for number in range(6)
            ]
            await asyncio.sleep(0.2)
            for task in asking:
                task.cancel()
            done = await asyncio.gather(*asking, return_exceptions=True)
            assert all(isinstance(error, asyncio.CancelledError) for error in done)
            gc.collect()
            await asyncio.sleep(0)
            assert asyncio.all_tasks() == {asyncio.current_task()}
        return meter, transcript

    with ScriptedServer(always(GOOD_TEXT), latency_s=0.5) as server:
        meter, transcript = asyncio.run(work(server))
    assert transcript.records == []
    assert meter._held_tokens == 0
    assert meter.model_calls == len(server.requests) == 4  # as many as slots
    assert meter.prompt_tokens > 0  # what went out may have to be paid


def test_lines_of_a_cut_stream_leave_no_task_behind() -> None:
    async def work(client: Client) -> list[Any]:
        result = await client(LABEL, TURNS, Cause)
        gc.collect()
        for _ in range(3):
            await asyncio.sleep(0)
        assert asyncio.all_tasks() == {asyncio.current_task()}
        return [result]

    pieces = [event("again and again, ")] * 2000
    asked = run(always(Fault(200, EVENTS, pieces=pieces)), talk=work)
    assert kind(asked.result) == "repetition"
