"""A scripted model server, for fast tests. It is no language model and says so.

Its answers come from a function of the request; everything else is real: a socket, HTTP, the
OpenAI protocol. It also plays the faults that real servers have.
"""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any

from bot.llm.streaming import as_stream

MODEL = "scripted (no language model)"


@dataclass(frozen=True)
class Fault:
    """What the server does instead of answering: a status, and headers; or breaking off.

    `cut` sends half of the answer and closes; `drop` closes without a word. `pieces` are sent
    one by one without a length, `pause_s` apart, until they end or the client goes away.
    """

    status: int = 500
    headers: dict[str, str] = field(default_factory=dict)
    body: bytes | None = None
    cut: bool = False
    drop: bool = False
    pieces: Iterable[bytes] | None = None
    pause_s: float = 0.0


Answer = str | dict[str, Any] | Fault
Script = Callable[[dict[str, Any]], Answer]
"""From a request's body to the reply's text, a whole response, or a fault."""
EVENTS = {"Content-Type": "text/event-stream"}


def event(text: str, finish: str | None = None) -> bytes:
    """One event of a stream that goes on with `text`."""
    choice = {"index": 0, "delta": {"content": text}, "finish_reason": finish}
    chunk = {"object": "chat.completion.chunk", "model": MODEL, "choices": [choice]}
    return b"data: " + json.dumps(chunk).encode() + b"\n\n"


class ScriptedServer:
    """An OpenAI-compatible server on loopback whose replies are scripted.

    Use as a context manager. `requests` holds every request body and `headers` the headers, in
    the order in which they came. `latency_s` is slept before each answer.
    """

    def __init__(self, script: Script, *, latency_s: float = 0.0) -> None:
        self.script, self.latency_s = script, latency_s
        self.requests: list[dict[str, Any]] = []
        self.headers: list[dict[str, str]] = []
        self._lock = threading.Lock()

    def __enter__(self) -> ScriptedServer:
        owner = self

        class Handler(_Handler):
            scripted = owner

        self._server = _Server(("127.0.0.1", 0), Handler)
        self.base_url = f"http://127.0.0.1:{self._server.server_address[1]}/v1"
        threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True).start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._server.shutdown()
        self._server.server_close()

    def take(self, body: dict[str, Any], headers: dict[str, str]) -> Answer:
        with self._lock:
            self.requests.append(body)
            self.headers.append(headers)
        time.sleep(self.latency_s)
        return self.script(body)


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 256

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that went away is no event."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server_version = "EcdysisScripted"  # every answer's Server header says it, too
    disable_nagle_algorithm = True
    scripted: ScriptedServer

    def do_GET(self) -> None:
        model = {"id": MODEL, "object": "model", "created": 0, "owned_by": "ecdysis"}
        self._send(200, json.dumps({"object": "list", "data": [model]}).encode(), {})

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        answer = self.scripted.take(body, dict(self.headers))
        if isinstance(answer, Fault):
            self._fail(answer)
        elif body.get("stream"):
            self._send(200, as_stream(_response(body, answer), body), EVENTS)
        else:
            self._send(200, json.dumps(_response(body, answer)).encode(), {})

    def _fail(self, fault: Fault) -> None:
        if fault.drop:
            self.close_connection = True
            return
        if fault.pieces is not None:
            self.close_connection = True
            self._start(fault.status, fault.headers)
            for piece in fault.pieces:
                self.wfile.write(piece)
                time.sleep(fault.pause_s)
            return
        if fault.cut:
            whole = json.dumps(_response({}, "half an answer")).encode()
            self.send_response(200)
            self.send_header("Content-Length", str(len(whole)))
            self.end_headers()
            self.wfile.write(whole[: len(whole) // 2])
            self.close_connection = True
            return
        body = fault.body
        if body is None:
            body = json.dumps({"error": {"message": f"scripted {fault.status}"}}).encode()
        self._send(fault.status, body, fault.headers)

    def _send(self, status: int, body: bytes, headers: dict[str, str]) -> None:
        self._start(status, {"Content-Length": str(len(body)), **headers})
        self.wfile.write(body)

    def _start(self, status: int, headers: dict[str, str]) -> None:
        self.send_response(status)
        for name, value in {"Content-Type": "application/json", **headers}.items():
            self.send_header(name, value)
        self.end_headers()

    def log_message(self, format: str, *args: Any) -> None:
        """Tests read `requests` instead."""


def _response(body: dict[str, Any], answer: str | dict[str, Any]) -> dict[str, Any]:
    if isinstance(answer, dict):
        return answer
    prompt = sum(len(str(m.get("content", "")).split()) for m in body.get("messages", []))
    written = len(answer.split())
    return {
        "id": "scripted",
        "object": "chat.completion",
        "created": 0,
        "model": MODEL,
        "choices": [
            {
                "index": 0,
                "finish_reason": "stop",
                "message": {"role": "assistant", "content": answer},
            }
        ],
        "usage": {
            "prompt_tokens": prompt,
            "completion_tokens": written,
            "total_tokens": prompt + written,
        },
    }
