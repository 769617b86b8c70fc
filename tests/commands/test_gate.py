"""`ecdysis gate A B` with real processes and a scripted model."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from bot.cli import main
from bot.git.repository import Repository
from bot.llm.scripted import ScriptedServer
from tests.helpers.harnesses import tiny
from tests.helpers.order_desk import as_json, snapshot
from tests.helpers.repositories import git

AGENT = """
import urllib.request

PROMPT = "Answer."


def ask(text):
    body = {"model": os.environ["OPENAI_MODEL"], "messages": [{"role": "user", "content": text}]}
    request = urllib.request.Request(
        os.environ["OPENAI_BASE_URL"] + "/chat/completions",
        json.dumps(body).encode(),
        {"Content-Type": "application/json", "Authorization": "Bearer none"},
    )
    return json.load(urllib.request.urlopen(request))["choices"][0]["message"]["content"]


write(answer=ask(PROMPT + str(task["input"]["q"])))
"""


def reply(request: dict[str, Any]) -> str:
    """One model needs care, another is confused by it. (Scripted.)"""
    careful = "carefully" in request["messages"][-1]["content"]
    return "42" if careful == (request["model"] == "scripted") else "43"


def tasks(prefix: str, number: int) -> str:
    return "".join(
        json.dumps(
            {"task_id": f"{prefix}{i}", "input": {"q": prefix * i}, "expected": {"answer": "42"}}
        )
        + "\n"
        for i in range(1, number + 1)
    )


@pytest.fixture
def desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("ECDYSIS_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("ECDYSIS_QUIET", "1")
    return tmp_path / "desk"


def make(folder: Path, server: ScriptedServer, tables: str = "") -> Repository:
    other = f'\n[[other_models]]\nbase_url = "{server.base_url}"\nname = "other"\n'
    return tiny(
        folder,
        AGENT,
        base_url=server.base_url,
        tables=tables.replace("OTHER", other),
        files={"train.jsonl": tasks("t", 2), "select.jsonl": tasks("s", 8)},
    )


def change(repository: Repository, old: str, new: str, file: str = "agent.py") -> None:
    path = repository.root / file
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new), encoding="utf-8")
    git(repository.root, "commit", "--quiet", "--all", "--message", "Change")


def gate(
    desk: Path, capsys: pytest.CaptureFixture[str], *more: str
) -> tuple[int, dict[str, Any], str]:
    code = main(["gate", "HEAD~1", "HEAD", "-C", str(desk), "--json", *more])
    captured = capsys.readouterr()
    return code, as_json(captured.out), captured.err


def test_a_better_revision_is_accepted_and_nothing_is_written(
    desk: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with ScriptedServer(reply) as server:
        repository = make(desk, server)
        change(repository, '"Answer."', '"Answer carefully."')
        before, refs = snapshot(desk), repository.refs("refs/")
        code, verdict, _ = gate(desk, capsys)
        assert code == 0
        assert verdict["decision"] == "accept"
        assert (
            verdict["fixed"] == [f"s{i}" for i in (1, 2, 3, 4, 5, 6, 7, 8)]
            or len(verdict["fixed"]) == verdict["tasks"]
        )
        assert verdict["broken"] == []
        assert verdict["activated"] == [True]
        assert verdict["train"] == {
            "tasks": 2,
            "before": 0.0,
            "after": 2.0,
            "fixed": ["t1", "t2"],
            "broken": [],
        }
        assert verdict["inference"]["calls_before"] == verdict["inference"]["calls_after"] == 1.0
        assert verdict["cost"]["model_calls"] == len(server.requests)
        assert (snapshot(desk), repository.refs("refs/")) == (before, refs)
        # The other way round it does not help.
        assert main(["gate", "HEAD", "HEAD~1", "-C", str(desk)]) == 1
        out = capsys.readouterr()
    assert "reject: After" in out.out or "reject: It does not help" in out.out
    assert "HEAD~1 is not proven to be better than HEAD." in out.err


def test_a_change_that_never_runs_is_said(desk: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with ScriptedServer(reply) as server:
        repository = make(desk, server)
        change(repository, '"Answer."', '"Answer carefully."')
        change(repository, "write(answer=", "def idle():\n    return 1\n\n\nwrite(answer=")
        code = main(["gate", "HEAD~2", "HEAD", "-C", str(desk), "--json"])
        verdict = as_json(capsys.readouterr().out)
    assert code == 0
    assert len(verdict["fixed"]) == verdict["tasks"]
    assert verdict["activated"] == [True, False]
    assert "It is not proven that edit 2 ran." in verdict["reason"]


def test_another_model_has_a_veto(desk: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with ScriptedServer(reply) as server:
        change(make(desk, server, "OTHER"), '"Answer."', '"Answer carefully."')
        code, verdict, _ = gate(desk, capsys)
    assert code == 1
    assert verdict["decision"] == "reject"
    assert verdict["reason"].startswith(
        "It helps, but harms other: 8/8 -> 0/8, 0 fixed and 8 broken, p = 0.0039"
    )
    (other,) = verdict["other_models"]
    assert (other["model"], other["before"], other["after"]) == ("other", 8.0, 0.0)


def test_growth_over_the_limit_is_a_veto(desk: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with ScriptedServer(reply) as server:
        repository = make(desk, server, "\n[gate]\nmost_growth = { calls = 1.5 }\n")
        change(repository, "write(answer=ask(", 'ask("Think.")\nwrite(answer=ask("carefully" + ')
        code, verdict, _ = gate(desk, capsys)
    assert code == 1
    assert verdict["reason"].startswith(
        "It helps, but an episode takes 2.00 times the calls (1 -> 2), over the limit of 1.5"
    )


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ('PROMPT = "Answer."', 'PROMPT = "Answer', "agent.py does not compile: line 10"),
        ("import urllib.request", "import subprocess, urllib.request", "subprocess"),
        ('"Answer."', '"Answer 42 to s3, s4."', "The edit names a hidden task."),
    ],
)
def test_what_is_refused_without_running_it(
    desk: Path, capsys: pytest.CaptureFixture[str], old: str, new: str, said: str
) -> None:
    with ScriptedServer(reply) as server:
        change(make(desk, server), old, new)
        code, verdict, _ = gate(desk, capsys)
        assert not server.requests
    assert code == 1
    assert said in verdict["reason"]
    assert verdict["tasks"] == 0


def test_equal_revisions_and_protected_files(
    desk: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with ScriptedServer(reply) as server:
        repository = make(desk, server)
        git(repository.root, "commit", "--quiet", "--allow-empty", "--message", "Nothing")
        assert gate(desk, capsys)[1]["reason"] == "The two revisions hold the same files."
        # A scorer that passes everything is not the one that is used.
        change(repository, "right = ", "right = True or ", "score.py")
        code, verdict, _ = gate(desk, capsys)
        assert not server.requests
    assert code == 1
    assert verdict["reason"] == "The revisions differ only in files that no candidate may change."
    assert verdict["notes"] == [
        "1 file that no candidate may change differ, and those of the first revision are used: "
        "score.py."
    ]


@pytest.mark.slow
def test_two_other_models_of_one_name_are_asked_apart(
    desk: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def worse(request: dict[str, Any]) -> str:
        return "43" if "carefully" in request["messages"][-1]["content"] else "42"

    with ScriptedServer(reply) as server, ScriptedServer(worse) as second:
        others = "".join(
            f'\n[[other_models]]\nbase_url = "{url}"\nname = "scripted"\n'
            for url in (server.base_url, second.base_url)
        )
        change(make(desk, server, others), '"Answer."', '"Answer carefully."')
        code, verdict, _ = gate(desk, capsys)
    assert code == 1
    figures = [(other["before"], other["after"]) for other in verdict["other_models"]]
    assert figures == [(0.0, 8.0), (8.0, 0.0)]


@pytest.mark.slow
def test_what_git_diff_is_set_to_changes_nothing(
    desk: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Nor do a binary file, a file that is gone, a name with blanks, and a submodule."""
    with ScriptedServer(reply) as server:
        repository = make(desk, server)
        (desk / "old notes.txt").write_text("x\n", encoding="utf-8")
        git(desk, "add", "--all")
        git(desk, "commit", "--quiet", "--message", "Notes")
        for name in ("noprefix", "mnemonicPrefix", "suppressBlankEmpty"):
            git(desk, "config", f"diff.{name}", "true")
        git(desk, "config", "diff.submodule", "log")
        git(desk, "config", "diff.interHunkContext", "99")
        (desk / "old notes.txt").unlink()
        (desk / "logo.bin").write_bytes(b"\0\1\2\xff")
        (desk / "näher.txt").write_text("y\n", encoding="utf-8")
        git(desk, "add", "--all")
        change(repository, '"Answer."', '"Answer carefully."')
        link = f"160000,{repository.resolve_commit('HEAD')},library"
        git(desk, "update-index", "--add", "--cacheinfo", link)
        git(desk, "commit", "--quiet", "--message", "Submodule")
        code = main(["gate", "HEAD~2", "HEAD", "-C", str(desk), "--json"])
        verdict = as_json(capsys.readouterr().out)
    assert code == 0, verdict["reason"]
    assert len(verdict["fixed"]) == verdict["tasks"]
    assert verdict["notes"] == [
        "4 files outside the editable paths differ: library, logo.bin, näher.txt, old notes.txt."
    ]
