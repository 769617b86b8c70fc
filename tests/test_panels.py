"""`evolve --panel`, end to end: real processes and git, scripted agent and roles."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from bot.cli import main
from bot.commands.rebuild import edits_from
from bot.git.repository import Repository
from bot.lineage.evidence import TRANSCRIPTS_REF, read_transcript
from bot.lineage.journal import Journal
from bot.lineage.rejected import list_rejected
from bot.llm.scripted import ScriptedServer
from bot.llm.transcript import CallRecord, Transcript
from bot.panels import HIDDEN, earlier_rejections
from tests.commands.test_gate import AGENT, reply, tasks
from tests.helpers.harnesses import tiny
from tests.helpers.order_desk import as_json

SECRET = "sk-panel-4711-secret"
STEPS = """
said = ask(PROMPT + str(task["input"]["q"]))
write(answer=said, steps=[{"kind": "model", "content": said}])
"""


def cited(request: dict[str, Any]) -> list[dict[str, Any]]:
    """Citations of two failing tasks, read out of the question as a role would."""
    text = request["messages"][-1]["content"] + str(request["messages"])
    found = list(dict.fromkeys(re.findall(r"\bt\d\b", text)))[:2]
    return [{"task_id": task, "trial": 0, "step": 0, "quote": "43"} for task in found]


@dataclass
class Roles:
    """The four roles, scripted: each call is answered by the name of its form."""

    code: str = '"Answer carefully."'
    decision: str = "accept"
    fault: str = "harness"
    asked: list[str] = field(default_factory=list)

    def __call__(self, request: dict[str, Any]) -> str:
        form = request["response_format"]["json_schema"]["name"]
        self.asked.append(form)
        answer = getattr(self, form.lower())(request)
        return json.dumps(answer)

    def analysis(self, request: dict[str, Any]) -> dict[str, Any]:
        return {
            "fault": self.fault,
            "cause": "The prompt does not ask for care.",
            "layer": "procedural-skill",
            "places": ["agent.py:PROMPT"],
            "evidence": cited(request),
            "other_side": "The model might be careful by itself.",
        }

    def proposal(self, request: dict[str, Any]) -> dict[str, Any]:
        edit = {
            "op": "set_constant",
            "file": "agent.py",
            "target": "PROMPT",
            "anchor": "",
            "code": self.code,
            "options": [],
            "why": "The model answers right when it is asked to be careful.",
        }
        return {
            "hypothesis": "Asked for care, the model answers right.",
            "applicability": "Every question.",
            "edits": [edit],
            "answers": [],
            "alternatives": ["Ask twice."],
        }

    def critique(self, request: dict[str, Any]) -> dict[str, Any]:
        objection = {
            "kind": "harm",
            "words": "Longer prompts cost more.",
            "blocking": False,
            "evidence": [],
        }
        return {"objections": [objection], "at_risk": []}

    def ruling(self, request: dict[str, Any]) -> dict[str, Any]:
        return {
            "decision": self.decision,
            "reasons": "The evidence is plain.",
            "answers": ["One word more."],
            "revise": "edit",
            "subject": "Ask the model to be careful",
            "body": "The prompt asks for an answer and not for care.",
        }


@dataclass
class Desk:
    repository: Repository
    roles: Roles
    agent: ScriptedServer

    def evolve(self, *more: str) -> int:
        return main(["evolve", "--panel", "-C", str(self.repository.root), *more])


@pytest.fixture
def desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Desk]:
    monkeypatch.setenv("ECDYSIS_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("ECDYSIS_QUIET", "1")
    monkeypatch.setenv("PANEL_KEY", SECRET)
    roles = Roles()
    with ExitStack() as stack:
        agent = stack.enter_context(ScriptedServer(reply))
        panel = stack.enter_context(ScriptedServer(roles))
        tables = (
            f'\n[panel]\nbase_url = "{panel.base_url}"\nname = "scripted-panel"\n'
            'api_key_env = "PANEL_KEY"\nusd_per_million_prompt = 1.0\n'
            "usd_per_million_completion = 2.0\n"
        )
        repository = tiny(
            tmp_path / "desk",
            AGENT.replace('write(answer=ask(PROMPT + str(task["input"]["q"])))', STEPS),
            base_url=agent.base_url,
            tables=tables,
            files={"train.jsonl": tasks("t", 4), "select.jsonl": tasks("s", 10)},
        )
        yield Desk(repository, roles, agent)


def test_a_panels_repair_is_proven_committed_and_made_again(
    desk: Desk, capsys: pytest.CaptureFixture[str]
) -> None:
    assert desk.evolve("--json") == 0
    report = as_json(capsys.readouterr().out)
    assert desk.roles.asked == ["Analysis", "Proposal", "Critique", "Ruling"]
    (repair,) = report["repairs"]
    assert repair["origin"].startswith("panel:")
    assert repair["title"] == "Ask the model to be careful"
    assert report["model_calls"] == len(desk.agent.requests) + 4
    repository = desk.repository
    content = repository.read_file("ecdysis/gen-0001", "agent.py")
    assert content is not None
    assert b'PROMPT = "Answer carefully."' in content
    message = repository.git("log", "-1", "--format=%B", "ecdysis/gen-0001")
    for words in ("does not ask for care", "Objection (harm)", "One word more", "Not done: Ask tw"):
        assert words in message
    # The transcript lies beside the note, without the key, and makes the same tree again.
    transcript = read_transcript(repository, repair["commit"])
    assert transcript is not None
    assert len(transcript.splitlines()) == 4
    assert SECRET not in transcript
    assert main(["rebuild", "1", "-C", str(repository.root), "--json"]) == 0
    (made,) = as_json(capsys.readouterr().out)["repairs"]
    assert made["source"] == "transcript"
    assert made["tree"] == repository.tree_of("ecdysis/gen-0001")
    assert main(["show", "1", "--transcript", "-C", str(repository.root)]) == 0
    shown = capsys.readouterr().out
    assert "analyst, round 1" in shown
    assert "cause: The prompt does not ask for care." in shown


def test_without_the_transcript_it_cannot_be_made_again(
    desk: Desk, capsys: pytest.CaptureFixture[str]
) -> None:
    assert desk.evolve() == 0
    desk.repository.git("update-ref", "-d", TRANSCRIPTS_REF)
    assert main(["rebuild", "1", "-C", str(desk.repository.root)]) == 1
    assert "Its transcript is not in this clone." in capsys.readouterr().out


def test_the_models_fault_is_a_result_with_reasons(
    desk: Desk, capsys: pytest.CaptureFixture[str]
) -> None:
    desk.roles.fault, desk.roles.decision = "model", "model"
    assert desk.evolve("--json") == 1
    report = as_json(capsys.readouterr().out)
    assert "Proposal" not in desk.roles.asked
    reasons = [left["reason"] for left in report["left"]]
    assert "panel: The panel holds the model responsible: The evidence is plain." in reasons


def test_what_does_not_help_is_not_committed(
    desk: Desk, capsys: pytest.CaptureFixture[str]
) -> None:
    desk.roles.code = '"Answer at once."'
    assert desk.evolve("--json") == 1
    report = as_json(capsys.readouterr().out)
    assert report["generations"] == 0
    (rejected,) = list_rejected(desk.repository)
    assert rejected.kind == "train"
    # The next panel is told of it, and asks anew.
    desk.roles.code = '"Answer carefully."'
    assert desk.evolve() == 0


def test_a_dry_run_says_the_cost_and_asks_nothing(
    desk: Desk, capsys: pytest.CaptureFixture[str]
) -> None:
    assert desk.evolve("--dry-run", "--json") == 0
    plan = as_json(capsys.readouterr().out)
    assert desk.roles.asked == []
    assert [pattern["tasks"] for pattern in plan["patterns"]] == [4]
    assert plan["panel"]["calls"] == 4
    cost = plan["panel"]
    assert cost["usd"] == pytest.approx(
        (cost["prompt_tokens"] + 2 * cost["completion_tokens"]) / 1e6
    )
    assert desk.evolve("--dry-run") == 0
    assert "1 panel: about 4 to at most" in capsys.readouterr().out


def test_a_table_without_a_panel_says_what_to_add(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    tiny(tmp_path / "desk", "write()")
    assert main(["evolve", "--panel", "-C", str(tmp_path / "desk")]) == 2
    assert "Add [tool.ecdysis.panel]" in capsys.readouterr().err


@pytest.mark.slow
def test_a_run_killed_after_its_commit_reports_it_and_makes_no_other(
    desk: Desk, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def killed(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(Journal, "reach", killed)
        assert desk.evolve("--json") == 130
    (ref,) = desk.repository.refs("refs/heads/ecdysis/")
    asked, calls = len(desk.roles.asked), len(desk.agent.requests)
    capsys.readouterr()
    assert desk.evolve("--json") == 0
    report = as_json(capsys.readouterr().out)
    assert report["generations"] == 1
    assert [repair["title"] for repair in report["repairs"]] == ["Ask the model to be careful"]
    assert report["select"] == {"seed": 0.0, "evolved": 1.0}
    assert list(desk.repository.refs("refs/heads/ecdysis/")) == [ref]
    assert (len(desk.roles.asked), len(desk.agent.requests)) == (asked, calls)
    # That run has ended: the next one works on what it made.
    assert desk.evolve("--json") == 1
    assert as_json(capsys.readouterr().out)["repairs"] == []


@pytest.mark.slow
def test_panel_and_catalog_do_not_go_on_with_each_others_runs(
    desk: Desk, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def killed(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr("bot.evolve.compare_hidden", killed)
        assert desk.evolve() == 130
    asked = list(desk.roles.asked)
    assert main(["evolve", "-C", str(desk.repository.root), "--json"]) == 1  # nothing for it here
    assert desk.roles.asked == asked
    assert desk.evolve() == 0  # what the panel said was kept
    assert desk.roles.asked == asked


def test_who_proposes_is_not_told_that_a_guess_was_a_hidden_task(
    desk: Desk, capsys: pytest.CaptureFixture[str]
) -> None:
    desk.roles.code = '"Answer s3 carefully."'
    assert desk.evolve("--json") == 1
    report = as_json(capsys.readouterr().out)
    assert [one["reason"] for one in report["rejected"]] == ["The edit names a hidden task."]
    assert report["left"][0]["reason"] == "panel: what it proposed was rejected."
    (rejected,) = list_rejected(desk.repository)
    (earlier,) = earlier_rejections(desk.repository, [rejected.pattern])
    assert (earlier.kind, earlier.words) == ("hidden", HIDDEN)


def test_a_table_without_a_sealed_split_says_so(
    desk: Desk, capsys: pytest.CaptureFixture[str]
) -> None:
    assert desk.evolve("--test") == 2
    assert "The table names no sealed test split." in capsys.readouterr().err
    assert desk.agent.requests == []


def test_a_transcript_of_other_labels_is_no_engineers() -> None:
    record = CallRecord(label="x", digest="", model="m", turns=[], answer="{}", outcome="answered")
    assert edits_from(Transcript([record]).to_text()) is None
