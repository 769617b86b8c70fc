import json
from pathlib import Path

import pytest

from bot.cli import main
from bot.commands.log import as_number, generation_lines
from bot.git.repository import Repository
from bot.lineage.ledger import append_test_read
from bot.lineage.rejected import record_rejected
from tests.helpers.repairs import add_generation, make_spec
from tests.helpers.repositories import git, isolate_git, make_repository


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Repository:
    (tmp_path / "home").mkdir()
    isolate_git(monkeypatch, tmp_path / "home")
    return Repository.open(make_repository(tmp_path / "r", {"a.py": "a = 1\n"}))


def test_newest_first(repository: Repository, capsys: pytest.CaptureFixture[str]) -> None:
    first = add_generation(repository, titles=("One", "Two"))
    second = add_generation(repository, first.commit, ("Three",))
    assert main(["log", "-C", str(repository.root)]) == 0
    printed = capsys.readouterr().out.splitlines()
    assert printed[0].startswith(f"* gen-0002  {second.commit[:10]}  20")
    assert printed[0].endswith(
        "  accepted  score 11/24 -> 21/24, 10 fixed, 0 broken, noise band 1, p = 0.00098"
    )
    assert printed[1:3] == [
        "|     Three",
        "|         tool_error/lookup_order/unknown-field  [catalog:worked-examples]",
    ]
    assert printed[3].startswith(f"* gen-0001  {first.commit[:10]}")
    assert [printed[4], printed[6]] == ["|     One", "|     Two"]
    assert printed[8].startswith(f"o {git(repository.root, 'rev-parse', 'HEAD')[:10]}  20")
    assert printed[8].endswith("  first")
    assert len(printed) == 9
    assert generation_lines(repository.root) == printed
    assert main(["log", "-C", str(repository.root), "-n", "1"]) == 0
    assert len(capsys.readouterr().out.splitlines()) == 3


def test_the_graph_forks_and_holds_what_was_rejected(
    repository: Repository, capsys: pytest.CaptureFixture[str]
) -> None:
    first = add_generation(repository, titles=("One",))
    add_generation(repository, first.commit, ("Two",))
    add_generation(repository, titles=("Other way",))
    for title, base in (("Bad idea", first.commit), ("Worse idea", None)):
        record_rejected(
            repository,
            tree=repository.tree_of("HEAD"),
            spec=make_spec(title),
            reason="3 of 24 tasks break.",
            base_commit=base,
        )
    git(repository.root, "merge", "--quiet", "--squash", "ecdysis/gen-0001")
    git(repository.root, "commit", "--quiet", "--no-edit")
    assert main(["log", "-C", str(repository.root)]) == 0
    printed = capsys.readouterr().out.splitlines()
    marks = [(line[:4].rstrip(), line[4:].split("  ")[0].strip()) for line in printed]
    heads = [line for line in printed if line.strip("|/x*o ").startswith(("gen-", "rejected"))]
    assert [line.split("  ")[0] for line in heads] == [
        "x rejected",
        "* gen-0003",
        "| * gen-0002",
        "| | x rejected",
        "| * gen-0001",
    ]
    assert heads[0].endswith("  Rejected: Worse idea".removeprefix("  Rejected: "))
    assert heads[3].endswith("  Bad idea")
    assert ("|/", "") in marks
    assert printed[printed.index("|/") + 1].startswith("o ")
    assert [line.split("  ")[3] for line in heads if "gen-" in line] == [
        "accepted",
        "accepted",
        "merged",
    ]
    assert main(["log", "--json", "-C", str(repository.root)]) == 0
    log = json.loads(capsys.readouterr().out)
    assert [g["parent"] for g in log["generations"]] == [None, 1, None]
    assert [g["status"] for g in log["generations"]] == ["accepted", "accepted", "merged"]
    head = repository.resolve_commit("HEAD")
    assert log["generations"][2]["repairs"][0]["merged"] == {"commit": head, "how": "message"}
    assert log["generations"][0]["repairs"][0]["merged"] is None
    rejected = {item["title"]: item for item in log["rejected"]}
    assert rejected["Bad idea"]["base"] == first.commit
    assert rejected["Worse idea"]["base"] is None
    assert rejected["Bad idea"]["reason"] == "3 of 24 tasks break."


