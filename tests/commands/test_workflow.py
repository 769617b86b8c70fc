"""The workflow that `ecdysis init --workflow` writes, and the linters' word on all of them."""

import json
import subprocess
import sys
from importlib import metadata
from pathlib import Path
from typing import Any

import pytest
import yaml

from bot.cli import main
from bot.commands import workflow
from bot.commands.workflow import installed_action
from bot.git.repository import Repository
from tests.helpers.harnesses import tiny
from tests.helpers.repositories import git

ROOT = Path(__file__).resolve().parents[2]
ACTION = "bots/ecdysis@" + "0123456789" * 4
WRITTEN = Path(".github/workflows/ecdysis.yml")
Capture = pytest.CaptureFixture[str]
PANEL = """
[panel]
base_url = "https://panel.invalid/v1"
name = "wise"
api_key_env = "PANEL_KEY"

[panel.critic]
base_url = "https://critic.invalid/v1"
name = "wiser"
api_key_env = "CRITIC_KEY"
"""


@pytest.fixture
def harness(tmp_path: Path) -> Repository:
    tables = f'api_key_env = "MODEL_KEY"\n{PANEL}'
    return tiny(tmp_path / "agent", "write()\n", tables=tables)


def init(repository: Repository, *args: str) -> int:
    return main(["init", "--workflow", "-C", str(repository.root), *args])


def read(repository: Repository) -> dict[str, Any]:
    document: dict[str, Any] = yaml.safe_load((repository.root / WRITTEN).read_text())
    return document


def test_the_job_that_evaluates_may_write_nothing(harness: Repository, capsys: Capture) -> None:
    assert init(harness, "--action", ACTION) == 0
    written = read(harness)
    evaluating, publishing = written["jobs"]["evaluate"], written["jobs"]["publish"]
    assert written["permissions"] == {}
    assert evaluating["permissions"] == {"contents": "read"}
    assert publishing["permissions"] == {
        "contents": "write",
        "issues": "write",
        "pull-requests": "write",
    }
    assert written["concurrency"] == {"group": "ecdysis", "cancel-in-progress": False}
    assert publishing["needs"] == "evaluate"
    for job in (evaluating, publishing):
        checkout, action = job["steps"]
        assert checkout["with"]["persist-credentials"] is False
        assert action["uses"] == ACTION.replace("@", "/.github/actions/evolve@")
    # No key where the token can write, and no step of the user's code.
    assert publishing["steps"][1]["with"] == {"job": "publish"}
    assert evaluating["steps"][1]["with"]["panel"] == "true"
    assert evaluating["steps"][1]["with"]["keys"].splitlines() == [
        f"{name}=${{{{ secrets.{name} }}}}" for name in ("CRITIC_KEY", "MODEL_KEY", "PANEL_KEY")
    ]
    said = capsys.readouterr().out
    assert "gh secret set CRITIC_KEY" in said
    assert harness.uncommitted() == [".github/"]


def test_a_harness_on_the_embedded_model_needs_no_key(tmp_path: Path) -> None:
    repository = tiny(tmp_path / "agent", "write()\n", base_url="embedded")
    assert init(repository, "--action", ACTION) == 0
    assert read(repository)["jobs"]["evaluate"]["steps"][1]["with"] == {"embedded": "true"}


def test_without_inputs_there_is_no_empty_table(tmp_path: Path) -> None:
    repository = tiny(tmp_path / "agent", "write()\n")
    assert init(repository, "--action", ACTION) == 0
    assert set(read(repository)["jobs"]["evaluate"]["steps"][1]) == {"uses", "id"}


@pytest.mark.parametrize(
    "action",
    [
        "bots/ecdysis@main",
        "bots/ecdysis@" + "0" * 39,
        "bots@" + "0" * 40,
        "bots/ecdysis\n      - run: id@" + "0" * 40,
        "../..@" + "0" * 40,
    ],
)
def test_an_action_that_can_be_moved_is_refused(
    harness: Repository, action: str, capsys: Capture
) -> None:
    assert init(harness, "--action", action) == 2
    assert "OWNER/NAME@COMMIT" in capsys.readouterr().err
    assert not (harness.root / WRITTEN).exists()


