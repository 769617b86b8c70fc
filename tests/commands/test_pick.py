"""`ecdysis pick`: a generation's repairs on another harness."""

from pathlib import Path

import pytest

from bot.cli import main
from bot.git.repository import Repository
from bot.lineage.evidence import read_note, stored_spec
from bot.lineage.generations import list_generations
from tests.helpers.harnesses import tiny
from tests.helpers.order_desk import as_json
from tests.helpers.repositories import git, isolate_git, user_state, write_files
from tests.helpers.tiny_generations import CODE, record

OTHER = '''"""Another harness: its own words, its own order, its own line ends."""

import sys


def shout(words):
    return words + "!"


def say(answer):
    text = str(answer)
    print(text, file=sys.stderr)
    return text


ANSWER = 6
'''


@pytest.fixture
def harness(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Repository:
    """A harness with a generation of two repairs; the branch `other` holds another harness."""
    (tmp_path / "home").mkdir()
    isolate_git(monkeypatch, tmp_path / "home")
    repository = tiny(tmp_path / "h", CODE)
    record(repository)
    folder = repository.root
    git(folder, "checkout", "--quiet", "--orphan", "other")
    table = (folder / "ecdysis.toml").read_text().replace("agent.py", "src/bot.py")
    write_files(folder, {"ecdysis.toml": table, "src/bot.py": OTHER.replace("\n", "\r\n")})
    git(folder, "rm", "--quiet", "--cached", "agent.py")
    (folder / "agent.py").unlink()
    git(folder, "add", "--all")
    git(folder, "commit", "--quiet", "-m", "Another harness")
    git(folder, "checkout", "--quiet", "main")
    return repository


def test_by_spec_not_by_text(harness: Repository, capsys: pytest.CaptureFixture[str]) -> None:
    (generation,) = list_generations(harness)
    with pytest.raises(AssertionError):
        git(harness.root, "merge-tree", "--write-tree", "other", "ecdysis/gen-0001")
    write_files(harness.root, {"agent.py": "dirty\n"})
    before, other = user_state(harness.root), harness.resolve_commit("other")
    assert main(["pick", "1", "--onto", "other", "-C", str(harness.root), "--json"]) == 0
    said = as_json(capsys.readouterr().out)
    assert user_state(harness.root) == before
    assert harness.resolve_commit("other") == said["onto"] == other
    assert [repair["status"] for repair in said["repairs"]] == ["moved", "moved"]
    branch = said["branch"]
    assert branch == f"ecdysis/gen-0001-picked-onto-{other[:10]}"
    wanted = OTHER.replace("ANSWER = 6", "ANSWER = 7")
    wanted = wanted.replace("return text\n", "return text.upper()\n").replace("\n", "\r\n")
    assert harness.read_file(branch, "src/bot.py") == wanted.encode()
    changed = git(harness.root, "diff", "--name-only", "other", branch)
    assert changed == "src/bot.py"
    log = git(harness.root, "log", "--reverse", "--format=%H", f"other..{branch}").splitlines()
    assert log == [repair["commit"] for repair in said["repairs"]]
    for commit, repair in zip(log, generation.repairs, strict=True):
        trailers = git(harness.root, "log", "-1", "--format=%(trailers)", commit)
        assert "Ecdysis-Gate: not run on this harness" in trailers
        assert f"Ecdysis-Picked-From: {repair.commit}" in trailers
        assert "Ecdysis-Score" not in trailers
        assert "Ecdysis-Generation" not in trailers
        spec = stored_spec(read_note(harness, commit) or {})
        assert spec is not None
        assert spec.edits[0].file == "src/bot.py"
    # It is no generation: nothing was proven.
    assert list_generations(harness) == [generation]


def test_what_has_no_place_there(harness: Repository, capsys: pytest.CaptureFixture[str]) -> None:
    folder = str(harness.root)
    assert main(["pick", "1", "--onto", "nowhere", "-C", folder]) == 4
    assert "There is no commit 'nowhere' here." in capsys.readouterr().err
    assert main(["pick", "1", "-C", folder]) == 2
    assert "--onto" in capsys.readouterr().err
    assert main(["pick", "7", "--onto", "other", "-C", folder]) == 2
    assert "There is no generation 7." in capsys.readouterr().err
    git(harness.root, "checkout", "--quiet", "other")
    write_files(harness.root, {"src/bot.py": "x = 1\n"})
    git(harness.root, "commit", "--quiet", "-am", "Empty it")
    assert main(["pick", "1", "--onto", "other", "-C", folder]) == 1
    captured = capsys.readouterr()
    assert "no longer applies: Answer seven" in captured.out
    assert "No repair of generation 1 applies to other." in captured.err
    assert list(harness.refs("refs/heads/ecdysis")) == ["refs/heads/ecdysis/gen-0001"]


def test_check_writes_nothing(harness: Repository, capsys: pytest.CaptureFixture[str]) -> None:
    before = harness.refs("refs/")
    assert main(["pick", "1", "--onto", "other", "--check", "-C", str(harness.root)]) == 0
    assert "would apply: Answer seven" in capsys.readouterr().out
    assert harness.refs("refs/") == before
    picked = ["pick", "1", "--onto", "other", "--branch", "mine", "-C", str(harness.root)]
    assert main(picked) == 0
    assert "Not proven on that harness. Next: ecdysis run --rev mine" in capsys.readouterr().out
    assert main(picked) == 4  # the branch is there: nothing is overwritten
    assert "already exists" in capsys.readouterr().err
