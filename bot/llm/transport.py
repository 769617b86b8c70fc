"""How this program speaks HTTP to a model's endpoint, whoever asks: proxy or client.

No redirects (the key and the question would go where nobody sent them), no network proxy for a
server on this machine, and no answer larger than memory should hold.
"""

from __future__ import annotations

import ipaddress
from collections.abc import AsyncIterator, Iterator
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from bot.llm.endpoint import Endpoint

if TYPE_CHECKING:
    import openai


class AnswerTooLarge(Exception):
    """The endpoint's answer is over the cap, in bytes."""

    def __init__(self, cap: int) -> None:
        super().__init__(f"the endpoint's answer is over {cap >> 20} MB")


def open_openai(endpoint: Endpoint, *, retries: int, largest: int) -> openai.OpenAI:
    """A client that raises AnswerTooLarge for bodies over `largest` bytes."""
    import openai

    def cap(response: Any) -> None:
        whole = response.iter_bytes

        def iter_bytes(*args: Any, **kwargs: Any) -> Iterator[bytes]:
            size = 0
            for block in whole(*args, **kwargs):
                if (size := size + len(block)) > largest:
                    raise AnswerTooLarge(largest)
                yield block

        response.iter_bytes = iter_bytes

    http = openai.DefaultHttpxClient(
        **_connection(endpoint.base_url), event_hooks={"response": [cap]}
    )
    client = openai.OpenAI(**_options(endpoint, retries), http_client=http)
    _tell_no_others(client)
    return client


def open_async_openai(endpoint: Endpoint, *, largest: int) -> openai.AsyncOpenAI:
    """The same, asynchronous and without retries: the caller makes them."""
    import openai

    async def cap(response: Any) -> None:
        whole = response.aiter_bytes

        async def aiter_bytes(*args: Any, **kwargs: Any) -> AsyncIterator[bytes]:
            size = 0
            async for block in whole(*args, **kwargs):
                if (size := size + len(block)) > largest:
                    raise AnswerTooLarge(largest)
                yield block

        response.aiter_bytes = aiter_bytes

    http = openai.DefaultAsyncHttpxClient(
        **_connection(endpoint.base_url), event_hooks={"response": [cap]}
    )
    client = openai.AsyncOpenAI(**_options(endpoint, 0), http_client=http)
    _tell_no_others(client)
    return client


def is_local(base_url: str) -> bool:
    """Whether `base_url` names this machine: HTTP_PROXY and its like are not for it."""
    host = urlsplit(base_url).hostname or ""
    if host == "localhost" or host.endswith(".localhost"):
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _connection(base_url: str) -> dict[str, Any]:
    local = is_local(base_url)
    return {
        "trust_env": not local,
        "follow_redirects": False,
        # Plain HTTP on this machine needs none of the certificates, which take 30 ms to load.
        "verify": not (local and base_url.startswith("http://")),
    }


def _options(endpoint: Endpoint, retries: int) -> dict[str, Any]:
    return {
        "base_url": endpoint.base_url,
        "api_key": endpoint.api_key,
        "timeout": endpoint.table.timeout_s,
        "max_retries": retries,
    }


def _tell_no_others(client: Any) -> None:
    """The user's organization at OpenAI (from the environment) is told to OpenAI alone."""
    if client.base_url.host != "api.openai.com":
        client.organization = client.project = None
