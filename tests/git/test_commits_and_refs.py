"""Commits and refs: who, what is kept of a message, and compare-and-swap."""

import os
import threading
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.errors import RepositoryError
from bot.git.names import check_ref_name, clean_message
from bot.git.repository import RefMoved, Repository
from tests.helpers.repositories import git, make_repository

FILES = {"a.py": "a = 1\n"}


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    return Repository.open(make_repository(tmp_path / "r", FILES))


def commit_of(repository: Repository, message: str = "x") -> str:
    head = repository.resolve_commit("HEAD")
    return repository.commit_tree(repository.tree_of(head), [head], message)


def test_the_configured_person_commits(repository: Repository) -> None:
    commit = commit_of(repository)
    shown = git(repository.root, "log", "-1", "--format=%an <%ae> %cn <%ce>", commit)
    assert shown == "Tester <tester@example.invalid> Tester <tester@example.invalid>"


@pytest.mark.parametrize("config", ["", "[user]\n\tname = Only\n", "[user]\n\temail = x@y\n",
                                    "[user]\n\tuseConfigOnly = true\n"])  # fmt: skip
def test_without_a_full_identity_the_bot_commits(
    repository: Repository, git_home: Path, config: str
) -> None:
    (git_home / "gitconfig").write_text(config)
    commit = commit_of(repository)
    shown = git(repository.root, "log", "-1", "--format=%an <%ae> %cn", commit)
    assert shown == "Ecdysis bot <ecdysis-bot@users.noreply.localhost> Ecdysis bot"
    assert not repository.identity().configured


