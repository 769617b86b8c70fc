"""Drafts from trajectories alone: nothing is run, and every commit says so."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from bot.cli import main
from bot.git.repository import Repository
from bot.lineage.evidence import read_note, read_transcript
from bot.llm.scripted import ScriptedServer
from tests.commands.test_gate import tasks
from tests.helpers.harnesses import tiny
from tests.helpers.order_desk import as_json, order_desk, snapshot
from tests.test_panels import Roles

ORDER_EPISODES = [
    {
        "task_id": f"task-{number}",
        "outcome": outcome,
        "steps": [
            {"kind": "model", "content": f"lookup_order({number}, shipping_address)"},
            {
                "kind": "tool",
                "name": "lookup_order",
                "arguments": {"order_id": str(number), "field": field},
                "result": "error: unknown field shipping_address" if error else "Berlin",
                "error": error,
            },
        ],
    }
    for number, outcome, field, error in [
        (3201, "fail", "shipping_address", True),
        (3202, "fail", "shipping_address", True),
        (3203, "fail", "shipping_address", True),
        (3204, "pass", "city", False),
    ]
]


def write_batch(path: Path, episodes: list[dict[str, object]]) -> Path:
    path.write_text("".join(json.dumps(episode) + "\n" for episode in episodes), encoding="utf-8")
    return path


@pytest.fixture
def desk(tmp_path: Path) -> Repository:
    # The endpoint answers nobody: nothing is asked and nothing is run.
    return order_desk(tmp_path / "desk", "http://127.0.0.1:9/v1", train=2, select=2, test=2)


def test_a_draft_is_committed_and_marked(
    desk: Repository, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    batch = write_batch(tmp_path / "batch.jsonl", ORDER_EPISODES)
    before = snapshot(desk.root)
    command = ["propose", str(batch), "-C", str(desk.root), "--json"]
    assert main(command) == 0
    answer = as_json(capsys.readouterr().out)
    assert answer["verification"] == "unverified draft"
    (made,) = answer["drafts"]
    assert made["origin"] == "catalog:resolve-argument"
    tip = desk.resolve_commit(answer["branch"])
    assert desk.tree_of(tip) == made["tree"]
    assert desk.git("diff", "--name-only", "HEAD", tip).split() == ["harness/actions.py"]
    message = desk.git("log", "-1", "--format=%B", tip)
    assert "Unverified draft: made from trajectories alone, nothing was run." in message
    assert "Ecdysis-Verification: unverified draft" in message
    assert "Ecdysis-Generation" not in message
    note = read_note(desk, tip)
    assert note is not None
    assert note["verification"] == "unverified draft"
    assert "verdict" not in note
    assert desk.refs("refs/ecdysis/generations/") == {}
    assert snapshot(desk.root) == before
    # The same batch gives the same branch.
    assert main(command) == 0
    assert as_json(capsys.readouterr().out)["branch"] == answer["branch"]
    assert len(desk.refs("refs/heads/ecdysis/")) == 1


def test_check_commits_nothing_and_a_person_reads_what_to_do(
    desk: Repository, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    batch = write_batch(tmp_path / "batch.jsonl", ORDER_EPISODES)
    assert main(["propose", str(batch), "-C", str(desk.root), "--check"]) == 0
    assert desk.refs("refs/heads/ecdysis/") == {}
    assert main(["propose", str(batch), "-C", str(desk.root)]) == 0
    out = capsys.readouterr().out
    assert "Drafted, and not verified: nothing was run" in out
    assert "ecdysis gate" in out


def test_nothing_to_draft_says_why(
    desk: Repository, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    batch = write_batch(tmp_path / "batch.jsonl", ORDER_EPISODES[3:])
    assert main(["propose", str(batch), "-C", str(desk.root)]) == 1
    assert "Nothing could be drafted." in capsys.readouterr().err


@pytest.fixture
def panel(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[ScriptedServer]:
    monkeypatch.setenv("ECDYSIS_CACHE", str(tmp_path / "cache"))
    with ScriptedServer(Roles()) as server:
        yield server


def test_a_panel_drafts_too(
    panel: ScriptedServer, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    repository = tiny(
        tmp_path / "desk",
        'PROMPT = "Answer."\n',
        tables=f'\n[panel]\nbase_url = "{panel.base_url}"\nname = "scripted-panel"\n',
        files={"train.jsonl": tasks("t", 4), "select.jsonl": tasks("s", 4)},
    )
    batch = write_batch(
        tmp_path / "batch.jsonl",
        [
            {
                "task_id": f"t{number}",
                "outcome": "fail",
                "answer": "43",
                "expected": {"answer": "42"},
                "steps": [{"kind": "model", "content": "43"}],
            }
            for number in (1, 2, 3)
        ],
    )
    command = ["propose", str(batch), "--panel", "-C", str(repository.root), "--json"]
    assert main(command) == 0
    answer = as_json(capsys.readouterr().out)
    (made,) = answer["drafts"]
    assert made["title"] == "Ask the model to be careful"
    tip = repository.resolve_commit(answer["branch"])
    transcript = read_transcript(repository, tip)
    assert transcript is not None
    assert len(transcript.splitlines()) == 4
