"""What a question to a model is, what comes of it, and how an answer is read out of a text.

The text is hostile: it may quote trajectories, repeat itself, hold several objects, or none.
"""

from __future__ import annotations

import json
import re
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol, TypeVar

from pydantic import BaseModel, ValidationError

from bot.display import printable
from bot.llm.listener import is_too_deep

T = TypeVar("T", bound=BaseModel)
T_co = TypeVar("T_co", bound=BaseModel, covariant=True)

Kind = Literal[
    "empty",
    "truncated",
    "not_json",
    "wrong_schema",
    "html",
    "tool_calls",
    "repetition",
    "refused",
    "too_long",
    "budget",
    "timeout",
    "unreachable",
    "rejected",
]
REPAIRABLE = frozenset(
    {"empty", "truncated", "not_json", "wrong_schema", "tool_calls", "repetition"}
)
REPAIRS = 2
LONGEST_COMPLAINT = 1500  # characters of a validation error that go back to the model
LONGEST_QUOTE = 6000  # characters of a wrong answer that go back with it
MOST_OBJECTS = 64  # places in one text at which an object is looked for


@dataclass(frozen=True, slots=True)
class Turn:
    """One chat message."""

    role: Literal["system", "user", "assistant"]
    content: str


@dataclass(frozen=True, slots=True)
class Failed:
    """Why a question has no answer: a typed result, never an exception.

    - `empty`: the model said nothing; `truncated`: half an answer, cut by the token limit, the
      size cap or the connection; `repetition`: cut because it repeated itself without end
    - `not_json`, `wrong_schema`: no object in the text, or not the one asked for
    - `html`: a page instead of an answer; `tool_calls`: calls instead of text
    - `refused`: the model or its filter declines; `rejected`: the endpoint does (key, name, 4xx)
    - `too_long`: the question does not fit the model's context
    - `budget`, `timeout`, `unreachable`: a cap, a time limit, no connection after all retries
    """

    kind: Kind
    reason: str  # one sentence with the next step, without secrets


@dataclass(frozen=True, slots=True)
class Said:
    """What one call brought, before it is read: a text, or why there is none, or both.

    `finish` is the endpoint's own word (`stop`, `length`, …), None where the answer broke off,
    and `repetition` where we cut it for that.
    """

    text: str = ""
    finish: str | None = None
    failed: Failed | None = None


class Ask(Protocol):
    """Whoever answers the panel's questions: a client, a transcript, a script in a test.

    `label` is `<pattern slug>/<round>/<role>/<attempt>`, unique in a run; its third part chooses
    the model. The result is valid: faults were fed back inside, each in a call of its own,
    labelled `<label>/repair-<n>`.
    """

    async def __call__(self, label: str, turns: Sequence[Turn], answer: type[T]) -> T | Failed: ...


Call = Callable[[str, Sequence[Turn], type[BaseModel], Sequence[Turn]], Awaitable[Said | None]]
"""One call: label, question, schema, and the turns that complain of an earlier answer.

The result is None where there is nobody to ask. A question keeps its digest through its repairs:
the words of a complaint differ between versions of Python and of pydantic.
"""


async def ask_until_valid(
    label: str, turns: Sequence[Turn], answer: type[T], call: Call
) -> T | Failed:
    """The answer through `call`; what is wrong with one is fed back, at most REPAIRS times."""
    said = await call(label, turns, answer, ())
    if said is None:
        return Failed("unreachable", f"The transcript has no call {label}.")
    result = read_answer(said, answer)
    for number in range(1, REPAIRS + 1):
        if not isinstance(result, Failed) or result.kind not in REPAIRABLE:
            break
        complaint = _complaint(said, result)
        said = await call(f"{label}/repair-{number}", turns, answer, complaint)
        if said is None:
            break
        result = read_answer(said, answer)
    return result


def read_answer(said: Said, answer: type[T]) -> T | Failed:
    """The valid answer in `said`, or what is wrong with it.

    One object may stand in prose, in a fence, or behind a `<think>` block. Where several
    different objects would be valid, none is chosen: one of them may be quoted evidence.
    """
    if said.failed is not None:
        return said.failed
    valid: dict[str, T] = {}
    wrong: Failed | None = None
    for found in find_objects(said.text):
        if isinstance(found, Failed):
            wrong = wrong or found
            continue
        try:
            result = answer.model_validate_json(json.dumps(found))
        except ValidationError as error:
            wrong = Failed("wrong_schema", _errors(error))
        else:
            valid[result.model_dump_json()] = result
    if len(valid) == 1:
        return next(iter(valid.values()))
    if valid:
        return Failed(
            "not_json", f"The answer holds {len(valid)} different valid objects, not one."
        )
    if said.finish == "content_filter":
        return Failed("refused", "The endpoint's filter withheld the answer; try another model.")
    if said.finish == "repetition":
        reason = "The model repeats itself without end and was cut; try another model."
        return Failed("repetition", reason)
    if said.finish in ("length", None):
        return Failed("truncated", "The answer stops half-way; ask for less, or allow more tokens.")
    if not said.text.strip():
        return Failed("empty", "The model answered nothing; try another model.")
    if _is_html(said.text):
        return Failed("html", "The endpoint answered a web page; check base_url.")
    return wrong or Failed("not_json", "The answer holds no JSON object.")


