"""Python tracebacks that foreign records carry as text."""

from __future__ import annotations

import re
from typing import Any

from bot.records import HarnessStep

LONGEST = 200_000
MOST_FRAMES = 50
BEGIN = "Traceback (most recent call last):"
_FRAME = re.compile(r'^\s*File "([^"\n]{1,500})", line (\d{1,9}), in (\S{1,200})', re.MULTILINE)


def exception_step(
    kind: str, message: str | None, traceback: str | None, **values: Any
) -> HarnessStep:
    """An exception as a step; of a chain of tracebacks, the last is what ended the run."""
    text = (traceback or "")[-LONGEST:].rpartition(BEGIN)[2]
    frames = [f"{file}:{function}:{line}" for file, line, function in _FRAME.findall(text)]
    return HarnessStep(
        event="exception", type=kind, message=message, frames=frames[-MOST_FRAMES:], **values
    )
