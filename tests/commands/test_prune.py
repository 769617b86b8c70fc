"""`ecdysis prune`: old evidence goes, accepted commits never do."""

import os
import time
from pathlib import Path

import pytest

from bot.cli import main
from bot.git.repository import Repository
from bot.lineage.evidence import NOTES_REF, read_note, stored_spec
from bot.lineage.generations import Generation, list_generations
from bot.lineage.journal import hold_journals
from bot.lineage.ledger import append_test_read, count_test_reads
from bot.lineage.rejected import list_rejected, record_rejected
from tests.helpers.order_desk import as_json
from tests.helpers.repairs import add_generation, make_spec
from tests.helpers.repositories import git, isolate_git, make_repository, user_state, write_files

A_DAY = 86_400


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Repository:
    """Two generations and three rejected candidates 200 days old; one of each of today."""
    (tmp_path / "home").mkdir()
    isolate_git(monkeypatch, tmp_path / "home")
    repository = Repository.open(make_repository(tmp_path / "r", {"a.py": "a = 1\n"}))
    with monkeypatch.context() as then:
        stamp_commits(then, time.time() - 200 * A_DAY)
        first = add_generation(repository, titles=("One", "Two"))
        add_generation(repository, first.commit, ("Three",))
        for number in range(3):
            reject(repository, f"Old idea {number}")
    add_generation(repository, "ecdysis/gen-0002", ("Four",))
    reject(repository, "New idea")
    append_test_read(repository, trees=["t"], tasks=3)
    return repository


def stamp_commits(monkeypatch: pytest.MonkeyPatch, when: float) -> None:
    """Let the bot's commits have a date; it passes no date of the environment on to git."""
    write = Repository.commit_tree

    def stamped(self: Repository, tree: str, parents: list[str], message: str) -> str:
        commit = self.git("cat-file", "commit", write(self, tree, parents, message))
        lines = commit.split("\n")
        for place, line in enumerate(lines[:6]):
            if line.startswith(("author ", "committer ")):
                name = line.rpartition("> ")[0]
                lines[place] = f"{name}> {int(when)} +0000"
        text = "\n".join([*lines, ""]).encode()
        return self.git("hash-object", "-w", "-t", "commit", "--stdin", input=text)

    monkeypatch.setattr(Repository, "commit_tree", stamped)


def reject(repository: Repository, title: str) -> None:
    tree = repository.write_tree("HEAD", {"a.py": f"{title!r}\n".encode()})
    record_rejected(repository, tree=tree, spec=make_spec(title), reason="It breaks tasks.")


def prune(
    repository: Repository, capsys: pytest.CaptureFixture[str], *options: str
) -> dict[str, object]:
    assert main(["prune", *options, "--json", "-C", str(repository.root)]) == 0
    return as_json(capsys.readouterr().out)


def accepted(repository: Repository) -> dict[str, str]:
    return repository.refs("refs/heads", "refs/ecdysis/generations", "refs/ecdysis/ledger")


def quotes(repository: Repository, generation: Generation) -> list[int]:
    notes = [read_note(repository, commit) or {} for commit in generation.commits]
    return [len(note["pattern"]["evidence"]) for note in notes]


def test_old_evidence_goes_accepted_commits_stay(
    repository: Repository, capsys: pytest.CaptureFixture[str]
) -> None:
    write_files(repository.root, {"a.py": "dirty\n", "untracked": "u\n"})
    before, user = accepted(repository), user_state(repository.root)
    said = prune(repository, capsys, "--keep", "1", "--days", "90")
    assert len(said["rejected"]) == 3  # type: ignore[arg-type]
    assert (said["notes_emptied"], said["notes_removed"], said["journals"]) == (3, 0, [])
    assert accepted(repository) == before
    assert user_state(repository.root) == user
    assert [item.title for item in list_rejected(repository)] == ["New idea"]
    first, second, third = list_generations(repository)
    assert [quotes(repository, g) for g in (first, second, third)] == [[0, 0], [0], [1]]
    for generation, title in ((first, "One"), (second, "Three")):
        note = read_note(repository, generation.commits[0]) or {}
        assert stored_spec(note) == make_spec(title)
        assert note["verdict"]["decision"] == "accept"
    assert git(repository.root, "log", "--format=%s", NOTES_REF).splitlines() == [
        "Notes pruned by the Ecdysis bot"
    ]
    assert count_test_reads(repository) == 1
    git(repository.root, "gc", "--quiet", "--prune=now")
    assert git(repository.root, "fsck", "--strict", "--no-dangling") == ""
    assert [g.number for g in list_generations(repository)] == [1, 2, 3]
    # Once more there is nothing, and the next generation finds its notes.
    assert prune(repository, capsys, "--keep", "1")["bytes"] == 0
    add_generation(repository, third.commit, ("Five",))
    assert quotes(repository, list_generations(repository)[-1]) == [1]


