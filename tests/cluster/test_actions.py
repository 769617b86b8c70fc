from collections import Counter
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.cluster.actions import ActionDifference, compare_actions, differing, normal
from bot.records import Action, ToolStep

PAIRS = st.lists(st.tuples(st.sampled_from("ab"), st.integers(0, 2)), max_size=6)


def calls_of(pairs: list[tuple[str, int]], error: bool = False) -> list[ToolStep]:
    return [
        ToolStep(index=index, name=name, arguments={"n": str(n)}, error=error)
        for index, (name, n) in enumerate(pairs)
    ]


def expected_of(pairs: list[tuple[str, int]]) -> list[Action]:
    return [Action(name=name, arguments={"n": n}) for name, n in pairs]


@given(PAIRS, st.randoms())
def test_the_same_calls_in_any_order_do_not_differ(pairs: list[Any], random: Any) -> None:
    shuffled = random.sample(pairs, len(pairs))
    assert compare_actions(expected_of(pairs), calls_of(shuffled)) == []


@given(PAIRS, PAIRS)
def test_each_tool_differs_by_exactly_what_the_multisets_say(
    wanted: list[tuple[str, int]], made: list[tuple[str, int]]
) -> None:
    found = compare_actions(expected_of(wanted), calls_of(made))
    kinds = Counter((d.tool, d.kind) for d in found)
    for tool in "ab":
        too_few = Counter(p for p in wanted if p[0] == tool) - Counter(made)
        too_many = Counter(p for p in made if p[0] == tool) - Counter(wanted)
        paired = min(too_few.total(), too_many.total())
        assert kinds[tool, "wrong_argument"] == paired
        assert kinds[tool, "missing"] == too_few.total() - paired
        assert kinds[tool, "extra"] == too_many.total() - paired
    steps = [d.step for d in found if d.step is not None]
    assert len(steps) == len(set(steps))


@given(PAIRS)
def test_calls_that_failed_took_no_effect(pairs: list[tuple[str, int]]) -> None:
    assert compare_actions([], calls_of(pairs, error=True)) == []
    assert all(
        d.kind == "missing"
        for d in compare_actions(expected_of(pairs), calls_of(pairs, error=True))
    )


def test_the_most_alike_call_is_the_one_meant() -> None:
    expected = [Action(name="book", arguments={"a": 1, "b": 2, "c": 3})]
    calls = [
        ToolStep(index=4, name="book", arguments={"a": 9, "b": 9, "c": 9}),
        ToolStep(index=7, name="book", arguments={"a": 1, "b": 2, "c": 9, "d": None}),
    ]
    assert compare_actions(expected, calls) == [
        ActionDifference("wrong_argument", "book", 7, ("c",)),
        ActionDifference("extra", "book", 4),
    ]


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        (12, "12", True),
        (12.0, "12", True),
        (12.5, "12.5", True),
        (" x ", "x", True),
        ({"a": 1, "b": [2]}, {"b": ["2"], "a": "1"}, True),
        ([1, 2], [2, 1], False),
        (True, "True", False),
        (True, 1, False),
        (None, "None", False),
        ("X", "x", False),
        (float("inf"), "inf", True),
    ],
)
def test_values_in_one_form(one: Any, other: Any, same: bool) -> None:
    assert (normal(one) == normal(other)) is same
    assert differing({"k": one}, {"k": other}) == ([] if same else ["k"])


def test_an_argument_left_out_is_as_null() -> None:
    assert differing({"a": None, "b": 1}, {"b": 1}) == []
    assert differing({"a": 0}, {}) == ["a"]
