"""One HTTP exchange with a model: a request goes out, a text comes back, or a Fault says why not.

The stream is read here and not by the openai package: that one cannot tell a stream that ended
from one that broke off.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from bot.llm.answers import Failed, Kind, Said, is_whole
from bot.llm.endpoint import Endpoint
from bot.llm.repetition import repeats_itself
from bot.llm.retry import retry_after
from bot.llm.transport import AnswerTooLarge
from bot.records import Usage

if TYPE_CHECKING:
    import openai

LOOK_EVERY = 512  # characters between two looks for repetition
LONGEST_TOKEN = 32  # characters; a text longer than its tokens allow is cut
TRIED_AGAIN = frozenset({408, 409, 425, 429})
TOO_LONG = (
    "context_length",
    "context length",
    "maximum context",
    "context size",
    "context window",
    "prompt is too long",
    "too many tokens",
)


@dataclass(eq=False)
class Fault(Exception):
    """An exchange that brought no answer. `reason` is without secrets.

    `words` are the endpoint's own about a request that it refuses; `asked_s` is how long it wants
    to be left alone; `usage` is what the exchange has cost as far as is known.
    """

    kind: Kind
    reason: str
    again: bool = False
    asked_s: float | None = None
    words: str | None = None
    usage: Usage = field(default_factory=Usage)

    def failed(self) -> Failed:
        return Failed(self.kind, self.reason)


async def exchange(
    client: openai.AsyncOpenAI,
    endpoint: Endpoint,
    body: dict[str, Any],
    *,
    timeout_s: float,
    most_tokens: int,
) -> tuple[Said, Usage]:
    """Send `body` to chat/completions; the answer and what it cost. Raises Fault.

    Takes at most `timeout_s`, however slowly the answer drips. Where the endpoint does not say
    what the answer cost, that is estimated.
    """
    import openai

    heard = _Heard(most_tokens)
    estimated = estimate_tokens(json.dumps(body["messages"], ensure_ascii=False))

    def fault(kind: Kind, reason: str, **more: Any) -> Fault:
        usage = heard.usage(estimated) if heard.begun else Usage()
        return Fault(kind, reason, usage=more.pop("usage", usage), **more)

    rest = {key: value for key, value in body.items() if key not in ("model", "messages")}
    try:
        async with (
            asyncio.timeout(timeout_s),
            client.chat.completions.with_streaming_response.create(
                model=body["model"],
                messages=body["messages"],
                extra_body=rest,
                timeout=timeout_s,
            ) as response,
        ):
            heard.begun = True
            await heard.listen(response.headers.get("content-type", ""), response.iter_bytes())
    except openai.APIStatusError as error:
        raise _status_fault(error, endpoint) from None
    except (TimeoutError, openai.APITimeoutError):
        reason = f"The model did not answer within {timeout_s:g} s; raise timeout_s."
        spent = heard.usage(estimated)  # it may well have thought all the while
        raise fault("timeout", reason, again=True, usage=spent) from None
    except _Said as error:
        words = endpoint.hide(str(error))
        kind: Kind = "too_long" if is_about_length(words) else "unreachable"
        reason = f"The endpoint failed in the middle: {words}."
        raise fault(kind, reason, again=kind == "unreachable") from None
    except (ValueError, RecursionError) as error:  # no JSON, no UTF-8, nested without end
        kind = "html" if heard.is_html else "not_json"
        what = "a web page" if heard.is_html else f"no JSON ({endpoint.hide(str(error), 120)})"
        reason = f"The endpoint answered {what}; check that base_url is its API."
        raise fault(kind, reason, again=True) from None
    except Exception as error:
        cause = error if isinstance(error, AnswerTooLarge) else error.__cause__
        if isinstance(cause, AnswerTooLarge):
            raise fault("truncated", f"Cut off: {cause}.") from None
        if not (isinstance(error, openai.APIConnectionError) or _is_of_http(error)):
            raise
        words = endpoint.hide(str(cause or error) or type(error).__name__)
        if heard.begun:
            reason = f"The connection broke off in the middle of the answer: {words}."
            raise fault("truncated", reason, again=True) from None
        reason = f"The endpoint is not reached: {words}; check base_url and the network."
        raise fault("unreachable", reason, again=True) from None
    said = heard.said(endpoint)
    if said.finish is None and said.failed is None and not is_whole(said.text):
        reason = "The answer broke off before its end; the endpoint may be overloaded."
        raise fault("truncated", reason, again=True)
    return said, heard.usage(estimated)


def estimate_tokens(text: str) -> int:
    """Tokens of `text`, rather too many than too few for most languages and code."""
    return len(text.encode("utf-8", "replace")) // 3 + 8


def usage_of(answer: dict[str, Any]) -> Usage:
    """Token counts of an answer, in either of OpenAI's spellings; None where it has none."""
    usage = answer.get("usage")
    if not isinstance(usage, dict):
        return Usage()
    details = usage.get("prompt_tokens_details") or usage.get("input_tokens_details") or {}
    return Usage(
        prompt_tokens=_number(usage.get("prompt_tokens", usage.get("input_tokens"))),
        completion_tokens=_number(usage.get("completion_tokens", usage.get("output_tokens"))),
        cached_tokens=_number(details.get("cached_tokens") if isinstance(details, dict) else None),
    )


