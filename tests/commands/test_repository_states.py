"""Commands in repositories that are not as they usually are: they work, or say what is wrong."""

import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from bot.cli import main
from bot.llm.scripted import ScriptedServer
from tests.helpers.order_desk import as_json, order_desk, scripted_reply


def git(folder: Path, *args: str) -> str:
    command = ["git", "-c", "user.name=A", "-c", "user.email=a@localhost", *args]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    return done.stdout.strip()


@pytest.fixture
def desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    monkeypatch.setenv("ECDYSIS_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("ECDYSIS_QUIET", "1")
    with ScriptedServer(scripted_reply) as server:
        order_desk(tmp_path / "desk", server.base_url)
        yield tmp_path / "desk"


def detached(desk: Path) -> Path:
    git(desk, "checkout", "-q", "--detach")
    return desk


def shallow(desk: Path) -> Path:
    git(desk, "commit", "-q", "--allow-empty", "-m", "second")
    git(desk.parent, "clone", "-q", "--depth", "1", f"file://{desk}", "shallow")
    return desk.parent / "shallow"


def bare(desk: Path) -> Path:
    git(desk.parent, "clone", "-q", "--bare", str(desk), "bare.git")
    return desk.parent / "bare.git"


def merging(desk: Path) -> Path:
    git(desk, "checkout", "-q", "-b", "side")
    (desk / "README.md").write_text("side\n")
    git(desk, "commit", "-qam", "side")
    git(desk, "checkout", "-q", "-")
    (desk / "README.md").write_text("main\n")
    git(desk, "commit", "-qam", "main")
    git(desk, "merge", "side")
    assert (desk / ".git" / "MERGE_HEAD").exists()
    return desk


@pytest.mark.parametrize("state", [detached, shallow, bare, merging])
def test_a_run_works_and_leaves_the_state_alone(
    state, desk: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = state(desk)
    before = git(folder, "status", "--porcelain"), git(folder, "rev-parse", "HEAD")
    assert main(["run", "-C", str(folder), "--task", "task-0001", "--json"]) == 0
    summary = as_json(capsys.readouterr().out)
    assert (summary["passed"], summary["failed"], summary["invalid"]) == (1, 0, 0)
    assert (git(folder, "status", "--porcelain"), git(folder, "rev-parse", "HEAD")) == before
    if state is merging:
        assert (desk / ".git" / "MERGE_HEAD").exists()


@pytest.mark.parametrize("command", [["run"], ["evolve"], ["apply", "x.json"]])
def test_an_unborn_head_is_one_sentence(
    command: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    git(tmp_path, "init", "-q", ".")
    assert main([command[0], "-C", str(tmp_path), *command[1:]]) == 4
    said = capsys.readouterr().err
    assert "no commit" in said
    assert "Traceback" not in said


@pytest.mark.parametrize("command", ["run", "evolve"])
def test_a_missing_table_names_the_next_step(
    command: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    git(tmp_path, "init", "-q", ".")
    git(tmp_path, "commit", "-q", "--allow-empty", "-m", "first")
    assert main([command, "-C", str(tmp_path)]) == 3
    assert "ecdysis init" in capsys.readouterr().err


def test_uncommitted_files_are_said_not_run(
    desk: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("ECDYSIS_QUIET")
    (desk / "harness" / "loop.py").write_text("raise SystemExit('not this one')\n")
    assert main(["run", "-C", str(desk), "--task", "task-0001"]) == 0
    captured = capsys.readouterr()
    assert "1 uncommitted file of the work tree not included" in captured.err
    assert "1 of 1 passed" in captured.out
    assert "Next: ecdysis diagnose" in captured.out
