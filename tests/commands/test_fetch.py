"""`ecdysis fetch`: refs come together, nothing here is overwritten."""

from pathlib import Path

import pytest

from bot.cli import main
from bot.git.repository import Repository
from bot.lineage.evidence import NOTES_REF, read_note
from bot.lineage.generations import list_generations
from tests.helpers.order_desk import as_json
from tests.helpers.repairs import add_generation
from tests.helpers.repositories import git, isolate_git, make_repository, user_state


@pytest.fixture
def origin(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Repository:
    (tmp_path / "home").mkdir()
    isolate_git(monkeypatch, tmp_path / "home")
    repository = Repository.open(make_repository(tmp_path / "origin", {"a.py": "a = 1\n"}))
    add_generation(repository, titles=("One",))
    return repository


@pytest.fixture
def clone(origin: Repository, tmp_path: Path) -> Repository:
    git(tmp_path, "clone", "--quiet", str(origin.root), "clone")
    return Repository.open(tmp_path / "clone")


def fetch(clone: Repository, capsys: pytest.CaptureFixture[str]) -> dict:
    assert main(["fetch", "-C", str(clone.root), "--json"]) == 0
    return as_json(capsys.readouterr().out)


def test_forward(origin: Repository, clone: Repository, capsys: pytest.CaptureFixture[str]) -> None:
    before = user_state(clone.root)
    said = fetch(clone, capsys)
    assert said["moved"] == ["refs/ecdysis/generations/0001", NOTES_REF]
    assert (said["left"], said["gained"], said["there"]) == ([], 0, True)
    assert fetch(clone, capsys)["moved"] == []
    add_generation(origin, "ecdysis/gen-0001", ("Two",))
    assert fetch(clone, capsys)["moved"] == ["refs/ecdysis/generations/0002", NOTES_REF]
    assert [g.number for g in list_generations(clone)] == [1, 2]
    after = user_state(clone.root)
    assert after == before
    assert not (clone.git_dir / "FETCH_HEAD").exists()


def test_what_went_two_ways(
    origin: Repository, clone: Repository, capsys: pytest.CaptureFixture[str]
) -> None:
    fetch(clone, capsys)
    theirs = add_generation(origin, "ecdysis/gen-0001", ("Theirs",))
    ours = add_generation(clone, "refs/ecdysis/generations/0001", ("Ours",))
    said = fetch(clone, capsys)
    # Both have made a second generation: ours stays; the notes hold those of both.
    assert (said["moved"], said["left"]) == ([NOTES_REF], ["refs/ecdysis/generations/0002"])
    assert clone.refs("refs/ecdysis/generations/0002") == {
        "refs/ecdysis/generations/0002": ours.commit
    }
    assert read_note(clone, ours.commit) is not None
    assert read_note(clone, theirs.commit) is not None
    assert fetch(clone, capsys)["moved"] == []
    assert main(["fetch", "-C", str(clone.root)]) == 0
    printed = capsys.readouterr().out
    assert "refs/ecdysis/generations/0002 went another way here and is left as it is." in printed


def test_after_the_remote_was_pruned(
    origin: Repository, clone: Repository, capsys: pytest.CaptureFixture[str]
) -> None:
    fetch(clone, capsys)
    assert main(["prune", "--days", "0", "--keep", "0", "-C", str(origin.root)]) == 0
    capsys.readouterr()
    made = add_generation(origin, "ecdysis/gen-0001", ("Two",))
    assert fetch(clone, capsys)["moved"] == ["refs/ecdysis/generations/0002", NOTES_REF]
    # What was pruned there is kept here.
    first = list_generations(clone)[0]
    assert (read_note(clone, first.commit) or {})["pattern"]["evidence"]
    assert read_note(clone, made.commit) is not None


def test_a_remote_without_refs_and_one_that_is_gone(
    origin: Repository, clone: Repository, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    git(tmp_path, "init", "--quiet", "--bare", "empty.git")
    git(clone.root, "remote", "add", "empty", str(tmp_path / "empty.git"))
    assert main(["fetch", "empty", "-C", str(clone.root)]) == 0
    assert "empty has no refs of the bot." in capsys.readouterr().out
    git(clone.root, "remote", "add", "gone", str(tmp_path / "nowhere"))
    assert main(["fetch", "gone", "-C", str(clone.root)]) == 4
    assert "does not appear to be a git repository" in capsys.readouterr().err