def _number(value: Any) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None


class _Said(Exception):
    """An error that the endpoint reports inside an answer of status 200."""


class _Heard:
    """What has come of an answer so far."""

    def __init__(self, most_tokens: int) -> None:
        self.begun = False
        self.is_html = False
        self._longest = most_tokens * LONGEST_TOKEN
        self._text = self._thought = self._refusal = ""
        self._looked = 0
        self._finish: str | None = None
        self._ended = False  # the stream said that it has
        self._tools = self._repeats = self._cut = False
        self._usage = Usage()

    async def listen(self, kind: str, blocks: AsyncIterator[bytes]) -> None:
        """Read until the end, or until the rest is not wanted. Raises ValueError, _Said."""
        if "text/event-stream" not in kind:
            whole = b"".join([block async for block in blocks])
            if not whole.lstrip().startswith((b"data:", b":")):
                self.is_html = whole.lstrip()[:1] == b"<"
                answer = json.loads(whole)
                self._event(answer)
                if not answer.get("choices"):
                    raise ValueError("the answer has no choices")
                self._ended = True
                return
            lines = whole.splitlines()
            for line in lines:
                self._line(line)
            return
        rest = b""
        async for block in blocks:
            *lines, rest = (rest + block).split(b"\n")
            for line in lines:
                self._line(line)
            if self._ended or self._repeats or self._cut:
                return
        self._line(rest)

    def _line(self, raw: bytes) -> None:
        line = raw.decode("utf-8").strip()
        if not line.startswith("data:") or self._ended:
            return
        data = line.removeprefix("data:").strip()
        if data == "[DONE]":
            self._ended = True
        elif data:
            self._event(json.loads(data))

    def _event(self, event: Any) -> None:
        if not isinstance(event, dict):
            raise ValueError("the answer is no object")
        if error := event.get("error"):
            raise _Said(error.get("message", error) if isinstance(error, dict) else error)
        usage = usage_of(event)
        if usage != Usage():
            self._usage = usage
        choices = event.get("choices")
        if not choices:  # the last event has the usage alone, and some servers send others
            return
        choice = choices[0] if isinstance(choices, list) else None
        if not isinstance(choice, dict):
            raise ValueError("the answer's choices are odd")
        part = choice.get("delta") or choice.get("message")
        if isinstance(part, dict):
            self._text += _text(part.get("content"))
            self._thought += _text(part.get("reasoning_content") or part.get("reasoning"))
            self._refusal += _text(part.get("refusal"))
            self._tools = self._tools or bool(part.get("tool_calls") or part.get("function_call"))
        if isinstance(finish := choice.get("finish_reason"), str):
            self._finish = finish
        self._look()

    def _look(self) -> None:
        length = len(self._text) + len(self._thought)
        if length - self._looked >= LOOK_EVERY:
            self._looked = length
            self._repeats = repeats_itself(self._text) or repeats_itself(self._thought)
            if length > self._longest:
                self._cut, self._text = True, self._text[: self._longest]

    def said(self, endpoint: Endpoint) -> Said:
        failed: Failed | None = None
        finish = self._finish or ("stop" if self._ended else None)
        if self._repeats or self._cut:
            finish = "repetition" if self._repeats else "length"
        elif self._refusal and not self._text.strip():
            words = endpoint.hide(self._refusal, 300)
            failed = Failed("refused", f"The model declines: {words}")
        elif self._tools and not self._text.strip():
            failed = Failed("tool_calls", "The model calls tools, though it was given none.")
        return Said(self._text, finish, failed)

    def usage(self, prompt_tokens: int) -> Usage:
        """What the endpoint says; where it does not, an estimate."""
        written = estimate_tokens(self._text + self._thought)
        said = self._usage
        return Usage(
            prompt_tokens=prompt_tokens if said.prompt_tokens is None else said.prompt_tokens,
            completion_tokens=written if said.completion_tokens is None else said.completion_tokens,
            cached_tokens=said.cached_tokens,
        )


