"""The proxy between a harness and its model: it counts, caps, records, and holds the key.

Each harness process gets a lease: a base URL of its own with an unguessable token in it. The
proxy forces the table's model, temperature and seed on every request, so that a candidate cannot
win by asking another model.
"""

from __future__ import annotations

import json
import secrets
import threading
import time
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any

from bot.display import printable, scrub
from bot.errors import BudgetSpent, EndpointError
from bot.llm.budget import BudgetMeter
from bot.llm.canonical import request_digest
from bot.llm.endpoint import Endpoint
from bot.llm.streaming import as_stream
from bot.records import Usage

LARGEST_REQUEST = 8 << 20
FORWARDED = ("chat/completions", "completions", "embeddings", "responses")
RETRIES = 3
# Nothing a harness did: the endpoint, the network, the key. 408 and 429 come here after retries.
INFRASTRUCTURE_STATUS = frozenset({401, 403, 408, 429})


@dataclass(frozen=True)
class Call:
    """One request of a harness and what came of it.

    `infrastructure` is True where the endpoint failed, not the harness.
    """

    request_digest: str
    request: dict[str, Any]
    response: dict[str, Any] | None
    status: int
    infrastructure: bool
    error: str | None
    usage: Usage
    wall_s: float


@dataclass
class Lease:
    """The access of one harness process. `begin` starts a new episode on it."""

    base_url: str
    token: str
    proxy: Proxy = field(repr=False)
    _calls: list[Call] = field(default_factory=list, repr=False)
    _admitted: int = 0

    def begin(self) -> None:
        with self.proxy.lock:
            self._calls, self._admitted = [], 0

    def calls(self) -> list[Call]:
        with self.proxy.lock:
            return list(self._calls)

    def unrecovered(self) -> Call | None:
        """A call that the endpoint failed and that was never answered later, if there is one."""
        calls = self.calls()
        answered = {call.request_digest for call in calls if call.status == 200}
        return next(
            (c for c in calls if c.infrastructure and c.request_digest not in answered), None
        )

    def close(self) -> None:
        with self.proxy.lock:
            self.proxy.leases.pop(self.token, None)

    def admit(self) -> bool:
        """Whether the episode may make one more call."""
        with self.proxy.lock:
            if self._admitted >= self.proxy.calls_per_episode:
                return False
            self._admitted += 1
            return True

    def record(self, call: Call) -> None:
        with self.proxy.lock:
            self._calls.append(call)