def find_objects(text: str) -> list[dict[str, Any] | Failed]:
    """The JSON objects in `text` from left to right, and what is wrong with those that are none.

    If the whole text is one object, it alone; else thoughts are left out first.
    """
    whole = _decode(text.strip())
    if isinstance(whole, dict):
        return [whole]
    text = _without_thoughts(text)
    found: list[dict[str, Any] | Failed] = []
    position = 0
    for _ in range(MOST_OBJECTS):
        position = text.find("{", position)
        if position < 0:
            break
        value, end = _decode_at(text, position)
        found.append(value)
        position = end
    return found


def well_formed(text: str) -> str:
    """`text` as every encoding can hold it: halves of a character are joined, or replaced."""
    if text.isascii():
        return text
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def is_whole(text: str) -> bool:
    """Whether `text` holds a complete object, whatever became of the connection."""
    return any(isinstance(found, dict) for found in find_objects(text))


class _Odd(ValueError):
    """JSON as Python reads it, but not as the standard has it."""


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    names = dict(pairs)
    if len(names) < len(pairs):
        raise _Odd("a name stands twice in one object")
    return names


def _no_constant(word: str) -> Any:
    raise _Odd(f"{word} is no JSON number")


_DECODER = json.JSONDecoder(object_pairs_hook=_unique, parse_constant=_no_constant)


def _decode(text: str) -> Any:
    try:
        value = _DECODER.decode(text)
    except (ValueError, RecursionError):
        return None
    return value if _fault(value) is None else None


def _decode_at(text: str, position: int) -> tuple[dict[str, Any] | Failed, int]:
    """The object that begins at `position` and where it ends; a fault ends where it was seen."""
    try:
        value, end = _DECODER.raw_decode(text, position)
    except json.JSONDecodeError as error:
        near = printable(text[max(error.pos - 20, 0) : error.pos + 20])
        reason = f"Not valid JSON: {error.msg} at character {error.pos}, near {near!r}."
        return Failed("not_json", reason), max(error.pos, position + 1)
    except (_Odd, ValueError) as error:
        return Failed("not_json", f"Not valid JSON: {printable(str(error), 200)}."), position + 1
    except RecursionError:
        return Failed("not_json", "Not valid JSON: nested without end."), len(text)
    fault = _fault(value)
    return (value, end) if fault is None else (Failed("not_json", fault), end)


def _fault(value: Any) -> str | None:
    if is_too_deep(value):
        return "The JSON is nested too deeply."
    try:
        json.dumps(value, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        return "The JSON holds half a character (a lone surrogate)."
    return None


_THOUGHT_TAG = re.compile(r"(?i)<(/?)(?:think|thinking|reasoning)>")


def _without_thoughts(text: str) -> str:
    """`text` without blocks of thought, also where a template swallowed one of the two tags."""
    kept: list[str] = []
    depth = position = 0
    for tag in _THOUGHT_TAG.finditer(text):
        if depth == 0:
            kept.append(text[position : tag.start()])
        if not tag[1]:
            depth += 1
        elif depth:
            depth -= 1
        else:  # it ends here and began before the text did
            kept.clear()
        position = tag.end()
    return "".join(kept) + (text[position:] if depth == 0 else "")


def _is_html(text: str) -> bool:
    return re.match(r"(?i)\s*(?:<!doctype html|<html|<head|<body)", text) is not None


def _errors(error: ValidationError) -> str:
    """Each fault with its place, as the model and a person can use it."""
    lines = []
    for fault in error.errors(include_url=False, include_context=False, include_input=False):
        place = ".".join(str(part) for part in fault["loc"]) or "the object"
        lines.append(f"{place}: {fault['msg']}")
    return printable(f"The answer does not fit its schema: {'; '.join(lines)}.", LONGEST_COMPLAINT)


def _complaint(said: Said, failed: Failed) -> list[Turn]:
    """The wrong answer and what is wrong with it, as the conversation's next turns."""
    words = {
        "tool_calls": "There are no tools here: give the answer itself as text.",
        "repetition": "The answer repeated itself without end and was cut: be brief.",
        "truncated": "The answer was cut off: give a shorter one.",
    }
    said_so = words.get(failed.kind, failed.reason)
    order = f"{said_so}\nAnswer again with exactly one JSON object that fits the schema."
    shown = said.text[:LONGEST_QUOTE] if failed.kind in ("not_json", "wrong_schema") else ""
    quoted = [Turn("assistant", shown)] if shown.strip() else []
    return [*quoted, Turn("user", order)]


def alternating(turns: Sequence[Turn]) -> list[Turn]:
    """Neighbours of one role as one turn: some chat templates refuse two in a row."""
    merged: list[Turn] = []
    for turn in turns:
        if merged and merged[-1].role == turn.role:
            turn = Turn(turn.role, f"{merged.pop().content}\n\n{turn.content}")
        merged.append(turn)
    return merged