def test_the_newest_and_the_young_stay(
    repository: Repository, capsys: pytest.CaptureFixture[str]
) -> None:
    refs = repository.refs("refs/")
    for options in ([], ["--days", "300", "--keep", "0"], ["--keep", "4"]):
        assert prune(repository, capsys, *options)["rejected"] == []
        assert repository.refs("refs/") == refs
    assert main(["prune", "-C", str(repository.root)]) == 0
    assert "Nothing to remove" in capsys.readouterr().out
    said = prune(repository, capsys, "--keep", "3", "--dry-run")
    assert len(said["rejected"]) == 1  # type: ignore[arg-type]


def sizes(repository: Repository) -> dict[str, int]:
    listing = repository.git(
        "cat-file", "--batch-all-objects", "--batch-check=%(objectname) %(objectsize:disk)"
    )
    return {oid: int(size) for oid, size in (line.split() for line in listing.splitlines())}


def test_a_dry_run_writes_nothing_and_knows_the_bytes(
    repository: Repository, capsys: pytest.CaptureFixture[str]
) -> None:
    git(repository.root, "gc", "--quiet", "--prune=now")
    before, refs = sizes(repository), repository.refs("refs/")
    said = prune(repository, capsys, "--keep", "1", "--dry-run")
    assert sizes(repository) == before
    assert repository.refs("refs/") == refs
    assert prune(repository, capsys, "--keep", "1") == {**said, "dry_run": False}
    written = sizes(repository).keys() - before.keys()
    git(repository.root, "gc", "--quiet", "--prune=now")
    gone = sum(before[oid] for oid in before.keys() - sizes(repository).keys())
    bytes_said = said["bytes"]
    assert isinstance(bytes_said, int)
    assert written
    assert 0 < bytes_said <= gone
    # What took the place of the notes is no gain.
    assert gone - bytes_said < 2000


def test_notes_of_commits_that_are_gone(
    repository: Repository, capsys: pytest.CaptureFixture[str]
) -> None:
    first, second, _ = list_generations(repository)
    for number in (2, 3):
        git(repository.root, "update-ref", "-d", f"refs/heads/ecdysis/gen-000{number}")
        git(repository.root, "update-ref", "-d", f"refs/ecdysis/generations/000{number}")
    assert prune(repository, capsys, "--keep", "3")["notes_removed"] == 1
    assert read_note(repository, second.commit) is None
    assert read_note(repository, first.commit) is not None


def test_journals(repository: Repository, capsys: pytest.CaptureFixture[str]) -> None:
    place = repository.git_dir / "ecdysis"
    for name, age in (("evolve/run.json", 200), ("runs/a/episodes.jsonl", 200),
                      ("runs/b/episodes.jsonl", 1)):  # fmt: skip
        write_files(place, {name: "x" * 100})
        os.utime(place / name, (time.time() - age * A_DAY,) * 2)
    with hold_journals(repository.git_dir):
        assert main(["prune", "-C", str(repository.root)]) == 4
        assert "is at work" in capsys.readouterr().err
    said = prune(repository, capsys)
    assert said["journals"] == [str(place / "evolve"), str(place / "runs" / "a")]
    assert said["bytes"] == 200
    assert sorted(path.name for path in place.rglob("*.json*")) == ["episodes.jsonl"]
