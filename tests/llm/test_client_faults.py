"""Everything that an endpoint can do instead of answering ends in a typed result."""

import itertools
import json
import time
from typing import Any

import pytest

from bot.llm.answers import REPAIRS, Turn
from bot.llm.client import Client
from bot.llm.scripted import EVENTS, Answer, Fault, event
from bot.llm.transcript import Transcript
from tests.llm.asking import (
    GOOD,
    GOOD_TEXT,
    LABEL,
    QUICK,
    Cause,
    always,
    kind,
    refusing,
    run,
)

pytestmark = pytest.mark.usefixtures("own_cache")
PAGE = b"<!DOCTYPE html><html><body>Bad gateway</body></html>"


def message(**fields: Any) -> dict[str, Any]:
    """A whole answer whose message has these fields."""
    finish = fields.pop("finish", "stop")
    choice = {"index": 0, "message": {"role": "assistant", **fields}, "finish_reason": finish}
    return {"object": "chat.completion", "choices": [choice]}


TOOLS = [{"id": "1", "type": "function", "function": {"name": "f", "arguments": GOOD_TEXT}}]
WIRE: dict[str, tuple[Fault, str]] = {
    "nothing at all": (Fault(drop=True), "unreachable"),
    "half a body": (Fault(cut=True), "truncated"),
    "half a stream": (Fault(200, EVENTS, pieces=[event('{"layer": "to')]), "truncated"),
    "an empty stream": (Fault(200, EVENTS, pieces=[]), "truncated"),
    "an empty body": (Fault(200, body=b""), "not_json"),
    "a web page": (Fault(200, {"Content-Type": "text/html"}, PAGE), "html"),
    "a web page as JSON": (Fault(200, body=PAGE), "html"),
    "a list": (Fault(200, body=b"[1]"), "not_json"),
    "no choices": (Fault(200, body=b'{"ok": true}'), "not_json"),
    "odd choices": (Fault(200, body=b'{"choices": [[1], 2]}'), "not_json"),
    "broken events": (Fault(200, EVENTS, pieces=[b"data: {oops\n\n"]), "not_json"),
    "invalid UTF-8": (Fault(200, body=b'{"choices": "\xff\xfe"}'), "not_json"),
    "invalid UTF-8 in a stream": (Fault(200, EVENTS, pieces=[b"data: \xff\xfe\n\n"]), "not_json"),
    "nested without end": (Fault(200, body=b"[" * 100_000), "not_json"),
    "an error in the answer": (Fault(200, body=refusing("overloaded")), "unreachable"),
    "an error in the stream": (
        Fault(200, EVENTS, pieces=[b"data: " + refusing("overloaded") + b"\n\n"]),
        "unreachable",
    ),
    "500": (Fault(500), "unreachable"),
    "503 as a page": (Fault(503, {"Content-Type": "text/html"}, PAGE), "unreachable"),
    "429": (Fault(429), "unreachable"),
    "408": (Fault(408), "unreachable"),
}


@pytest.mark.parametrize("name", WIRE)
def test_what_may_be_otherwise_next_time_is_tried_again(name: str) -> None:
    fault, wanted = WIRE[name]
    asked = run(always(fault))
    assert kind(asked.result) == wanted
    assert len(asked.server.requests) == QUICK.tries * (1 + (REPAIRS if wanted in MENDED else 0))
    answers = iter([fault, fault])
    asked = run(lambda request: next(answers, GOOD_TEXT))
    assert asked.result == GOOD
    assert len(asked.server.requests) == asked.meter.model_calls == 3
    (record,) = asked.transcript.records
    assert (record.outcome, record.usage.model_calls) == ("answered", 3)


MENDED = {"truncated", "not_json"}
SAID: dict[str, tuple[Answer, str]] = {
    "an empty text": (message(content=""), "empty"),
    "no text": (message(content=None), "empty"),
    "prose": ("I would rather not say.", "not_json"),
    "a page as text": ("<html>busy</html>", "html"),
    "another schema": ('{"verdict": "accept"}', "wrong_schema"),
    "a wrong value": ('{"layer": "model", "steps": []}', "wrong_schema"),
    "a trailing comma": ('{"layer": "tool", "steps": [1,],}', "not_json"),
    "cut by the limit": (message(content='{"layer": "to', finish="length"), "truncated"),
    "tools instead": (message(content=None, tool_calls=TOOLS, finish="tool_calls"), "tool_calls"),
    "a refusal": (message(content=None, refusal="I cannot help with that."), "refused"),
    "a filter": (message(content="", finish="content_filter"), "refused"),
    "two answers": (GOOD_TEXT + ' or {"layer": "prompt", "steps": []}', "not_json"),
}


