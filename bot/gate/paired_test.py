"""The exact paired test of the gate, and the noise band. The unit is the task.

A task's gain is the number of its trials that the candidate passes, less those that the control
passes. Under the null hypothesis the two may be swapped in each task, so every gain may change
its sign: the one-sided p-value is the share of all sign patterns whose sum is at least the observed
one (Fisher's randomisation test for pairs). With one trial this is the exact sign test on the
discordant tasks, i.e. McNemar's exact test.
"""

from __future__ import annotations

import math
import statistics
from bisect import bisect_left
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache

Arm = Mapping[str, Sequence[bool | None]]
"""Task id → did each of its trials pass; None is an invalid episode."""

MOST_TASKS = 100_000
_NORMAL = statistics.NormalDist()


@dataclass(frozen=True)
class Comparison:
    """Control against candidate on the same tasks: how many of a task's `trials` pass."""

    control: dict[str, int]
    candidate: dict[str, int]
    trials: int
    dropped: list[str]  # tasks with an invalid episode of the control: in neither arm
    spoilt: list[str]  # of the others, those with an invalid episode of the candidate

    @property
    def tasks(self) -> int:
        return len(self.control)

    @property
    def gains(self) -> dict[str, int]:
        """In trials."""
        return {task: self.candidate[task] - passed for task, passed in self.control.items()}

    @property
    def fixed(self) -> list[str]:
        return [task for task, gain in self.gains.items() if gain > 0]

    @property
    def broken(self) -> list[str]:
        return [task for task, gain in self.gains.items() if gain < 0]

    @property
    def net(self) -> Fraction:
        """Sum of the gains: net flips, in tasks."""
        before, after = self.scores
        return after - before

    @property
    def scores(self) -> tuple[Fraction, Fraction]:
        """What control and candidate pass, in tasks."""
        per_task = max(self.trials, 1)
        return (
            Fraction(sum(self.control.values()), per_task),
            Fraction(sum(self.candidate.values()), per_task),
        )

    def __add__(self, later: Comparison) -> Comparison:
        """Both as one; they have no task in common."""
        return Comparison(
            self.control | later.control,
            self.candidate | later.candidate,
            max(self.trials, later.trials),
            self.dropped + later.dropped,
            self.spoilt + later.spoilt,
        )


def compare(control: Arm, candidate: Arm, trials: int) -> Comparison:
    """Pair two arms by task; each task was run `trials` times on either.

    A task with an invalid (or missing) episode of the control is left out: with fewer trials on
    one side the two could not be swapped. Invalid episodes of the candidate count as not
    passed: a candidate may not win by spoiling what it would fail.
    """
    kept = [
        task for task, episodes in control.items() if task in candidate and _whole(episodes, trials)
    ]
    return Comparison(
        control={task: control[task].count(True) for task in kept},
        candidate={task: candidate[task].count(True) for task in kept},
        trials=trials,
        dropped=sorted({*control, *candidate}.difference(kept)),
        spoilt=[task for task in kept if not _whole(candidate[task], trials)],
    )


class SignPatterns:
    """Exact counts of the sign patterns of some sizes, by the sum of the sizes that are positive.

    The counts stand side by side in one integer, so another size is a shift and an addition. At
    most `most` sizes can be added.
    """

    def __init__(self, most: int) -> None:
        self._bits = most + 1  # of one count: all patterns together fit into it
        self._packed = 1
        self.all = 1

    def add(self, sizes: Iterable[int]) -> None:
        for size in sizes:
            self._packed += self._packed << (size * self._bits)
            self.all <<= 1

    def from_sum(self, positive: int) -> int:
        """How many have a positive part of `positive` or more."""
        counts = self._packed >> (positive * self._bits)
        number = counts.bit_length() // self._bits + 1
        while number > 1:  # fold the upper half onto the lower
            number = (number + 1) // 2
            counts = (counts >> (number * self._bits)) + (
                counts & ((1 << (number * self._bits)) - 1)
            )
        return counts

    def largest(self) -> int:
        """The largest positive part that a pattern has."""
        return (self._packed.bit_length() - 1) // self._bits

    def cut(self, positive: int) -> None:
        """Take out those with a positive part of `positive` or more."""
        self._packed &= (1 << (positive * self._bits)) - 1


def sign_flip_p_value(gains: Iterable[int]) -> float:
    """Exact one-sided p of the hypothesis that the candidate is no better than the control.

    The share of the sign patterns at least as extreme; 1.0 where nothing differs.
    """
    differing = [gain for gain in gains if gain]
    patterns = SignPatterns(len(differing))
    patterns.add(map(abs, differing))
    return patterns.from_sum(sum(gain for gain in differing if gain > 0)) / patterns.all


def noise_band(gains: Collection[int], *, tasks: int, quantile: float = 0.95) -> float:
    """The `quantile` of |net flips| between two runs of the same harness, in the unit of `gains`.

    `gains` are those of one control run over another. Which run came first is arbitrary, so
    the band is the exact quantile over all sign patterns of what differed. For more `tasks` than
    were run twice it grows with the square root of their number, as sums of noise do.
    """
    sizes = [abs(gain) for gain in gains if gain]
    patterns, whole = SignPatterns(len(sizes)), sum(sizes)
    patterns.add(sizes)

    def holds(net: int) -> bool:
        return 2 * patterns.from_sum((whole + net) // 2 + 1) / patterns.all <= 1 - quantile

    band = bisect_left(range(whole), True, key=holds)
    return band * math.sqrt(max(tasks / max(len(gains), 1), 1.0))


def needed_tasks(comparison: Comparison, alpha: float, power: float = 0.8) -> int | None:
    """Tasks needed so that gains as large and as varied as those seen would be found at `alpha`.

    None where the observed gain is not positive, or where more than 100,000 would be needed. In
    the usual normal approximation: under the null hypothesis the sum of n gains varies by their
    mean square, otherwise by their variance. At least so many tasks must differ that all signs
    alike would be proof.
    """
    gains = [gain / max(comparison.trials, 1) for gain in comparison.gains.values()]
    if not gains or sum(gains) <= 0:
        return None
    mean, square = statistics.fmean(gains), statistics.fmean(gain * gain for gain in gains)
    proof, sure = -_NORMAL.inv_cdf(alpha), _NORMAL.inv_cdf(power)
    spread = proof * math.sqrt(square) + sure * math.sqrt(max(square - mean * mean, 0.0))
    least = math.ceil(-math.log2(alpha)) * len(gains) / sum(map(bool, gains))
    needed = math.ceil(max((spread / mean) ** 2, least))
    return needed if needed <= MOST_TASKS else None


@cache
def fisher_p_value(
    control_passes: int, control: int, candidate_passes: int, candidate: int
) -> float:
    """One-sided exact p that the candidate passes a task less often than the control does."""
    passes, total = control_passes + candidate_passes, control + candidate
    ways = math.comb(total, passes)
    return (
        sum(
            math.comb(candidate, k) * math.comb(control, passes - k)
            for k in range(0, candidate_passes + 1)
            if 0 <= passes - k <= control
        )
        / ways
    )


def _whole(episodes: Sequence[bool | None], trials: int) -> bool:
    return len(episodes) == trials and None not in episodes
