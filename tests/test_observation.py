"""Edits that are applied, run and judged: a real repository, real processes, the sandbox."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from bot.batch.run import Job
from bot.batch.tasks import load_splits
from bot.commands.revision import load_table
from bot.edit.apply import Applied, apply_spec
from bot.edit.reading import read_commit
from bot.git.repository import Repository
from bot.observation import Observation
from bot.records import Edit, Episode, Verdict
from bot.sandbox import choose_sandbox
from tests.helpers.harnesses import runner, tiny
from tests.helpers.repairs import make_pattern, make_spec

pytestmark = pytest.mark.xdist_group("observation")

AGENT = """
LIMIT = 3

def look(number):
    return f"number {number}"

def cancel(number):
    steps.append({"kind": "tool", "name": "cancel", "result": "done"})

def unused(number):
    return number

steps = []
prompt = open("prompt.md").read()
number = task["input"]["q"]
said = look(number)
if number < 4:
    cancel(number)
write(said=said, steps=steps)
"""


class Bench:
    """A tiny harness with its tasks, and a candidate made by edits."""

    def __init__(self, repository: Repository, observation: Observation) -> None:
        self.repository, self.observation = repository, observation
        self.base = repository.tree_of("HEAD")

    def make(self, *edits: dict[str, str], tasks: tuple[str, ...] = ("t1",)) -> str:
        """The candidate, watched."""
        spec = make_spec(edits=[Edit(**{"file": "agent.py", **edit}) for edit in edits])
        spec.predicted_fixes = list(tasks)
        read = read_commit(self.repository, self.base)
        applied = apply_spec(
            spec, read, editable=["*"], protected=["score.py"], python=sys.executable
        )
        assert isinstance(applied, Applied), applied
        tree = self.repository.write_tree(self.base, dict(applied.files))
        self.observation.watch(self.base, tree, [(spec, make_pattern(evidence=[]))])
        return tree

    def run(self, tree: str) -> list[Episode]:
        jobs = [Job(tree, task) for task in self.observation.train]
        return [episode for _, episode in self.observation.runner.run(jobs)]


@contextmanager
def bench(folder: Path, agent: str = AGENT, *, tasks: int = 6) -> Iterator[Bench]:
    files = {"prompt.md": "# Task\n\nBe brief.\n", "unread.md": "# Old\n\nNothing.\n"}
    repository = tiny(folder, agent, files=files, tasks=tasks)
    table = load_table(repository, "HEAD")
    train = load_splits(repository, repository.tree_of("HEAD"), table)["train"]
    with runner(repository) as work:
        yield Bench(repository, Observation(repository, work, table, train))


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("cache")


@pytest.fixture(autouse=True)
def one_environment_for_all(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ECDYSIS_CACHE", str(cache))


CALLED = {"op": "insert_statements", "target": "look", "code": "number = abs(number)"}
UNCALLED = {"op": "insert_statements", "target": "unused", "code": "number = abs(number)"}
ONE_TASK = {"op": "insert_statements", "target": "look", "code": "if number == 1:\n    number += 1"}
CONSTANT = {"op": "set_constant", "target": "LIMIT", "code": "4"}
HOOK = {"op": "add_function", "target": "look", "code": "def hook(n):\n    return n\n"}
TAKEN = {
    "op": "delete_statements",
    "target": "cancel",
    "anchor": 'steps.append({"kind": "tool", "name": "cancel", "result": "done"})',
}
READ = {"op": "edit_text", "file": "prompt.md", "anchor": "Be brief.", "code": "Be kind."}
UNREAD = {"op": "edit_text", "file": "unread.md", "anchor": "Nothing.", "code": "Be kind."}
THERE = {"op": "set_constant", "target": "LIMIT", "code": "3"}


def test_edits_that_ran_are_not_refused(tmp_path: Path) -> None:
    with bench(tmp_path / "r", tasks=2) as on:
        tree = on.make(CALLED, ONE_TASK, CONSTANT, READ, THERE, TAKEN)
        assert on.observation.refuse(tree, on.run(tree)) is None


@pytest.mark.parametrize(
    ("edit", "where", "why"),
    [
        (UNCALLED, "insert_statements in agent.py, unused", "nothing of it was reached"),
        (HOOK, "add_function in agent.py, look", "nothing of it was reached"),
        (UNREAD, "edit_text in unread.md", "unread.md was never loaded"),
    ],
)
def test_an_edit_that_never_ran_is_refused(
    tmp_path: Path, edit: dict[str, str], where: str, why: str
) -> None:
    with bench(tmp_path / "r", tasks=2) as on:
        assert on.observation.runner.sandbox.level == choose_sandbox().level
        tree = on.make(CALLED, edit)
        said = on.observation.refuse(tree, on.run(tree))
    assert said == f"Edit 2 of 2 ({where}) never ran in the 2 train episodes: {why}."


def test_a_process_that_was_not_watched_refuses_nothing(tmp_path: Path) -> None:
    child = "import subprocess; subprocess.run([sys.executable, '-I', '-c', ''], check=True)\n"
    with bench(tmp_path / "r", AGENT + child, tasks=1) as on:
        tree = on.make(UNCALLED)
        assert on.observation.refuse(tree, on.run(tree)) is None
        verdict = Verdict(decision="accept", reason="Better.")
        on.observation.fill(verdict, tree, [], on.run(tree))
    assert verdict.activated == [False]
    assert verdict.reason == "Better. It is not proven that edit 1 ran."
    assert verdict.accommodation is not None
    assert verdict.accommodation.narrow == []


def test_the_figures_of_a_verdict(tmp_path: Path) -> None:
    with bench(tmp_path / "r") as on:
        before = on.run(on.base)
        tree = on.make(CALLED, ONE_TASK, CONSTANT, READ, TAKEN, UNCALLED, tasks=("t1", "t2"))
        verdict = Verdict(decision="accept", reason="Better.")
        on.observation.fill(verdict, tree, before, on.run(tree))
    assert verdict.activated == [True, True, True, True, True, False]
    of = verdict.accommodation
    assert of is not None
    assert of.edits == 6
    assert of.other_tasks == 4
    assert of.acted == [4, 0, 4, 4, 2, 0]
    assert of.narrow == [1, 5]
    assert of.ratio == 0.333
    assert of.shrunk == [
        "No episode uses cancel any more (before: 4 of 6).",
    ]
    assert verdict.reason == (
        "Better. It is not proven that edit 6 ran. Edit 2, 6 serves only the tasks it was derived "
        "from. No episode uses cancel any more (before: 4 of 6)."
    )


def test_what_ran_on_the_train_split_counts_for_the_verdict(tmp_path: Path) -> None:
    """The hidden tasks need not reach what the train tasks did."""
    with bench(tmp_path / "r", tasks=2) as on:
        tree = on.make(ONE_TASK, tasks=())
        episodes = on.run(tree)
        others = [e for e in episodes if e.task_id != "t1"]
        verdict = Verdict(decision="accept", reason="Better.")
        on.observation.fill(verdict, tree, [], others)
        assert verdict.accommodation is not None
        assert verdict.accommodation.narrow == [0]
        assert on.observation.refuse(tree, episodes) is None
        on.observation.fill(verdict, tree, [], others)
    assert verdict.activated == [True]
    assert verdict.accommodation.acted == [1]
    assert verdict.accommodation.narrow == []


def test_two_specs_on_one_another(tmp_path: Path) -> None:
    """Lines are numbered in the file that all edits together have made."""
    with bench(tmp_path / "r", tasks=2) as on:
        first = make_spec(edits=[Edit(**{"file": "agent.py", **HOOK})])
        second = make_spec(edits=[Edit(**{"file": "agent.py", **CALLED})])
        tree = on.base
        for spec in (first, second):
            read = read_commit(on.repository, tree)
            applied = apply_spec(spec, read, editable=["*"], protected=[], python=sys.executable)
            assert isinstance(applied, Applied)
            tree = on.repository.write_tree(tree, dict(applied.files))
        pattern = make_pattern(evidence=[])
        on.observation.watch(on.base, tree, [(first, pattern), (second, pattern)])
        verdict = Verdict(decision="accept", reason="Better.")
        on.observation.fill(verdict, tree, [], on.run(tree))
    assert verdict.activated == [False, True]
