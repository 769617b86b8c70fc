import itertools
import math
import random
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.gate.paired_test import (
    Arm,
    Comparison,
    SignPatterns,
    compare,
    fisher_p_value,
    needed_tasks,
    noise_band,
    sign_flip_p_value,
)


def of_gains(gains: list[int], trials: int = 1) -> Comparison:
    """Tasks t0, t1, …; a task of gain g passes g trials more than it did."""
    control = {f"t{i}": max(-gain, 0) for i, gain in enumerate(gains)}
    candidate = {f"t{i}": max(gain, 0) for i, gain in enumerate(gains)}
    return Comparison(control, candidate, trials, [], [])


def test_one_trial_is_the_exact_sign_test() -> None:
    # 9 fixed, 1 broken: P(at least 9 of 10 heads) = 11/1024
    assert sign_flip_p_value([*[1] * 9, -1, 0, 0]) == 11 / 1024


def test_larger_gains_weigh_more() -> None:
    # |gains| 3, 1, 1: sums 5, 3, 3, 1, -1, -3, -3, -5; observed 3 - 1 + 1 = 3.
    assert sign_flip_p_value([3, -1, 1]) == 3 / 8
    # The same in thirds of a task or in whole tasks.
    assert sign_flip_p_value([6, -2, 2]) == 3 / 8
    # A third of five tasks fixed, one whole task broken, net 2: 26 patterns with +3, 1 with -3.
    assert sign_flip_p_value([1, 1, 1, 1, 1, -3]) == 27 / 64


def test_nothing_differs_gives_one() -> None:
    assert sign_flip_p_value([0, 0, 0]) == 1.0
    assert sign_flip_p_value([]) == 1.0


@given(st.lists(st.integers(-5, 5), max_size=9))
def test_agrees_with_enumerating_every_sign_pattern(gains: list[int]) -> None:
    sums = [
        sum(sign * abs(gain) for sign, gain in zip(signs, gains, strict=True))
        for signs in itertools.product((1, -1), repeat=len(gains))
    ]
    assert sign_flip_p_value(gains) == sum(s >= sum(gains) for s in sums) / len(sums)
    # The band: the smallest |net| that at least 95 % of the patterns do not exceed.
    band = noise_band(gains, tasks=len(gains))
    assert sum(abs(s) <= band for s in sums) / len(sums) >= 0.95
    assert sum(abs(s) < band for s in sums) / len(sums) < 0.95 or band == 0


@given(st.lists(st.integers(1, 4), max_size=8), st.integers(0, 12), st.integers(0, 12))
def test_counts_of_sign_patterns(sizes: list[int], least: int, cut: int) -> None:
    patterns = SignPatterns(len(sizes))
    patterns.add(sizes)
    positives = [
        sum(itertools.compress(sizes, kept))
        for kept in itertools.product((0, 1), repeat=len(sizes))
    ]
    assert patterns.all == len(positives)
    assert patterns.largest() == max(positives)
    assert patterns.from_sum(least) == sum(p >= least for p in positives)
    patterns.cut(cut)
    assert patterns.from_sum(least) == sum(least <= p < cut for p in positives)


def test_more_differing_tasks_than_a_float_has_powers_of_two() -> None:
    """580 fixed and 520 broken: P(Binomial(1100, 1/2) >= 580) from its exact tail."""
    exact = sum(math.comb(1100, k) for k in range(580, 1101)) / 2**1100
    assert sign_flip_p_value([1] * 580 + [-1] * 520) == pytest.approx(exact, rel=1e-12)
    # Normal: 1.96 * sqrt(1100) = 65.0; sums of 1,100 signs are even.
    assert noise_band([1] * 1100, tasks=1100) == 64
    beyond = 2 * sum(math.comb(1100, k) for k in range(550 + 33, 1101)) / 2**1100
    assert 0.048 < beyond <= 0.05


def test_noise_band_is_the_95_percent_quantile_of_net_flips() -> None:
    assert noise_band([0, 0], tasks=2) == 0
    # One discordant task: |net| is always 1. Four: P(|net| <= 2) = 14/16 < 95 %, so 4.
    assert noise_band([1], tasks=1) == 1
    assert noise_band([1, -1, 1, 1], tasks=4) == 4
    # Ten: P(|net| <= 6) = 1 - 2 * (1 + 10) / 1024 = 0.9785, P(|net| <= 4) = 0.8906.
    assert noise_band([1] * 10, tasks=10) == 6


def test_noise_band_of_more_tasks_grows_with_the_square_root_of_their_number() -> None:
    gains = [1] * 10 + [0] * 8
    assert noise_band(gains, tasks=18) == 6
    assert noise_band(gains, tasks=72) == 12
    assert noise_band([], tasks=72) == 0


