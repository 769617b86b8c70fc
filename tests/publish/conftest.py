from collections.abc import Collection, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from bot.commands.apply import edit_rules
from bot.edit.apply import Applied, apply_spec
from bot.edit.reading import read_commit
from bot.git.repository import Repository
from bot.lineage.generations import Generation, record_generation
from bot.lineage.message import RepairMessage
from bot.publish import github as client
from bot.records import Edit, ModificationSpec
from tests.helpers.github_api import PREFIX, TOKEN, FakeGitHub, fake_github
from tests.helpers.harnesses import tiny
from tests.helpers.repairs import make_figures, make_pattern, make_spec
from tests.helpers.repositories import git, isolate_git

CODE = """ANSWER = 6  # a number
LIMIT = 1


def say(answer):
    text = str(answer)
    return text
"""
EDITS = {
    "Answer seven": {"op": "set_constant", "target": "ANSWER", "code": "7", "why": "Six is wrong."},
    "Say it loud": {
        "op": "replace_statements",
        "target": "say",
        "anchor": "return text",
        "code": "return text.upper()",
        "why": "The scorer compares capitals.",
    },
    "Raise the limit": {"op": "set_constant", "target": "LIMIT", "code": "9", "why": "One is few."},
}
CHANGES = {
    "Answer seven": (b"ANSWER = 6", b"ANSWER = 7"),
    "Say it loud": (b"return text", b"return text.upper()"),
    "Raise the limit": (b"LIMIT = 1", b"LIMIT = 9"),
}


@dataclass
class Bench:
    """A clone with a harness, the fake GitHub that is its origin."""

    github: FakeGitHub
    repository: Repository

    @property
    def root(self) -> Path:
        return self.repository.root

    def evolve(
        self, *titles: str, base: str = "HEAD", by_edits: Collection[str] = ()
    ) -> Generation:
        """A generation whose repairs change one line each.

        Those in `by_edits` are made, and can be made again, by structure. The others' specs are
        such that nobody can apply them, which is quicker.
        """
        titles = titles or ("Answer seven",)
        return evolve(self.repository, *titles, base=base, by_edits=by_edits)


def evolve(
    repository: Repository, *titles: str, base: str = "HEAD", by_edits: Collection[str] = ()
) -> Generation:
    tree, repairs = repository.tree_of(base), []
    for title in titles:
        spec = make_spec(title)
        if title in by_edits:
            spec = make_spec(title, edits=[Edit(file="agent.py", **EDITS[title])])
            tree = apply_edits(repository, tree, spec)
        else:
            tree = change(repository, tree, title)
        explanation = f"17 of 36 train episodes failed.\n\nCause: {title} was needed."
        repairs.append((tree, RepairMessage(spec, make_pattern(), explanation)))
    return record_generation(repository, base_commit=base, repairs=repairs, figures=make_figures())


def change(repository: Repository, tree: str, title: str) -> str:
    """What the edits come to, by their text."""
    old, new = CHANGES[title]
    code = repository.read_file(tree, "agent.py") or b""
    assert old in code
    return repository.write_tree(tree, {"agent.py": code.replace(old, new)})


def apply_edits(repository: Repository, tree: str, spec: ModificationSpec) -> str:
    rules = edit_rules(repository, "HEAD")
    applied = apply_spec(spec, read_commit(repository, tree), **rules._asdict())
    assert isinstance(applied, Applied), applied
    return repository.write_tree(tree, dict(applied.files))


@pytest.fixture
def bench(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Bench]:
    (tmp_path / "home").mkdir()
    isolate_git(monkeypatch, tmp_path / "home")
    for name in ("GITHUB_REPOSITORY", "GITHUB_EVENT_PATH", "GITHUB_ACTIONS", "GH_TOKEN"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(client, "WRITE_PAUSE_S", 0.0)
    with fake_github(tmp_path / "server") as github:
        monkeypatch.setenv("GITHUB_API_URL", github.base + PREFIX)
        monkeypatch.setenv("GITHUB_SERVER_URL", github.base)
        monkeypatch.setenv("GITHUB_TOKEN", TOKEN)
        repository = tiny(tmp_path / "clone", CODE)
        root = repository.root
        git(root, "push", "--quiet", str(github.git_dir), "HEAD:refs/heads/main")
        git(root, "remote", "add", "origin", github.url)
        github.permissions |= {"maya": "write", "ada": "admin"}
        yield Bench(github, repository)
