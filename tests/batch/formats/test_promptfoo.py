from pathlib import Path
from typing import Any

import pytest

from bot.batch.formats.promptfoo import read_item
from bot.errors import InputError
from bot.records import Episode
from tests.helpers.foreign import promptfoo_result, promptfoo_results, read


def test_results_become_episodes(tmp_path: Path) -> None:
    results = promptfoo_results(
        promptfoo_result(0, True),
        promptfoo_result(1, False, 1, error="Expected Oslo"),
        promptfoo_result(2, False, 2, error="HTTP 500"),
    )
    episodes, _ = read(tmp_path / "out.json", results)
    assert [(e.task_id, e.outcome, e.error) for e in episodes] == [
        ("test 0", "pass", None),
        ("test 1", "fail", None),
        ("test 2", "invalid", "HTTP 500"),
    ]
    assert episodes[0].source == "promptfoo/capitals"
    assert episodes[0].model == "maker:model-1"
    check = episodes[1].steps[-1]
    assert check.kind == "harness"
    assert check.message == "equals: Expected Oslo"


def test_a_result_without_a_verdict_is_said_with_its_place(tmp_path: Path) -> None:
    results = promptfoo_results(promptfoo_result(0, True), promptfoo_result(1, None))
    with pytest.raises(InputError, match=r"results.results 2: success is None"):
        read(tmp_path / "out.json", results)


def of(success: Any, reason: Any, **more: Any) -> Episode:
    return read_item(promptfoo_result(0, success, reason, **more), promptfoo_results(), "x")


@pytest.mark.parametrize(
    ("success", "reason", "graded", "said"),
    [
        (True, 0, {"pass": True}, "pass"),
        (True, None, None, "pass"),
        (False, 1, None, "fail"),
        (False, 0, {"pass": False}, "fail"),
        (False, None, {"pass": False}, "fail"),  # written before there was a failureReason
        (False, 2, {"pass": False}, "invalid"),
        (True, 2, {"pass": True}, "success is true, but failureReason is 2"),
        (False, 0, None, "failureReason is 0 and no assertion failed"),
        (False, None, None, "failureReason is None and no assertion failed"),
        ("yes", 0, None, "success is 'yes', neither true nor false"),
    ],
)
def test_the_reason_of_a_failure_decides_not_its_error(
    success: Any, reason: Any, graded: Any, said: str
) -> None:
    try:
        got = of(success, reason, gradingResult=graded, error="Expected Oslo").outcome
    except ValueError as error:
        got = str(error)  # type: ignore[assignment]
    assert got.startswith(said)


def test_a_verdict_without_a_score_is_its_score() -> None:
    assert of(True, 0, score=None).score == 1
    assert of(False, 1, score=None).score == 0
    assert of(False, 1, score=0.75).score == 0.75
    assert of(False, 2, score=0).score is None


def test_repetitions_are_trials_of_one_task() -> None:
    document = {**promptfoo_results(), "runtimeOptions": {"repeat": 2}}
    results = [
        promptfoo_result(n, True, vars=values, testCase={"description": "Norway"})
        for n, values in enumerate([{"a": 1, "b": 2}, {"b": 2, "a": 1}, {"a": 9, "b": 2}])
    ]
    first, again, other = (read_item(result, document, "x") for result in results)
    assert first.task_id == again.task_id != other.task_id
    assert first.task_id.startswith("Norway ")
    assert [first.trial, again.trial, other.trial] == [0, 1, 2]
    plain = [read_item(result, promptfoo_results(), "x").task_id for result in results]
    assert plain == ["test 0", "test 1", "test 2"]


def test_tests_without_a_number_are_told_by_their_variables() -> None:
    long = "x" * 300
    ids = {of(True, 0, testIdx=None, vars={"q": long + end}).task_id for end in "ab"}
    assert len(ids) == 2
    with pytest.raises(ValueError, match="neither testIdx nor vars"):
        of(True, 0, testIdx=None)


@pytest.mark.parametrize(
    ("assertions", "answer"),
    [
        ([{"type": "equals", "value": "Oslo"}], "Oslo"),
        ([{"type": "equals", "value": "{{city}}"}], None),
        ([{"type": "contains", "value": "Oslo"}], None),
        ([{"type": "equals", "value": "Oslo"}, {"type": "is-json"}], None),
        (None, None),
    ],
)
def test_the_expected_answer(assertions: Any, answer: str | None) -> None:
    expected = of(True, 0, testCase={"assert": assertions}).expected
    assert (expected and expected.answer) == answer


def test_tokens_time_and_named_scores_are_told() -> None:
    used = {"prompt": 9, "completion": 2, "cached": 0, "numRequests": 1}
    episode = of(
        False,
        1,
        latencyMs=1500,
        namedScores={"tone": 0.5},
        response={"output": {"city": "Bergen"}, "tokenUsage": used},
    )
    assert (episode.wall_s, episode.score_breakdown) == (1.5, {"tone": 0.5})
    assert (episode.usage.prompt_tokens, episode.usage.model_calls) == (9, 1)
    assert episode.answer == '{"city":"Bergen"}'
    assert of(True, 0, response={"output": [10**30]}).answer == f"[{10**30}]"