def test_compare_pairs_by_task_and_names_what_is_dropped() -> None:
    result = compare(
        {"a": [False, False], "b": [True, False], "c": [True, True], "d": [], "e": [True, None]},
        {"a": [True, None], "b": [True, True], "d": [True, True], "e": [True, True]},
        trials=2,
    )
    assert result.tasks == 2
    assert result.gains == {"a": 1, "b": 1}
    assert result.fixed == ["a", "b"]
    assert result.broken == []
    assert result.dropped == ["c", "d", "e"]
    assert result.spoilt == ["a"]
    assert result.scores == (Fraction(1, 2), Fraction(3, 2))
    assert result.net == 1


def test_parts_add_up_to_the_whole() -> None:
    control: Arm = {"a": [True], "b": [None], "c": [False], "d": [True]}
    candidate: Arm = {"a": [False], "b": [True], "c": [None], "d": [True]}
    whole = compare(control, candidate, 1)
    halves = [
        compare({t: control[t] for t in part}, {t: candidate[t] for t in part}, 1)
        for part in ("ab", "cd")
    ]
    assert halves[0] + halves[1] == whole
    assert compare({}, {}, 1) + whole == whole


def test_missing_trials_of_the_control_prove_nothing() -> None:
    """Ten tasks pass one trial in five, on either side; four trials of the control are invalid.

    Against the one that is left the candidate would seem better on nine tasks of ten.
    """
    control: Arm = {f"t{i}": [i == 0, None, None, None, None] for i in range(10)}
    candidate: Arm = {f"t{i}": [False, True, False, False, False] for i in range(10)}
    assert compare(control, candidate, 5).tasks == 0


def test_needed_tasks_by_hand() -> None:
    # 8 fixed and 3 broken of 40: mean 1/8, mean square 11/40; level 1 %: 2.3263, power: 0.8416.
    # ((2.3263 * 0.5244 + 0.8416 * 0.5093) / 0.125)^2 = 174.0
    assert needed_tasks(of_gains([1] * 8 + [-1] * 3 + [0] * 29), alpha=0.01) == 174
    # All signs alike prove 3 % from six tasks on: 1/64.
    assert needed_tasks(of_gains([1] * 5), alpha=0.03) == 6
    # ((1.8808 * 0.5 + 0.8416 * 0.4330) / 0.25)^2 = 27.2
    assert needed_tasks(of_gains([1] * 5 + [0] * 15), alpha=0.03) == 28
    # All alike, in thirds: no variance, whatever rounding says.
    assert [needed_tasks(of_gains([1] * n, trials=3), 0.03) for n in (3, 7, 49)] == [6, 6, 6]
    # A net of one task among 400 that differ.
    assert needed_tasks(of_gains([1] * 201 + [-1] * 200), alpha=0.03) is None


@pytest.mark.parametrize(
    ("gains", "trials", "alpha"),
    [
        ([1] * 8 + [-1] * 3 + [0] * 29, 1, 0.01),
        ([1] * 4 + [0] * 6, 1, 0.03),
        ([1] * 12 + [-1] * 8 + [0] * 10, 1, 0.03),
        ([5] * 2 + [1] * 9 + [-1] * 7 + [2] * 3 + [-2] * 3 + [0] * 16, 5, 0.03),
        ([1] * 20 + [-4] * 3, 5, 0.03),
    ],
)
def test_needed_tasks_give_the_power_they_promise(
    gains: list[int], trials: int, alpha: float
) -> None:
    needed = needed_tasks(of_gains(gains, trials), alpha)
    assert needed is not None
    assert needed > len(gains)
    chance = random.Random(7)
    found = sum(sign_flip_p_value(chance.choices(gains, k=needed)) <= alpha for _ in range(400))
    assert found / 400 == pytest.approx(0.8, abs=0.08)


def test_needed_tasks_is_none_without_a_gain() -> None:
    assert needed_tasks(of_gains([-1]), 0.05) is None
    assert needed_tasks(of_gains([]), 0.05) is None
    assert needed_tasks(of_gains([1, -1, 0]), 0.05) is None


def test_fisher_p_value_of_a_task_that_breaks() -> None:
    assert fisher_p_value(5, 5, 0, 5) == pytest.approx(1 / math.comb(10, 5))
    assert fisher_p_value(1, 1, 0, 1) == pytest.approx(0.5)
    assert fisher_p_value(0, 3, 3, 3) == 1.0
    # 4 of 5 before, 1 of 5 after: (C(5,1) C(5,4) + C(5,0) C(5,5)) / C(10,5)
    assert fisher_p_value(4, 5, 1, 5) == pytest.approx(26 / 252)
