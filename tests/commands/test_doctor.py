import json
import os
from pathlib import Path

import pytest

from bot.cli import main
from bot.commands.checks import check_model
from bot.config import ModelTable
from bot.sandbox.levels import LEVELS, PROMISES
from tests.helpers.repositories import git, isolate_git, make_repository, write_files

TABLE = """
[tool.ecdysis]
source = "small"
run = ["{python}", "run.py", "{task}", "{episode}"]
score = ["{python}", "score.py", "{task}", "{episode}"]
editable = ["harness.py"]
[tool.ecdysis.splits]
train = "train.jsonl"
select = "select.jsonl"
[tool.ecdysis.model]
base_url = "http://127.0.0.1:9/v1"
name = "m"
[tool.ecdysis.seams]
prompt = "harness:build_prompt"
"""


def tasks(prefix: str, number: int) -> str:
    return "".join(
        json.dumps({"task_id": f"{prefix}-{n}", "input": {"message": f"{prefix} {n}"}}) + "\n"
        for n in range(number)
    )


FILES = {
    "pyproject.toml": TABLE,
    "harness.py": "def build_prompt(task):\n    return ''\n",
    "train.jsonl": tasks("train", 3),
    "select.jsonl": tasks("select", 30),
}


@pytest.fixture(autouse=True)
def git_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "home").mkdir()
    isolate_git(monkeypatch, tmp_path / "home")


def examine(
    folder: Path, capsys: pytest.CaptureFixture[str], *more: str
) -> tuple[int, dict[str, list[str]]]:
    """The exit code, and check name → `status: text` of its findings."""
    code = main(["doctor", "--json", "-C", str(folder), *more])
    report = json.loads(capsys.readouterr().out)
    found: dict[str, list[str]] = {}
    for check in report["checks"]:
        found.setdefault(check["name"], []).append(f"{check['status']}: {check['text']}")
        assert check["status"] == "ok" or check["remedy"] or check["name"] == "repository"
    assert report["ok"] is (code == 0)
    return code, found


