"""`ecdysis diff`: between generations, by repairs and by text."""

from pathlib import Path

import pytest

from bot.cli import main
from bot.git.repository import Repository
from tests.helpers.harnesses import tiny
from tests.helpers.order_desk import as_json
from tests.helpers.repositories import git, isolate_git
from tests.helpers.tiny_generations import CODE, SPECS, change, record

LIMIT = {"Ask more often": {"op": "set_constant", "target": "LIMIT", "code": "3"}}


@pytest.fixture
def harness(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Repository:
    """Generation 1 answers seven and speaks loudly; 2 stands on it, 3 beside it."""
    (tmp_path / "home").mkdir()
    isolate_git(monkeypatch, tmp_path / "home")
    repository = tiny(tmp_path / "h", CODE)
    first = record(repository)
    record(repository, LIMIT, first.commit)
    record(repository, {"Answer seven": SPECS["Answer seven"]})
    return repository


def diff(harness: Repository, capsys: pytest.CaptureFixture[str], *names: str) -> dict:
    assert main(["diff", *names, "-C", str(harness.root), "--json"]) == 0
    return as_json(capsys.readouterr().out)


def titles(said: dict, key: str) -> list[tuple[int, str]]:
    return [(item["generation"], item["title"]) for item in said[key]]


def test_a_generation_and_what_it_stands_on(
    harness: Repository, capsys: pytest.CaptureFixture[str]
) -> None:
    said = diff(harness, capsys, "1")
    assert titles(said, "added") == [(1, "Answer seven"), (1, "Say it loud")]
    assert said["removed"] == []
    assert said["to"] == {
        "name": "gen-0001",
        "commit": harness.resolve_commit("ecdysis/gen-0001"),
        "generation": 1,
    }
    assert said["from"]["commit"] == harness.resolve_commit("HEAD")
    assert said["added"][0]["edits"] == [
        {"op": "set_constant", "file": "agent.py", "target": "ANSWER", "why": "Six is wrong."}
    ]
    assert said["files"] == [{"path": "agent.py", "added": 2, "deleted": 2}]
    assert "+ANSWER = 7  # a number" in said["diff"].splitlines()
    assert titles(diff(harness, capsys, "gen-0002"), "added") == [(2, "Ask more often")]


def test_two_generations_by_spec(harness: Repository, capsys: pytest.CaptureFixture[str]) -> None:
    said = diff(harness, capsys, "2", "3")
    # What both hold by the same spec is no difference, though the commits are others.
    assert (titles(said, "added"), titles(said, "removed")) == (
        [],
        [(1, "Say it loud"), (2, "Ask more often")],
    )
    assert "-LIMIT = 3" in said["diff"]
    assert "ANSWER" not in [line for line in said["diff"].splitlines() if line[0] in "+-"]
    back = diff(harness, capsys, "3", "2")
    assert titles(back, "added") == titles(said, "removed")
    same = diff(harness, capsys, "2", "ecdysis/gen-0002")
    assert (same["added"], same["removed"], same["files"], same["diff"]) == ([], [], [], "")


def test_a_revision_that_holds_a_squash(
    harness: Repository, capsys: pytest.CaptureFixture[str]
) -> None:
    change(harness, "LIMIT = 1", "LIMIT = 2")
    git(harness.root, "merge", "--quiet", "--squash", "-X", "theirs", "ecdysis/gen-0001")
    git(harness.root, "commit", "--quiet", "--no-edit")
    said = diff(harness, capsys, "HEAD", "2")
    assert titles(said, "added") == [(2, "Ask more often")]
    assert said["from"]["generation"] is None
    assert "+LIMIT = 3" in said["diff"]


def test_for_a_person(harness: Repository, capsys: pytest.CaptureFixture[str]) -> None:
    before = harness.refs("refs/")
    assert main(["diff", "3", "2", "-C", str(harness.root)]) == 0
    printed = capsys.readouterr().out.splitlines()
    assert printed[:6] == [
        "gen-0003 -> gen-0002",
        "+ Say it loud  [gen-0001]",
        "    replace_statements  agent.py: say",
        "+ Ask more often  [gen-0002]",
        "    set_constant  agent.py: LIMIT",
        "1 file changed, 2 lines added, 2 deleted",
    ]
    assert "+    return text.upper()" in printed
    assert main(["diff", "3", "2", "--summary", "-C", str(harness.root)]) == 0
    assert capsys.readouterr().out.splitlines() == printed[:7]
    assert harness.refs("refs/") == before
    git(harness.root, "update-ref", "-d", "refs/notes/ecdysis")
    assert main(["diff", "1", "--summary", "-C", str(harness.root)]) == 0
    assert "its spec is not in this clone: ecdysis fetch" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("names", "code", "said"),
    [
        (["9"], 2, "There is no generation 9. These exist: 1, 2, 3."),
        (["HEAD"], 2, "'HEAD' is no generation. Name what to compare it with: A B."),
        (["1", "nowhere"], 4, "There is no commit 'nowhere' here."),
        (["1", "--", "--output=x"], 2, "is not a revision"),
    ],
)
def test_what_there_is_not(
    harness: Repository, capsys: pytest.CaptureFixture[str], names: list[str], code: int, said: str
) -> None:
    assert main(["diff", "-C", str(harness.root), *names]) == code
    assert said in capsys.readouterr().err
