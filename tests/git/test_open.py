"""Opening repositories in every state that a user can have them in."""

import os
import subprocess
from pathlib import Path

import pytest

from bot.errors import RepositoryError, UsageError
from bot.git.repository import Repository, init_repository
from tests.helpers.repositories import git, make_repository, write_files

FILES = {"a.py": "a = 1\n", "pkg/b.py": "b = 2\n"}


def test_the_root_is_found_from_a_folder_below(tmp_path: Path) -> None:
    folder = make_repository(tmp_path / "r", FILES)
    repository = Repository.open(folder / "pkg")
    assert repository.root == folder
    assert repository.git_dir == folder / ".git"
    assert repository.resolve_commit("HEAD") == git(folder, "rev-parse", "HEAD")
    assert repository.state_problems() == []


def test_no_repository_and_no_folder(tmp_path: Path) -> None:
    with pytest.raises(RepositoryError, match="not inside a git repository") as caught:
        Repository.open(tmp_path)
    assert caught.value.exit_code == 4
    assert "git init" in caught.value.next_step
    with pytest.raises(RepositoryError, match="no folder"):
        Repository.open(tmp_path / "missing")
    (tmp_path / "file").write_text("")
    with pytest.raises(RepositoryError, match="no folder"):
        Repository.open(tmp_path / "file")


@pytest.mark.parametrize(
    "name", ["with space", "ümläut-日本", "line\nbreak", "$HOME", "~", "-dash"]
)
def test_odd_folder_names(tmp_path: Path, name: str) -> None:
    folder = make_repository(tmp_path / name, FILES)
    repository = Repository.open(folder)
    assert repository.root == folder
    tree = repository.write_tree("HEAD", {"a.py": b"a = 2\n"})
    assert repository.read_file(tree, "a.py") == b"a = 2\n"


def test_unborn_head(tmp_path: Path) -> None:
    folder = make_repository(tmp_path / "r")
    repository = Repository.open(folder)
    with pytest.raises(RepositoryError, match="no commits yet"):
        repository.resolve_commit("HEAD")
    with pytest.raises(RepositoryError, match="no commits yet"):
        repository.tree_of("HEAD")
    assert [p for p in repository.state_problems() if "no commits yet" in p]


def test_an_unborn_branch_beside_others(tmp_path: Path) -> None:
    folder = make_repository(tmp_path / "r", FILES)
    git(folder, "checkout", "--quiet", "--orphan", "new")
    repository = Repository.open(folder)
    with pytest.raises(RepositoryError, match="current branch has no commits"):
        repository.resolve_commit("HEAD")
    assert repository.resolve_commit("main") == git(folder, "rev-parse", "main")


def test_detached_head_works_normally(tmp_path: Path) -> None:
    folder = make_repository(tmp_path / "r", FILES)
    git(folder, "checkout", "--quiet", "--detach")
    repository = Repository.open(folder)
    assert repository.resolve_commit("HEAD") == git(folder, "rev-parse", "main")
    assert repository.state().branch is None
    assert any("detached" in problem for problem in repository.state_problems())


def test_bare_repository(tmp_path: Path) -> None:
    source = make_repository(tmp_path / "r", FILES)
    git(tmp_path, "clone", "--quiet", "--bare", str(source), "bare.git")
    repository = Repository.open(tmp_path / "bare.git")
    assert repository.root == repository.git_dir == tmp_path / "bare.git"
    tree = repository.write_tree("HEAD", {"pkg/b.py": b"b = 3\n"})
    repository.export(tree, tmp_path / "out")
    assert (tmp_path / "out/pkg/b.py").read_bytes() == b"b = 3\n"
    commit = repository.commit_tree(tree, [repository.resolve_commit("HEAD")], "x")
    repository.update_ref("refs/heads/new", commit, None)
    assert any("bare" in problem for problem in repository.state_problems())


def test_shallow_clone(tmp_path: Path) -> None:
    source = make_repository(tmp_path / "r", FILES)
    write_files(source, {"a.py": "a = 9\n"})
    git(source, "commit", "--quiet", "-am", "second")
    git(tmp_path, "clone", "--quiet", "--depth", "1", f"file://{source}", "shallow")
    repository = Repository.open(tmp_path / "shallow")
    assert repository.read_file("HEAD", "a.py") == b"a = 9\n"
    assert any("shallow" in problem for problem in repository.state_problems())