def test_all_is_well(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = make_repository(tmp_path / "r", FILES)
    code, found = examine(folder, capsys)
    assert code == 0
    assert found["repository"] == [f"ok: {folder}"]
    assert found["splits"] == ["ok: train 3, select 30; disjoint"]
    assert found["seams"] == ["ok: prompt is harness.py:build_prompt"]
    assert found["model"] == ["ok: m at http://127.0.0.1:9/v1 (not called)"]
    assert found["identity"] == ["ok: commits are by Tester <tester@example.invalid>"]
    assert found["generations"] == ["ok: the next one is gen-0001"]
    assert main(["doctor", "-C", str(folder)]) == 0
    printed = capsys.readouterr().out
    assert printed.endswith("Nothing would stop a run.\n")
    assert "ok    table: [tool.ecdysis] for small\n" in printed


def test_the_work_tree_does_not_count(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = make_repository(tmp_path / "r", FILES)
    write_files(folder, {"pyproject.toml": "broken ["})
    index = (folder / ".git/index").read_bytes()
    code, found = examine(folder, capsys)
    assert code == 0
    assert found["work tree"][0].startswith("warning: 1 tracked file with uncommitted changes")
    assert (folder / ".git/index").read_bytes() == index


@pytest.mark.parametrize(
    ("file", "content", "check", "words", "code"),
    [
        ("pyproject.toml", "[project]\n", "table", "no [tool.ecdysis] table", 3),
        ("pyproject.toml", "broken [\n#ecdysis", "table", "not valid TOML", 3),
        ("select.jsonl", tasks("train", 3), "splits", "overlap", 3),
        ("train.jsonl", "", "splits", "holds no task", 3),
        ("train.jsonl", "{\n", "splits", "line 1", 3),
        ("select.jsonl", tasks("select", 5), "splits", "only 5 select tasks", 0),
        ("harness.py", "x = 1\n", "seams", "names no function", 0),
        ("harness.py", "def (\n", "seams", "names no function", 0),
    ],
)
def test_what_is_wrong_in_a_revision(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    file: str,
    content: str,
    check: str,
    words: str,
    code: int,
) -> None:
    folder = make_repository(tmp_path / "r", {**FILES, file: content})
    exit_code, found = examine(folder, capsys)
    assert exit_code == code
    assert any(words in text for text in found[check]), found[check]
    write_files(folder, {file: FILES[file]})
    git(folder, "commit", "--quiet", "-am", "mended")
    assert examine(folder, capsys)[0] == 0
    assert examine(folder, capsys, "--rev", "HEAD~1")[0] == code


def test_states_of_a_repository(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, found = examine(tmp_path, capsys)
    assert code == 4
    assert "not inside a git repository" in found["repository"][0]
    code, found = examine(make_repository(tmp_path / "empty"), capsys)
    assert code == 4
    assert found["repository"] == ["stop: There are no commits yet."]
    folder = make_repository(tmp_path / "r", FILES)
    git(folder, "branch", "ecdysis")
    code, found = examine(folder, capsys)
    assert code == 4
    assert "branch named ecdysis" in found["generations"][0]
    git(folder, "branch", "-D", "ecdysis")
    git(folder, "checkout", "--quiet", "--detach")
    (folder / ".git/MERGE_HEAD").write_text(git(folder, "rev-parse", "HEAD") + "\n")
    code, found = examine(folder, capsys)
    assert code == 0
    assert "HEAD is detached" in found["repository"][1]
    assert "A merge is in progress" in found["repository"][2]
    git(tmp_path, "clone", "--quiet", "--bare", "--depth", "1", f"file://{folder}", "bare.git")
    code, found = examine(tmp_path / "bare.git", capsys)
    assert code == 0
    assert any("shallow" in text for text in found["repository"])
    assert any("bare" in text for text in found["repository"])
    code, found = examine(folder, capsys, "--rev", "nowhere")
    assert code == 4
    assert "There is no commit 'nowhere'" in found["repository"][-1]


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a folder to another user")
def test_a_foreign_owner(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = make_repository(tmp_path / "r", FILES)
    for path in [folder, *folder.rglob("*")]:
        os.chown(path, 12345, 12345)
    code, found = examine(folder, capsys)
    assert code == 4
    assert "belongs to another user" in found["repository"][0]


def test_git_is_missing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = make_repository(tmp_path / "r", FILES)
    monkeypatch.setenv("PATH", str(tmp_path))
    code, found = examine(folder, capsys)
    assert code == 4
    assert "git cannot be run" in found["git"][0]


def test_models(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("A_KEY", raising=False)
    keyed = ModelTable(base_url="https://models.example/v1", name="m", api_key_env="A_KEY")
    assert (check_model("m", keyed).status, check_model("m", keyed).exit_code) == ("stop", 5)
    monkeypatch.setenv("A_KEY", "value-of-the-key")
    assert check_model("m", keyed).status == "ok"
    assert "value-of-the-key" not in check_model("m", keyed).text
    assert check_model("m", ModelTable(base_url="ftp://x")).exit_code == 5
    monkeypatch.setenv("ECDYSIS_CACHE", str(tmp_path))
    monkeypatch.setattr("bot.commands.checks.find_spec", lambda name: object())
    assert "ecdysis model fetch" in check_model("m", ModelTable()).remedy
    monkeypatch.setattr("bot.commands.checks.find_spec", lambda name: None)
    assert check_model("m", ModelTable()).exit_code == 5


@pytest.mark.parametrize("level", LEVELS)
def test_a_level_says_what_it_promises_and_what_not(
    level: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    table = TABLE.replace("editable =", f'sandbox = "{level}"\neditable =')
    folder = make_repository(tmp_path / "r", {**FILES, "pyproject.toml": table})
    code, found = examine(folder, capsys)
    assert code == 0
    promised, *rest = found["sandbox"]
    assert promised.startswith(f"ok: {level}: ")
    kept = {name for name, words in PROMISES.items() if words in promised}
    assert kept == LEVELS[level].promises
    broken = [text for text in rest if f"{level} does not promise" in text]
    assert bool(broken) == (level != "bubblewrap")
    for text in broken:
        assert text.startswith("warning: ")
        withheld = {name for name, words in PROMISES.items() if words in text}
        assert withheld == LEVELS[level].withheld
    assert main(["doctor", "-C", str(folder)]) == 0
    printed = capsys.readouterr().out
    assert ("For bubblewrap: Install bubblewrap" in printed) == (level != "bubblewrap")