@pytest.mark.parametrize("streamed", [True, False])
@pytest.mark.parametrize("name", SAID)
def test_a_wrong_answer_is_named_and_fed_back(name: str, streamed: bool) -> None:
    answer, wanted = SAID[name]

    def script(request: dict[str, Any]) -> Answer:
        if streamed or isinstance(answer, Fault):
            return answer
        whole = message(content=answer) if isinstance(answer, str) else answer
        return Fault(200, body=json.dumps(whole).encode())

    asked = run(script)
    assert kind(asked.result) == wanted
    mended = wanted not in ("refused", "html")
    assert [record.label.rsplit("/", 1)[1] for record in asked.transcript.records] == (
        ["0", "repair-1", "repair-2"] if mended else ["0"]
    )
    assert {record.outcome for record in asked.transcript.records} == {wanted}
    if mended:
        last = asked.server.requests[-1]["messages"][-1]
        assert last["role"] == "user"
        assert "Answer again with exactly one JSON object" in last["content"]


def test_the_error_is_what_the_model_needs_to_mend_it() -> None:
    answers = iter(['{"layer": "model", "steps": [1], "x": 0}', GOOD_TEXT])
    asked = run(lambda request: next(answers))
    assert asked.result == GOOD
    _, _, quoted, order = asked.server.requests[1]["messages"]
    assert quoted == {"role": "assistant", "content": '{"layer": "model", "steps": [1], "x": 0}'}
    assert "layer: Input should be 'prompt' or 'tool'" in order["content"]
    assert "x: Extra inputs are not permitted" in order["content"]


@pytest.mark.parametrize("piece", ["\n", "the cause is the tool ", '{"step": 1}, '])
def test_endless_repetition_is_cut_early(piece: str) -> None:
    sent = itertools.count()

    def loop(request: dict[str, Any]) -> Fault:
        pieces = (event(piece) for _ in sent)
        return Fault(200, EVENTS, pieces=pieces)

    asked = run(loop, timeout_s=20)
    assert kind(asked.result) == "repetition"
    assert next(sent) < 100_000 / len(piece)
    assert asked.meter.completion_tokens >= 3 * 500  # what was said is paid, though nobody says so
    assert all(len(record.answer) < 10_000 for record in asked.transcript.records)


def test_thoughts_without_end_are_cut_too() -> None:
    thought = b'data: {"choices": [{"delta": {"reasoning_content": "hmm, wait, "}}]}\n\n'
    asked = run(always(Fault(200, EVENTS, pieces=itertools.repeat(thought))), timeout_s=20)
    assert kind(asked.result) == "repetition"


def test_an_answer_longer_than_its_tokens_is_cut() -> None:
    numbers = (event(f"{number * number} ") for number in itertools.count())
    fault = Fault(200, EVENTS, pieces=numbers)
    asked = run(always(fault), max_output_tokens=64, timeout_s=20)
    assert kind(asked.result) == "truncated"
    assert len(asked.transcript.records[0].answer) < 64 * 32 + 1000


