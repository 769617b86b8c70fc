"""The proxy between a harness and its model: it counts, caps, records, and holds the key.

Each harness process gets a lease: a base URL of its own with an unguessable token in it. The
proxy forces the table's model, temperature and seed on every request, so that a candidate cannot
win by asking another model.
"""

from __future__ import annotations

import secrets
import threading
import time
from pathlib import Path
from types import TracebackType
from typing import Any

from bot.display import printable, scrub
from bot.errors import BudgetSpent, EndpointError
from bot.llm.budget import BudgetMeter
from bot.llm.canonical import request_digest
from bot.llm.endpoint import Endpoint
from bot.llm.lease import Call, Lease
from bot.llm.listener import Listener, is_too_deep, refusal
from bot.llm.transport import AnswerTooLarge, open_openai
from bot.llm.wire import usage_of
from bot.sandbox import ModelDoor

__all__ = ["Call", "Lease", "Proxy"]

RETRIES = 3
SANDBOX_PORT = 47111  # below the ports that a system gives out by itself, and seldom used
# Nothing a harness did: endpoint, model name, network, key, account. 408 and 429 after retries.
INFRASTRUCTURE_STATUS = frozenset({401, 402, 403, 404, 408, 429})
# Answered whole, and by the table's model alone (some endpoints take a list of substitutes).
NOT_FORWARDED = frozenset({"stream", "stream_options", "models"})
LARGEST_ANSWER = 64 << 20  # bytes; thousands of embeddings are legitimate


class Proxy:
    """An HTTP server in front of one endpoint; use as a context manager.

    It listens on a port of loopback, or on the Unix socket `address` alone: harnesses with a
    network of their own call `SANDBOX_PORT` in it, which leads there.

    `fatal` is set when no later call can succeed: the endpoint refuses the key. `spent` is set
    once the budget is.
    """

    def __init__(
        self,
        endpoint: Endpoint,
        budget: BudgetMeter,
        *,
        calls_per_episode: int = 64,
        address: Path | None = None,
    ) -> None:
        self.endpoint, self.budget, self._address = endpoint, budget, address
        self.calls_per_episode = calls_per_episode
        self.leases: dict[str, Lease] = {}
        self.lock = threading.Lock()
        self.fatal: EndpointError | None = None
        self.spent: BudgetSpent | None = None

    def __enter__(self) -> Proxy:
        self._client = open_openai(self.endpoint, retries=RETRIES, largest=LARGEST_ANSWER)
        self._server = Listener(self, self._address)
        port = SANDBOX_PORT if self._address else self._server.server_address[1]
        self.door = ModelDoor(int(port), self._address)
        threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True).start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._client.close()

    def lease(self) -> Lease:
        token = secrets.token_urlsafe(24)
        lease = Lease(f"http://127.0.0.1:{self.door.port}/{token}/v1", token, self)
        with self.lock:
            self.leases[token] = lease
        return lease

    def answer(self, lease: Lease, path: str, body: dict[str, Any]) -> tuple[int, dict[str, Any]]:
        """Status and JSON object for one request of a harness; recorded on its lease."""
        table = self.endpoint.table
        request = {k: v for k, v in body.items() if k not in NOT_FORWARDED}
        request["model"] = self.endpoint.name
        if table.temperature is not None and path != "embeddings":
            request["temperature"] = table.temperature
        if table.seed is not None and path in ("chat/completions", "completions"):
            request["seed"] = table.seed
        record = lease.admit()
        if record is None:
            return 429, refusal(
                f"this episode has made its {self.calls_per_episode} model calls", "episode_budget"
            )
        try:
            self.budget.begin_call()
        except BudgetSpent as spent:
            self.spent = spent
            return 402, refusal(spent.message, "budget_spent")
        started = time.monotonic()
        status, answer = self._forward(path, request)
        # Another 4xx is the harness's own fault and passes through; so does what it says.
        redirects = 300 <= status < 400
        infrastructure = status >= 500 or redirects or status in INFRASTRUCTURE_STATUS
        usage = usage_of(answer)
        self.budget.add(usage, table)
        call = Call(
            request_digest=request_digest(request),
            request=request,
            response=answer if status == 200 else None,
            status=status,
            infrastructure=infrastructure,
            error=None if status == 200 else _message(answer),
            usage=usage,
            wall_s=time.monotonic() - started,
        )
        with self.lock:
            record.append(call)
        return (502 if infrastructure else status), answer

    def _forward(self, path: str, request: dict[str, Any]) -> tuple[int, dict[str, Any]]:
        import openai

        try:
            answer = self._client.post(f"/{path}", body=request, cast_to=object)
        except openai.APIStatusError as error:
            message = scrub(printable(error.message, 500))
            if error.status_code in (401, 403):
                self.fatal = EndpointError(
                    f"The model endpoint refuses the key ({error.status_code}): {message}.",
                    "Check model.api_key_env and the key that it names.",
                )
            return error.status_code, _own_words(error) or refusal(message, "endpoint")
        except AnswerTooLarge as error:
            return 502, refusal(str(error), "endpoint")
        except openai.APIError as error:  # no connection, no answer in time, half an answer
            return 502, refusal(scrub(printable(str(error), 500)), "endpoint")
        except (ValueError, RecursionError) as error:  # no JSON, or nested without end
            return 502, refusal(f"not JSON: {scrub(printable(str(error), 200))}", "endpoint")
        if isinstance(answer, dict) and not isinstance(answer.get("error"), dict):
            if is_too_deep(answer):
                return 502, refusal("the endpoint's answer is nested too deeply", "endpoint")
            return 200, answer
        return 502, refusal("the endpoint answered something else than a completion", "endpoint")


def _own_words(error: Any) -> dict[str, Any] | None:
    """The endpoint's own JSON object for a refused request, without secrets; None without one.

    Harnesses read its `code`, for instance to shorten a conversation that is too long.
    """
    try:
        body = error.response.json()
    except (ValueError, RecursionError):
        return None
    if not isinstance(body, dict) or is_too_deep(body):
        return None
    scrubbed: dict[str, Any] = _scrubbed(body)
    return scrubbed


def _scrubbed(value: Any) -> Any:
    if isinstance(value, dict):
        return {scrub(key): _scrubbed(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [_scrubbed(inner) for inner in value]
    return scrub(printable(value, 2000, lines=True)) if isinstance(value, str) else value


def _message(answer: dict[str, Any]) -> str:
    error = answer.get("error", answer.get("detail"))
    message = error.get("message") if isinstance(error, dict) else error
    return printable(str(message), 500) if message else "no message"
