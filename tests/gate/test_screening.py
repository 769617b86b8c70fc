import pytest

from bot.gate.paired_test import compare
from bot.gate.screening import screen


@pytest.mark.parametrize(
    ("fixed", "broken", "goes_on"),
    [(1, 0, True), (3, 1, True), (11, 5, True), (2, 1, False), (10, 5, False), (0, 0, False)],
)
def test_a_candidate_must_fix_more_than_twice_what_it_breaks(
    fixed: int, broken: int, goes_on: bool
) -> None:
    control = {f"t{i}": [i >= fixed] for i in range(20)}
    candidate = {f"t{i}": [i < fixed or i >= fixed + broken] for i in range(20)}
    reason = screen(compare(control, candidate, 1))
    assert (reason is None) == goes_on
    if reason is not None:
        assert f"fixes {fixed} and breaks {broken} of 20 tasks" in reason
