"""When a call that failed is made again."""

from __future__ import annotations

import random
import time
from collections.abc import Mapping
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from math import isfinite


@dataclass(frozen=True)
class Retry:
    """How often, and how long apart; seconds."""

    tries: int = 5
    first_s: float = 0.5
    longest_s: float = 20.0
    longest_asked_s: float = 120.0  # a server that wants more is not waited for

    def pause(self, failures: int, asked: float | None) -> float | None:
        """Seconds until the next try after so many failures; None: there is none.

        `asked` is what the server wants. Both are spread, so that parallel calls part.
        """
        if failures >= self.tries or (asked is not None and asked > self.longest_asked_s):
            return None
        if asked is not None:
            return asked + random.uniform(0, min(0.1 * asked, 1.0))
        return random.uniform(0.5, 1) * min(self.first_s * 2.0 ** (failures - 1), self.longest_s)


def retry_after(headers: Mapping[str, str]) -> float | None:
    """Seconds that `Retry-After-Ms` or `Retry-After` (a number or a date) asks for, never below 0.

    None without one, or where it is none of these.
    """
    for name, unit in (("retry-after-ms", 1e-3), ("retry-after", 1.0)):
        value = headers.get(name, "").strip()
        if not value:
            continue
        try:
            seconds = float(value) * unit
        except ValueError:
            try:
                seconds = parsedate_to_datetime(value).timestamp() - time.time()
            except (ValueError, TypeError, OverflowError):
                continue
        if isfinite(seconds):
            return max(seconds, 0.0)
    return None
