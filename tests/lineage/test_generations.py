"""Generations in real repositories: written in one transaction, read from git alone."""

import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from bot.errors import NothingFound, RepositoryError, UsageError
from bot.git.repository import Repository
from bot.lineage.evidence import read_note, read_notes, stored_spec
from bot.lineage.generations import (
    find_generation,
    list_generations,
    newest_generation,
    next_number,
    parse_generation_name,
    record_generation,
)
from tests.helpers.repairs import add_generation, make_figures, make_message, make_spec
from tests.helpers.repositories import git, make_repository, user_state, write_files


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    return Repository.open(make_repository(tmp_path / "r", {"a.py": "a = 1\n"}))


def test_a_generation_is_a_branch_with_one_commit_per_repair(repository: Repository) -> None:
    head = repository.resolve_commit("HEAD")
    made = add_generation(repository, titles=("First repair", "Second repair"))
    assert (made.number, made.branch, made.base) == (1, "ecdysis/gen-0001", head)
    assert git(repository.root, "rev-parse", "ecdysis/gen-0001") == made.commit
    log = git(repository.root, "log", "--format=%H %s", f"{head}..ecdysis/gen-0001")
    assert log.splitlines() == [
        f"{made.commits[1]} Second repair",
        f"{made.commits[0]} First repair",
    ]
    changed = git(repository.root, "diff", "--name-only", head, made.commits[0])
    assert changed == "repairs/First-repair.py"
    assert made.figures["Score"] == "11/24 -> 21/24"
    assert made.figures["Base"] == head
    assert "Score" not in made.repairs[0].message.trailers
    assert list_generations(repository) == [made]
    assert newest_generation(repository) == made
    assert git(repository.root, "fsck", "--strict", "--no-dangling") == ""


def test_the_notes_hold_the_spec(repository: Repository) -> None:
    made = add_generation(repository, titles=("First repair", "Second repair"))
    shown = git(repository.root, "notes", "--ref=ecdysis", "show", made.commit)
    assert '"title": "Second repair"' in shown
    note = read_note(repository, made.commits[0])
    assert note is not None
    assert stored_spec(note) == make_spec("First repair")
    assert set(read_notes(repository)) == set(made.commits)
    note["spec"]["title"] = "Forged"
    assert stored_spec(note) is None


def test_nothing_of_the_user_s_is_touched(repository: Repository) -> None:
    write_files(repository.root, {"a.py": "staged\n", "untracked": "u\n"})
    git(repository.root, "add", "a.py")
    write_files(repository.root, {"a.py": "dirty\n"})
    before = user_state(repository.root)
    made = add_generation(repository)
    add_generation(repository, made.commit, ("Another",))
    list_generations(repository)
    assert user_state(repository.root) == before


def test_generations_follow_each_other(repository: Repository) -> None:
    first = add_generation(repository, titles=("One", "Two"))
    second = add_generation(repository, first.commit, ("Three",))
    assert second.number == 2
    assert second.base == first.commit
    assert [g.number for g in list_generations(repository)] == [1, 2]
    assert newest_generation(repository) == second
    assert find_generation(repository, "gen-1") == first


def test_repairs_that_change_nothing_make_no_commit(repository: Repository) -> None:
    tree = repository.tree_of("HEAD")
    message, figures = make_message(), make_figures()
    with pytest.raises(NothingFound, match="change nothing"):
        record_generation(
            repository, base_commit="HEAD", repairs=[(tree, message)], figures=figures
        )
    assert repository.refs("refs/heads/ecdysis/") == {}
    changed = repository.write_tree(tree, {"a.py": b"a = 2\n"})
    made = record_generation(
        repository,
        base_commit="HEAD",
        repairs=[(tree, message), (changed, message), (changed, message)],
        figures=figures,
    )
    assert len(made.commits) == 1
    assert made.figures["Score"] == "11/24 -> 21/24"


