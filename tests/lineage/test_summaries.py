"""Generations read once: the same as from git, whatever becomes of the file."""

import os
from pathlib import Path

import pytest

from bot.git.repository import Repository
from bot.lineage import summaries
from bot.lineage.generations import GENERATION_PLACES, Generation, list_generations
from bot.lineage.summaries import list_summaries
from tests.helpers.repairs import add_generation
from tests.helpers.repositories import git, make_repository


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Repository:
    monkeypatch.setattr(summaries, "FEW", 1)
    repository = Repository.open(make_repository(tmp_path / "r", {"a.py": "a = 1\n"}))
    first = add_generation(repository, titles=("One", "Zwei ß"))
    add_generation(repository, first.commit, ("Three",))
    return repository


def read(repository: Repository) -> list[Generation]:
    return list_summaries(repository, repository.refs(*GENERATION_PLACES))


def shown(generations: list[Generation]) -> list[object]:
    """All but the bodies."""
    return [
        (
            g.number,
            g.ref,
            g.base,
            [(*r[:3], r.message.title, r.message.trailers) for r in g.repairs],
        )
        for g in generations
    ]


def test_the_same_as_from_git(repository: Repository, monkeypatch: pytest.MonkeyPatch) -> None:
    place = repository.git_dir / "ecdysis" / "generations.json"
    expected = shown(list_generations(repository))
    assert shown(read(repository)) == expected
    assert place.exists()
    with monkeypatch.context() as without_git:
        without_git.setattr(Repository, "each_commit", lambda *_: iter(()))
        assert shown(read(repository)) == expected
    before = place.stat().st_mtime_ns
    assert shown(read(repository)) == expected
    assert place.stat().st_mtime_ns == before
    # A new generation, a moved branch, and one that is gone.
    add_generation(repository, "ecdysis/gen-0002", ("Four",))
    git(repository.root, "update-ref", "-d", "refs/ecdysis/generations/0001")
    assert shown(read(repository)) == shown(list_generations(repository))
    git(repository.root, "branch", "--quiet", "--force", "ecdysis/gen-0001", "HEAD")
    found = read(repository)
    assert [generation.number for generation in found] == [2, 3]
    assert shown(found) == shown(list_generations(repository))


@pytest.mark.parametrize(
    "content",
    [b"", b"{", b"[]", b'{"version": 0, "generations": {}}', b'{"version": 1, "generations": []}',
     b'{"version": 1}', b"\xff"],
)  # fmt: skip
def test_a_file_that_is_no_good(repository: Repository, content: bytes) -> None:
    expected = shown(read(repository))
    place = repository.git_dir / "ecdysis" / "generations.json"
    place.write_bytes(content)
    assert shown(read(repository)) == expected
    rows = place.read_bytes()
    place.write_bytes(rows.replace(b'"tool_error', b'1,2,"tool_error').replace(b"[1,", b"[7,"))
    assert shown(read(repository)) == expected


def test_where_nothing_can_be_written(repository: Repository) -> None:
    (repository.git_dir / "ecdysis").write_text("in the way")
    assert shown(read(repository)) == shown(list_generations(repository))


def test_a_shallow_clone_is_read_again(repository: Repository, tmp_path: Path) -> None:
    git(tmp_path, "clone", "--quiet", "--depth", "1", "--no-single-branch",
        f"file://{repository.root}", "clone")  # fmt: skip
    clone = Repository.open(tmp_path / "clone")
    assert None in [generation.base for generation in read(clone)]
    git(clone.root, "fetch", "--quiet", "--unshallow")
    assert shown(read(clone)) == shown(list_generations(clone))
    assert None not in [generation.base for generation in read(clone)]


def test_few_are_not_kept(tmp_path: Path) -> None:
    repository = Repository.open(make_repository(tmp_path / "few", {"a.py": "a\n"}))
    add_generation(repository)
    assert len(read(repository)) == 1
    assert not os.path.lexists(repository.git_dir / "ecdysis")
