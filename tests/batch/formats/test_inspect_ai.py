import json
from pathlib import Path
from typing import Any

import pytest

from bot.batch.formats.inspect_ai import read_item, read_steps
from bot.batch.read import read_batch
from bot.errors import InputError
from bot.records import Episode, HarnessStep, ModelStep, ToolStep
from tests.helpers.foreign import inspect_log, inspect_sample, outcomes, read
from tests.helpers.trajectories import shared_data


def test_samples_become_episodes(tmp_path: Path) -> None:
    log = inspect_log(
        inspect_sample(1, "C"),
        inspect_sample(2, "I"),
        inspect_sample("x", {"a": 1, "b": 0.5}),
        inspect_sample(4, "I", error={"message": "docker died", "traceback": "..."}),
        inspect_sample(5, False, limit={"type": "message", "limit": 5}),
    )
    episodes, batch = read(tmp_path / "log.json", log)
    assert outcomes(episodes) == [
        ("1", 1, "pass"),
        ("2", 1, "fail"),
        ("x", 1, "pass"),
        ("4", 1, "invalid"),
        ("5", 1, "fail"),
    ]
    first = episodes[0]
    assert (first.source, first.model, first.answer) == ("inspect/sums", "maker/model-1", "12")
    assert first.expected is not None
    assert first.expected.answer == "12"
    assert [step.kind for step in first.steps] == ["user", "model", "tool", "harness", "model"]
    assert [step.position for step in first.steps] == [1, 2, 2, 2, 4]  # type: ignore[union-attr]
    assert first.steps[2].result == "12"  # type: ignore[union-attr]
    assert episodes[2].score_breakdown == {"match/a": 1.0, "match/b": 0.5}
    assert (episodes[3].end_reason, episodes[3].error) == ("infrastructure", "docker died")
    assert episodes[4].end_reason == "budget"
    assert "Inspect AI log" in batch.formats[str(tmp_path / "log.json")]


def test_a_log_with_python_s_nan_is_read(tmp_path: Path) -> None:
    log = {**inspect_log(inspect_sample(1, "C")), "stats": {"stderr": float("nan")}}
    assert "NaN" in json.dumps(log)
    (episode,), _ = read(tmp_path / "log.json", log)
    assert (episode.outcome, episode.model) == ("pass", "maker/model-1")


def test_a_sample_without_a_score_is_said_with_its_place(tmp_path: Path) -> None:
    log = inspect_log(inspect_sample(1, "C"), inspect_sample(2, "C", scores={}))
    with pytest.raises(InputError, match=r"samples 2: the sample has no score.*1 good record"):
        read(tmp_path / "log.json", log)
    episodes, batch = read(tmp_path / "log.json", log, skip_bad=True)
    assert len(episodes) == batch.left_out == 1


def of(value: Any = "C", **more: Any) -> Episode:
    log = {**inspect_log(), **more.pop("log", {})}
    return read_item(inspect_sample(1, value, **more), log, "log.json")


@pytest.mark.parametrize(
    ("value", "score"),
    [
        ("C", 1.0),
        ("I", 0.0),
        ("P", 0.5),
        ("N", 0.0),
        (True, 1.0),
        (False, 0.0),
        (1, 1.0),
        (0.7, 0.7),
        ("Yes", 1.0),
        ("false", 0.0),
        ("0.5", 0.5),
    ],
)
def test_a_score_s_value_is_taken_as_inspect_takes_it(value: Any, score: float) -> None:
    episode = of(value)
    assert (episode.score, episode.score_breakdown) == (score, {"match": score})
    assert episode.outcome == ("pass" if score == 1 else "fail")


