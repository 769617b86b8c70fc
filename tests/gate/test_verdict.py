import random
import re
from collections.abc import Callable

import pytest

from bot.gate.error_budget import ErrorBudget
from bot.gate.paired_test import Arm
from bot.gate.verdict import decide
from bot.records import Verdict

Outcomes = dict[str, list[bool | None]]


def verdict(
    control: Outcomes,
    candidate: Outcomes,
    *,
    level: float = 0.03,
    noise: dict[str, int] | None = None,
    looks: int = 1,
) -> Verdict:
    tasks = list(control)

    def run(start: int, end: int) -> tuple[Arm, Arm]:
        part = tasks[start:end]
        return {t: control[t] for t in part}, {t: candidate[t] for t in part if t in candidate}

    trials = max(map(len, control.values()))
    found, _ = decide(
        run,
        tasks=len(tasks),
        trials=trials,
        level=level,
        most_looks=looks,
        noise=noise or {},
    )
    return found


def flips(fixed: int, broken: int, same: int, trials: int = 1) -> tuple[Outcomes, Outcomes]:
    """Tasks t0, t1, …: first those that get fixed in every trial, then those that break."""
    control: Outcomes = {}
    candidate: Outcomes = {}
    for i in range(fixed + broken + same):
        control[f"t{i}"] = [i >= fixed] * trials
        candidate[f"t{i}"] = [not fixed <= i < fixed + broken] * trials
    return control, candidate


def noisy(differing: int) -> dict[str, int]:
    return {f"t{i}": 1 if i < differing else 0 for i in range(26)}


def test_a_clear_gain_is_accepted_with_its_numbers() -> None:
    result = verdict(*flips(12, 1, 11))
    assert result.decision == "accept"
    assert result.p_value == 14 / 8192
    assert len(result.fixed) == 12
    assert result.broken == ["t12"]
    assert (result.tasks, result.trials, result.noise_band) == (24, 1, 0)
    assert result.reason == (
        "Better on the hidden tasks at level 0.03: 12/24 -> 23/24, 12 fixed and 1 broken, net +11 "
        "against a noise band of 0, p = 0.0017."
    )


def some_invalid() -> Verdict:
    control, candidate = flips(15, 0, 5)
    control |= {"t19": [None]}
    candidate |= {f"t{i}": [None] for i in range(15, 19)}
    return verdict(control, candidate)


@pytest.mark.parametrize(
    ("made", "decision", "reason"),
    [
        (
            lambda: verdict(*flips(3, 3, 20)),
            "reject",
            "It does not help on the hidden tasks: 23/26 -> 23/26, 3 fixed and 3 broken, net +0 "
            "against a noise band of 0, p = 0.66.",
        ),
        (
            lambda: verdict(*flips(5, 1, 20), noise=noisy(6)),
            "reject",
            "The gain is inside the noise of the unchanged harness: 21/26 -> 25/26, 5 fixed and 1 "
            "broken, net +4 against a noise band of 4, p = 0.11.",
        ),
        (
            lambda: verdict(*flips(12, 1, 0, trials=8)),
            "reject",
            "It breaks t12 beyond chance, from 8 to 0 of 8 trials: 1/13 -> 12/13, 12 fixed and 1 "
            "broken, net +11 against a noise band of 0, p = 0.0017.",
        ),
        (
            lambda: verdict(*flips(4, 0, 6)),
            "undecidable",
            "Too few tasks at level 0.03: 6/10 -> 10/10, 4 fixed and 0 broken, net +4 against a "
            "noise band of 0, p = 0.062; about 17 tasks would decide.",
        ),
        (
            lambda: verdict(*flips(201, 200, 3)),
            "undecidable",
            "Too few tasks at level 0.03: 203/404 -> 204/404, 201 fixed and 200 broken, net +1 "
            "against a noise band of 0, p = 0.5; no practical number of tasks would decide.",
        ),
        (
            some_invalid,
            "undecidable",
            "5 of 20 tasks have an invalid episode in one of the arms; the endpoint or the scorer "
            "must be mended first.",
        ),
        (
            lambda: verdict(*flips(0, 2, 70), looks=6),
            "reject",
            "After 36 of 72 hidden tasks: It does not help on the hidden tasks: 36/36 -> 34/36, 0 "
            "fixed and 2 broken, net -2 against a noise band of 0, p = 1.",
        ),
    ],
)
def test_each_refusal_is_one_sentence_with_its_numbers(
    made: Callable[[], Verdict], decision: str, reason: str
) -> None:
    result = made()
    assert result.decision == decision
    assert result.reason == reason
    assert result.reason.count(". ") == 0
    assert len(re.findall(r"\d+", result.reason)) >= 2


