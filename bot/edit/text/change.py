"""One change of a text."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property


@dataclass(frozen=True)
class Change:
    """In `before`, the characters from `start` to `stop` become `code`; `start == stop` inserts."""

    before: str
    start: int
    stop: int
    code: str

    @cached_property
    def after(self) -> str:
        """The text with the change."""
        return self.before[: self.start] + self.code + self.before[self.stop :]

    @property
    def stop_after(self) -> int:
        """Where `code` ends in `after`."""
        return self.start + len(self.code)
