"""A worker's lines between the thread that reads its pipe and the one that wants them."""

from __future__ import annotations

import threading
import time
from collections import deque


class Lines:
    """A queue of lines that holds at most `cap` bytes: a flood waits in the pipe, not in memory.

    Each line counts a little more than its bytes, so that empty ones cannot flood either.
    """

    OVERHEAD = 100

    def __init__(self, cap: int) -> None:
        self._cap, self._held = cap, 0
        self._lines: deque[bytes] = deque()
        self._closed = False
        self._changed = threading.Condition()

    def put(self, line: bytes) -> bool:
        """Add a line once there is room; False when nobody will read it any more."""
        with self._changed:
            while self._held > self._cap and not self._closed:
                self._changed.wait()
            if self._closed:
                return False
            self._lines.append(line)
            self._held += len(line) + self.OVERHEAD
            self._changed.notify_all()
            return True

    def get(self, timeout_s: float) -> bytes | None:
        """The next line; None after the last. TimeoutError when none comes in time."""
        until = time.monotonic() + timeout_s
        with self._changed:
            while not self._lines:
                if self._closed:
                    return None
                if not self._changed.wait(until - time.monotonic()):
                    raise TimeoutError
            line = self._lines.popleft()
            self._held -= len(line) + self.OVERHEAD
            self._changed.notify_all()
            return line

    def close(self) -> None:
        """No line will come after those that are here."""
        with self._changed:
            self._closed = True
            self._changed.notify_all()
