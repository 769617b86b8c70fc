import pytest

from bot.gate.paired_test import Comparison, compare
from bot.gate.screening import screen


def comparison(fixed: int, broken: int, tasks: int) -> Comparison:
    control = {f"t{i}": [i >= fixed] for i in range(tasks)}
    candidate = {f"t{i}": [i < fixed or i >= fixed + broken] for i in range(tasks)}
    return compare(control, candidate, 1)


@pytest.mark.parametrize(
    ("fixed", "broken", "goes_on"),
    [(1, 0, True), (3, 1, True), (11, 5, True), (2, 1, False), (10, 5, False), (0, 0, False)],
)
def test_a_candidate_must_fix_more_than_twice_what_it_breaks(
    fixed: int, broken: int, goes_on: bool
) -> None:
    reason = screen(comparison(fixed, broken, 20))
    assert (reason is None) == goes_on
    if reason is not None:
        assert f"fixes {fixed} and breaks {broken} of 20 tasks" in reason


def test_where_tasks_change_anyway_a_gain_that_chance_rarely_gives_is_enough() -> None:
    # P(at least 26 of 42 heads) = 0.0821, P(at least 25 of 42) = 0.140
    assert screen(comparison(26, 16, 100)) is None
    assert screen(comparison(25, 17, 100)) == (
        "On the train split it fixes 25 and breaks 17 of 100 tasks, net +8, p = 0.14."
    )


def test_many_small_gains_do_not_outweigh_a_few_ruined_tasks() -> None:
    # Of 4 * 256 patterns 256 have both fives positive, 2 * 219 one, 1 none: 695.
    control = {f"t{i}": 5 if i >= 8 else 0 for i in range(10)}
    candidate = {f"t{i}": 0 if i >= 8 else 1 for i in range(10)}
    assert screen(Comparison(control, candidate, 5, [], [])) == (
        "On the train split it fixes 8 and breaks 2 of 10 tasks, net -0.4, p = 0.68."
    )
