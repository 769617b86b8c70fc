"""Every read of the sealed split is counted, also by runs at once."""

import threading
from pathlib import Path

import pytest

from bot.cli import main
from bot.errors import RepositoryError, UsageError
from bot.git.repository import Repository
from bot.lineage.ledger import LEDGER_REF, append_test_read, count_test_reads, list_test_reads
from tests.helpers.order_desk import order_desk
from tests.helpers.repositories import git, make_repository


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    return Repository.open(make_repository(tmp_path / "r", {"a.py": "a = 1\n"}))


def test_reads_are_appended(repository: Repository) -> None:
    assert count_test_reads(repository) == 0
    assert append_test_read(repository, trees=["t1", "t2"], tasks=48) == 1
    assert append_test_read(repository, trees=["t1"], tasks=48, purpose="demo") == 2
    assert count_test_reads(repository) == 2
    entries = list_test_reads(repository)
    assert [(e["trees"], e["tasks"], e["purpose"]) for e in entries] == [
        (["t1", "t2"], 48, "evolve"),
        (["t1"], 48, "demo"),
    ]
    assert git(repository.root, "rev-list", "--count", LEDGER_REF) == "2"


def test_runs_at_once_lose_no_read(repository: Repository) -> None:
    threads = [
        threading.Thread(target=lambda: append_test_read(repository, trees=["t"], tasks=1))
        for _ in range(6)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert count_test_reads(repository) == 6


def test_a_ledger_without_its_file_is_an_error(repository: Repository) -> None:
    repository.update_ref(LEDGER_REF, repository.resolve_commit("HEAD"), None)
    with pytest.raises(RepositoryError, match="tampered"):
        append_test_read(repository, trees=[], tasks=1)


def test_scheduled_runs_do_not_read_the_sealed_split(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    repository = order_desk(tmp_path / "desk", "http://127.0.0.1:9/v1", train=2, select=2, test=2)
    monkeypatch.setenv("GITHUB_EVENT_NAME", "schedule")
    for command in (["evolve", "--test"], ["run", "--split", "test"]):
        assert main([*command, "-C", str(repository.root)]) == 2
        assert "Scheduled runs do not read the sealed test split." in capsys.readouterr().err
    with pytest.raises(UsageError):
        append_test_read(repository, trees=["t"], tasks=2)
    assert repository.refs(LEDGER_REF) == {}
