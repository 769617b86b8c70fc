"""The workflow that `init` writes, run whole by act: two jobs, real git, a fake of GitHub."""

import json
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from bot.commands.revision import load_table
from bot.commands.workflow import write_workflow
from bot.git.repository import Repository
from bot.llm.scripted import ScriptedServer
from tests.helpers.act import ACTION, Ran, Runner
from tests.helpers.github_api import TOKEN, FakeGitHub, Fault, fake_github
from tests.helpers.order_desk import order_desk, scripted_reply
from tests.helpers.repositories import git, isolate_git, write_files

pytestmark = pytest.mark.slow

KEY = "key-of-the-endpoint-0123"
CANCEL = re.compile("ancel order")
AMOUNT = re.compile("What was the amount|How much was")


@dataclass
class Shop:
    """A harness on the fake GitHub, its model, and what runs its workflow."""

    github: FakeGitHub
    server: ScriptedServer
    repository: Repository
    runner: Runner

    def run(self, **options: Any) -> Ran:
        return self.runner.run(self.workflow, **{"secrets": {"MODEL_KEY": KEY}, **options})

    @property
    def workflow(self) -> str:
        """What `init` writes, with the interpreter that has the bot instead of an installation."""
        text = write_workflow(load_table(self.repository, "HEAD"), ACTION)
        given = f"        with:\n          python: {sys.executable}\n"
        return text.replace("        with:\n          keys:", f"{given}          keys:").replace(
            "        with:\n          job:", f"{given}          job:"
        )


def first_reply(request: dict[str, Any]) -> str:
    """A model that cancels with an argument too many, and knows the fields' names."""
    return scripted_reply(request).replace("amount", "total")


@pytest.fixture
def shop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Shop]:
    (tmp_path / "home").mkdir()
    isolate_git(monkeypatch, tmp_path / "home")
    with ScriptedServer(first_reply) as server, fake_github(tmp_path / "server") as github:
        repository = order_desk(tmp_path / "desk", server.base_url, train=40, select=72)
        shorten(repository, "train", 3)
        shorten(repository, "select", 6)
        table = repository.root / "pyproject.toml"
        text = table.read_text(encoding="utf-8")
        table.write_text(
            text.replace('name = "scripted"', 'name = "scripted"\napi_key_env = "MODEL_KEY"'),
            encoding="utf-8",
        )
        git(repository.root, "commit", "--quiet", "--all", "--message", "Fewer tasks, and a key")
        git(repository.root, "push", "--quiet", str(github.git_dir), "HEAD:refs/heads/main")
        yield Shop(github, server, repository, Runner(tmp_path / "runner", github))


def shorten(repository: Repository, split: str, of_each: int) -> None:
    """Keep so many tasks that cancel an order, and so many that ask for its amount."""
    path = repository.root / "tasks" / f"{split}.jsonl"
    lines = path.read_text(encoding="utf-8").splitlines()
    kept = [
        [line for line in lines if kind.search(json.loads(line)["input"]["message"])][:of_each]
        for kind in (CANCEL, AMOUNT)
    ]
    assert [len(part) for part in kept] == [of_each, of_each]
    path.write_text("".join(f"{line}\n" for part in kept for line in part), encoding="utf-8")


def titles(github: FakeGitHub, branch: str = "ecdysis/gen-0001") -> list[str]:
    return git(github.git_dir, "log", "--format=%s", f"main..{branch}").splitlines()


def test_a_second_run_changes_nothing(shop: Shop) -> None:
    """It measures the same change again; other seconds are no news."""
    assert shop.run().code == 0
    head, written = shop.github.branch("ecdysis/gen-0001"), shop.github.writes()
    ran = shop.run()
    assert ran.code == 0, ran.log
    assert "## Pull request: unchanged" in ran.log
    assert shop.github.branch("ecdysis/gen-0001") == head
    assert shop.github.writes() == written