def test_a_person_s_branch_of_that_name_is_kept(repository: Repository) -> None:
    git(repository.root, "branch", "ecdysis/gen-0001")
    git(repository.root, "update-ref", "refs/remotes/origin/ecdysis/gen-0004", "HEAD")
    head = repository.resolve_commit("HEAD")
    assert list_generations(repository) == []
    made = add_generation(repository)
    assert made.number == 5
    assert git(repository.root, "rev-parse", "ecdysis/gen-0001") == head
    with pytest.raises(RepositoryError, match="exists already"):
        record_generation(
            repository, base_commit="HEAD", repairs=[(made.repairs and repository.tree_of(
                made.commit), make_message())], figures=make_figures(), number=1,
        )  # fmt: skip


def test_a_branch_named_ecdysis_is_in_the_way(repository: Repository) -> None:
    git(repository.root, "branch", "ecdysis")
    with pytest.raises(RepositoryError, match="branch named ecdysis") as caught:
        add_generation(repository)
    assert "git branch -m ecdysis" in caught.value.next_step
    assert repository.refs("refs/ecdysis") == {}


def test_a_person_s_commit_on_top_does_not_hide_the_generation(repository: Repository) -> None:
    made = add_generation(repository, titles=("One", "Two"))
    git(repository.root, "checkout", "--quiet", "ecdysis/gen-0001")
    write_files(repository.root, {"a.py": "reviewed\n"})
    git(repository.root, "commit", "--quiet", "-am", "Review fix")
    assert list_generations(repository) == [made]
    git(repository.root, "update-ref", "-d", "refs/ecdysis/generations/0001")
    (found,) = list_generations(repository)
    assert found.commits == made.commits
    assert found.ref == "refs/heads/ecdysis/gen-0001"


def test_a_clone_reads_the_branches(repository: Repository, tmp_path: Path) -> None:
    first = add_generation(repository, titles=("One", "Two"))
    second = add_generation(repository, first.commit)
    git(tmp_path, "clone", "--quiet", f"file://{repository.root}", "clone")
    clone = Repository.open(tmp_path / "clone")
    assert [g.commits for g in list_generations(clone)] == [first.commits, second.commits]
    assert {g.ref.split("/")[1] for g in list_generations(clone)} == {"remotes"}
    assert next_number(clone) == 3
    git(tmp_path, "clone", "--quiet", "--depth", "1", "-b", "ecdysis/gen-0001",
        f"file://{repository.root}", "shallow")  # fmt: skip
    (shallow,) = list_generations(Repository.open(tmp_path / "shallow"))
    assert shallow.commits == first.commits[1:]
    assert shallow.base is None


def test_a_squash_merge_does_not_confuse_the_next(repository: Repository) -> None:
    first = add_generation(repository)
    git(repository.root, "merge", "--squash", "ecdysis/gen-0001")
    git(repository.root, "commit", "--quiet", "-m", "Squashed\n\nEcdysis-Generation: 1")
    second = add_generation(repository, "HEAD", ("Next",))
    assert second.base == repository.resolve_commit("HEAD")
    assert [g.number for g in list_generations(repository)] == [1, 2]
    assert list_generations(repository)[0] == first


@pytest.mark.parametrize(
    ("name", "number"),
    [("3", 3), ("0003", 3), ("gen-0003", 3), ("gen-3", 3), ("ecdysis/gen-0003", 3),
     ("refs/heads/ecdysis/gen-0003", 3), ("origin/ecdysis/gen-0012", 12), ("12345", 12345)],
)  # fmt: skip
def test_names_of_generations(name: str, number: int) -> None:
    assert parse_generation_name(name) == number


@pytest.mark.parametrize("name", ["", "0", "gen-", "-1", "HEAD", "gen-0003x", "main", "1e3", "٣"])
def test_names_of_no_generation(name: str) -> None:
    with pytest.raises(UsageError, match="does not name a generation"):
        parse_generation_name(name)


def test_an_unknown_generation_lists_those_that_exist(repository: Repository) -> None:
    with pytest.raises(NothingFound, match="no generations yet"):
        find_generation(repository, "3")
    add_generation(repository)
    with pytest.raises(UsageError, match="no generation 3") as caught:
        find_generation(repository, "3")
    assert caught.value.next_step == "These exist: 1."