class Proxy:
    """An HTTP server on loopback in front of one endpoint; use as a context manager.

    `fatal` is set when the endpoint refuses the key: no later call can succeed. `spent` is set
    once the budget is.
    """

    def __init__(
        self, endpoint: Endpoint, budget: BudgetMeter, *, calls_per_episode: int = 64
    ) -> None:
        self.endpoint, self.budget = endpoint, budget
        self.calls_per_episode = calls_per_episode
        self.leases: dict[str, Lease] = {}
        self.lock = threading.Lock()
        self.fatal: EndpointError | None = None
        self.spent: BudgetSpent | None = None

    def __enter__(self) -> Proxy:
        import openai

        table = self.endpoint.table
        self._client = openai.OpenAI(
            base_url=self.endpoint.base_url,
            api_key=self.endpoint.api_key,
            timeout=table.timeout_s,
            max_retries=RETRIES,
        )
        proxy = self

        class Handler(_Handler):
            owner = proxy

        self._server = _Server(("127.0.0.1", 0), Handler)
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
        port = self._server.server_address[1]
        lease = Lease(f"http://127.0.0.1:{port}/{token}/v1", token, self)
        with self.lock:
            self.leases[token] = lease
        return lease

    def answer(self, lease: Lease, path: str, body: dict[str, Any]) -> tuple[int, dict[str, Any]]:
        """Status and JSON object for one request of a harness; recorded on its lease."""
        table = self.endpoint.table
        request = {k: v for k, v in body.items() if k not in ("stream", "stream_options")}
        request["model"] = self.endpoint.name
        if table.temperature is not None and path != "embeddings":
            request["temperature"] = table.temperature
        if table.seed is not None and path in ("chat/completions", "completions"):
            request["seed"] = table.seed
        digest = request_digest(request)
        if not lease.admit():
            return 429, _error(
                f"this episode has made its {self.calls_per_episode} model calls", "episode_budget"
            )
        try:
            self.budget.begin_call()
        except BudgetSpent as spent:
            self.spent = spent
            return 402, _error(spent.message, "budget_spent")
        started = time.monotonic()
        status, answer = self._forward(path, request)
        # A 4xx is the harness's own fault and passes through; so does its message.
        infrastructure = status >= 500 or status in INFRASTRUCTURE_STATUS
        usage = _usage(answer)
        self.budget.add(usage)
        lease.record(
            Call(
                request_digest=digest,
                request=request,
                response=answer if status == 200 else None,
                status=status,
                infrastructure=infrastructure,
                error=None if status == 200 else _message(answer),
                usage=usage,
                wall_s=time.monotonic() - started,
            )
        )
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
            return error.status_code, _error(message, "endpoint")
        except openai.APIError as error:  # no connection, no answer in time, half an answer
            return 502, _error(scrub(printable(str(error), 500)), "endpoint")
        except ValueError as error:  # an answer that is no JSON
            return 502, _error(f"not JSON: {scrub(printable(str(error), 200))}", "endpoint")
        if isinstance(answer, dict) and not isinstance(answer.get("error"), dict):
            return 200, answer
        return 502, _error("the endpoint answered something else than a completion", "endpoint")


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 256

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A harness that went away in the middle is no event."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    owner: Proxy
    timeout = 600

    def do_GET(self) -> None:
        _, path = self._route()
        if path != "models":
            return self._send(404, _error("no such path", "not_found"))
        model = {"id": self.owner.endpoint.name, "object": "model", "created": 0, "owned_by": ""}
        return self._send(200, {"object": "list", "data": [model]})

    def do_POST(self) -> None:
        lease, path = self._route()
        if lease is None or path not in FORWARDED:
            self.close_connection = True
            return self._send(404, _error("no such path", "not_found"))
        length = self.headers.get("Content-Length", "")
        if not length.isdigit() or int(length) > LARGEST_REQUEST:
            self.close_connection = True
            return self._send(413, _error("the request has no length or is over 8 MB", "too_large"))
        try:
            body = json.loads(self.rfile.read(int(length)))
            # NaN, infinities and lone surrogates cannot be passed on: the harness's own fault, and
            # not the endpoint's, which would make the episode invalid.
            json.dumps(body, allow_nan=False, ensure_ascii=False).encode()
        except (ValueError, RecursionError):
            body = None
        if not isinstance(body, dict):
            return self._send(400, _error("the request is not a JSON object", "bad_request"))
        status, answer = self.owner.answer(lease, path, body)
        if status == 200 and body.get("stream"):
            return self._send_raw(200, as_stream(answer, body), "text/event-stream")
        return self._send(status, answer)

    def _route(self) -> tuple[Lease | None, str]:
        """The lease whose token is in the path, and what follows `/v1/`."""
        parts = self.path.split("?")[0].strip("/").split("/", 2)
        if len(parts) == 3 and parts[1] == "v1":
            with self.owner.lock:
                return self.owner.leases.get(parts[0]), parts[2]
        return None, ""

    def _send(self, status: int, answer: dict[str, Any]) -> None:
        self._send_raw(status, json.dumps(answer).encode(), "application/json")

    def _send_raw(self, status: int, body: bytes, kind: str) -> None:
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:
        """Say nothing: the path holds the token."""


def _error(message: str, code: str) -> dict[str, Any]:
    return {"error": {"message": message, "type": "ecdysis_proxy", "code": code}}


def _message(answer: dict[str, Any]) -> str:
    error = answer.get("error")
    return str(error.get("message", "")) if isinstance(error, dict) else "no message"


def _usage(answer: dict[str, Any]) -> Usage:
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