def test_the_number_of_tasks_that_would_decide_is_kept() -> None:
    assert verdict(*flips(4, 0, 6)).needed_tasks == 17
    assert verdict(*flips(12, 1, 11)).needed_tasks is None


def test_a_break_needs_proof_by_its_own_trials() -> None:
    """8 of 8 trials against 0 of 8: p = 1/12870; enough for 643 tasks at 5 %, not for 644."""
    assert verdict(*flips(12, 1, 0, trials=1)).decision == "accept"
    assert verdict(*flips(12, 1, 0, trials=3)).decision == "accept"  # 1/20 for 13 tasks
    assert verdict(*flips(12, 1, 643 - 13, trials=8)).decision == "reject"
    assert verdict(*flips(12, 1, 644 - 13, trials=8)).decision == "accept"


def test_spoiling_the_trials_of_a_task_is_no_way_around_the_veto() -> None:
    control, candidate = flips(12, 1, 11, trials=8)
    candidate["t12"] = [None] * 8
    assert "It breaks t12" in verdict(control, candidate).reason


def test_missing_episodes_make_it_undecidable() -> None:
    control, candidate = flips(10, 0, 0)
    result = verdict(control, {t: candidate[t] for t in list(candidate)[:6]}, level=0.05)
    assert result.decision == "undecidable"
    assert "4 of 10 tasks" in result.reason


def test_a_candidate_wins_nothing_by_spoiling_what_it_would_fail() -> None:
    """It passes 6 and makes 4 invalid, of which the control passes 3 and fails 1."""
    control: Outcomes = {f"t{i}": [6 <= i < 9] for i in range(40)}
    candidate: Outcomes = {
        f"t{i}": [True if i < 6 else None if i < 10 else False] for i in range(40)
    }
    result = verdict(control, candidate, level=0.05)
    assert result.decision == "undecidable"
    assert "3/40 -> 6/40, 6 fixed and 3 broken" in result.reason


def test_several_trials_prove_nothing_before_all_tasks_are_seen() -> None:
    """Half of the tasks pass one trial of five more; the one that is ruined comes last."""
    control: Outcomes = {f"t{i}": [False] * 5 for i in range(40)}
    candidate: Outcomes = {f"t{i}": [i % 2 == 0] + [False] * 4 for i in range(40)}
    control["t39"] = [True] * 5
    assert verdict(control, candidate, looks=5).tasks == 40
    one = {task: trials[:1] for task, trials in control.items()}
    other = {task: trials[:1] for task, trials in candidate.items()}
    assert verdict(one, other, looks=5).tasks == 16


def test_the_noise_counts_of_the_tasks_at_hand() -> None:
    """At an early look a band of all hidden tasks would be too wide."""
    control, candidate = flips(72, 0, 0)
    noise = {f"t{i}": i % 2 for i in range(72)}
    result = verdict(control, candidate, looks=6, noise=noise)
    assert result.decision == "accept"
    assert result.tasks == 12
    assert result.noise_band == 4  # six differ: P(|net| <= 4) = 1 - 2/64
    # Half of the tasks were run twice: the band grows by sqrt(2).
    some = {f"t{i}": 1 for i in range(6)}
    assert verdict(control, candidate, looks=6, noise=some).noise_band == pytest.approx(4 * 2**0.5)


def test_levels_of_a_run_without_accepts_sum_to_less_than_alpha() -> None:
    budget = ErrorBudget()
    levels = []
    for _ in range(1000):
        levels.append(budget.level())
        budget.settle(False)
    assert sum(levels) < 0.05
    assert levels[0] == pytest.approx(0.030396, abs=1e-5)


def test_an_accepted_candidate_hands_its_level_on_once() -> None:
    budget = ErrorBudget()
    own = [0.05 * 6 / 3.141592653589793**2 / k**2 for k in range(1, 5)]
    for accepted in (True, True, False):
        budget.level()
        budget.settle(accepted)
    assert [level for level, _ in budget.used] == pytest.approx(
        [own[0], own[0] + own[1], own[0] + own[1] + own[2]]
    )
    assert budget.level() == pytest.approx(own[3])


def test_false_accepts_of_useless_candidates_stay_below_alpha() -> None:
    """A run of useless candidates on noisy tasks; any accept is false."""
    chance = random.Random(11)
    false_runs = 0
    for _ in range(300):
        budget = ErrorBudget()
        for _ in range(4):
            arms: list[Outcomes] = [
                {f"t{i}": [chance.random() < 0.4] for i in range(40)} for _ in range(2)
            ]
            result = verdict(*arms, level=budget.level(), looks=5)
            budget.settle(result.decision == "accept")
            if result.decision == "accept":
                false_runs += 1
                break
    # The 99.9 % quantile of Binomial(300, 0.05) is 28.
    assert false_runs <= 28