def test_linked_work_tree(tmp_path: Path) -> None:
    folder = make_repository(tmp_path / "r", FILES)
    git(folder, "worktree", "add", "--quiet", str(tmp_path / "linked"), "-b", "other")
    repository = Repository.open(tmp_path / "linked")
    assert repository.root == tmp_path / "linked"
    assert repository.git_dir == folder / ".git"
    assert repository.state().branch == "other"
    tree = repository.write_tree("HEAD", {"a.py": b"x\n"})
    assert repository.read_file(tree, "a.py") == b"x\n"


def test_a_linked_work_tree_of_a_bare_repository(tmp_path: Path) -> None:
    source = make_repository(tmp_path / "r", FILES)
    git(tmp_path, "clone", "--quiet", "--bare", str(source), "bare.git")
    git(tmp_path / "bare.git", "worktree", "add", "--quiet", str(tmp_path / "linked"), "main")
    repository = Repository.open(tmp_path / "linked")
    assert repository.root == tmp_path / "linked"
    assert repository.git_dir == tmp_path / "bare.git"
    assert repository.read_file("HEAD", "a.py") == b"a = 1\n"


def test_inside_the_git_folder(tmp_path: Path) -> None:
    folder = make_repository(tmp_path / "r", FILES)
    repository = Repository.open(folder / ".git")
    assert repository.root == folder
    tree = repository.write_tree("HEAD", {"a.py": b"x\n"})
    assert repository.read_file(tree, "a.py") == b"x\n"


def test_a_work_tree_and_a_git_folder_elsewhere(tmp_path: Path) -> None:
    folder = make_repository(tmp_path / "r", FILES, "--separate-git-dir", str(tmp_path / "s.git"))
    assert Repository.open(folder).git_dir == tmp_path / "s.git"
    assert Repository.open(folder / "pkg").root == folder
    moved = make_repository(tmp_path / "m", FILES)
    (tmp_path / "elsewhere").mkdir()
    git(moved, "config", "core.worktree", str(tmp_path / "elsewhere"))
    repository = Repository.open(moved)
    assert repository.root == tmp_path / "elsewhere"
    tree = repository.write_tree("HEAD", {"a.py": b"x\n"})
    repository.export(tree, tmp_path / "out")
    assert (tmp_path / "out/a.py").read_bytes() == b"x\n"
    assert list(repository.root.iterdir()) == []


def test_a_damaged_repository_is_an_error_in_words(tmp_path: Path) -> None:
    for name, oid, words in [("blob", "HEAD:a.py", "is missing"), ("tree", "HEAD^{tree}", "tree")]:
        folder = make_repository(tmp_path / name, FILES)
        lost = git(folder, "rev-parse", oid)
        (folder / ".git/objects" / lost[:2] / lost[2:]).unlink()
        with pytest.raises(RepositoryError, match=words) as caught:
            Repository.open(folder).read_files("HEAD")
        assert "git fsck" in caught.value.next_step
    for name, file, content in [("head", "HEAD", "junk\n"), ("config", "config", "[core\nx")]:
        folder = make_repository(tmp_path / name, FILES)
        (folder / ".git" / file).write_text(content)
        with pytest.raises(RepositoryError):
            Repository.open(folder)
    folder = make_repository(tmp_path / "index", FILES)
    (folder / ".git/index").write_bytes(b"junk")
    assert Repository.open(folder).read_file("HEAD", "a.py") == b"a = 1\n"


def test_a_submodule_is_a_repository_of_its_own(tmp_path: Path) -> None:
    inner = make_repository(tmp_path / "inner", {"i.py": "i\n"})
    folder = make_repository(tmp_path / "r", FILES)
    git(
        folder, "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", str(inner), "sub"
    )
    git(folder, "commit", "--quiet", "-m", "sub")
    repository = Repository.open(folder / "sub")
    assert repository.root == folder / "sub"
    assert repository.read_file("HEAD", "i.py") == b"i\n"


@pytest.mark.parametrize("fmt", ["sha1", "sha256"])
def test_object_formats(tmp_path: Path, fmt: str) -> None:
    folder = make_repository(tmp_path / "r", FILES, f"--object-format={fmt}")
    repository = Repository.open(folder)
    tree = repository.write_tree("HEAD", {"new/c.py": b"c\n", "a.py": None})
    assert len(tree) == (64 if fmt == "sha256" else 40)
    assert sorted(repository.read_files(tree)) == ["new/c.py", "pkg/b.py"]
    commit = repository.commit_tree(tree, [repository.resolve_commit("HEAD")], "x")
    repository.update_ref("refs/heads/ecdysis/gen-0001", commit, None)
    with pytest.raises(RepositoryError):
        repository.update_ref("refs/heads/ecdysis/gen-0001", commit, None)


