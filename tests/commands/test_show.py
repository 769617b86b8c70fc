import json
from pathlib import Path

import pytest

from bot.cli import main
from bot.git.repository import Repository
from tests.helpers.repairs import add_generation, make_spec
from tests.helpers.repositories import git, isolate_git, make_repository


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Repository:
    (tmp_path / "home").mkdir()
    isolate_git(monkeypatch, tmp_path / "home")
    return Repository.open(make_repository(tmp_path / "r", {"a.py": "a = 1\n"}))


@pytest.mark.parametrize("name", ["1", "gen-0001", "ecdysis/gen-0001"])
def test_the_diagnosis_of_each_repair(
    repository: Repository, capsys: pytest.CaptureFixture[str], name: str
) -> None:
    made = add_generation(repository, titles=("One", "Two"))
    assert main(["show", name, "-C", str(repository.root)]) == 0
    printed = capsys.readouterr().out
    assert printed.startswith("Generation 1, branch ecdysis/gen-0001, on top of ")
    for commit in made.commits:
        assert f"commit {commit}" in printed
    assert printed.index("    One\n") < printed.index("    Two\n")
    assert "    17 of 36 train episodes over 12 distinct tasks failed.\n" in printed
    assert "    Score: 11/24 -> 21/24\n" in printed
    assert "diff --git" not in printed
    assert "\x1b" not in printed


def test_the_diff(repository: Repository, capsys: pytest.CaptureFixture[str]) -> None:
    git(repository.root, "config", "color.ui", "always")
    git(repository.root, "config", "diff.external", "false")
    add_generation(repository, titles=("One\x1b[31m", "Two"))
    assert main(["show", "1", "--diff", "-C", str(repository.root)]) == 0
    printed = capsys.readouterr().out
    assert "\n+'Two'\n" in printed
    assert "\x1b" not in printed
    assert printed.count("diff --git") == 2


def test_json_holds_the_spec(repository: Repository, capsys: pytest.CaptureFixture[str]) -> None:
    made = add_generation(repository, titles=("One", "Two"))
    assert main(["show", "1", "--diff", "--json", "-C", str(repository.root)]) == 0
    shown = json.loads(capsys.readouterr().out)
    assert shown["commit"] == made.commit
    repair = shown["repairs"][1]
    assert repair["spec_record"] == make_spec("Two").model_dump(mode="json")
    assert repair["verdict"]["decision"] == "accept"
    assert repair["trailers"]["Score"] == "11/24 -> 21/24"
    assert "+'Two'" in repair["diff"]
    assert "One" not in repair["diff"].replace("repairs/One.py", "")


def test_from_git_alone(repository: Repository, capsys: pytest.CaptureFixture[str]) -> None:
    add_generation(repository)
    (repository.root / "a.py").unlink()
    assert main(["show", "1", "--diff", "-C", str(repository.root)]) == 0
    assert "+'Repair it'" in capsys.readouterr().out


def test_names_that_do_not_exist(
    repository: Repository, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["show", "1", "-C", str(repository.root)]) == 1
    add_generation(repository)
    capsys.readouterr()
    assert main(["show", "7", "-C", str(repository.root)]) == 2
    assert "There is no generation 7. These exist: 1." in capsys.readouterr().err
    assert main(["show", "main", "-C", str(repository.root)]) == 2
    assert "Write it as 3, gen-0003" in capsys.readouterr().err


def test_a_shallow_clone_says_what_is_missing(
    repository: Repository, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    add_generation(repository, titles=("One", "Two"))
    git(tmp_path, "clone", "--quiet", "--depth", "1", "-b", "ecdysis/gen-0001",
        f"file://{repository.root}", "shallow")  # fmt: skip
    assert main(["show", "1", "--diff", "-C", str(tmp_path / "shallow")]) == 0
    printed = capsys.readouterr().out
    assert "is not in this clone: git fetch --unshallow" in printed


def test_colours_only_on_a_terminal(
    repository: Repository, monkeypatch: pytest.MonkeyPatch
) -> None:
    from bot.commands.show import write
    from bot.lineage.generations import find_generation

    add_generation(repository, titles=("One",))
    generation = find_generation(repository, "1")
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setattr("sys.stdout.isatty", lambda: True, raising=False)
    assert any("\x1b[32m+'One'" in line for line in write(repository, generation, True))
    monkeypatch.setenv("NO_COLOR", "1")
    assert not any("\x1b" in line for line in write(repository, generation, True))
