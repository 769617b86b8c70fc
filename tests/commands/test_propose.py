"""Drafts from trajectories alone: nothing is run, and every commit says so."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from bot.cli import main
from bot.commands.revision import load_table
from bot.diagnose.catalog import Situation
from bot.drafting import draft
from bot.git.repository import Repository
from bot.lineage.evidence import read_note, read_transcript
from bot.llm.scripted import ScriptedServer
from bot.records import Episode
from bot.visible import known_text
from bot.workshop import Proposal
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
    batch = failed_batch(tmp_path / "batch.jsonl")
    command = ["propose", str(batch), "--panel", "-C", str(repository.root), "--json"]
    assert main(command) == 0
    answer = as_json(capsys.readouterr().out)
    (made,) = answer["drafts"]
    assert made["title"] == "Ask the model to be careful"
    tip = repository.resolve_commit(answer["branch"])
    transcript = read_transcript(repository, tip)
    assert transcript is not None
    assert len(transcript.splitlines()) == 4


def failed_batch(path: Path) -> Path:
    return write_batch(
        path,
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


def test_a_draft_may_not_name_a_task_although_the_splits_lie_in_the_repository(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("ECDYSIS_CACHE", str(tmp_path / "cache"))
    with ScriptedServer(Roles(code='"Answer t1 carefully."')) as server:
        repository = tiny(
            tmp_path / "desk",
            'PROMPT = "Answer."\n',
            tables=f'\n[panel]\nbase_url = "{server.base_url}"\nname = "scripted-panel"\n',
            files={"train.jsonl": tasks("t", 4), "select.jsonl": tasks("s", 4)},
        )
        batch = failed_batch(tmp_path / "batch.jsonl")
        code = main(["propose", str(batch), "--panel", "-C", str(repository.root), "--json"])
    answer = as_json(capsys.readouterr().out)
    assert code == 1
    assert answer["drafts"] == []
    assert "The edit names the task t1." in answer["left"][0]["reason"]


def test_who_drafts_cannot_read_the_hidden_tasks(tmp_path: Path) -> None:
    repository = tiny(
        tmp_path / "desk",
        'PROMPT = "Answer."\n',
        table='hidden = ["gold.txt"]\n',
        files={
            "train.jsonl": tasks("t", 4),
            "select.jsonl": tasks("s", 4),
            "gold.txt": "quagga\n",
        },
    )
    table = load_table(repository, "HEAD")
    tree = repository.tree_of("HEAD")
    seen: dict[str, bool] = {}

    def consult(situations: Sequence[Situation]) -> dict[str, Proposal]:
        for name in ("agent.py", "train.jsonl", "select.jsonl", "gold.txt"):
            seen[name] = situations[0].read(name) is not None
        return {}

    batch = failed_batch(tmp_path / "batch.jsonl").read_text(encoding="utf-8")
    episodes = [
        Episode(**{"source": "tiny", "trial": 0, **json.loads(line)}) for line in batch.splitlines()
    ]
    draft(repository, table, tree, episodes, apply=lambda tree, spec: tree, consult=consult)
    assert seen == {"agent.py": True, "train.jsonl": True, "select.jsonl": False, "gold.txt": False}
    assert "quagga" not in known_text(repository, table, tree)
    assert "PROMPT" in known_text(repository, table, tree)