def test_a_pull_request_is_opened_and_a_new_failure_brings_it_up_to_date(shop: Shop) -> None:
    """And a person's commit on its branch stops that."""
    github, branch = shop.github, "ecdysis/gen-0001"

    ran = shop.run()
    assert ran.code == 0, ran.log
    assert list(github.pulls) == [1]
    assert (github.pulls[1]["head"], github.pulls[1]["base"]) == (branch, "main")
    assert titles(github) == ["Leave arguments out that the tool does not take"]
    assert "## A generation was accepted" in ran.log
    assert "| accepted | Leave arguments out that the tool does not take |" in ran.log
    assert "Hidden tasks passed: 50% → 100%" in ran.log
    assert "`▅█` over this run" in ran.log
    assert f"[#1]({github.base}/shop/desk/pull/1)" in ran.log
    sent = [{k.lower(): v for k, v in headers.items()} for headers in shop.server.headers]
    assert {headers.get("authorization") for headers in sent} == {f"Bearer {KEY}"}
    assert KEY not in ran.log
    assert TOKEN not in ran.log

    head = github.branch(branch)
    shop.server.script = scripted_reply  # from now on it asks for the `amount`, too
    ran = shop.run()
    assert ran.code == 0, ran.log
    assert "## Pull request: updated" in ran.log
    assert list(github.pulls) == [1]
    assert github.branch(branch) != head
    assert len(titles(github)) == 2
    assert "and 1 more" in github.pulls[1]["title"]

    theirs = commit_on_server(github, branch)
    shop.server.script = first_reply
    written = github.writes()
    ran = shop.run()
    assert ran.code == 1
    assert "holds commits that are not the bot's (the newest is by Maya)" in ran.log
    assert "## No pull request" in ran.log
    assert github.branch(branch) == theirs
    assert github.writes() == written


def commit_on_server(github: FakeGitHub, branch: str) -> str:
    """A person's commit on top of a branch of the server."""
    clone = github.folder / "person"
    git(github.folder, "clone", "--quiet", "-b", branch, str(github.git_dir), "person")
    write_files(clone, {"harness/mine.py": "MINE = 1\n"})
    git(clone, "add", "--all")
    git(clone, "-c", "user.name=Maya", "commit", "--quiet", "-m", "Mine")
    git(clone, "push", "--quiet", "origin", branch)
    return git(clone, "rev-parse", "HEAD")


def test_where_no_pull_request_may_be_opened_there_is_a_link(shop: Shop) -> None:
    said = "GitHub Actions is not permitted to create or approve pull requests."
    shop.github.faults = [Fault("POST", "/pulls$", 403, said)]
    ran = shop.run()
    assert ran.code == 1
    assert shop.github.pulls == {}
    assert shop.github.branch("ecdysis/gen-0001") is not None
    assert f"<{shop.github.base}/shop/desk/compare/main...ecdysis/gen-0001?" in ran.log
    assert "Workflow permissions" in ran.log


@pytest.mark.parametrize("event", ["pull_request", "pull_request_target"])
def test_a_forks_code_is_neither_run_nor_given_a_secret(shop: Shop, event: str) -> None:
    """Also where somebody lets the workflow run for pull requests. act gives forks the secrets."""
    text = shop.workflow.replace("  workflow_dispatch:", f"  {event}:")
    head = {"ref": "main", "sha": "1" * 40, "repo": {"full_name": "mallory/desk"}}
    payload = {"pull_request": {"number": 7, "head": head, "base": {"ref": "main"}}}
    ran = shop.runner.run(text, event=event, payload=payload, secrets={"MODEL_KEY": KEY})
    assert ran.code == 0, ran.log
    assert "This run is for a fork's code" in ran.log
    assert "Main Evaluate" not in ran.log
    assert shop.server.requests == []
    assert shop.github.requests == []
    assert shop.github.branch("ecdysis/gen-0001") is None


def test_a_run_for_a_branch_of_the_repository_itself_is_no_forks(shop: Shop) -> None:
    """It gets as far as asking the model."""
    text = shop.workflow.replace("  workflow_dispatch:", "  pull_request:")
    head = {"ref": "main", "sha": "1" * 40, "repo": {"full_name": "Shop/Desk"}}
    payload = {"pull_request": {"number": 7, "head": head, "base": {"ref": "main"}}}
    text = text.replace("MODEL_KEY=", "not a name=")
    ran = shop.runner.run(text, event="pull_request", payload=payload)
    assert ran.code == 1
    assert "Main Evaluate" in ran.log
    assert "keys are lines of NAME=KEY" in ran.log
    assert shop.server.requests == []