def test_runs_at_once_get_numbers_of_their_own(repository: Repository) -> None:
    made: list[int] = []
    errors: list[Exception] = []

    def run(name: str) -> None:
        try:
            made.append(add_generation(Repository.open(repository.root), titles=(name,)).number)
        except RepositoryError as error:
            errors.append(error)

    threads = [threading.Thread(target=run, args=(f"Run {n}",)) for n in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert errors == []
    assert sorted(made) == [1, 2, 3]
    assert len(read_notes(repository)) == 3


def test_a_bare_detached_or_merging_repository_takes_generations(
    repository: Repository, tmp_path: Path
) -> None:
    git(tmp_path, "clone", "--quiet", "--bare", str(repository.root), "bare.git")
    assert add_generation(Repository.open(tmp_path / "bare.git")).number == 1
    git(repository.root, "checkout", "--quiet", "--detach")
    assert add_generation(repository).number == 1


def test_many_generations_are_read_in_few_calls(
    repository: Repository, monkeypatch: pytest.MonkeyPatch
) -> None:
    head = repository.resolve_commit("HEAD")
    made = add_generation(repository)
    stream = []
    for number in range(2, 400):
        text = make_message(f"Repair {number}").write(number, make_figures().trailers(head))
        stream.append(
            f"commit refs/ecdysis/generations/{number:04d}\n"
            "committer T <t@example.invalid> 1700000000 +0000\n"
            f"data {len(text.encode())}\n{text}from {head}\n"
            f"M 100644 inline f\ndata 1\n{number % 10}\n"
        )
    git(repository.root, "fast-import", "--quiet", input="".join(stream).encode())
    calls = []
    from bot.git.calls import Caller

    real = Caller.answer

    def counted(self: Caller, *args: str, **more: object) -> object:
        calls.append(args)
        return real(self, *args, **more)  # type: ignore[arg-type]

    monkeypatch.setattr(Caller, "answer", counted)
    found = list_generations(repository)
    assert [g.number for g in found] == list(range(1, 400))
    assert found[0].commits == made.commits
    assert found[398].repairs[0].message.title == "Repair 399"
    assert len(calls) <= 6


def test_children_stay_flat_over_many_generations(repository: Repository) -> None:
    children = Path(f"/proc/self/task/{os.getpid()}/children")
    if not children.exists():
        pytest.skip("this system has no /proc")
    before = children.read_text()
    base = "HEAD"
    for number in range(10):
        base = add_generation(repository, base, (f"Repair {number}",)).commit
        assert children.read_text() == before
    assert newest_generation(repository).number == 10  # type: ignore[union-attr]


def test_a_kill_at_any_moment_leaves_nothing_half_accepted(
    repository: Repository, tmp_path: Path
) -> None:
    code = (
        "import sys; from pathlib import Path; from bot.git.repository import Repository\n"
        "from tests.helpers.repairs import add_generation\n"
        "repository = Repository.open(Path(sys.argv[1])); print('go', flush=True)\n"
        "for n in range(1000): add_generation(repository, titles=(f'One {n}', f'Two {n}'))\n"
    )
    for delay in (0.0, 0.02, 0.05, 0.11):
        with subprocess.Popen(
            [sys.executable, "-c", code, str(repository.root)],
            stdout=subprocess.PIPE,
            cwd=Path(__file__).parents[2],
            env={**os.environ, "TMPDIR": str(tmp_path)},
            start_new_session=True,
        ) as child:
            assert child.stdout is not None
            assert child.stdout.readline() == b"go\n"
            time.sleep(delay)
            os.killpg(child.pid, signal.SIGKILL)
        for generation in list_generations(repository):
            assert len(generation.commits) == 2
            assert generation.figures["Score"] == "11/24 -> 21/24"
    assert git(repository.root, "fsck", "--strict", "--no-dangling") == ""
    before = newest_generation(repository)
    made = add_generation(repository)
    assert made.number == (before.number if before else 0) + 1