def _text(content: Any) -> str:
    """A message's content: a string, or a list of parts, or nothing."""
    if isinstance(content, list):
        return "".join(_text(part.get("text")) for part in content if isinstance(part, dict))
    return content if isinstance(content, str) else ""


def is_about_length(words: str) -> bool:
    said = words.lower()
    return any(word in said for word in TOO_LONG)


def _status_fault(error: openai.APIStatusError, endpoint: Endpoint) -> Fault:
    """What a status other than 200 means for the call."""
    status, headers = error.status_code, error.response.headers
    try:
        words = endpoint.hide(_words(error.body) or error.response.text or f"status {status}")
    except (ValueError, RecursionError):
        words = f"status {status}"
    if 300 <= status < 400:
        where = endpoint.hide(headers.get("location", "elsewhere"), 200)
        return Fault("rejected", f"The endpoint redirects to {where}; set base_url to that.")
    if status == 413 or (status in (400, 422, 500) and is_about_length(words)):
        return Fault("too_long", f"The question is too long for the model: {words}.")
    if status in (401, 403):
        return Fault("rejected", f"The endpoint refuses the key ({status}): {words}.")
    for_good = headers.get("x-should-retry") == "false" or "insufficient_quota" in str(error.body)
    if status in TRIED_AGAIN or status >= 500:
        return Fault(
            "rejected" if for_good else "unreachable",
            f"The endpoint answered {status}: {words}; try again later.",
            again=not for_good,
            asked_s=retry_after(headers),
            # Some servers fail over a grammar; other words of theirs teach nothing.
            words=words if status >= 500 and not for_good and "grammar" in words.lower() else None,
        )
    return Fault(
        "rejected",
        f"The endpoint refuses the request ({status}): {words}.",
        again=headers.get("x-should-retry") == "true",
        words=words if status in (400, 422) else None,
    )


def _words(body: object) -> str:
    """The message of an error's body, with the parameter that it names."""
    if not isinstance(body, dict):
        return str(body or "")
    error = body.get("error", body)
    if not isinstance(error, dict):
        return str(error)
    parts = [
        error.get("message") or error.get("detail") or error,
        error.get("param"),
        error.get("code"),
    ]
    return " ".join(str(part) for part in parts if part)


def _is_of_http(error: BaseException) -> bool:
    """Whether the HTTP library under openai raised it; its name differs between versions."""
    return any(kind.__name__ == "RequestError" for kind in type(error).__mro__)
