"""The paired test of the gate where it may stop early: looks at growing parts of the hidden tasks.

A group-sequential form of the exact sign-flip test (`paired_test.py`). The level is spent in
proportion to the tasks seen (the linear member of the Kim-DeMets family, Biometrika 1987): after
a share t of them, the chance that a useless candidate has been accepted is at most t times the
level. That chance is computed exactly, over all sign patterns of the gains that were seen, so
it holds however many tasks differ, and what a look leaves unspent serves the next one.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Iterable
from dataclasses import dataclass

from bot.gate.paired_test import SignPatterns


@dataclass(frozen=True)
class Look:
    """What one look says: the candidate is proven where `p_value` is at most `level`.

    `p_value` is the chance, under the null hypothesis, of having stopped at an earlier look or
    of a gain at least as large as this one at this look.
    """

    p_value: float
    level: float

    @property
    def proven(self) -> bool:
        return self.p_value <= self.level


class SequentialTest:
    """Takes the tasks' gains, look by look; `tasks` is their number in all."""

    def __init__(self, level: float, tasks: int) -> None:
        self._level, self._tasks = level, tasks
        self._going_on = SignPatterns(tasks)  # those that no look has stopped
        self._stopped = 0  # the number of the others
        self._positive = 0  # the observed sum of positive gains

    def look(self, gains: Iterable[int], seen: int) -> Look:
        """`gains` of the tasks since the last look; with them, `seen` were run."""
        differing = [gain for gain in gains if gain]
        self._positive += sum(gain for gain in differing if gain > 0)
        self._going_on.add(map(abs, differing))
        self._stopped <<= len(differing)
        look = Look(
            p_value=self._share(self._positive), level=self._level * min(seen / self._tasks, 1.0)
        )
        self._stop(look.level)
        return look

    def _share(self, positive: int) -> float:
        """Of the patterns stopped so far or with a positive part of `positive` or more."""
        return (self._stopped + self._going_on.from_sum(positive)) / self._going_on.all

    def _stop(self, level: float) -> None:
        """Stop the patterns that this look accepts: largest sums first, up to `level`."""
        least = bisect_left(
            range(self._going_on.largest() + 1),
            True,
            key=lambda positive: self._share(positive) <= level,
        )
        self._stopped += self._going_on.from_sum(least)
        self._going_on.cut(least)


def looks(tasks: int, number: int, least: int = 8) -> list[int]:
    """After how many tasks to look: at most `number` times, `least` or more tasks apart."""
    every = max(math.ceil(tasks / number), least, 1)
    return [*range(every, tasks, every), tasks]
