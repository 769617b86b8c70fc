"""`ecdysis rebase`: a generation on a base that has moved."""

import json
from pathlib import Path

import pytest

from bot.cli import main
from bot.git.repository import Repository
from bot.lineage.evidence import read_note, stored_spec
from tests.helpers.harnesses import tiny
from tests.helpers.order_desk import as_json, snapshot
from tests.helpers.repositories import git
from tests.helpers.tiny_generations import CODE, change, record


@pytest.fixture
def harness(tmp_path: Path) -> Repository:
    return tiny(tmp_path / "h", CODE)


def test_each_repair_is_a_commit_on_the_new_base(
    harness: Repository, capsys: pytest.CaptureFixture[str]
) -> None:
    made = record(harness)
    change(harness, "text", "words")
    change(harness, "6  # a number", "6")
    with pytest.raises(AssertionError, match="could not apply"):
        git(harness.root, "cherry-pick", "--no-commit", made.commits[1])
    git(harness.root, "reset", "--hard", "-q")
    before = snapshot(harness.root)
    assert main(["rebase", "1", "-C", str(harness.root), "--json"]) == 0
    said = as_json(capsys.readouterr().out)
    assert [repair["status"] for repair in said["repairs"]] == ["moved", "moved"]
    assert [repair["reworded"] for repair in said["repairs"]] == [False, True]
    branch = said["branch"]
    expected = (harness.root / "agent.py").read_text().replace("ANSWER = 6", "ANSWER = 7")
    expected = expected.replace("return words\n", "return words.upper()\n")
    assert harness.read_file(branch, "agent.py") == expected.encode()
    assert snapshot(harness.root) == before
    log = git(harness.root, "log", "--format=%s", f"HEAD..{branch}")
    assert log.split("\n")[:2] == ["Say it loud", "Answer seven"]
    trailers = git(harness.root, "log", "-1", "--format=%(trailers)", branch)
    assert f"Ecdysis-Rebased-From: {made.commits[1]}" in trailers
    assert "Ecdysis-Score" not in trailers
    note = read_note(harness, harness.resolve_commit(branch))
    spec = stored_spec(note or {})
    assert spec is not None
    assert spec.edits[0].anchor == "return words"


def test_what_no_longer_applies_is_named(
    harness: Repository, capsys: pytest.CaptureFixture[str]
) -> None:
    record(harness)
    change(harness, "    return text", "    yield text")
    assert main(["rebase", "1", "-C", str(harness.root), "--check"]) == 0
    printed = capsys.readouterr().out
    assert "would apply: Answer seven" in printed
    assert "no longer applies: Say it loud (not_found): 'return text' is gone from say" in printed
    assert list(harness.refs("refs/heads/ecdysis")) == ["refs/heads/ecdysis/gen-0001"]
    change(harness, "ANSWER = 6", "ANSWER = 8")
    assert main(["rebase", "1", "-C", str(harness.root)]) == 1
    assert "No repair of generation 1 applies to HEAD." in capsys.readouterr().err


def test_a_repair_that_is_there_already(
    harness: Repository, capsys: pytest.CaptureFixture[str]
) -> None:
    record(harness)
    change(harness, "ANSWER = 6", "ANSWER = 7")
    assert main(["rebase", "1", "-C", str(harness.root), "--branch", "mine"]) == 0
    assert "there already: Answer seven" in capsys.readouterr().out
    assert git(harness.root, "log", "--format=%s", "HEAD..mine").strip() == "Say it loud"


def test_without_notes(harness: Repository, capsys: pytest.CaptureFixture[str]) -> None:
    record(harness)
    git(harness.root, "update-ref", "-d", "refs/notes/ecdysis")
    assert main(["rebase", "1", "-C", str(harness.root)]) == 1
    assert "ecdysis fetch" in capsys.readouterr().out


def test_the_reason_stands_before_each_hunk(
    harness: Repository, capsys: pytest.CaptureFixture[str]
) -> None:
    record(harness)
    assert main(["show", "1", "--diff", "-C", str(harness.root)]) == 0
    printed = capsys.readouterr().out
    reason = (
        "# edit 1 of 1, set_constant in ANSWER: Six is wrong. [tool_error/lookup_order/unknown-"
    )
    assert printed.index(reason) < printed.index("+ANSWER = 7")
    assert "# edit 1 of 1, replace_statements in say: Say it loud" in printed
    assert main(["show", "1", "--diff", "--json", "-C", str(harness.root)]) == 0
    repairs = json.loads(capsys.readouterr().out)["repairs"]
    assert [hunk["edits"] for repair in repairs for hunk in repair["hunks"]] == [[0], [0]]
