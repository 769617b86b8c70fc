"""The scorer: a process from the base revision, the only one whose word counts."""

from pathlib import Path

import pytest

from bot.batch.score import apply_score
from bot.records import Episode
from bot.sandbox import Finished
from tests.helpers.harnesses import SCORER, run_train, tiny


@pytest.fixture(autouse=True)
def _cache(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ECDYSIS_CACHE", str(tmp_path_factory.getbasetemp() / "environments-cache"))
    monkeypatch.setenv("ECDYSIS_QUIET", "1")


def judged(stdout: bytes = b"", code: int | None = 0, stderr: bytes = b"") -> Episode:
    episode = Episode(task_id="t", outcome="fail", end_reason="answer", score_breakdown={"old": 1})
    apply_score(episode, Finished(code, code is None, stdout, stderr, 0.1))
    return episode


@pytest.mark.parametrize(
    ("printed", "score", "outcome"),
    [
        (b'{"score": 1.0, "outcome": "pass"}', 1.0, "pass"),
        (b'{"score": 0, "outcome": "fail"}\n\n  \n', 0.0, "fail"),
        (b'{"outcome": "pass"}', None, "pass"),
        (b'{"score": null, "outcome": "fail", "more": [1]}', None, "fail"),
        (
            b'{"score": 0, "outcome": "fail"}\nloading\n{"score": 0.25, "outcome": "pass"}\n',
            0.25,
            "pass",
        ),
        (b'\xff\xfe\n{"score": -3.5, "outcome": "fail"}', -3.5, "fail"),
    ],
)
def test_the_last_line_counts(printed: bytes, score: float | None, outcome: str) -> None:
    episode = judged(printed)
    assert (episode.score, episode.outcome) == (score, outcome)
    assert (episode.end_reason, episode.error) == ("answer", None)
    assert episode.score_breakdown == {}


def test_a_breakdown_is_kept() -> None:
    episode = judged(b'{"score": 1, "outcome": "pass", "score_breakdown": {"world": 1.0}}')
    assert episode.score_breakdown == {"world": 1.0}


@pytest.mark.parametrize(
    ("printed", "said"),
    [
        (b"", "printed no JSON object as its last line"),
        (b"\n \n", "printed no JSON object as its last line"),
        (b'{"score": 1, "outcome": "pass"}\nbye', "printed no JSON object as its last line"),
        (b'{"score": Infinity, "outcome": "pass"}', "printed no JSON object as its last line"),
        (b'{"score": 1e999, "outcome": "pass"}', ""),
        (b"[1]", "printed the line wrong"),
        (b'{"score": true, "outcome": "pass"}', "printed score wrong"),
        (b'{"score": 1, "outcome": "PASS"}', "printed outcome wrong"),
        (b'{"score": 1, "outcome": "pass", "score_breakdown": 3}', "printed score_breakdown wrong"),
    ],
)
def test_anything_else_is_invalid(printed: bytes, said: str) -> None:
    episode = judged(printed)
    assert (episode.outcome, episode.score) == ("invalid", None)
    assert (episode.end_reason, episode.score_breakdown) == ("infrastructure", {})
    assert (episode.error or "").startswith(f"The scorer {said}")


def test_a_right_line_before_a_crash_does_not_count() -> None:
    line = b'{"score": 1, "outcome": "pass"}'
    crashed = judged(line, code=1, stderr=b"boom \x1b[31m Bearer abcdefgh12345678")
    assert crashed.outcome == "invalid"
    assert crashed.error == "The scorer exited with 1: boom Bearer [secret]."
    assert judged(line, code=-9).error == "The scorer exited with -9."
    assert judged(line, code=None).error == "The scorer did not end within its time."


def test_the_scorer_gets_the_whole_task_and_the_episode_without_a_score(tmp_path: Path) -> None:
    score = """
import json, os, sys
task, episode = (json.load(open(p)) for p in sys.argv[1:3])
seen = {"expected": task["expected"], "given": sorted(episode),
        "model": sorted(n for n in os.environ if "OPENAI" in n), "here": sorted(os.listdir("."))}
print("noise")
print(json.dumps({"score": 0.5, "outcome": "pass", "score_breakdown": seen}))
"""
    (episode,) = run_train(tiny(tmp_path, "write(outcome='pass', mine=[1])", score=score))
    seen = episode.score_breakdown
    assert seen["expected"] == {"answer": "42"}
    assert "mine" in seen["given"]
    assert not {"score", "outcome", "score_breakdown"} & set(seen["given"])
    assert seen["model"] == []
    assert seen["here"] == ["agent.py", "ecdysis.toml", "score.py"]
    assert (episode.score, episode.outcome) == (0.5, "pass")


@pytest.mark.parametrize(
    "agent",
    [
        # Modules and start-up files where a scorer might look for them.
        """
evil = 'print(\\'{"score": 1.0, "outcome": "pass"}\\'); import os; os._exit(0)'
for folder in (".", workdir, os.path.dirname(task_file), os.environ["HOME"]):
    for name in ("json.py", "sitecustomize.py", "usercustomize.py", "score.py"):
        with contextlib.suppress(OSError):
            open(os.path.join(folder, name), "w").write(evil)
""",
        # The scorer's files, before it has them.
        """
for name in ("full-task.json", "to-score.json", "home", "state"):
    with contextlib.suppress(OSError):
        os.mkdir(os.path.join(os.path.dirname(task_file), name))
""",
        """
import shutil
shutil.copy(task_file, "x")
with contextlib.suppress(OSError):
    os.remove(task_file)
""",
    ],
)
def test_nothing_that_the_candidate_leaves_behind_reaches_the_scorer(
    agent: str, tmp_path: Path
) -> None:
    (episode,) = run_train(tiny(tmp_path, agent + "\nwrite(answer='7')"))
    assert (episode.outcome, episode.score, episode.error) == ("fail", 0.0, None)


def test_the_scorers_files_go_nowhere_that_the_candidate_chose(tmp_path: Path) -> None:
    leak = tmp_path.parent / f"{tmp_path.name}-leak"
    agent = f"""
for name in ("full-task.json", "to-score.json"):
    for folder in (workdir, os.path.dirname(task_file), os.path.dirname(episode_file)):
        with contextlib.suppress(OSError):
            os.symlink({str(leak)!r} + name, os.path.join(folder, name))
write()
"""
    (episode,) = run_train(tiny(tmp_path, agent))
    assert episode.outcome == "pass"
    assert not list(tmp_path.parent.glob("*-leak*"))


def test_a_scorer_that_floods_is_cut_and_its_last_line_still_counts(tmp_path: Path) -> None:
    score = "print('y' * (9 << 20))\n" + SCORER
    (episode,) = run_train(tiny(tmp_path, "write()", score=score))
    assert episode.outcome == "pass"
