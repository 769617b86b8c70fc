"""What of a generation is in HEAD, whichever way it came there."""

import time
from collections.abc import Callable
from pathlib import Path

import pytest

from bot.git.repository import Repository
from bot.lineage.generations import Generation, find_parents, list_generations
from bot.lineage.merges import find_merges
from tests.helpers.repairs import add_generation
from tests.helpers.repositories import git, make_repository, write_files


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    return Repository.open(make_repository(tmp_path / "r", {"a.py": "a = 1\n"}))


@pytest.fixture
def made(repository: Repository) -> Generation:
    return add_generation(repository, titles=("One", "Two"))


def commit(folder: Path, files: dict[str, bytes | str], message: str = "Work") -> str:
    write_files(folder, files)
    git(folder, "add", "--all")
    git(folder, "commit", "--quiet", "-m", message)
    return git(folder, "rev-parse", "HEAD")


def forward(folder: Path) -> None:
    git(folder, "merge", "--quiet", "--ff-only", "ecdysis/gen-0001")


def merge(folder: Path) -> None:
    commit(folder, {"b.py": "b\n"})
    git(folder, "merge", "--quiet", "--no-ff", "-m", "Merge", "ecdysis/gen-0001")


def rebase(folder: Path) -> None:
    commit(folder, {"b.py": "b\n"})
    git(folder, "cherry-pick", "main..ecdysis/gen-0001")


def squash(folder: Path) -> None:
    commit(folder, {"b.py": "b\n"})
    git(folder, "merge", "--quiet", "--squash", "ecdysis/gen-0001")
    git(folder, "commit", "--quiet", "--no-edit")


def squash_like_a_forge(folder: Path) -> None:
    """All messages in one, each behind a bullet, as the web page of a forge proposes it."""
    commit(folder, {"b.py": "b\n"})
    messages = git(folder, "log", "--reverse", "--format=* %B", "main..ecdysis/gen-0001")
    git(folder, "merge", "--quiet", "--squash", "ecdysis/gen-0001")
    git(folder, "commit", "--quiet", "-m", f"Generation 1 (#7)\n\n{messages}")


def squash_in_other_words(folder: Path) -> None:
    git(folder, "merge", "--quiet", "--squash", "ecdysis/gen-0001")
    git(folder, "commit", "--quiet", "-m", "My words")
    commit(folder, {"repairs/One.py": "changed since\n"})


def squash_in_other_words_on_a_base_that_moved(folder: Path) -> None:
    commit(folder, {"b.py": "b\n"})
    git(folder, "merge", "--quiet", "--squash", "ecdysis/gen-0001")
    git(folder, "commit", "--quiet", "-m", "My words")


@pytest.mark.parametrize(
    ("bring", "how"),
    [
        (forward, "commit"),
        (merge, "commit"),
        (rebase, "message"),
        (squash, "message"),
        (squash_like_a_forge, "message"),
        (squash_in_other_words, "tree"),
        (squash_in_other_words_on_a_base_that_moved, "files"),
    ],
)
def test_every_way_in(
    repository: Repository, made: Generation, bring: Callable[[Path], None], how: str
) -> None:
    before = find_merges(repository, [made])
    assert (before.reached, before.status(made)) == ({}, "accepted")
    bring(repository.root)
    found = find_merges(repository, [made])
    assert found.status(made) == "merged"
    assert {found.reached[oid].how for oid in made.commits} == {how}
    for oid in made.commits:
        brought = found.reached[oid].commit
        assert git(repository.root, "merge-base", "--is-ancestor", brought, "HEAD") == ""
    assert find_merges(repository, [made], made.base or "").reached == {}


def test_one_of_two(repository: Repository, made: Generation) -> None:
    git(repository.root, "cherry-pick", made.commits[1])
    found = find_merges(repository, [made])
    assert list(found.reached) == [made.commits[1]]
    assert found.status(made) == "partly merged"


def test_taken_out_and_brought_back(repository: Repository, made: Generation) -> None:
    squash(repository.root)
    git(repository.root, "revert", "--no-edit", "HEAD")
    assert find_merges(repository, [made]).status(made) == "reverted"
    git(repository.root, "revert", "--no-edit", "HEAD")
    assert find_merges(repository, [made]).status(made) == "merged"
    git(repository.root, "revert", "--no-edit", "HEAD")
    assert find_merges(repository, [made]).status(made) == "reverted"


def test_one_repair_taken_out(repository: Repository, made: Generation) -> None:
    forward(repository.root)
    git(repository.root, "revert", "--no-edit", made.commits[0])
    found = find_merges(repository, [made])
    assert (list(found.reached), found.reverted) == ([made.commits[1]], {made.commits[0]})
    assert found.status(made) == "partly merged"


def test_a_tree_that_was_there_before_is_no_merge(
    repository: Repository, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A generation that leads back to an old tree is not in HEAD because of that."""
    with monkeypatch.context() as an_hour_ago:
        an_hour_ago.setenv("GIT_COMMITTER_DATE", f"@{int(time.time()) - 3600} +0000")
        commit(repository.root, {"repairs/Back.py": "'Back'\n"})
    commit(repository.root, {"repairs/Back.py": "else\n"})
    made = add_generation(repository, titles=("Back",))
    assert repository.tree_of(made.commit) == repository.tree_of("HEAD~1")
    assert find_merges(repository, [made]).reached == {}


def test_stacked_generations_squashed_as_one(repository: Repository, made: Generation) -> None:
    second = add_generation(repository, made.commit, ("Three",))
    third = add_generation(repository, second.commit, ("Four",))
    git(repository.root, "merge", "--quiet", "--squash", "ecdysis/gen-0002")
    git(repository.root, "commit", "--quiet", "-m", "My words")
    found = find_merges(repository, [made, second, third])
    assert [found.status(g) for g in (made, second, third)] == ["merged", "merged", "accepted"]


def test_without_a_head(tmp_path: Path, repository: Repository, made: Generation) -> None:
    git(repository.root, "symbolic-ref", "HEAD", "refs/heads/nowhere")
    assert find_merges(repository, [made]).reached == {}
    assert find_merges(repository, []).reached == {}


def test_parents(repository: Repository, made: Generation) -> None:
    stacked = add_generation(repository, made.commit, ("Three",))
    squash_in_other_words(repository.root)
    by_tree = add_generation(repository, "HEAD~1", ("Four",))
    by_head = add_generation(repository, "HEAD", ("Five",))
    git(repository.root, "checkout", "--quiet", "-b", "other", made.base or "")
    squash(repository.root)
    by_message = add_generation(repository, "HEAD", ("Six",))
    generations = list_generations(repository)
    assert [g.number for g in generations] == [1, 2, 3, 4, 5]
    parents = find_parents(repository, generations)
    assert parents[stacked.number] == parents[by_tree.number] == parents[by_message.number] == 1
    for generation in (made, by_head):
        parent = parents[generation.number]
        assert not isinstance(parent, int)
        assert parent.oid == generation.base
