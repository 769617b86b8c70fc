"""What an endpoint can do, learned from the first real calls and remembered in the user's cache.

The ladder of forms: a JSON schema that the server enforces, a JSON object without one, text.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import re
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, TypeAdapter, ValidationError

from bot.llm.answers import Turn, find_objects
from bot.llm.embedded import cache_folder

Form = Literal["json_schema", "json_object", "text"]
LADDER: tuple[Form, ...] = ("json_schema", "json_object", "text")
DROPPABLE = ("stream_options", "stream", "temperature", "seed")
REMEMBERED_S = 7 * 86_400.0  # servers learn: what one could not do is tried again after a week


@dataclass(frozen=True)
class Abilities:
    """How to ask one model. `dropped` are parameters that it refuses."""

    form: Form = "json_schema"
    limit: Literal["max_tokens", "max_completion_tokens"] = "max_tokens"
    dropped: tuple[str, ...] = ()

    def lower(self) -> Abilities | None:
        """One rung down the ladder; None at its foot."""
        below = LADDER[LADDER.index(self.form) + 1 :]
        return replace(self, form=below[0]) if below else None

    def body(
        self, turns: Sequence[Turn], answer: type[BaseModel], most_tokens: int
    ) -> dict[str, Any]:
        """The part of a request that depends on abilities."""
        body: dict[str, Any] = {self.limit: most_tokens}
        messages = [asdict(turn) for turn in turns]
        if self.form == "json_schema":
            schema = {"name": _name(answer), "strict": True, "schema": strict_schema(answer)}
            body["response_format"] = {"type": "json_schema", "json_schema": schema}
        else:
            if self.form == "json_object":
                body["response_format"] = {"type": "json_object"}
            order = (
                "Answer with one JSON object that fits this JSON schema, and with nothing else:\n"
                + json.dumps(answer.model_json_schema(), sort_keys=True)
            )
            # At the end: the beginning stays a prefix that servers have in their caches.
            if messages and messages[-1]["role"] == "user":
                messages[-1]["content"] += "\n\n" + order
            else:
                messages.append({"role": "user", "content": order})
        if "stream" not in self.dropped:
            body["stream"] = True
            if "stream_options" not in self.dropped:
                body["stream_options"] = {"include_usage": True}
        return {**body, "messages": messages}

    def after(self, words: str) -> Abilities | None:
        """What a refusal in these words teaches; None if it is about nothing that can be left."""
        said = words.lower()
        if "max_completion_tokens" in said or (
            "max_tokens" in said and re.search(r"support|unrecogni|unknown|permitted|extra", said)
        ):
            other: Any = {"max_tokens", "max_completion_tokens"} - {self.limit}
            return replace(self, limit=other.pop())
        for name in DROPPABLE:
            if re.search(rf"\b{name}\b", said) and name not in self.dropped:
                return replace(self, dropped=(*self.dropped, name))
        if re.search(r"response_format|json_schema|json_object|schema|grammar|structured", said):
            return self.lower()
        return None


def strict_schema(answer: type[BaseModel]) -> dict[str, Any]:
    """The schema as servers that enforce it want it: every field required, none beside them."""
    import openai

    tool: Any = openai.pydantic_function_tool(answer)
    schema: dict[str, Any] = tool["function"]["parameters"]
    return schema


def follows_schema(text: str, answer: type[BaseModel]) -> bool:
    """Whether `text` looks like an answer of a server that enforces the schema.

    It compares names only: a schema cannot say everything that pydantic checks.
    """
    names = set(strict_schema(answer).get("properties", {}))
    return any(isinstance(found, dict) and set(found) == names for found in find_objects(text))


def _name(answer: type[BaseModel]) -> str:
    return re.sub(r"[^A-Za-z0-9_-]", "_", answer.__name__)[:64]


class AbilityBook:
    """What is known of each (base_url, model). Without a writable cache it lasts one run."""

    def __init__(self, path: Path | None = None) -> None:
        self._path = path or cache_folder() / "abilities.json"
        self._known: dict[str, Abilities] = {}

    def get(self, base_url: str, model: str, answer: type[BaseModel]) -> Abilities:
        for key in (_key(base_url, model, answer), _key(base_url, model)):
            if key not in self._known and (page := self._read().get(key)) is not None:
                self._known[key] = page[1]
            if key in self._known:
                return self._known[key]
        return Abilities()

    def learn(
        self, base_url: str, model: str, abilities: Abilities, alone: type[BaseModel] | None = None
    ) -> None:
        """Remember `abilities`, where `alone` is given for that answer only."""
        key = _key(base_url, model, alone)
        if self._known.get(key) == abilities:
            return
        self._known[key] = abilities
        with contextlib.suppress(OSError):
            self._path.parent.mkdir(parents=True, exist_ok=True)
            with self._lock():
                pages = self._read() | {key: (time.time(), abilities)}
                scratch = self._path.with_suffix(".new")
                scratch.write_bytes(_PAGES.dump_json(pages))
                scratch.replace(self._path)

    def _read(self) -> dict[str, tuple[float, Abilities]]:
        try:
            pages = _PAGES.validate_json(self._path.read_bytes())
        except (OSError, ValidationError):
            return {}
        return {k: page for k, page in pages.items() if time.time() - page[0] < REMEMBERED_S}

    @contextmanager
    def _lock(self) -> Iterator[None]:
        with self._path.with_suffix(".lock").open("w", encoding="ascii") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            yield


_PAGES = TypeAdapter(dict[str, tuple[float, Abilities]])


def _key(base_url: str, model: str, alone: type[BaseModel] | None = None) -> str:
    return " ".join([base_url, model, *([alone.__name__] if alone else [])])
