"""`ecdysis apply` and `ecdysis fetch` on real repositories."""

import json
import subprocess
from pathlib import Path

import pytest

from bot.cli import main
from bot.git.repository import Repository
from tests.helpers.harnesses import tiny
from tests.helpers.order_desk import as_json, snapshot
from tests.helpers.repositories import git

SPEC = {
    "title": "Answer seven",
    "pattern": "wrong_answer/model-text/x",
    "layer": "procedural-skill",
    "hypothesis": "It answers wrong.",
    "origin": "test",
    "edits": [
        {"op": "set_constant", "file": "agent.py", "target": "ANSWER", "code": "7", "why": "seven."}
    ],
}


@pytest.fixture
def harness(tmp_path: Path) -> Repository:
    return tiny(tmp_path / "h", "ANSWER = 6  # a number\n")


def spec_file(tmp_path: Path, **changes: object) -> str:
    path = tmp_path / "spec.json"
    path.write_text(json.dumps(SPEC | changes))
    return str(path)


def commit_all(harness: Repository, subject: str) -> None:
    who = ["-c", "user.name=A", "-c", "user.email=a@localhost"]
    git(harness.root, *who, "commit", "-qam", subject)


def test_the_work_tree_is_edited_once(
    harness: Repository, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    spec, folder = spec_file(tmp_path), str(harness.root)
    before = snapshot(harness.root)
    assert main(["apply", spec, "-C", folder, "--check"]) == 0
    assert "1 file would change: agent.py" in capsys.readouterr().out
    assert snapshot(harness.root) == before
    assert main(["apply", spec, "-C", folder, "--json"]) == 0
    assert as_json(capsys.readouterr().out) == {
        "files": ["agent.py"],
        "changed": [True],
        "branch": None,
        "reworded": None,
    }
    assert "ANSWER = 7  # a number\n" in (harness.root / "agent.py").read_text()
    assert harness.uncommitted() == ["agent.py"]
    # Uncommitted changes of a file are never mixed with the bot's.
    assert main(["apply", spec, "-C", folder]) == 4
    assert "agent.py has uncommitted changes" in capsys.readouterr().err
    commit_all(harness, "seven")
    assert main(["apply", spec, "-C", folder]) == 0
    assert "Nothing to change" in capsys.readouterr().out


def test_onto_a_revision_leaves_the_work_tree_alone(
    harness: Repository, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (harness.root / "agent.py").write_text("# somebody's work in progress\n")
    before = snapshot(harness.root)
    spec = spec_file(tmp_path)
    command = ["apply", spec, "-C", str(harness.root), "--onto", "HEAD", "--branch", "seven"]
    assert main([*command, "--json"]) == 0
    assert as_json(capsys.readouterr().out)["branch"] == "seven"
    assert snapshot(harness.root) == before
    assert b"ANSWER = 7" in (harness.read_file("seven", "agent.py") or b"")
    message = harness.git("log", "-1", "--format=%B", "seven")
    assert message.startswith("Answer seven\n")
    trailers = harness.git("interpret-trailers", "--parse", input=message.encode())
    assert "Ecdysis-Spec: sha256:" in trailers
    assert main(command) == 4  # the branch is there: never overwritten


@pytest.mark.parametrize(
    ("edit", "said"),
    [
        ({"file": ".github/workflows/ci.yml"}, "may never be edited"),
        ({"file": "score.py"}, "is protected in the table"),
        ({"file": "../x.py"}, "not a plain path"),
        ({"target": "NOTHING"}, "assigns no 'NOTHING'"),
        ({"op": "delete_everything"}, "There is no operation 'delete_everything'"),
    ],
)
def test_refusals_change_nothing(
    edit: dict[str, str],
    said: str,
    harness: Repository,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    before = snapshot(harness.root)
    spec = spec_file(tmp_path, edits=[{**SPEC["edits"][0], **edit}])  # type: ignore[index]
    assert main(["apply", spec, "-C", str(harness.root)]) == 3
    captured = capsys.readouterr().err
    assert said in captured
    assert "Nothing was changed" in captured
    assert snapshot(harness.root) == before


@pytest.mark.parametrize("content", ["", "{", "[]", '{"title": "x"}'])
def test_a_broken_spec_is_one_sentence(
    content: str, harness: Repository, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "spec.json"
    path.write_text(content)
    assert main(["apply", str(path), "-C", str(harness.root)]) == 3
    assert "ecdysis schema spec" in capsys.readouterr().err


def test_a_link_out_of_the_repository_is_not_followed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    outside = tmp_path / "outside.py"
    outside.write_text("ANSWER = 6\n")
    harness = tiny(tmp_path / "h", "", files={})
    (harness.root / "agent.py").unlink()
    (harness.root / "agent.py").symlink_to(outside)
    commit_all(harness, "link")
    assert main(["apply", spec_file(tmp_path), "-C", str(harness.root)]) == 3
    assert "agent.py is not edited: agent.py is a link." in capsys.readouterr().err
    assert outside.read_text() == "ANSWER = 6\n"


def test_what_undoes_a_spec(
    harness: Repository, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder, undo = str(harness.root), tmp_path / "undo.json"
    before = (harness.root / "agent.py").read_text()
    assert main(["apply", spec_file(tmp_path), "-C", folder, "--undo", str(undo), "--check"]) == 0
    assert not undo.exists()
    assert main(["apply", spec_file(tmp_path), "-C", folder, "--undo", str(undo)]) == 0
    assert (harness.root / "agent.py").read_text() != before
    assert json.loads(undo.read_text())["title"] == "Undo: Answer seven"
    commit_all(harness, "seven")
    assert main(["apply", str(undo), "-C", folder]) == 0
    assert (harness.root / "agent.py").read_text() == before
    capsys.readouterr()
    # There is nothing to write where nothing is to be undone.
    undo.unlink()
    git(harness.root, "checkout", "-q", "HEAD", "--", ".")
    assert main(["apply", spec_file(tmp_path), "-C", folder, "--undo", str(undo)]) == 3
    assert "nothing is to be undone" in capsys.readouterr().err
    assert not undo.exists()


def test_a_danger_that_the_table_names(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    harness = tiny(tmp_path / "h", "ANSWER = 6\n")
    imported = {"op": "add_import", "file": "agent.py", "code": "import subprocess"}
    spec, folder = spec_file(tmp_path, edits=[imported]), str(harness.root)
    assert main(["apply", spec, "-C", folder]) == 3
    assert 'allow = ["import subprocess"]' in capsys.readouterr().err
    table = harness.root / "ecdysis.toml"
    where = table if table.exists() else harness.root / "pyproject.toml"
    text = where.read_text()
    where.write_text(text.replace("editable =", 'allow = ["import subprocess"]\neditable =', 1))
    commit_all(harness, "allow")
    assert main(["apply", spec, "-C", folder]) == 0
    # The table itself is never edited, whatever it says is editable.
    edit = {"op": "edit_text", "file": where.name, "anchor": "allow", "code": "x"}
    assert main(["apply", spec_file(tmp_path, edits=[edit]), "-C", folder]) == 3
    assert f"{where.name} is protected" in capsys.readouterr().err


def test_fetch_brings_the_refs_into_a_clone(
    harness: Repository, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    head = harness.resolve_commit("HEAD")
    harness.update_ref("refs/ecdysis/rejected/abc", head, None)
    clone = tmp_path / "clone"
    subprocess.run(["git", "clone", "-q", str(harness.root), str(clone)], check=True)
    assert main(["fetch", "-C", str(clone)]) == 0
    assert "1 ref new or moved" in capsys.readouterr().out
    assert Repository.open(clone).refs("refs/ecdysis/") == {"refs/ecdysis/rejected/abc": head}
    for remote in ("nowhere", "--upload-pack=touch x"):
        assert main(["fetch", "-C", str(clone), "--", remote]) == 2
    assert "The remotes here: origin" in capsys.readouterr().err


def test_onto_a_revision_whose_code_has_moved(
    harness: Repository, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    spec, folder = spec_file(tmp_path), str(harness.root)
    base = harness.resolve_commit("HEAD")
    moved = (harness.root / "agent.py").read_text().replace("ANSWER", "REPLY")
    (harness.root / "agent.py").write_text(moved)
    git(harness.root, "commit", "-qam", "Rename it")
    assert main(["apply", spec, "-C", folder, "--onto", "HEAD"]) == 3
    assert "assigns no 'ANSWER'" in capsys.readouterr().err
    assert main(["apply", spec, "-C", folder, "--onto", "HEAD", "--base", base, "--json"]) == 0
    said = as_json(capsys.readouterr().out)
    assert said["reworded"]["edits"][0]["target"] == "REPLY"
    assert harness.read_file(said["branch"], "agent.py") == moved.replace("6", "7").encode()
    assert harness.uncommitted() == []
    assert main(["apply", spec, "-C", folder, "--base", base]) == 2