@pytest.mark.parametrize(
    ("value", "said"),
    [
        (None, "the score 'match' is None, neither right nor wrong"),
        (float("nan"), "the score 'match' is nan, neither right nor wrong"),
        ("maybe", "the score 'match' is 'maybe', neither right nor wrong"),
        ([1, 0], r"the score 'match' is \[1, 0\], neither right nor wrong"),
        (7, "the score 'match' is 7: what passes, beyond 0 to 1, is not told"),
        (-1, "the score 'match' is -1: what passes"),
    ],
)
def test_a_value_that_decides_nothing_is_refused(value: Any, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        of(scores={"match": {"value": value}, "other": {"value": "C"}})


def test_the_first_score_decides_and_all_are_told() -> None:
    episode = of(scores={"a": {"value": "I"}, "b": {"value": "C"}, "calls": {"value": 12}})
    assert (episode.outcome, episode.score) == ("fail", 0.0)
    assert episode.score_breakdown == {"a": 0.0, "b": 1.0, "calls": 12.0}


def test_a_cancelled_log_says_so_where_a_sample_was_not_scored() -> None:
    assert of(log={"status": "cancelled"}).outcome == "pass"
    with pytest.raises(ValueError, match=r"the log's status is 'cancelled'\); score"):
        of(scores=None, log={"status": "cancelled"})


def test_an_exception_is_a_step_with_its_place() -> None:
    traceback = """Traceback (most recent call last):
  File "task.py", line 30, in run
    sandbox.start()
  File "sandbox.py", line 8, in start
    raise DockerError("no space")
tools.DockerError: no space

Hint: free some."""
    episode = of(error={"message": "no space", "traceback": traceback})
    assert (episode.outcome, episode.score, episode.error) == ("invalid", None, "no space")
    step = episode.steps[-1]
    assert isinstance(step, HarnessStep)
    assert (step.event, step.type, step.message) == ("exception", "tools.DockerError", "no space")
    assert step.frames == ["task.py:run:30", "sandbox.py:start:8"]
    assert step.index == len(episode.steps) - 1


def test_a_sample_that_was_taken_back_is_invalid() -> None:
    episode = of(invalidation={"author": "x", "reason": "the image was wrong"})
    assert (episode.outcome, episode.error) == ("invalid", "invalidated: the image was wrong")


def test_a_call_that_was_not_parsed_is_told_once() -> None:
    call = {"id": "b", "function": "add", "arguments": {}, "parse_error": "not JSON: {x"}
    again = {"type": "parsing", "message": "not JSON: {x"}
    steps = read_steps(
        [
            {"role": "assistant", "content": "", "tool_calls": [call]},
            {"role": "tool", "tool_call_id": "b", "content": "", "error": again},
        ]
    )
    assert [(s.kind, getattr(s, "message", None)) for s in steps] == [
        ("model", None),
        ("harness", "not JSON: {x"),
    ]


def test_results_of_calls_with_one_id_are_matched_in_order() -> None:
    calls = [{"id": "a", "function": "look", "arguments": {"at": at}} for at in (1, 2)]
    error = {"type": "timeout", "message": "took 60 s"}
    steps = read_steps(
        [
            {"role": "assistant", "content": "", "tool_calls": calls},
            {"role": "tool", "tool_call_id": "a", "content": "one"},
            {"role": "tool", "tool_call_id": "a", "content": "", "error": error},
            {"role": "tool", "tool_call_id": "a", "function": "look", "content": "three"},
        ]
    )
    tools = [step for step in steps if isinstance(step, ToolStep)]
    assert [(t.arguments, t.result, t.error) for t in tools] == [
        ({"at": 1}, "one", False),
        ({"at": 2}, "took 60 s", True),
        ({}, "three", False),
    ]


def test_tokens_time_and_a_cut_reply_are_told() -> None:
    choice = {"message": {"content": "12"}, "stop_reason": "max_tokens"}
    used = {"input_tokens": 60, "output_tokens": 2, "input_tokens_cache_read": 10}
    episode = of(
        "I",
        output={"choices": [choice]},
        model_usage={"maker/model-1": used, "maker/judge": {"input_tokens": 9}},
        total_time=1.5,
        target=["12"],
    )
    last = episode.steps[-1]
    assert isinstance(last, ModelStep)
    assert last.finish_reason == "length"
    assert (episode.usage.prompt_tokens, episode.usage.cached_tokens) == (60, 10)
    assert episode.wall_s == 1.5
    assert episode.expected is not None
    assert episode.expected.answer == "12"
    assert of(target=["12", "twelve"]).expected is None


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("popularity.json", ["pass", "pass", "fail"]),
        ("security_guide.json", ["pass", "pass", "pass"]),
        ("sample.eval", ["pass", "pass", "pass", "fail"]),
    ],
)
def test_real_logs(name: str, expected: list[str]) -> None:
    batch = read_batch([shared_data(f"inspect_ai/{name}")])
    assert sorted(e.outcome for e in batch.episodes()) == sorted(expected)


def test_a_real_log_without_scores_is_refused() -> None:
    with pytest.raises(InputError, match="the sample has no score"):
        list(read_batch([shared_data("inspect_ai/tool_call_error.json")]).episodes())
