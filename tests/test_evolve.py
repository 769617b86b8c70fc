"""The whole path with a scripted model: batch, patterns, specs, edits, gate, commits."""

import contextlib
import io
import json
import os
import pickle
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

import bot.situations
from bot.cli import main
from bot.diagnose.catalog import Situation, propose
from bot.git.repository import Repository
from bot.llm.scripted import ScriptedServer
from bot.sandbox import choose_sandbox
from tests.helpers.order_desk import as_json, order_desk, scripted_reply, snapshot
from tests.helpers.repositories import git

pytestmark = pytest.mark.xdist_group("evolve")

MARKS = {"select": "quagga", "test": "thylacine"}
MARK = re.compile(rb"quagga|thylacine", re.IGNORECASE)


@pytest.fixture
def isolated(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("ECDYSIS_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("ECDYSIS_QUIET", "1")
    return tmp_path


@dataclass
class Evolved:
    """A finished run over splits whose hidden tasks carry a mark, and what was seen meanwhile."""

    repository: Repository
    start: str
    before: dict[str, bytes]
    code: int
    report: dict[str, Any]
    asked: list[dict[str, Any]]
    visible: list[bytes]


@pytest.fixture(scope="module")
def evolved(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Evolved]:
    folder = tmp_path_factory.mktemp("evolved")
    visible: list[bytes] = []

    def watched(situation: Situation) -> Any:
        visible.append(all_that_is_visible(situation))
        return propose(situation)

    with pytest.MonkeyPatch.context() as patch, ScriptedServer(scripted_reply) as server:
        patch.setenv("ECDYSIS_CACHE", str(folder / "cache"))
        patch.setenv("ECDYSIS_QUIET", "1")
        patch.setattr(bot.situations, "propose", watched)
        repository = order_desk(folder / "desk", server.base_url, test=3)
        commit_marked(repository)
        start = repository.resolve_commit("HEAD")
        before = snapshot(folder / "desk")
        with contextlib.redirect_stdout(io.StringIO()) as out:
            code = main(["evolve", "-C", str(folder / "desk"), "--test", "--json"])
        report = as_json(out.getvalue())
        yield Evolved(repository, start, before, code, report, list(server.requests), visible)


def commit_marked(repository: Repository) -> None:
    """Give each hidden task an id, a request and an answer that carry the mark of its split."""
    for split, mark in MARKS.items():
        path = repository.root / "tasks" / f"{split}.jsonl"
        tasks = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
        for task in tasks:
            task["task_id"] = f"{mark}-{task['task_id']}"
            task["input"]["message"] += f" Sincerely, {mark.title()}."
            task["expected"]["note"] = f"{mark} answer"
        path.write_text("".join(json.dumps(task) + "\n" for task in tasks), encoding="utf-8")
    git(repository.root, "commit", "--quiet", "--all", "--message", "Mark the hidden tasks")


def all_that_is_visible(situation: Situation) -> bytes:
    """Everything an operator or a role can reach from what it is handed."""
    files = ["pyproject.toml", *(f"tasks/{name}.jsonl" for name in ("train", "select", "test"))]
    parts = [situation.pattern, situation.episodes, situation.showing, dict(situation.tasks)]
    return pickle.dumps((parts, [situation.read(name) for name in files]))


def written_objects(repository: Repository, start: str) -> dict[str, bytes]:
    """Every object under the bot's refs that the user's commit does not hold: name → content."""
    refs = [
        name
        for prefix in ("refs/ecdysis/", "refs/notes/", "refs/heads/ecdysis/")
        for name in repository.refs(prefix)
    ]
    listed = repository.git("rev-list", "--objects", *refs, f"^{start}").splitlines()
    return {
        line: repository.git("cat-file", "-p", line.split()[0]).encode("utf-8", "surrogateescape")
        for line in listed
    }


def test_a_generation_is_made_proven_and_committed(
    evolved: Evolved, capsys: pytest.CaptureFixture[str]
) -> None:
    report, repository, head = evolved.report, evolved.repository, evolved.start
    desk = str(repository.root)
    assert evolved.code == 0
    assert report["generations"] == 1
    origins = {repair["origin"] for repair in report["repairs"]}
    assert "catalog:follow-identifier" in origins
    assert report["select"]["evolved"] > report["select"]["seed"]
    assert report["noise_band"] == 0
    assert report["test"]["flips"]["broken"] == []
    assert report["test"]["evolved"] > report["test"]["seed"]
    assert report["test"]["reads"] == 1
    assert report["model_calls"] == len(evolved.asked)
    assert report["sandbox"] == choose_sandbox().level
    # The user's work tree, index and HEAD are as they were.
    assert snapshot(repository.root) == evolved.before
    assert repository.resolve_commit("HEAD") == head
    # One commit a repair, each with trailers that git itself reads.
    commits = repository.git("rev-list", "--reverse", f"{head}..ecdysis/gen-0001").split()
    assert commits == [repair["commit"] for repair in report["repairs"]]
    for commit in commits:
        message = repository.git("log", "-1", "--format=%B", commit).encode()
        trailers = repository.git("interpret-trailers", "--parse", input=message)
        assert "Ecdysis-Generation: 1" in trailers
        assert "Ecdysis-Pattern: " in trailers
    assert "Ecdysis-Score: " in trailers
    # Every edit is proven to have run, and acts on tasks that it was not derived from.
    assert re.search(r"^Ecdysis-Activated: (\d+)/\1$", trailers, re.MULTILINE)
    assert re.search(r"^Ecdysis-Accommodation: 0/\d+$", trailers, re.MULTILINE)
    changed = repository.git("diff", "--name-only", head, "ecdysis/gen-0001").split()
    assert changed == ["harness/actions.py"]
    assert not list((repository.git_dir / "ecdysis").glob("evolve/*"))

    assert main(["log", "-C", desk, "--json"]) == 0
    assert as_json(capsys.readouterr().out)["generations"][0]["generation"] == 1
    assert main(["show", "1", "-C", desk]) == 0
    assert "Ecdysis-Origin" not in capsys.readouterr().err


def test_nothing_of_the_hidden_splits_reaches_who_looks_for_a_repair(evolved: Evolved) -> None:
    asked = json.dumps(evolved.asked)  # they did run, with their marks
    assert "Quagga" in asked
    assert "Thylacine" in asked
    assert evolved.visible
    for visible in evolved.visible:
        assert not MARK.search(visible)
        assert b"tasks/select.jsonl" in visible  # the table names it, and it could not be read


def test_nothing_of_the_hidden_splits_is_published_but_the_ids_of_flips(evolved: Evolved) -> None:
    objects = written_objects(evolved.repository, evolved.start)
    assert any(b"Ecdysis-Score" in content for content in objects.values())
    notes = 0
    for name, content in objects.items():
        if b'"verdict"' in content:
            note = json.loads(content)
            assert note["verdict"].pop("fixed")
            assert note["verdict"].pop("broken") == []
            content = json.dumps(note).encode()
            notes += 1
        assert not MARK.search(content), name
    assert notes


def test_a_model_that_cannot_do_the_tasks_gives_no_generation(
    isolated: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with ScriptedServer(lambda request: "I am a teapot.") as server:
        repository = order_desk(isolated / "desk", server.base_url, train=6, select=6)
        code = main(["evolve", "-C", str(isolated / "desk"), "--json"])
    captured = capsys.readouterr()
    report = as_json(captured.out)
    assert code == 1
    assert report["generations"] == 0
    assert report["repairs"] == []
    assert report["left"]
    assert all(left["reason"] for left in report["left"])
    assert "No repair was accepted" in captured.err
    assert repository.refs("refs/heads/ecdysis/") == {}


def few_of_each(lines: list[str]) -> list[str]:
    """Four hidden tasks that the first two repairs fix, five that a third one fixes."""
    first = [line for line in lines if "customer of order" in line]
    second = [line for line in lines if "shipping address" in line]
    return first[:2] + second[:2] + [line for line in lines if "ancel order" in line][:5]


@pytest.mark.slow
def test_repairs_that_are_undecidable_alone_are_tried_again_together_with_a_later_one(
    isolated: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with ScriptedServer(scripted_reply) as server:
        order_desk(isolated / "desk", server.base_url, train=19, choose=few_of_each)
        code = main(["evolve", "-C", str(isolated / "desk"), "--json", "--transfer", "twin"])
        twins = sum(request["model"] == "twin" for request in server.requests)
    report = as_json(capsys.readouterr().out)
    # What was not promoted is kept for later batches.
    main(["watchlist", "-C", str(isolated / "desk"), "--json"])
    watched = {entry["key"]: entry for entry in as_json(capsys.readouterr().out)["entries"]}
    left = {left["pattern"] for left in report["left"] if "Not promoted (watch)" in left["reason"]}
    assert left
    assert left <= watched.keys()
    assert all(entry["generations"] == [0] for entry in watched.values())
    assert code == 0
    assert [repair["origin"] for repair in report["repairs"]] == [
        "catalog:follow-identifier",
        "catalog:resolve-argument",
        "catalog:keep-known-arguments",
    ]
    assert report["select"] == {"seed": 0.0, "evolved": 1.0}
    transfer = report["transfer"]
    assert (transfer["model"], transfer["tasks"]) == ("twin", 9)
    assert (transfer["before"], transfer["after"], transfer["broken"]) == (0.0, 9.0, [])
    assert twins > 0
    assert not {r["title"] for r in report["repairs"]} & {r["title"] for r in report["rejected"]}


@pytest.mark.slow
def test_a_killed_run_goes_on_and_runs_nothing_twice(isolated: Path) -> None:
    """SIGKILL in the middle of the hidden tasks; the same command ends the same."""
    with ScriptedServer(scripted_reply) as server:
        repository = order_desk(isolated / "desk", server.base_url, train=10, select=15)
        command = [sys.executable, "-m", "bot", "evolve", "-C", str(isolated / "desk"), "--json"]
        started = subprocess.Popen(command, stdout=subprocess.DEVNULL, start_new_session=True)
        journal = isolated / "desk" / ".git" / "ecdysis" / "evolve" / "select-1.jsonl"
        until = time.monotonic() + 60
        while not journal.exists() or journal.stat().st_size < 4000:
            assert time.monotonic() < until
            assert started.poll() is None
            time.sleep(0.02)
        os.killpg(started.pid, signal.SIGKILL)
        started.wait()
        assert repository.refs("refs/heads/ecdysis/") == {}
        kept = journal.read_bytes().count(b"\n")
        asked = len(server.requests)
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        again = len(server.requests) - asked
    report = json.loads(done.stdout)
    assert done.returncode == 0, done.stderr
    assert "Going on with the run" in done.stderr or os.environ.get("ECDYSIS_QUIET")
    assert report["generations"] == 1
    assert kept >= 3
    # Of 45 hidden episodes `kept` were there; each takes one to four calls.
    assert again <= (45 - kept) * 4
    assert repository.git("fsck", "--strict", "--no-dangling") == ""
    assert len(repository.refs("refs/heads/ecdysis/")) == 1


def test_a_spent_budget_ends_the_run_and_keeps_what_was_done(
    isolated: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with ScriptedServer(scripted_reply) as server:
        repository = order_desk(isolated / "desk", server.base_url, train=6, select=6)
        table = isolated / "desk" / "pyproject.toml"
        text = table.read_text() + "\n[tool.ecdysis.budget]\nmodel_calls = 12\n"
        table.write_text(text)
        commit = repository.write_tree("HEAD", {"pyproject.toml": text.encode()})
        head = repository.commit_tree(commit, [repository.resolve_commit("HEAD")], "Cap")
        repository.git("update-ref", "refs/heads/capped", head)
        code = main(["evolve", "-C", str(isolated / "desk"), "--from", "capped", "--json"])
        calls = len(server.requests)
    captured = capsys.readouterr()
    assert code == 6
    assert "budget is spent: model_calls = 12 of 12" in captured.err
    assert as_json(captured.out)["model_calls"] == 12
    assert calls == 12
    journal = isolated / "desk" / ".git" / "ecdysis" / "evolve"
    assert list(journal.glob("train-*.jsonl"))