def test_json(repository: Repository, capsys: pytest.CaptureFixture[str]) -> None:
    made = add_generation(repository, titles=("One", "Two"))
    append_test_read(repository, trees=["t"], tasks=3)
    assert main(["log", "--json", "-C", str(repository.root)]) == 0
    log = json.loads(capsys.readouterr().out)
    (generation,) = log["generations"]
    assert log["test_reads"] == 1
    assert log["missing"] == []
    assert generation["generation"] == 1
    assert generation["branch"] == "ecdysis/gen-0001"
    assert generation["commit"] == made.commit
    assert (generation["fixed"], generation["broken"], generation["noise_band"]) == (10, 0, 1)
    assert generation["p_value"] == 0.00098
    assert [repair["title"] for repair in generation["repairs"]] == ["One", "Two"]
    assert generation["repairs"][0]["predicted_fixes"] == ["task-0031", "task-0044"]


def test_without_generations(repository: Repository, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["log", "-C", str(repository.root)]) == 1
    said = capsys.readouterr()
    assert said.out == ""
    assert "There are no generations yet. Make one: ecdysis evolve" in said.err
    assert main(["log", "--json", "-C", str(repository.root)]) == 1
    assert json.loads(capsys.readouterr().out)["generations"] == []
    assert generation_lines(repository.root) == []


def test_outside_and_in_an_empty_repository(
    tmp_path: Path, repository: Repository, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["log", "-C", str(tmp_path)]) == 4
    assert "not inside a git repository" in capsys.readouterr().err
    make_repository(tmp_path / "empty")
    assert main(["log", "-C", str(tmp_path / "empty")]) == 1


def test_detached_bare_and_shallow(
    tmp_path: Path, repository: Repository, capsys: pytest.CaptureFixture[str]
) -> None:
    add_generation(repository, titles=("One", "Two"))
    git(repository.root, "checkout", "--quiet", "--detach")
    assert main(["log", "-C", str(repository.root)]) == 0
    assert "Note:" not in capsys.readouterr().out
    source = f"file://{repository.root}"
    git(tmp_path, "clone", "--quiet", "--mirror", source, "bare.git")
    assert main(["log", "-C", str(tmp_path / "bare.git")]) == 0
    assert "Note:" not in capsys.readouterr().out
    git(tmp_path, "clone", "--quiet", "--depth", "1", "-b", "ecdysis/gen-0001", source, "shallow")
    assert main(["log", "-C", str(tmp_path / "shallow")]) == 0
    printed = capsys.readouterr().out
    assert "Two" in printed
    assert "git fetch --unshallow" in printed
    assert "ecdysis fetch" in printed


def test_stored_escapes_never_reach_the_terminal(
    repository: Repository, capsys: pytest.CaptureFixture[str]
) -> None:
    head = repository.resolve_commit("HEAD")
    text = "Evil\x1b[2J title\x1b]0;x\x07\n\nbody\x1b[31m\n\nEcdysis-Generation: 1\n"
    text += "Ecdysis-Pattern: p\x1b[5m\nEcdysis-Score: 1\x1b[0m\nEcdysis-Fixed: many\n"
    raw = f"tree {repository.tree_of(head)}\nparent {head}\nauthor A <a@b> 1 +0000\n"
    raw += f"committer A <a@b> 99999999999999999 +0000\n\n{text}"
    commit = git(
        repository.root, "hash-object", "--literally", "-w", "-t", "commit", "--stdin",
        input=raw.encode(),
    )  # fmt: skip
    repository.update_ref("refs/ecdysis/generations/0001", commit, None)
    for arguments in (["log"], ["show", "1"]):
        assert main([*arguments, "-C", str(repository.root)]) == 0
        printed = capsys.readouterr().out
        assert "Evil title" in printed
        assert "\x1b" not in printed
        assert "\x07" not in printed


@pytest.mark.parametrize(
    ("text", "number"),
    [("3", 3), ("0.5", 0.5), ("1e-4", 0.0001), ("nan", None), ("inf", None), ("x", None),
     (None, None), ("", None)],
)  # fmt: skip
def test_numbers_in_trailers(text: str | None, number: float | None) -> None:
    assert as_number(text) == number