def test_what_is_there_is_not_overwritten(harness: Repository, capsys: Capture) -> None:
    path = harness.root / WRITTEN
    path.parent.mkdir(parents=True)
    path.write_text("mine")
    assert init(harness, "--action", ACTION) == 2
    assert "exists already" in capsys.readouterr().err
    assert path.read_text() == "mine"


class Installed:
    """A distribution as pip records it."""

    def __init__(self, origin: dict[str, Any] | None) -> None:
        self.origin = origin

    def read_text(self, name: str) -> str | None:
        assert name == "direct_url.json"
        return None if self.origin is None else json.dumps(self.origin)


COMMIT = "ab" * 20


@pytest.mark.parametrize(
    ("origin", "action"),
    [
        ({"url": "https://forge.invalid/bots/ecdysis.git"}, f"bots/ecdysis@{COMMIT}"),
        ({"url": "ssh://git@forge.invalid/bots/ecdysis"}, f"bots/ecdysis@{COMMIT}"),
        ({"url": "git@forge.invalid:bots/ecdysis.git"}, f"bots/ecdysis@{COMMIT}"),
    ],
)
def test_the_revision_that_is_installed_is_the_one_that_runs(
    origin: dict[str, Any], action: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    told = origin | {"vcs_info": {"vcs": "git", "commit_id": COMMIT}}
    monkeypatch.setattr(workflow.metadata, "distribution", lambda name: Installed(told))
    assert installed_action() == action


@pytest.mark.parametrize("origin", [None, {"url": "file:///src/ecdysis", "dir_info": {}}])
def test_an_installation_that_does_not_say_its_revision(
    origin: dict[str, Any] | None,
    harness: Repository,
    monkeypatch: pytest.MonkeyPatch,
    capsys: Capture,
) -> None:
    monkeypatch.setattr(workflow.metadata, "distribution", lambda name: Installed(origin))
    assert init(harness) == 2
    assert "ecdysis init --workflow --action OWNER/NAME@COMMIT" in capsys.readouterr().err

    def missing(name: str) -> None:
        raise metadata.PackageNotFoundError(name)

    monkeypatch.setattr(workflow.metadata, "distribution", missing)
    assert installed_action() is None


# --- the linters --------------------------------------------------------------------------


def lint(folder: Path, *command: str) -> str:
    """What a linter of this environment says of the workflows in `folder`, if it objects."""
    done = subprocess.run(
        [Path(sys.executable).parent / command[0], *command[1:]],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )
    return "" if done.returncode == 0 else done.stdout + done.stderr


def test_the_linters_have_nothing_to_say_of_this_repository() -> None:
    assert lint(ROOT, "zizmor", "--offline", "--quiet", ".github", "tests/stubs") == ""
    assert lint(ROOT, "actionlint") == ""


def test_nor_of_what_init_writes(harness: Repository, tmp_path: Path) -> None:
    assert init(harness, "--action", ACTION) == 0
    assert lint(harness.root, "zizmor", "--offline", "--quiet", ".") == ""
    assert lint(harness.root, "actionlint", str(WRITTEN)) == ""


def test_the_linters_would_say_it(tmp_path: Path) -> None:
    """A workflow that pastes a title into a shell and pins nothing."""
    git(tmp_path, "init", "--quiet")
    path = tmp_path / WRITTEN
    path.parent.mkdir(parents=True)
    path.write_text(
        "on: pull_request\njobs:\n  a:\n    runs-on: ubuntu-latest\n    steps:\n"
        "      - uses: actions/checkout@v4\n"
        "      - run: echo ${{ github.event.pull_request.title }} ${{ nothing.here }}\n"
    )
    said = lint(tmp_path, "zizmor", "--offline", ".")
    assert "template-injection" in said
    assert "unpinned-uses" in said
    assert "nothing" in lint(tmp_path, "actionlint", str(WRITTEN))


def test_every_expression_in_a_script_comes_through_the_environment() -> None:
    for path in [*ROOT.glob(".github/**/*.yml"), *ROOT.glob("tests/stubs/*/action.yml")]:
        document = yaml.safe_load(path.read_text(encoding="utf-8"))
        jobs = document.get("jobs") or {"": document["runs"]}
        scripts = [step.get("run", "") for job in jobs.values() for step in job["steps"]]
        assert [script for script in scripts if "${{" in script] == [], path
