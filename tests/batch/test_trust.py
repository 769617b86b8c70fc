"""What a fork's code had a hand in is kept apart."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from bot.batch.trust import cache_for_this_run
from tests.helpers.harnesses import run_train, tiny

OURS, FORK = {"full_name": "desk/desk"}, {"full_name": "stranger/desk"}


def pull(head: Any) -> dict[str, Any]:
    return {"pull_request": {"base": {"repo": OURS}, "head": {"repo": head}}}


def run(head: Any) -> dict[str, Any]:
    return {"repository": OURS, "workflow_run": {"head_repository": head}}


@pytest.mark.parametrize(
    ("event", "payload", "is_fork"),
    [
        ("push", {}, False),
        ("schedule", {}, False),
        ("pull_request", pull(OURS), False),
        ("pull_request", pull(FORK), True),
        ("pull_request", pull(None), True),  # the fork was deleted
        ("pull_request_target", pull(FORK), True),
        ("workflow_run", run(OURS), False),
        ("workflow_run", run(FORK), True),
        ("pull_request", "no JSON", True),
    ],
)
def test_forks_have_a_cache_of_their_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, event: str, payload: Any, is_fork: bool
) -> None:
    path = tmp_path / "event.json"
    path.write_text(payload if isinstance(payload, str) else json.dumps(payload), encoding="utf-8")
    monkeypatch.setenv("GITHUB_EVENT_NAME", event)
    monkeypatch.setenv("GITHUB_EVENT_PATH", str(path))
    assert cache_for_this_run(tmp_path) == (tmp_path / "forks" if is_fork else tmp_path)


@pytest.mark.slow
def test_an_environment_that_a_fork_built_is_not_used_by_a_trusted_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Both revisions have the same key: what `setup` runs is not among what it depends on."""
    monkeypatch.setenv("ECDYSIS_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("ECDYSIS_QUIET", "1")
    event = tmp_path / "event.json"
    event.write_text(json.dumps(pull(FORK)), encoding="utf-8")
    monkeypatch.setenv("GITHUB_EVENT_PATH", str(event))
    setup = (
        "import pathlib, sysconfig\n"
        "site = pathlib.Path(sysconfig.get_paths()['purelib'])\n"
        "(site / 'answers.py').write_text('ANSWER = \"{}\"')\n"
    )
    answers = {}
    for event_name, name, answer in (
        ("pull_request", "fork", "42"),
        ("push", "trusted", "43"),
    ):
        monkeypatch.setenv("GITHUB_EVENT_NAME", event_name)
        repository = tiny(
            tmp_path / name,
            "import answers\nwrite(answer=answers.ANSWER)\n",
            table='setup = ["{python}", "prepare.py"]\ndepends = ["requirements.txt"]\n',
            files={"requirements.txt": "", "prepare.py": setup.format(answer)},
        )
        (episode,) = run_train(repository)
        answers[name] = episode.answer
    assert answers == {"fork": "42", "trusted": "43"}
