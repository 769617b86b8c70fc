"""`ecdysis revert`: a generation without one of its repairs, decided by the gate again."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from bot.cli import main
from bot.git.repository import Repository
from bot.lineage.evidence import read_note, stored_spec
from bot.lineage.generations import list_generations
from bot.llm.scripted import ScriptedServer
from tests.helpers.harnesses import HEAD, SPLITS, TABLE, tiny
from tests.helpers.order_desk import as_json
from tests.helpers.repositories import git, isolate_git, user_state, write_files
from tests.helpers.tiny_generations import record

CODE = """FACTOR = 1
LIMIT = 1


def answer(number):
    return str(number * FACTOR)
"""
MAIN = """import agent
write(answer=agent.answer(task["input"]["q"]))
"""
SPECS: dict[str, dict[str, Any]] = {
    "Double it": {"op": "set_constant", "target": "FACTOR", "code": "2"},
    "Ask more often": {"op": "set_constant", "target": "LIMIT", "code": "3"},
}


@pytest.fixture
def harness(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Repository]:
    """A generation of two repairs: the first fixes all hidden tasks, the second none."""
    (tmp_path / "home").mkdir()
    isolate_git(monkeypatch, tmp_path / "home")
    monkeypatch.setenv("ECDYSIS_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("ECDYSIS_QUIET", "1")
    tasks = [
        {"task_id": f"s{q}", "input": {"q": q}, "expected": {"answer": str(2 * q)}}
        for q in range(1000, 1006)
    ]
    with ScriptedServer(lambda request: "") as server:
        model = f'\n[model]\nbase_url = "{server.base_url}"\nname = "scripted"\n'
        files = {
            "agent.py": CODE,
            "main.py": HEAD + MAIN,
            "select.jsonl": "".join(f"{json.dumps(task)}\n" for task in tasks),
            "ecdysis.toml": TABLE.replace('"agent.py", "{task}"', '"main.py", "{task}"')
            + SPLITS
            + model,
        }
        repository = tiny(tmp_path / "h", "", files=files)
        record(repository, SPECS)
        yield repository


def test_what_is_left_is_proven_and_committed(
    harness: Repository, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = harness.root
    (first,) = list_generations(harness)
    write_files(folder, {"agent.py": "dirty\n", "untracked": "u\n"})
    before = user_state(folder)
    assert main(["revert", first.commits[1][:12], "-C", str(folder), "--json"]) == 0
    report = as_json(capsys.readouterr().out)
    assert user_state(folder) == before
    assert (report["select"], report["generations"]) == ({"seed": 0.0, "evolved": 1.0}, 1)
    old, new = list_generations(harness)
    assert old == first
    assert (new.number, new.base, len(new.repairs)) == (2, first.base, 1)
    assert harness.read_file(new.commit, "agent.py") == harness.read_file(
        first.commits[0], "agent.py"
    )
    (repair,) = new.repairs
    reverted = first.repairs[1].message.trailers["Spec"]
    assert repair.message.trailers["Reverts"] == reverted
    assert repair.message.trailers["Score"] == "0/6 -> 6/6"
    assert repair.message.title == "Double it"
    assert repair.message.body == first.repairs[0].message.body
    note = read_note(harness, new.commit) or {}
    assert stored_spec(note) == stored_spec(read_note(harness, first.commits[0]) or {})
    assert note["verdict"]["decision"] == "accept"
    # The same once more is no second generation.
    assert main(["revert", first.commits[1], "-C", str(folder)]) == 1
    assert "Generation 2 is generation 1 without it." in capsys.readouterr().err
    # Merged after the old one, it takes the repair out of what HEAD holds.
    git(folder, "checkout", "--quiet", "--force", "ecdysis/gen-0001")
    assert statuses(folder, capsys) == {1: "merged", 2: "accepted"}
    git(folder, "merge", "--quiet", "-X", "theirs", "-m", "Merge", "ecdysis/gen-0002")
    assert statuses(folder, capsys) == {1: "partly merged", 2: "merged"}


def statuses(folder: Path, capsys: pytest.CaptureFixture[str]) -> dict[int, str]:
    assert main(["log", "-C", str(folder), "--json"]) == 0
    found = as_json(capsys.readouterr().out)["generations"]
    return {generation["generation"]: generation["status"] for generation in found}


def test_what_is_left_does_not_help(
    harness: Repository, capsys: pytest.CaptureFixture[str]
) -> None:
    (first,) = list_generations(harness)
    refs = harness.refs("refs/")
    command = ["revert", first.commits[0], "-C", str(harness.root)]
    assert main([*command, "--dry-run"]) == 0
    printed = capsys.readouterr().out.splitlines()
    assert printed[1:3] == ["- Double it", "  Ask more often"]
    changed = [line for line in printed[5:] if line[:1] in ("+", "-") and line[1:2] not in "+-"]
    assert changed == ["-FACTOR = 2", "+FACTOR = 1"]
    assert main([*command, "--dry-run", "--json"]) == 0
    said = as_json(capsys.readouterr().out)
    assert said["reverts"]["commit"] == first.commits[0]
    assert said["kept"] == ["Ask more often"]
    assert "+FACTOR = 1" in said["diff"].splitlines()

    assert main(command) == 1
    captured = capsys.readouterr()
    assert "Generation 1 without: Double it: It does not help" in captured.out
    assert "No repair was accepted." in captured.err
    assert harness.refs("refs/") == refs


def test_what_cannot_be_taken_out(harness: Repository, capsys: pytest.CaptureFixture[str]) -> None:
    folder = str(harness.root)
    assert main(["revert", "HEAD", "-C", folder]) == 2
    assert "HEAD is no repair of a generation." in capsys.readouterr().err
    alone = record(harness, {"Triple it": SPECS["Double it"] | {"code": "3"}})
    assert main(["revert", alone.commit, "-C", folder]) == 2
    assert f"ecdysis evolve --from {alone.base[:10]}" in capsys.readouterr().err  # type: ignore[index]
    added = {"op": "add_function", "code": "def more():\n    return 1\n"}
    used = {"op": "replace_function_body", "target": "more", "code": "return 2"}
    built = record(harness, {"Add more": added, "Change more": used})
    assert main(["revert", built.commits[0], "-C", folder]) == 1
    said = capsys.readouterr().err
    assert "'Change more' cannot stand without it (not_found)" in said
    assert f"ecdysis revert {built.commits[1][:10]}" in said
    git(harness.root, "update-ref", "-d", "refs/notes/ecdysis")
    assert main(["revert", built.commits[1], "-C", folder]) == 4
    assert "ecdysis fetch" in capsys.readouterr().err
