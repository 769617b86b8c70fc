"""From the table's `[model]` to an endpoint that answers."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import unquote, urlsplit

from bot.config import EMBEDDED, ModelTable
from bot.display import printable, remember_secret, scrub
from bot.errors import EndpointError

LONGEST_WORDS = 2000  # characters of a server's error that are looked at


@dataclass(frozen=True)
class Endpoint:
    """An OpenAI-compatible server. `settings` are recorded with results; the key never is."""

    base_url: str
    name: str
    table: ModelTable
    settings: dict[str, Any]
    api_key: str = field(default="none", repr=False)

    def hide(self, text: str, limit: int = 500) -> str:
        """The endpoint's words for a person: one line, without the key or a fragment of it."""
        said = scrub(text[:LONGEST_WORDS])
        return printable(_without_fragments(said, self.api_key), limit)


@contextmanager
def open_endpoint(table: ModelTable) -> Iterator[Endpoint]:
    """The endpoint of the table, for as long as it is used.

    "embedded" fetches the model if it is not cached and serves it. Raises EndpointError when
    the model cannot be had or the named key is not set; makes no call to a foreign endpoint.
    """
    settings: dict[str, Any] = {
        "base_url": shown_url(table.base_url),
        "model": table.name,
        "temperature": table.temperature,
        "seed": table.seed,
        "slots": table.slots,
    }
    if table.base_url == EMBEDDED:
        from bot.llm.server import serve_embedded

        with serve_embedded(table) as server:
            yield Endpoint(server.base_url, table.name, table, {**settings, **server.settings})
        return
    if not table.base_url.startswith(("http://", "https://")):
        raise EndpointError(
            f'model.base_url is {scrub(table.base_url)!r}: neither a URL nor "embedded".',
            "Correct it in [tool.ecdysis.model].",
        )
    password = urlsplit(table.base_url).password
    if password:
        remember_secret(unquote(password))
    yield Endpoint(table.base_url, table.name, table, settings, _key(table))


def shown_url(base_url: str) -> str:
    """`base_url` without name, password and query, which may be keys."""
    parts = urlsplit(base_url)
    host = parts.netloc.rpartition("@")[2]
    secret = "[secret]@" if "@" in parts.netloc else ""
    return parts._replace(netloc=secret + host, query="", fragment="").geturl()


_SHORTEST_FRAGMENT = 8
_MASKED_KEY = re.compile(r"[A-Za-z0-9_-]{2,}(?:\*{3,}|\.{3,}|…|•{3,})[A-Za-z0-9_-]{2,}")


def _without_fragments(text: str, key: str) -> str:
    """Servers tell which key they refuse, by its ends or its beginning."""
    text = _MASKED_KEY.sub("[secret]", text)
    parts = {
        key[start : start + _SHORTEST_FRAGMENT]
        for start in range(len(key) - _SHORTEST_FRAGMENT + 1)
    }
    return re.sub(
        r"[A-Za-z0-9_+/=-]{8,}",
        lambda word: "[secret]" if any(part in word[0] for part in parts) else word[0],
        text,
    )


def _key(table: ModelTable) -> str:
    if table.api_key_env is None:
        return "none"
    key = os.environ.get(table.api_key_env, "").strip()
    if not key:
        raise EndpointError(
            f"The environment variable {table.api_key_env} (model.api_key_env) is not set.",
            f"Set it: export {table.api_key_env}=…",
        )
    remember_secret(key)
    if not (key.isascii() and key.isprintable()):
        raise EndpointError(
            f"The key in {table.api_key_env} holds characters that no HTTP header can carry.",
            f"Copy the key again: export {table.api_key_env}=…",
        )
    return key
