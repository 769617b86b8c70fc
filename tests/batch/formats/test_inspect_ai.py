import json
from pathlib import Path

import pytest

from bot.batch.read import read_batch
from bot.errors import InputError
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