def test_a_merge_in_progress_is_named_and_left_alone(tmp_path: Path) -> None:
    folder = make_repository(tmp_path / "r", FILES)
    git(folder, "checkout", "--quiet", "-b", "side")
    write_files(folder, {"a.py": "a = 'side'\n"})
    git(folder, "commit", "--quiet", "-am", "side")
    git(folder, "checkout", "--quiet", "main")
    write_files(folder, {"a.py": "a = 'main'\n"})
    git(folder, "commit", "--quiet", "-am", "main")
    subprocess.run(["git", "merge", "side"], cwd=folder, capture_output=True, check=False)
    repository = Repository.open(folder)
    assert any("A merge is in progress" in problem for problem in repository.state_problems())
    assert repository.read_file("HEAD", "a.py") == b"a = 'main'\n"


def test_git_variables_of_a_hook_are_not_obeyed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = make_repository(tmp_path / "other", {"o.py": "other\n"})
    folder = make_repository(tmp_path / "r", FILES)
    before = (other / ".git/index").read_bytes()
    monkeypatch.setenv("GIT_DIR", str(other / ".git"))
    monkeypatch.setenv("GIT_WORK_TREE", str(other))
    monkeypatch.setenv("GIT_INDEX_FILE", str(other / ".git/index"))
    monkeypatch.setenv("GIT_OBJECT_DIRECTORY", str(other / ".git/objects"))
    monkeypatch.setenv("GIT_COMMON_DIR", str(other / ".git"))
    monkeypatch.setenv("GIT_PREFIX", "pkg/")
    monkeypatch.setenv("GIT_AUTHOR_DATE", "1.1.1990")
    repository = Repository.open(folder)
    assert repository.root == folder
    assert repository.git_dir == folder / ".git"
    tree = repository.write_tree("HEAD", {"a.py": b"changed\n"})
    commit = repository.commit_tree(tree, [repository.resolve_commit("HEAD")], "x")
    repository.update_ref("refs/heads/hooked", commit, None)
    repository.export(tree, tmp_path / "out")
    assert (tmp_path / "out/a.py").read_bytes() == b"changed\n"
    assert repository.read_commits([commit])[commit].when > 1_000_000_000
    for name in list(os.environ):
        if name in ("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_COMMON_DIR"):
            monkeypatch.delenv(name)
    monkeypatch.delenv("GIT_OBJECT_DIRECTORY")
    assert git(folder, "rev-parse", "hooked") == commit
    assert git(other, "branch", "--list", "hooked") == ""
    assert (other / ".git/index").read_bytes() == before


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a folder to another user")
def test_a_foreign_owner_gets_the_line_to_type(tmp_path: Path) -> None:
    folder = make_repository(tmp_path / "its owner", FILES)
    for path in [folder, *folder.rglob("*")]:
        os.chown(path, 12345, 12345)
    with pytest.raises(RepositoryError, match="belongs to another user") as caught:
        Repository.open(folder)
    command = caught.value.next_step.split(": ", 1)[1]
    assert command == f"git config --global --add safe.directory '{folder}'"
    subprocess.run(command, shell=True, check=True)
    assert Repository.open(folder).read_file("HEAD", "a.py") == b"a = 1\n"


@pytest.mark.parametrize("rev", ["-d", "--all", "", "HEAD\nHEAD", "HEAD\0", "x" * 300])
def test_revisions_that_are_no_revisions(tmp_path: Path, rev: str) -> None:
    repository = Repository.open(make_repository(tmp_path / "r", FILES))
    with pytest.raises(UsageError):
        repository.resolve_commit(rev)


def test_an_unknown_revision(tmp_path: Path) -> None:
    repository = Repository.open(make_repository(tmp_path / "r", FILES))
    for rev in ("nowhere", "HEAD~5", "f" * 40, "HEAD:a.py", "@{u}"):
        with pytest.raises(RepositoryError):
            repository.resolve_commit(rev)


def test_init_and_first_commit(tmp_path: Path) -> None:
    repository = init_repository(tmp_path / "new" / "deep")
    write_files(repository.root, {"a.py": "a\n", "run.sh": "#!/bin/sh\n", ".gitignore": "*.log\n"})
    write_files(repository.root, {"x.log": "no\n"})
    (repository.root / "run.sh").chmod(0o755)
    commit = repository.commit_all("Start\n\nwith a body")
    assert repository.resolve_commit("HEAD") == commit
    assert git(repository.root, "status", "--porcelain") == ""
    assert {entry.path: entry.mode for entry in repository.list_files("HEAD")} == {
        ".gitignore": "100644",
        "a.py": "100644",
        "run.sh": "100755",
    }
    with pytest.raises(RepositoryError, match="commits already"):
        repository.commit_all("again")
