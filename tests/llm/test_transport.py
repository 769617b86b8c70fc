"""What holds for every request to an endpoint, the proxy's and the client's."""

import asyncio
import itertools
import json

import openai
import pytest

from bot.config import Budget, ModelTable
from bot.llm.budget import BudgetMeter
from bot.llm.endpoint import Endpoint, shown_url
from bot.llm.proxy import Proxy
from bot.llm.scripted import Fault, ScriptedServer
from bot.llm.transport import AnswerTooLarge, is_local, open_async_openai, open_openai
from tests.llm.test_proxy_faults import ASK, KEY, always, post, proxied


def endpoint(base_url: str) -> Endpoint:
    return Endpoint(base_url, "m", ModelTable(base_url=base_url), {}, KEY)


@pytest.mark.parametrize(
    ("url", "local"),
    [
        ("http://127.0.0.1:80/v1", True),
        ("http://127.8.0.9/v1", True),
        ("http://localhost/v1", True),
        ("http://models.localhost:8080", True),
        ("http://[::1]:80/v1", True),
        ("http://me:pw@127.0.0.1/v1", True),
        ("https://api.openai.com/v1", False),
        ("http://localhost.example.com/v1", False),
        ("http://127.0.0.1.example.com/v1", False),
        ("http://10.0.0.1/v1", False),
    ],
)
def test_this_machine_is_known(url: str, local: bool) -> None:
    assert is_local(url) == local


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("https://a.example/v1", "https://a.example/v1"),
        ("https://me:p%40ss@a.example:8443/v1", "https://[secret]@a.example:8443/v1"),
        ("https://token@a.example/v1", "https://[secret]@a.example/v1"),
        ("https://a.example/v1?key=abc#x", "https://a.example/v1"),
    ],
)
def test_an_address_is_shown_without_secrets(url: str, shown: str) -> None:
    assert shown_url(url) == shown


def test_the_users_organization_is_told_to_openai_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_ORG_ID", "org-1")
    monkeypatch.setenv("OPENAI_PROJECT_ID", "proj-1")
    for url, wanted in (("https://api.openai.com/v1", "org-1"), ("https://a.example/v1", None)):
        client = open_openai(endpoint(url), retries=0, largest=1)
        assert client.organization == wanted
        assert open_async_openai(endpoint(url), largest=1).project == (wanted and "proj-1")
        client.close()


def test_the_proxys_answers_have_a_largest_size(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bot.llm.proxy.LARGEST_ANSWER", 1 << 20)
    for status in (200, 400):
        sent = itertools.count()
        endless = Fault(status, pieces=(b" " * 65536 for _ in sent))
        with proxied(always(endless)) as (_, proxy, lease):
            code, body = post(lease.base_url, ASK)
            assert code == 502
            assert "over 1 MB" in json.loads(body)["error"]["message"]
            failed = lease.unrecovered()
            assert failed is not None
            assert failed.infrastructure
            assert proxy.fatal is None
        assert next(sent) < 500
    with proxied(always("x" * 900_000)) as (_, _, lease):
        assert post(lease.base_url, ASK)[0] == 200


def test_a_compressed_bomb_is_counted_as_it_unfolds() -> None:
    import gzip

    bomb = gzip.compress(b" " * (8 << 20))
    fault = Fault(200, {"Content-Encoding": "gzip"}, bomb)
    with ScriptedServer(always(fault)) as server:
        client = open_openai(endpoint(server.base_url), retries=0, largest=1 << 20)
        with pytest.raises(AnswerTooLarge):
            client.post("/chat/completions", body=ASK, cast_to=object)
        client.close()


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_nothing_follows_a_redirect(status: int) -> None:
    with ScriptedServer(always("stolen")) as thief:
        moved = Fault(status, {"Location": f"{thief.base_url}/chat/completions"}, b"")
        with proxied(always(moved)) as (_, proxy, lease):
            assert post(lease.base_url, ASK)[0] == 502
            failed = lease.unrecovered()
            assert failed is not None
            assert failed.status == status

            async def ask() -> None:
                async with open_async_openai(proxy.endpoint, largest=1 << 20) as client:
                    await client.post("/chat/completions", body=ASK, cast_to=object)

            with pytest.raises(openai.APIStatusError):
                asyncio.run(ask())
        assert thief.requests == []
        assert thief.headers == []


def test_a_price_of_the_proxys_model_is_needed_too() -> None:
    priced = ModelTable(
        base_url="http://127.0.0.1:9/v1",
        usd_per_million_prompt=1.0,
        usd_per_million_completion=2.0,
        usd_per_million_cached=0.5,
    )
    meter = BudgetMeter(Budget(usd=1.0), priced)
    usage = {
        "prompt_tokens": 100,
        "completion_tokens": 10,
        "prompt_tokens_details": {"cached_tokens": 60},
    }
    whole = {"choices": [{"message": {"content": "x"}}], "usage": usage}
    with ScriptedServer(always(whole)) as server:
        asked = Endpoint(server.base_url, "m", priced, {}, KEY)
        with Proxy(asked, meter) as proxy:
            assert proxy.answer(proxy.lease(), "chat/completions", dict(ASK))[0] == 200
    assert meter.cached_tokens == 60
    assert meter.usd == pytest.approx((40 * 1.0 + 60 * 0.5 + 10 * 2.0) / 1e6)
