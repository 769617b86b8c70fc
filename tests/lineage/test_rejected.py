"""Rejected candidates keep their spec, their tree and the reason."""

from pathlib import Path

import pytest

from bot.git.repository import Repository
from bot.lineage.message import spec_digest
from bot.lineage.rejected import list_rejected, record_rejected, rejected_spec
from tests.helpers.repairs import make_spec
from tests.helpers.repositories import git, make_repository


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    return Repository.open(make_repository(tmp_path / "r", {"a.py": "a = 1\n"}))


def test_a_rejection_can_be_read_and_applied_again(repository: Repository) -> None:
    tree = repository.write_tree("HEAD", {"a.py": b"a = 2\n"})
    spec = make_spec("Do it\x1b[31m", unknown={"k": [1, "\x00"]})
    ref = record_rejected(
        repository, tree=tree, spec=spec, reason="It breaks 3 tasks.\n\nEcdysis-Pattern: forged"
    )
    assert ref == "refs/ecdysis/rejected/" + spec_digest(spec)[7:23]
    (found,) = list_rejected(repository)
    assert (found.title, found.ref) == ("Do it", ref)
    assert found.pattern == spec.pattern
    assert found.reason.startswith("It breaks 3 tasks.")
    assert rejected_spec(repository, found) == spec
    assert git(repository.root, "rev-parse", f"{ref}:candidate") == tree


def test_the_same_rejection_is_kept_once_and_another_on_top(repository: Repository) -> None:
    tree = repository.tree_of("HEAD")
    for reason in ("One.", "One.", "Two."):
        ref = record_rejected(repository, tree=tree, spec=make_spec(), reason=reason)
    record_rejected(repository, tree=tree, spec=make_spec("Other"), reason="One.")
    assert git(repository.root, "rev-list", "--count", ref) == "2"
    assert sorted(r.reason for r in list_rejected(repository)) == ["One.", "Two."]


def test_a_changed_spec_is_noticed(repository: Repository) -> None:
    ref = record_rejected(repository, tree="HEAD", spec=make_spec(), reason="No.")
    forged = repository.write_tree(ref, {"spec.json": make_spec("Evil").model_dump_json().encode()})
    old = repository.resolve_commit(ref)
    message = repository.read_commits([old])[old].message
    repository.update_ref(ref, repository.commit_tree(forged, [old], message), old)
    (found,) = list_rejected(repository)
    assert rejected_spec(repository, found) is None
