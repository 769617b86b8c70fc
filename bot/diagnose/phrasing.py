"""Plain English from a tool contract: words of a name, a sample value, an example request."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator
from dataclasses import dataclass

from bot.diagnose.contract import Parameter, Tool

_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_KEY_SUFFIXES = ("id", "number", "no", "key", "name", "code")
_STOP_WORDS = frozenset(
    re.findall(
        r"\w+",
        "a an and are as at be by for from has how in into is it its of on or that the their this "
        "to was were what when where which who whom whose will with you your",
    )
)


@dataclass(frozen=True)
class WorkedCall:
    """A request in words, and the call that answers it."""

    request: str
    tool: str
    arguments: dict[str, str]


def words(name: str) -> list[str]:
    """`returnDate`, `return_date` → `["return", "date"]`."""
    return [word.lower() for word in re.split(r"[\W_]+", _CAMEL.sub(" ", name)) if word]


def stems(text: str) -> set[str]:
    """The content words of `text`, cut to their first five letters: a cheap stem."""
    return {word[:5] for word in words(text) if len(word) > 2 and word not in _STOP_WORDS}


def noun(parameter: Parameter) -> str:
    """What a parameter identifies: `loan_id` → `loan`."""
    parts = words(parameter.name)
    if len(parts) > 1 and parts[-1] in _KEY_SUFFIXES:
        parts = parts[:-1]
    return " ".join(parts)


def sample(parameter: Parameter, turn: int) -> str:
    """A value for an example: from the contract's own `examples`, else its name in capitals."""
    if parameter.examples:
        return parameter.examples[turn % len(parameter.examples)]
    return noun(parameter).upper().replace(" ", "_")


def worked_calls(tool: Tool, first_turn: int = 0) -> Iterator[WorkedCall]:
    """One example a value of the tool's enumerated parameters; one in all where it has none."""
    required = [p for p in tool.parameters if p.required]
    enumerated = [p for p in required if p.values]
    choices = [[(p.name, value.const) for value in p.values] for p in enumerated]
    for turn, chosen in enumerate(itertools.product(*choices), first_turn):
        picked = dict(chosen)
        arguments = {
            p.name: picked[p.name] if p.name in picked else sample(p, turn) for p in required
        }
        yield WorkedCall(_request(tool, required, arguments), tool.name, arguments)


def _request(tool: Tool, parameters: list[Parameter], arguments: dict[str, str]) -> str:
    """`What is the fee of loan 12?` for a field, `Extend loan 12.` for a deed."""
    free = [p for p in parameters if not p.values]
    chosen = [p for p in parameters if p.values]
    named = " and ".join(f"{noun(p)} {arguments[p.name]}" for p in free[:1])
    rest = ", ".join(f"{noun(p)} {arguments[p.name]}" for p in free[1:])
    asked = " and ".join(" ".join(words(arguments[p.name])) for p in chosen)
    if chosen and not rest:
        return f"What is the {asked} of {named}?" if named else f"What is the {asked}?"
    verb, *objects = words(tool.name)
    tail = [part for part in (asked and f"the {asked}", rest) if part]
    if named and (not objects or noun(free[0]) in " ".join(objects)):
        objects = []
    subject = " ".join([verb.capitalize(), *objects, *([named] if named else [])])
    return f"{subject}{': ' + ', '.join(tail) if tail else ''}."
