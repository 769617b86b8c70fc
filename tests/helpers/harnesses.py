"""Tiny harnesses that misbehave, as real repositories; the second harness too."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from bot.batch.run import Job, Runner
from bot.batch.tasks import load_splits
from bot.commands.revision import load_table
from bot.config import ModelTable
from bot.git.repository import Repository, init_repository
from bot.llm.budget import BudgetMeter
from bot.llm.endpoint import Endpoint
from bot.records import Episode
from bot.sandbox import choose_sandbox

HEAD = """\
import contextlib, json, os, sys, time
task_file, episode_file, workdir = sys.argv[1:4]
task = json.load(open(task_file))
def write(**fields):
    episode = {"task_id": task["task_id"], "steps": [], "answer": "42", **fields}
    open(episode_file, "w").write(json.dumps(episode))
"""

SCORER = """\
import json, sys
task, episode = (json.load(open(p)) for p in sys.argv[1:3])
right = episode.get("answer") == task["expected"]["answer"]
print(json.dumps({"score": float(right), "outcome": "pass" if right else "fail"}))
"""

TABLE = """\
source = "tiny"
run = ["{python}", "agent.py", "{task}", "{episode}", "{workdir}"]
score = ["{python}", "score.py", "{task}", "{episode}", "{workdir}"]
editable = ["agent.py"]
protected = ["score.py"]
"""

SPLITS = """
[splits]
train = "train.jsonl"
select = "select.jsonl"
"""


def tiny(
    folder: Path,
    agent: str,
    *,
    base_url: str = "http://127.0.0.1:9/v1",
    score: str = SCORER,
    table: str = "",
    tables: str = "",
    files: dict[str, str] | None = None,
    tasks: int = 1,
) -> Repository:
    """A repository with the one-file harness `agent` behind a common head."""
    lines = [
        json.dumps({"task_id": f"t{i}", "input": {"q": i}, "expected": {"answer": "42"}})
        for i in range(tasks)
    ]
    contents = {
        "agent.py": HEAD + agent,
        "score.py": score,
        "ecdysis.toml": TABLE
        + table
        + SPLITS
        + f'\n[model]\nbase_url = "{base_url}"\nname = "scripted"\n'
        + tables,
        "train.jsonl": "\n".join(lines) + "\n",
        "select.jsonl": '{"task_id": "s0", "input": {"q": "x"}, "expected": {"answer": "1"}}\n',
        **(files or {}),
    }
    for name, content in contents.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content, encoding="utf-8")
    repository = init_repository(folder)
    repository.commit_all("Start")
    return repository


def second_harness(folder: Path, base_url: str) -> Repository:
    """The second harness, committed in `folder`, for an endpoint."""
    source = Path(__file__).resolve().parents[1] / "second_harness"
    shutil.copytree(source, folder, ignore=shutil.ignore_patterns("__pycache__"))
    table = folder / "ecdysis.toml"
    text = table.read_text(encoding="utf-8")
    model = f'\n[model]\nbase_url = "{base_url}"\nname = "scripted"\n'
    table.write_text(text + model, encoding="utf-8")
    repository = init_repository(folder)
    repository.commit_all("Start")
    return repository


def public_harness(folder: Path) -> Repository:
    """A package as strangers publish them, with an adapter and a scorer, but without a table."""
    source = Path(__file__).resolve().parents[1] / "public_harness"
    shutil.copytree(source, folder, ignore=shutil.ignore_patterns("__pycache__", "*.egg-info"))
    repository = init_repository(folder)
    repository.commit_all("Start")
    return repository


@contextmanager
def runner(repository: Repository, base: str = "HEAD", **options: Any) -> Iterator[Runner]:
    """A runner for a repository whose table names a plain endpoint.

    It isolates as strongly as this machine can, unless `sandbox` says otherwise.
    """
    table = load_table(repository, base)
    endpoint = Endpoint(table.model.base_url, table.model.name, table.model, {}, "the-key-1234")
    budget = options.pop("budget", None) or BudgetMeter(table.budget, ModelTable())
    with Runner(
        repository,
        table,
        base=repository.tree_of(base),
        endpoint=endpoint,
        budget=budget,
        sandbox=options.pop("sandbox", None) or choose_sandbox(),
        **options,
    ) as made:
        yield made


def run_train(repository: Repository, **options: Any) -> list[Episode]:
    """Every train task once, in the order of the task ids."""
    tree = repository.tree_of("HEAD")
    tasks = load_splits(repository, tree, load_table(repository, "HEAD"))["train"]
    with runner(repository, **options) as work:
        episodes = [episode for _, episode in work.run(Job(tree, task) for task in tasks)]
    return sorted(episodes, key=lambda episode: episode.task_id)
