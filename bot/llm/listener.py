"""The proxy's HTTP side: requests of harnesses are read, checked and answered on loopback."""

from __future__ import annotations

import json
import socketserver
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from socket import AF_INET, AF_UNIX
from typing import TYPE_CHECKING, Any

from bot.errors import EndpointError
from bot.llm.lease import Lease
from bot.llm.streaming import as_stream

if TYPE_CHECKING:
    from bot.llm.proxy import Proxy

LARGEST_REQUEST = 8 << 20
LARGEST_DISCARDED = 64 << 20
DEEPEST_JSON = 100
FORWARDED = ("chat/completions", "completions", "embeddings", "responses")
# The call is refused for good; OpenAI's clients would wait and try it again.
REFUSED = {"x-should-retry": "false"}


class Listener(ThreadingHTTPServer):
    """One thread per connection, on a port that the system chooses, or on a Unix socket."""

    daemon_threads = True
    request_queue_size = 256

    def __init__(self, proxy: Proxy, address: Path | None = None) -> None:
        self.proxy = proxy
        self.address_family = AF_INET if address is None else AF_UNIX
        # typeshed knows no HTTP server on a Unix socket; the classes do not mind.
        where: Any = ("127.0.0.1", 0) if address is None else str(address)
        super().__init__(where, _Handler if address is None else _LocalHandler)

    def server_bind(self) -> None:
        """Without HTTPServer's look for a host's name: a Unix socket has none, loopback needs it
        not.
        """
        socketserver.TCPServer.server_bind(self)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A harness that went away in the middle is no event; a fault of our own ends the run."""
        error = sys.exc_info()[1]
        if error is not None and not isinstance(error, OSError):
            self.proxy.fatal = EndpointError(f"The proxy itself failed: {error!r}.")


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: Listener
    timeout = 600
    # Header and body leave in one piece each; waiting to fill a packet would cost 40 ms.
    disable_nagle_algorithm = True

    def do_GET(self) -> None:
        lease, path = self._route()
        if lease is None or path != "models":
            return self._send(404, refusal("no such path", "not_found"))
        name = self.server.proxy.endpoint.name
        model = {"id": name, "object": "model", "created": 0, "owned_by": ""}
        return self._send(200, {"object": "list", "data": [model]})

    def do_POST(self) -> None:
        lease, path = self._route()
        length = self.headers.get("Content-Length", "")
        if not (length.isascii() and length.isdigit()):
            self.close_connection = True
            return self._send(411, refusal("the request has no Content-Length", "no_length"))
        if int(length) > LARGEST_REQUEST:
            self.close_connection = True
            self._discard(int(length))
            return self._send(413, refusal("the request is over 8 MB", "too_large"))
        raw = self.rfile.read(int(length))
        if len(raw) < int(length):
            self.close_connection = True
            return None
        if lease is None or path not in FORWARDED:
            return self._send(404, refusal("no such path", "not_found"))
        body = parse_request(raw)
        if isinstance(body, str):
            return self._send(400, refusal(body, "bad_request"))
        status, answer = self.server.proxy.answer(lease, path, body)
        if status == 200 and body.get("stream"):
            return self._send_raw(200, as_stream(answer, body), "text/event-stream", {})
        return self._send(status, answer)

    def _discard(self, length: int) -> None:
        """Read what is refused: a client that is still writing would not see the refusal."""
        left = min(length, LARGEST_DISCARDED)
        while left > 0 and (block := self.rfile.read(min(left, 1 << 20))):
            left -= len(block)

    def _route(self) -> tuple[Lease | None, str]:
        """The lease whose token is in the path, and what follows `/v1/`."""
        parts = self.path.split("?")[0].strip("/").split("/", 2)
        if len(parts) == 3 and parts[1] == "v1":
            with self.server.proxy.lock:
                return self.server.proxy.leases.get(parts[0]), parts[2]
        return None, ""

    def _send(self, status: int, answer: dict[str, Any]) -> None:
        headers = REFUSED if status in (402, 429) else {}
        self._send_raw(status, json.dumps(answer).encode(), "application/json", headers)

    def _send_raw(self, status: int, body: bytes, kind: str, headers: dict[str, str]) -> None:
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:
        """Say nothing: the path holds the token."""


class _LocalHandler(_Handler):
    disable_nagle_algorithm = False  # a Unix socket never waits


def parse_request(raw: bytes) -> dict[str, Any] | str:
    """The JSON object in `raw`, or what is wrong with it.

    Everything that could not be sent on is refused here, as the harness's fault: NaN, infinite
    numbers, lone surrogates. A harness could otherwise make the endpoint seem to fail.
    """
    try:
        body = json.loads(raw)
        if is_too_deep(body):
            return f"the request is nested more than {DEEPEST_JSON} deep"
        json.dumps(body, ensure_ascii=False, allow_nan=False).encode()
    except RecursionError:
        return f"the request is nested more than {DEEPEST_JSON} deep"
    except ValueError:
        return "the request is not JSON that can be sent on"
    return body if isinstance(body, dict) else "the request is not a JSON object"


def is_too_deep(value: Any) -> bool:
    """Whether lists and objects are nested more than DEEPEST_JSON deep; does not recurse."""
    level, depth = [value], 0
    while level := [item for item in level if isinstance(item, dict | list)]:
        depth += 1
        if depth > DEEPEST_JSON:
            return True
        level = [
            inner for item in level for inner in (item.values() if isinstance(item, dict) else item)
        ]
    return False


def refusal(message: str, code: str) -> dict[str, Any]:
    """An error in the words of the OpenAI protocol, said by the proxy."""
    return {"error": {"message": message, "type": "ecdysis_proxy", "code": code}}
