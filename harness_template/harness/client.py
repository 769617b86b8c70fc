"""The connection to the desk."""

from __future__ import annotations

import json
import socket
from typing import Any


class Desk:
    """Sends a tool call to the desk's socket and gives back its reply."""

    def __init__(self, address: str) -> None:
        self._socket = socket.socket(socket.AF_UNIX)
        self._socket.connect(address)
        self._lines = self._socket.makefile("rw", encoding="utf-8")

    def call(self, tool: str, arguments: dict[str, str]) -> dict[str, Any]:
        self._lines.write(json.dumps({"tool": tool, "arguments": arguments}) + "\n")
        self._lines.flush()
        reply: dict[str, Any] = json.loads(self._lines.readline())
        return reply

    def close(self) -> None:
        self._lines.close()
        self._socket.close()
