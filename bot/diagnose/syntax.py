"""The action syntax that the model is to write, learnt from actions that the harness did parse.

Nothing is assumed of the harness: each model reply that led to a tool call is compared with that
call, and the way of writing that reproduces most of them is the harness's syntax.
"""

from __future__ import annotations

import itertools
import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from bot.records import Episode, ModelStep, ToolStep

_BRACKETS = [("(", ")"), ("[", "]"), ("{", "}"), (" ", ""), (": ", "")]
_SEPARATORS = [", ", ",", " ", "; "]
_ITEMS = ["{v}", '"{v}"', "'{v}'", "{k}={v}", '{k}="{v}"', "{k}='{v}'", "{k}: {v}", '"{k}": "{v}"']


@dataclass(frozen=True)
class Syntax:
    """How an action is written: `prefix`, name, `opening`, items joined by `separator`, `closing`.

    For JSON, `name_key` and `arguments_key` are set instead.
    """

    prefix: str = ""
    opening: str = "("
    item: str = "{v}"
    separator: str = ", "
    closing: str = ")"
    name_key: str | None = None
    arguments_key: str | None = None

    def write(self, name: str, arguments: Mapping[str, object]) -> str:
        """The action as the model should write it."""
        if self.name_key is not None:
            body = dict(arguments)
            whole = (
                {self.name_key: name, self.arguments_key: body}
                if self.arguments_key is not None
                else {self.name_key: name, **body}
            )
            return self.prefix + json.dumps(whole)
        items = [
            self.item.replace("{k}", key).replace("{v}", str(value))
            for key, value in arguments.items()
        ]
        return f"{self.prefix}{name}{self.opening}{self.separator.join(items)}{self.closing}"


def parsed_actions(episodes: Iterable[Episode]) -> Iterator[tuple[str, ToolStep]]:
    """(model reply, tool call) for every tool call that directly follows a model reply."""
    for episode in episodes:
        for before, after in itertools.pairwise(episode.steps):
            if isinstance(before, ModelStep) and isinstance(after, ToolStep) and before.content:
                yield before.content, after


def learn_syntax(episodes: Iterable[Episode]) -> Syntax | None:
    """The way of writing that reproduces most parsed actions; None where none reproduces any.

    Actions with several arguments weigh most: one argument cannot tell a separator.
    """
    votes: Counter[Syntax] = Counter()
    for reply, call in parsed_actions(episodes):
        if not call.arguments:
            continue
        for syntax in _ways_to_write(reply, call):
            votes[syntax] += len(call.arguments)
    return max(votes, key=lambda syntax: (votes[syntax], -_oddity(syntax))) if votes else None


def _oddity(syntax: Syntax) -> int:
    """Among ways that explain equally much, the plainest wins."""
    return len(syntax.prefix) * 10 + _position(_SEPARATORS, syntax.separator)


def _position(known: list[str], value: str) -> int:
    return known.index(value) if value in known else len(known)


def _ways_to_write(reply: str, call: ToolStep) -> Iterator[Syntax]:
    for line in reply.splitlines():
        text = line.strip().strip("`")
        if call.name not in text:
            continue
        prefix = text[: text.index(call.name)]
        if "{" in prefix:
            yield from _json_ways(text, call)
        elif len(prefix) <= 24:
            yield from _plain_ways(text, prefix, call)


def _plain_ways(text: str, prefix: str, call: ToolStep) -> Iterator[Syntax]:
    for (opening, closing), item, separator in itertools.product(_BRACKETS, _ITEMS, _SEPARATORS):
        syntax = Syntax(prefix, opening, item, separator, closing)
        written = syntax.write(call.name, call.arguments)
        if text == written or (closing and text.startswith(written)):
            yield syntax


def _json_ways(text: str, call: ToolStep) -> Iterator[Syntax]:
    start = text.index("{")
    try:
        document, _ = json.JSONDecoder().raw_decode(text[start:])
    except (ValueError, RecursionError):
        return
    if not isinstance(document, dict):
        return
    for key, value in document.items():
        if value != call.name:
            continue
        rest = {k: v for k, v in document.items() if k != key}
        prefix = text[:start]
        if rest == call.arguments:
            yield Syntax(prefix=prefix, name_key=key)
        for inner, body in rest.items():
            if body == call.arguments:
                yield Syntax(prefix=prefix, name_key=key, arguments_key=inner)
