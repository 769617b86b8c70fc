"""`ecdysis run`: what is kept, what is run again, and how it ends."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from bot.cli import main
from bot.git.repository import Repository
from bot.llm.scripted import Answer, Fault, ScriptedServer
from tests.batch.test_run import ASK
from tests.helpers.harnesses import second_harness, tiny
from tests.helpers.order_desk import snapshot

Capture = pytest.CaptureFixture[str]
AGENT = ASK + "write(answer=ask(task['task_id']))"


class Model:
    """A scripted model that answers 42 but where `faults` says otherwise for a task."""

    def __init__(self) -> None:
        self.faults: dict[str, Answer] = {}
        self.asked: list[str] = []

    def __call__(self, request: dict[str, Any]) -> Answer:
        task: str = request["messages"][0]["content"]
        self.asked.append(task)
        return self.faults.get(task, "42")

    def take_asked(self) -> list[str]:
        asked, self.asked = sorted(self.asked), []
        return asked


@pytest.fixture(autouse=True)
def _cache(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ECDYSIS_CACHE", str(tmp_path_factory.getbasetemp() / "environments-cache"))
    monkeypatch.setattr("bot.llm.proxy.RETRIES", 0)


@pytest.fixture
def model() -> Model:
    return Model()


@pytest.fixture
def base_url(model: Model) -> Iterator[str]:
    with ScriptedServer(model) as server:
        yield server.base_url


def make(tmp_path: Path, base_url: str, **options: Any) -> Repository:
    return tiny(tmp_path / "h", AGENT, base_url=base_url, tasks=options.pop("tasks", 3), **options)


def commit(repository: Repository, changes: dict[str, bytes | None]) -> str:
    """A new head with the changes; the work tree stays as it is."""
    head = repository.resolve_commit("HEAD")
    new = repository.commit_tree(repository.write_tree("HEAD", changes), [head], "Change")
    repository.update_ref(repository.git("symbolic-ref", "HEAD"), new, head)
    return new


def run(tmp_path: Path, *args: str) -> int:
    return main(["run", "-C", str(tmp_path / "h"), *args])


def run_json(tmp_path: Path, capsys: Capture, *args: str) -> dict[str, Any]:
    run(tmp_path, "--json", *args)
    answer = json.loads(capsys.readouterr().out)
    assert isinstance(answer, dict)
    return answer


def lines(answer: dict[str, Any]) -> list[dict[str, Any]]:
    return [json.loads(line) for line in Path(answer["path"]).read_text().splitlines()]


def test_a_run_is_told_and_kept(
    tmp_path: Path, base_url: str, model: Model, capsys: Capture
) -> None:
    tags = "".join(
        json.dumps(
            {"task_id": f"t{n}", "input": {"q": n}, "expected": {"answer": "42"}, "tags": [tag]}
        )
        + "\n"
        for n, tag in enumerate(("easy", "hard", "hard"))
    )
    repository = make(tmp_path, base_url, files={"train.jsonl": tags})
    before = snapshot(tmp_path / "h")
    model.faults["t2"] = "41"
    assert run(tmp_path) == 0
    said = capsys.readouterr().out.splitlines()
    assert said[0] == "train: 2 of 3 passed (67%), 1 failed, 0 invalid"
    assert [line.split() for line in said[1:3]] == [
        ["easy", "1", "/", "1"],
        ["hard", "1", "/", "2"],
    ]
    assert said[3].startswith("Cost: 3 model calls, 6 tokens")
    path = Path(said[4].removeprefix("Episodes: "))
    assert said[5] == f"Next: ecdysis diagnose {path}"
    assert path.is_relative_to(repository.git_dir / "ecdysis" / "runs")
    calls = [json.loads(line) for line in path.with_name("calls.jsonl").read_text().splitlines()]
    assert sorted(call["task_id"] for call in calls) == ["t0", "t1", "t2"]
    assert {call["response"]["choices"][0]["message"]["content"] for call in calls} == {"42", "41"}
    # The user's files, index and HEAD are as they were.
    assert snapshot(tmp_path / "h") == before
    assert main(["diagnose", str(path), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["episodes"] == 3


def test_json_says_the_same(tmp_path: Path, base_url: str, model: Model, capsys: Capture) -> None:
    repository = make(tmp_path, base_url)
    model.faults |= {"t1": "41", "t2": Fault(500)}
    answer = run_json(tmp_path, capsys)
    assert {k: answer[k] for k in ("episodes", "passed", "failed", "invalid", "rate")} == {
        "episodes": 3,
        "passed": 1,
        "failed": 1,
        "invalid": 1,
        "rate": 0.5,
    }
    assert (answer["format_version"], answer["split"]) == (1, "train")
    assert answer["tree"] == repository.tree_of("HEAD")
    ((reason, number),) = answer["invalid_reasons"].items()
    assert reason.startswith("The model endpoint failed: ")
    assert number == 1
    kept = {line["task_id"]: line["outcome"] for line in lines(answer)}
    assert kept == {"t0": "pass", "t1": "fail", "t2": "invalid"}


def test_only_what_is_missing_or_invalid_is_run_again(
    tmp_path: Path, base_url: str, model: Model, capsys: Capture
) -> None:
    make(tmp_path, base_url, tasks=4)
    model.faults |= {"t1": Fault(500), "t2": "41"}
    first = run_json(tmp_path, capsys)
    assert model.take_asked() == ["t0", "t1", "t2", "t3"]
    model.faults.clear()
    assert run(tmp_path, "--json") == 0
    captured = capsys.readouterr()
    second = json.loads(captured.out)
    assert "Going on: 3 episodes of this run are there already." in captured.err
    assert model.take_asked() == ["t1"]
    assert (second["path"], second["passed"], second["failed"]) == (first["path"], 3, 1)
    assert second["invalid"] == 0
    # A failure is a result: only --fresh runs it anew.
    run_json(tmp_path, capsys)
    assert model.take_asked() == []
    fresh = run_json(tmp_path, capsys, "--fresh")
    assert model.take_asked() == ["t0", "t1", "t2", "t3"]
    assert (fresh["path"], fresh["passed"]) == (first["path"], 4)
    assert len(lines(fresh)) == 4


def test_a_torn_line_and_a_lost_line_are_run_again(
    tmp_path: Path, base_url: str, model: Model, capsys: Capture
) -> None:
    make(tmp_path, base_url)
    path = Path(run_json(tmp_path, capsys)["path"])
    model.take_asked()
    content = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(content[0] + content[1][: len(content[1]) // 2])
    left = json.loads(content[0])["task_id"]
    answer = run_json(tmp_path, capsys)
    assert model.take_asked() == sorted({"t0", "t1", "t2"} - {left})
    assert (answer["passed"], answer["episodes"]) == (3, 3)
    assert sorted(line["task_id"] for line in lines(answer)) == ["t0", "t1", "t2"]


def test_a_line_that_is_no_episode_is_named(
    tmp_path: Path, base_url: str, model: Model, capsys: Capture
) -> None:
    make(tmp_path, base_url)
    path = Path(run_json(tmp_path, capsys)["path"])
    path.write_bytes(b"nonsense\n" + path.read_bytes())
    assert run(tmp_path) == 3
    said = capsys.readouterr().err
    assert f"{path}, line 1 is no episode" in said
    assert "--fresh" in said
    assert run(tmp_path, "--fresh") == 0


def test_more_trials_go_on_from_fewer(
    tmp_path: Path, base_url: str, model: Model, capsys: Capture
) -> None:
    make(tmp_path, base_url)
    assert run_json(tmp_path, capsys)["episodes"] == 3
    answer = run_json(tmp_path, capsys, "--trials", "2")
    assert answer["episodes"] == 6
    assert model.take_asked() == ["t0", "t0", "t1", "t1", "t2", "t2"]
    kept = sorted((line["task_id"], line["trial"]) for line in lines(answer))
    assert kept == [(f"t{n}", trial) for n in range(3) for trial in range(2)]
    assert run_json(tmp_path, capsys)["episodes"] == 3


def test_another_harness_or_split_is_another_run(
    tmp_path: Path, base_url: str, model: Model, capsys: Capture
) -> None:
    repository = make(tmp_path, base_url)
    first = run_json(tmp_path, capsys)
    select = run_json(tmp_path, capsys, "--split", "select")
    assert (select["split"], select["episodes"], select["failed"]) == ("select", 1, 1)
    commit(repository, {"agent.py": b"raise SystemExit(1)\n"})
    broken = run_json(tmp_path, capsys)
    assert (broken["passed"], broken["failed"]) == (0, 3)
    old = run_json(tmp_path, capsys, "--rev", "HEAD~1")
    assert (old["path"], old["passed"]) == (first["path"], 3)
    assert len({first["path"], select["path"], broken["path"]}) == 3


def test_the_commit_is_run_and_a_dirty_work_tree_is_mentioned(
    tmp_path: Path, base_url: str, capsys: Capture
) -> None:
    make(tmp_path, base_url)
    (tmp_path / "h" / "agent.py").write_text("raise SystemExit(1)\n", encoding="utf-8")
    assert run(tmp_path) == 0
    captured = capsys.readouterr()
    assert "1 uncommitted file of the work tree not included" in captured.err
    assert captured.out.startswith("train: 3 of 3 passed")


def test_some_tasks_and_a_copy_of_the_episodes(
    tmp_path: Path, base_url: str, model: Model, capsys: Capture
) -> None:
    make(tmp_path, base_url)
    out = tmp_path / "copy.jsonl"
    answer = run_json(
        tmp_path, capsys, "--task", "t2", "--task", "t0", "--parallel", "1", "--out", str(out)
    )
    assert model.asked == ["t0", "t2"]
    assert answer["episodes"] == 2
    assert out.read_bytes() == Path(answer["path"]).read_bytes()


def test_the_sealed_split_is_counted(
    tmp_path: Path, base_url: str, model: Model, capsys: Capture
) -> None:
    test = '{"task_id": "z0", "input": {"q": "z"}, "expected": {"answer": "42"}}\n'
    repository = make(tmp_path, base_url, files={"test.jsonl": test})
    assert run(tmp_path, "--split", "test") == 2
    assert "The table has no test split." in capsys.readouterr().err
    table = (tmp_path / "h" / "ecdysis.toml").read_bytes()
    sealed = table.replace(b"[splits]\n", b'[splits]\ntest = "test.jsonl"\n')
    commit(repository, {"ecdysis.toml": sealed})
    for read in ("1", "2"):
        assert run(tmp_path, "--split", "test") == 0
        assert f"The test split is sealed: this is read {read}." in capsys.readouterr().err
    assert model.take_asked() == ["z0"]


# --- how it ends --------------------------------------------------------------------------


def test_a_spent_budget_keeps_what_ended_and_the_same_command_goes_on(
    tmp_path: Path, base_url: str, model: Model, capsys: Capture
) -> None:
    make(tmp_path, base_url, tables="[budget]\nmodel_calls = 2\n", tasks=5)
    assert run(tmp_path, "--parallel", "1") == 6
    captured = capsys.readouterr()
    assert "The budget is spent: model_calls = 2 of 2" in captured.err
    assert captured.out == ""
    assert run(tmp_path, "--parallel", "1") == 6
    assert model.take_asked() == ["t0", "t1", "t2", "t3"]
    assert run_json(tmp_path, capsys, "--parallel", "1")["passed"] == 5
    assert model.take_asked() == ["t4"]


@pytest.mark.parametrize("status", [401, 403])
def test_a_refused_key(
    status: int, tmp_path: Path, base_url: str, model: Model, capsys: Capture
) -> None:
    make(tmp_path, base_url)
    model.faults["t0"] = Fault(status)
    assert run(tmp_path, "--parallel", "1") == 5
    said = capsys.readouterr().err
    assert f"The model endpoint refuses the key ({status})" in said
    assert "model.api_key_env" in said
    assert model.take_asked() == ["t0"]


def test_a_run_in_which_every_episode_is_invalid(
    tmp_path: Path, base_url: str, model: Model, capsys: Capture
) -> None:
    make(tmp_path, base_url, score="raise SystemExit('no scorer today')\n")
    assert run(tmp_path) == 5
    captured = capsys.readouterr()
    assert "train: 0 of 3 passed, 0 failed, 3 invalid" in captured.out
    assert "Every episode is invalid: The scorer exited with 1: no scorer today." in captured.err


@pytest.mark.parametrize(
    ("change", "code", "said"),
    [
        ({"ecdysis.toml": None}, 3, "no [tool.ecdysis] table"),
        ({"ecdysis.toml": b"[a\n"}, 3, "is not valid TOML"),
        ({"train.jsonl": None}, 3, "The train split train.jsonl is not in this revision."),
        ({"train.jsonl": b"{\n"}, 3, "train.jsonl, line 1 is not JSON"),
        (
            {"select.jsonl": b'{"task_id": "t0", "input": {}}\n'},
            3,
            "The splits overlap: t0 of select has the same id as a task of train.",
        ),
    ],
)
def test_a_revision_that_cannot_be_run(
    change: dict[str, bytes | None],
    code: int,
    said: str,
    tmp_path: Path,
    base_url: str,
    model: Model,
    capsys: Capture,
) -> None:
    repository = make(tmp_path, base_url)
    assert run(tmp_path, "--rev", commit(repository, change)) == code
    assert said in capsys.readouterr().err
    assert model.asked == []


@pytest.mark.parametrize(
    ("args", "said"),
    [
        (("--task", "t9"), "The split has no task 't9'. It begins with t0."),
        (("--trials", "0"), "--trials"),
        (("--split", "other"), "--split"),
        (("--rev", "nowhere"), "nowhere"),
    ],
)
def test_what_the_command_line_cannot_mean(
    args: tuple[str, ...], said: str, tmp_path: Path, base_url: str, capsys: Capture
) -> None:
    make(tmp_path, base_url)
    assert run(tmp_path, *args) in (2, 4)
    captured = capsys.readouterr()
    assert said in captured.err
    assert captured.out == ""
    assert "Traceback" not in captured.err


def test_control_c_keeps_what_ended_and_the_same_command_goes_on(
    tmp_path: Path, base_url: str, model: Model, capsys: Capture
) -> None:
    waiting = ASK + "answer = ask(task['task_id'])\nif answer == 'wait': time.sleep(100)\nwrite()"
    repository = tiny(tmp_path / "h", waiting, base_url=base_url, tasks=3)
    model.faults["t1"] = "wait"
    command = [sys.executable, "-m", "bot", "run", "-C", str(tmp_path / "h"), "--parallel", "1"]
    bot = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    until = time.monotonic() + 20
    while "t1" not in model.asked and time.monotonic() < until:
        time.sleep(0.02)
    time.sleep(0.2)
    os.kill(bot.pid, signal.SIGINT)
    out, err = bot.communicate(timeout=20)
    assert bot.returncode == 130
    assert out == ""
    assert "Interrupted: 1 of 3 episodes are kept in" in err
    assert "Traceback" not in err
    assert model.take_asked() == ["t0", "t1"]
    model.faults.clear()
    answer = run_json(tmp_path, capsys)
    assert model.take_asked() == ["t1", "t2"]
    assert (answer["passed"], answer["invalid"]) == (3, 0)
    assert Path(answer["path"]).is_relative_to(repository.git_dir)


@pytest.mark.slow
def test_the_second_harness_has_room_with_the_real_model(tmp_path: Path, capsys: Capture) -> None:
    """It can do some tasks and not most: a harness that never works shows nothing."""
    folder = tmp_path / "kitchen"
    repository = second_harness(folder, "embedded")
    table = (folder / "ecdysis.toml").read_bytes()
    commit(repository, {"ecdysis.toml": table.replace(b'\nname = "scripted"', b"")})
    assert main(["run", "-C", str(folder), "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert (answer["episodes"], answer["invalid"]) == (30, 0)
    assert 0 < answer["rate"] < 0.6