@pytest.mark.parametrize("headers", [{}, EVENTS])
def test_a_body_without_end_is_cut(
    headers: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("bot.llm.client.LARGEST_ANSWER", 1 << 20)
    sent = itertools.count()
    fault = Fault(200, headers, pieces=(b" " * 65536 for _ in sent))
    asked = run(always(fault), timeout_s=20)
    assert kind(asked.result) == "truncated"
    assert "over 1 MB" in asked.result.reason
    assert next(sent) < 3000
    refused = Fault(400, pieces=(b" " * 65536 for _ in sent))
    assert kind(run(always(refused), timeout_s=20).result) == "truncated"


def test_a_slow_drip_ends_at_the_time_limit() -> None:
    drip = Fault(200, EVENTS, pieces=itertools.repeat(b": still there\n"), pause_s=0.02)
    started = time.monotonic()
    asked = run(always(drip), timeout_s=0.15)
    assert kind(asked.result) == "timeout"
    assert len(asked.server.requests) == QUICK.tries
    assert time.monotonic() - started < 5
    assert asked.meter.prompt_tokens > 0  # the model may have thought all the while


def test_a_question_with_all_its_retries_ends_in_time() -> None:
    started = time.monotonic()
    asked = run(always(Fault(429, {"Retry-After": "1"})), ask_s=0.2)
    assert kind(asked.result) == "timeout"
    assert time.monotonic() - started < 2
    assert asked.transcript.records[0].outcome == "timeout"


def test_a_server_is_waited_for_as_it_wishes_but_not_for_ever() -> None:
    times: list[float] = []

    def script(request: dict[str, Any]) -> Answer:
        times.append(time.monotonic())
        return Fault(429, {"Retry-After-Ms": "150"}) if len(times) == 1 else GOOD_TEXT

    assert run(script).result == GOOD
    assert times[1] - times[0] >= 0.15
    started = time.monotonic()
    asked = run(always(Fault(503, {"Retry-After": "3600"})))
    assert kind(asked.result) == "unreachable"
    assert len(asked.server.requests) == 1
    assert time.monotonic() - started < 2


FINAL: dict[str, tuple[Fault, str]] = {
    "401": (Fault(401, body=refusing("Incorrect API key provided")), "rejected"),
    "404": (Fault(404, body=refusing("no such model")), "rejected"),
    "no money": (Fault(429, body=refusing("pay", code="insufficient_quota")), "rejected"),
    "told not to": (Fault(503, {"x-should-retry": "false"}), "rejected"),
    "moved": (Fault(307, {"Location": "http://127.0.0.2:9/v1/chat/completions"}), "rejected"),
    "too large": (Fault(413), "too_long"),
    "too long": (Fault(400, body=refusing("maximum context length is 8192 tokens")), "too_long"),
    "too long here": (
        Fault(400, body=refusing("request exceeds the available context size")),
        "too_long",
    ),
}


@pytest.mark.parametrize("name", FINAL)
def test_what_will_be_the_same_next_time_is_not_tried_again(name: str) -> None:
    fault, wanted = FINAL[name]
    asked = run(always(fault))
    assert kind(asked.result) == wanted
    assert len(asked.server.requests) == 1
    assert asked.meter.tokens == 0


def test_a_redirect_is_not_followed_with_the_key() -> None:
    asked = run(always(Fault(308, {"Location": "http://elsewhere.example/v1?key=abc"})))
    assert kind(asked.result) == "rejected"
    assert "redirects to http://elsewhere.example/v1" in asked.result.reason
    assert len(asked.server.requests) == 1


def test_nobody_there() -> None:
    asked = run(always("x"), base_url="http://127.0.0.1:9/v1")
    assert kind(asked.result) == "unreachable"
    assert "base_url" in asked.result.reason
    assert asked.meter.tokens == 0


def test_halves_of_characters_do_no_harm() -> None:
    """JSON can spell half a character; a stream may cut a whole one in two."""

    class Note(Cause):
        note: str

    halves = ['{"layer": "tool", "steps": [], "note": "', "\ud83d", "\ude00", ' \ud800"}']
    pieces = [*(event(half) for half in halves), event("", "stop"), b"data: [DONE]\n\n"]

    async def talk(client: Client) -> list[Any]:
        return [await client(LABEL, [Turn("user", "What of \udfff?")], Note)]

    asked = run(always(Fault(200, EVENTS, pieces=pieces)), talk=talk)
    assert asked.result.note == "😀 \ufffd"
    assert asked.server.requests[0]["messages"][0]["content"] == "What of \ufffd?"
    assert Transcript.from_text(asked.transcript.to_text()).records == asked.transcript.records


def test_a_long_error_is_cut_and_takes_no_time() -> None:
    started = time.monotonic()
    asked = run(always(Fault(400, body=refusing("a" * 2_000_000))))
    assert kind(asked.result) == "rejected"
    assert len(asked.result.reason) < 600
    assert time.monotonic() - started < 3
