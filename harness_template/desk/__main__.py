"""Serve the desk on the Unix socket ECDYSIS_ENVIRONMENT: a JSON request a line, a reply a line.

A request is `{"tool": name, "arguments": {…}}`, a reply `{"result": text, "error": bool}`. The
database lies in the folder ECDYSIS_STATE, where only the desk writes.
"""

from __future__ import annotations

import json
import os
import socketserver
from pathlib import Path

from desk import database, tools


class Requests(socketserver.StreamRequestHandler):
    server: Desk

    def handle(self) -> None:
        for line in self.rfile:
            try:
                request = json.loads(line)
                reply = tools.call(self.server.path, request["tool"], request["arguments"])
            except (ValueError, KeyError, TypeError):
                reply = tools.Reply("error: not a request", True)
            answer = {"result": reply.result, "error": reply.error}
            self.wfile.write(json.dumps(answer).encode() + b"\n")


class Desk(socketserver.ThreadingUnixStreamServer):
    daemon_threads = True

    def __init__(self, address: str, path: Path) -> None:
        self.path = path
        super().__init__(address, Requests)


if __name__ == "__main__":
    file = Path(os.environ["ECDYSIS_STATE"]) / database.FILE
    database.create(file)
    with Desk(os.environ["ECDYSIS_ENVIRONMENT"], file) as desk:
        desk.serve_forever()