def test_the_environment_s_committer_wins(
    repository: Repository, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GIT_COMMITTER_NAME", "CI")
    monkeypatch.setenv("GIT_COMMITTER_EMAIL", "ci@example.invalid")
    monkeypatch.setenv("GIT_AUTHOR_NAME", "Someone else")
    commit = commit_of(repository)
    assert git(repository.root, "log", "-1", "--format=%an %cn", commit) == "CI CI"


def test_signing_that_fails_is_said(repository: Repository, git_home: Path) -> None:
    git(repository.root, "config", "commit.gpgsign", "true")
    git(repository.root, "config", "gpg.program", "false")
    with pytest.raises(RepositoryError, match="cannot be signed"):
        commit_of(repository)


def test_signing_is_asked_for_where_it_is_configured(
    repository: Repository, tmp_path: Path
) -> None:
    signer = tmp_path / "signer"
    signer.write_text(
        "#!/bin/sh\ncat > /dev/null\necho '[GNUPG:] SIG_CREATED ' >&2\n"
        "printf -- '-----BEGIN PGP SIGNATURE-----\\nx\\n-----END PGP SIGNATURE-----\\n'\n"
    )
    signer.chmod(0o755)
    git(repository.root, "config", "gpg.program", str(signer))
    git(repository.root, "config", "commit.gpgsign", "yes")
    commit = commit_of(repository, "signed")
    assert "gpgsig -----BEGIN PGP" in git(repository.root, "cat-file", "commit", commit)
    assert repository.read_commits([commit])[commit].message == "signed\n"


def test_a_message_is_cleaned(repository: Repository) -> None:
    commit = commit_of(repository, "Title\r\n\r\nbo\0dy\x1b[31m red\u202e\rlast\n\n\n")
    raw = git(repository.root, "log", "-1", "--format=%B", commit)
    assert raw.rstrip("\n") == "Title\n\nbody red\nlast"
    assert git(repository.root, "fsck", "--strict", "--no-dangling") == ""


@given(st.text())
def test_a_clean_message_has_no_control_characters(text: str) -> None:
    cleaned = clean_message(text)
    assert cleaned.endswith("\n")
    assert cleaned.strip()
    assert not set(cleaned) & {chr(code) for code in (*range(9), *range(11, 32), 127)}
    assert clean_message(cleaned) == cleaned


def test_compare_and_swap(repository: Repository) -> None:
    first, second, third = (commit_of(repository, name) for name in ("one", "two", "three"))
    repository.update_ref("refs/ecdysis/x/1", first, None)
    with pytest.raises(RefMoved):
        repository.update_ref("refs/ecdysis/x/1", second, None)
    with pytest.raises(RefMoved):
        repository.update_ref("refs/ecdysis/x/1", third, second)
    with pytest.raises(RefMoved):
        repository.update_ref("refs/ecdysis/x/missing", third, second)
    repository.update_ref("refs/ecdysis/x/1", second, first)
    assert repository.refs("refs/ecdysis") == {"refs/ecdysis/x/1": second}


def test_a_transaction_is_all_or_nothing(repository: Repository) -> None:
    commit = commit_of(repository)
    repository.update_ref("refs/heads/taken", commit, None)
    with pytest.raises(RefMoved):
        repository.update_refs(
            [("refs/heads/new", commit, None), ("refs/heads/taken", commit, None)]
        )
    assert list(repository.refs("refs/heads/")) == ["refs/heads/main", "refs/heads/taken"]


def test_packed_refs_take_part(repository: Repository) -> None:
    commit = commit_of(repository)
    repository.update_ref("refs/heads/ecdysis/gen-0001", commit, None)
    git(repository.root, "pack-refs", "--all")
    with pytest.raises(RefMoved):
        repository.update_ref("refs/heads/ecdysis/gen-0001", commit, None)


def test_a_branch_named_like_the_folder_is_in_the_way(repository: Repository) -> None:
    commit = commit_of(repository)
    git(repository.root, "branch", "ecdysis")
    with pytest.raises(RepositoryError, match="name of its folder") as caught:
        repository.update_ref("refs/heads/ecdysis/gen-0001", commit, None)
    assert "git branch -m ecdysis" in caught.value.next_step


@pytest.mark.parametrize(
    "name",
    ["-d", "HEAD", "@", "refs/heads/-d", "refs/heads/HEAD", "refs/heads/@", "refs/heads/a..b",
     "refs/heads/a.lock", "refs/heads/a.", "refs/heads/.a", "refs/heads/a b", "refs/heads/a\nb",
     "refs/heads/a~1", "refs/heads/a^", "refs/heads/a:b", "refs/heads/@{x", "refs/heads/a//b",
     "refs/heads/", "heads/a", "refs/heads/\u00fc", "refs/heads/a\\b", "refs/heads/*"],
)  # fmt: skip
def test_ref_names_that_are_refused(repository: Repository, name: str) -> None:
    with pytest.raises(RepositoryError, match="not a ref name"):
        repository.update_ref(name, commit_of(repository), None)


@given(st.text(alphabet="abzAZ09._-+/@{}~^: \n\\*?[", max_size=20))
def test_every_accepted_name_is_one_for_git(tail: str) -> None:
    name = f"refs/heads/{tail}"
    try:
        check_ref_name(name)
    except RepositoryError:
        return
    assert not any(char in name for char in "@{}~^: \n\\*?[")
    assert ".." not in name
    assert not any(p.startswith((".", "-")) or p.endswith((".lock", ".")) for p in name.split("/"))


def test_many_threads_take_numbers(repository: Repository) -> None:
    commit = commit_of(repository)
    won: list[int] = []

    def take() -> None:
        for number in range(5):
            try:
                repository.update_ref(f"refs/ecdysis/n/{number}", commit, None)
                won.append(number)
            except RepositoryError:
                pass

    threads = [threading.Thread(target=take) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(won) == len(set(won)) == len(repository.refs("refs/ecdysis/n")) == 5


def test_read_commits_in_other_encodings(repository: Repository) -> None:
    head = repository.resolve_commit("HEAD")
    tree = repository.tree_of(head)
    raw = (
        f"tree {tree}\nparent {head}\nauthor A B <a@b> 1700000000 +0100\n"
        "committer C <c@d> 1700000001 +0000\nencoding ISO-8859-1\n\n"
    ).encode() + b"caf\xe9\n"
    oid = git(repository.root, "hash-object", "-w", "-t", "commit", "--stdin", input=raw)
    commit = repository.read_commits([oid, "0" * 40, tree])[oid]
    assert (commit.message, commit.author, commit.when) == ("café\n", "A B <a@b>", 1700000001)
    assert commit.parents == (head,)


def test_a_failing_call_says_what_git_said(repository: Repository) -> None:
    with pytest.raises(RepositoryError, match=r"`git cat-file` failed .*Not a valid object name"):
        repository.git("cat-file", "-p", "nowhere")


def test_secrets_in_git_s_words_are_scrubbed(repository: Repository) -> None:
    with pytest.raises(RepositoryError) as caught:
        repository.git("fetch", "file://user:hunter2secret@/nowhere/at/all")
    assert "hunter2secret" not in str(caught.value)


def test_a_lock_that_a_killed_run_left_is_taken_over(repository: Repository) -> None:
    commit = commit_of(repository)
    lock = repository.git_dir / "refs/heads/ecdysis/gen-0001.lock"
    lock.parent.mkdir()
    lock.touch()
    os.utime(lock, (1, 1))
    repository.update_ref("refs/heads/ecdysis/gen-0001", commit, None)
    assert not lock.exists()


def test_a_lock_in_use_is_waited_for(repository: Repository) -> None:
    commit = commit_of(repository)
    lock = repository.git_dir / "refs/heads/ecdysis/gen-0001.lock"
    lock.parent.mkdir()
    lock.touch()
    threading.Timer(0.3, lock.unlink).start()
    repository.update_ref("refs/heads/ecdysis/gen-0001", commit, None)


def test_a_person_s_lock_is_left_alone(repository: Repository) -> None:
    commit = commit_of(repository)
    lock = repository.git_dir / "refs/heads/theirs.lock"
    lock.touch()
    os.utime(lock, (1, 1))
    with pytest.raises(RepositoryError, match="lock of another git process"):
        repository.update_ref("refs/heads/theirs", commit, None)
    assert lock.exists()
