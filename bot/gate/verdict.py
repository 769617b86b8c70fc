"""The acceptance rule: results of hidden tasks become a verdict, one sentence with its numbers."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from fractions import Fraction

from bot.gate.paired_test import (
    Arm,
    Comparison,
    compare,
    fisher_p_value,
    needed_tasks,
    noise_band,
)
from bot.gate.sequential import Look, SequentialTest, looks
from bot.records import Verdict

MOST_INVALID = Fraction(1, 5)
MOST_FALSE_VETOES = 0.05
"""Chance that a candidate which breaks nothing is vetoed for any of the tasks."""


def decide(
    run: Callable[[int, int], tuple[Arm, Arm]],
    *,
    tasks: int,
    trials: int,
    level: float,
    most_looks: int,
    noise: Mapping[str, int],
) -> tuple[Verdict, Comparison]:
    """Control against candidate on the hidden tasks, which `run` runs part by part.

    `run(start, end)` gives both arms of the tasks from `start` to before `end`; they stand in an
    order that knows nothing of their results. `noise` holds, for as many tasks as were run twice
    on an unchanged harness, the second run's gain over the first in trials; `run` may add to it.

    After each part the test may stop: the candidate is proven, or it does not help in the first
    half. With several trials only all of the tasks can prove it: where a candidate makes many
    tasks a little better and ruins a few, a part may miss those, and the sign patterns of
    what was seen do not know of them. (With one trial all gains are of one size, and none is missed
    more easily than another.)
    """
    test = SequentialTest(level, tasks)
    comparison, waiting, seen = compare({}, {}, trials), list[int](), 0
    for end in looks(tasks, most_looks):
        part = compare(*run(seen, end), trials)
        comparison, waiting, seen = comparison + part, [*waiting, *part.gains.values()], end
        over = seen == tasks or (seen * 2 >= tasks and comparison.net <= 0)
        if trials > 1 and not over:
            continue
        look, waiting = test.look(waiting, seen), []
        if look.proven or over:
            twice = [noise[task] for task in comparison.control if task in noise]
            band = noise_band(twice, tasks=comparison.tasks) / trials
            verdict = judge(comparison, look=look, noise=band, tasks=tasks)
            if verdict.decision == "accept" or over:
                break
    if seen < tasks:
        verdict.reason = f"After {seen} of {tasks} hidden tasks: {verdict.reason}"
    return verdict, comparison


def judge(comparison: Comparison, *, look: Look, noise: float, tasks: int) -> Verdict:
    """Accept when the gain is above the noise band and proven.

    A gain inside the noise band, or none, is a rejection. A gain above it whose p-value the tasks
    at hand cannot bring down to the level is `undecidable`, with the number of tasks that would
    decide. A task that the candidate breaks is a veto only when its own trials prove it, with the
    level divided by the number of hidden `tasks`.
    """
    n, net = comparison.tasks, float(comparison.net)
    before, after = comparison.scores
    fixed, broken = comparison.fixed, comparison.broken
    verdict = Verdict(
        decision="reject",
        reason="",
        fixed=fixed,
        broken=broken,
        noise_band=noise,
        p_value=look.p_value,
        tasks=n,
        trials=comparison.trials,
    )
    figures = (
        f"{show(before)}/{n} -> {show(after)}/{n}, {len(fixed)} fixed and {len(broken)} broken, "
        f"net {round(net, 2):+g} against a noise band of {round(noise, 2):g}, "
        f"p = {look.p_value:.2g}"
    )
    vetoed = proven_break(comparison, tasks)
    invalid, ran = len(comparison.dropped) + len(comparison.spoilt), n + len(comparison.dropped)
    if invalid > MOST_INVALID * ran:
        verdict.decision = "undecidable"
        verdict.reason = (
            f"{invalid} of {ran} tasks have an invalid episode in one of the arms; "
            "the endpoint or the scorer must be mended first."
        )
    elif net <= 0:
        verdict.reason = f"It does not help on the hidden tasks: {figures}."
    elif net <= noise:
        verdict.reason = f"The gain is inside the noise of the unchanged harness: {figures}."
    elif vetoed is not None:
        passed = f"{comparison.control[vetoed]} to {comparison.candidate[vetoed]}"
        verdict.reason = (
            f"It breaks {vetoed} beyond chance, from {passed} of {comparison.trials} trials: "
            f"{figures}."
        )
    elif not look.proven:
        verdict.decision = "undecidable"
        verdict.needed_tasks = needed_tasks(comparison, look.level)
        wanted = (
            f"about {verdict.needed_tasks} tasks would decide"
            if verdict.needed_tasks
            else "no practical number of tasks would decide"
        )
        verdict.reason = f"Too few tasks at level {look.level:.2g}: {figures}; {wanted}."
    else:
        verdict.decision = "accept"
        verdict.reason = f"Better on the hidden tasks at level {look.level:.2g}: {figures}."
    return verdict


def show(value: Fraction) -> str:
    """`21` or `20.67`."""
    return str(value.numerator) if value.denominator == 1 else f"{float(value):.2f}"


def proven_break(comparison: Comparison, tasks: int) -> str | None:
    """A task whose own trials prove that the candidate passes it less often, or None."""
    n = comparison.trials
    for task in comparison.broken:
        p_value = fisher_p_value(comparison.control[task], n, comparison.candidate[task], n)
        if p_value <= MOST_FALSE_VETOES / tasks:
            return task
    return None
