"""Lines of a text that may end in LF, CRLF or CR, each as it likes."""

from __future__ import annotations

import re
from bisect import bisect_right
from functools import cached_property

LINE_END = re.compile(r"\r\n|\r|\n")


class Lines:
    """A text by its lines, which count from 0. `plain` is the text with LF at their ends."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.plain = plain(text)

    @cached_property
    def starts(self) -> list[int]:
        """Where each line starts; a text that ends in a line end has an empty one behind it."""
        return [0, *(match.end() for match in LINE_END.finditer(self.text))]

    @cached_property
    def _plain_starts(self) -> list[int]:
        return [0, *(match.end() for match in re.finditer("\n", self.plain))]

    @property
    def count(self) -> int:
        """How many lines there are; an empty one behind the last line end is none."""
        return len(self.starts) - (self.starts[-1] == len(self.text))

    def line_of(self, place: int) -> int:
        """The line that a place in `plain` is in."""
        return bisect_right(self._plain_starts, place) - 1

    def place_of(self, place: int) -> int:
        """Where a place in `plain` is in `text`."""
        line = self.line_of(place)
        return self.starts[line] + place - self._plain_starts[line]

    def end_of(self, line: int) -> str:
        """How a line ends; if it does not, or there is none, how the one before it does, or LF."""
        for start in reversed(self.starts[max(line, 0) : line + 2]):
            end = self.text[max(start - 2, 0) : start]
            if start and (match := re.search(r"(?:\r\n|\r|\n)\Z", end)):
                return match.group()
        return "\n"


def plain(text: str) -> str:
    """The text with all its lines ending in LF."""
    return LINE_END.sub("\n", text)


def line_at(text: str, place: int) -> int:
    """The line, from 1, that a place is in."""
    return bisect_right(Lines(text).starts, place)
