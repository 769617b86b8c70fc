"""Trees written through a private index are what `git add` would have stored."""

import os
from pathlib import Path

import pytest

from bot.errors import RepositoryError
from bot.git.repository import CannotWrite, Repository
from bot.git.trees import stays_inside
from tests.helpers.repositories import git, make_repository, user_state, write_files

FILES = {"a.py": "a = 1\n", "pkg/b.py": "b = 2\n", "run.sh": "#!/bin/sh\n"}


def add_like_a_person(folder: Path, changes: dict[str, bytes]) -> str:
    """The tree that `git add` makes in a clone of its own with the same configuration."""
    clone = folder.parent / "by hand"
    git(folder.parent, "clone", "--quiet", str(folder), clone.name)
    for line in git(folder, "config", "--local", "--list").splitlines():
        key, _, value = line.partition("=")
        if key.startswith(("filter.", "core.autocrlf", "core.eol")):
            git(clone, "config", key, value)
    write_files(clone, changes)
    git(clone, "add", "--all")
    return git(clone, "write-tree")


def test_changes_additions_and_deletions(tmp_path: Path) -> None:
    folder = make_repository(tmp_path / "r", FILES)
    (folder / "run.sh").chmod(0o755)
    git(folder, "commit", "--quiet", "-am", "executable")
    repository = Repository.open(folder)
    tree = repository.write_tree(
        "HEAD", {"a.py": b"a = 2\n", "new/deep/c.py": b"", "pkg/b.py": None, "run.sh": b"#!x\n"}
    )
    assert {e.path: e.mode for e in repository.list_files(tree)} == {
        "a.py": "100644",
        "new/deep/c.py": "100644",
        "run.sh": "100755",
    }
    assert repository.read_files(tree) == {
        "a.py": b"a = 2\n",
        "new/deep/c.py": b"",
        "run.sh": b"#!x\n",
    }
    assert repository.write_tree("HEAD", {}) == repository.tree_of("HEAD")
    assert repository.write_tree("HEAD", {"a.py": b"a = 1\n"}) == repository.tree_of("HEAD")


def test_odd_paths_and_bytes(tmp_path: Path) -> None:
    names = ["with space.py", "ümlaut-日本.py", "tab\tand\nnewline.py", '"quoted".py', "*.py", "-n"]
    names.append(os.fsdecode(b"latin-\xe9.py"))
    folder = make_repository(tmp_path / "r", dict.fromkeys(names, "old\n"))
    repository = Repository.open(folder)
    changes: dict[str, bytes | None] = {
        name: f"new {i}\0\r".encode() for i, name in enumerate(names)
    }
    tree = repository.write_tree("HEAD", changes)
    assert repository.read_files(tree) == changes
    repository.export(tree, tmp_path / "out")
    assert {p.name: p.read_bytes() for p in (tmp_path / "out").iterdir()} == changes
    only = repository.write_tree("HEAD", {"*.py": None})
    assert sorted(repository.read_files(only)) == sorted(set(names) - {"*.py"})


@pytest.mark.parametrize(
    "path", ["", "/etc/passwd", "../x", "a/../b", "a//b", "./a", ".git/config", "x/.GIT/hooks/y"]
)
def test_paths_that_leave_the_tree(tmp_path: Path, path: str) -> None:
    repository = Repository.open(make_repository(tmp_path / "r", FILES))
    with pytest.raises(RepositoryError, match="not a path inside"):
        repository.write_tree("HEAD", {path: b"x"})


def test_what_is_in_the_way_is_named(tmp_path: Path) -> None:
    folder = make_repository(tmp_path / "r", FILES)
    (folder / "link").symlink_to("a.py")
    git(folder, "add", "link")
    git(folder, "commit", "--quiet", "-m", "link")
    repository = Repository.open(folder)
    for changes, words in [
        ({"pkg": b"x"}, "pkg is a folder"),
        ({"a.py/x": b"x"}, "a.py is a file"),
        ({"link": b"x"}, "symbolic link"),
        ({"link/x": b"x"}, "link is a file"),
        ({"new": b"x", "new/y": b"y"}, "new is a f"),
        ({"missing.py": None}, "no such file"),
    ]:
        with pytest.raises(CannotWrite, match=words):
            repository.write_tree("HEAD", changes)
    replaced = repository.write_tree("HEAD", {"pkg/b.py": None, "pkg": b"now a file\n"})
    assert repository.read_file(replaced, "pkg") == b"now a file\n"
    split = repository.write_tree("HEAD", {"a.py": None, "a.py/x": b"x\n"})
    assert repository.read_file(split, "a.py/x") == b"x\n"
    assert repository.read_file("HEAD", "link") is None


@pytest.mark.parametrize("setting", ["true", "input", "false"])
def test_line_ends_are_stored_as_git_add_would(tmp_path: Path, setting: str) -> None:
    folder = make_repository(
        tmp_path / "r", {"crlf.txt": b"a\r\nb\r\n", "lf.txt": b"a\nb\n", "bin": b"\0\r\n"}
    )
    git(folder, "config", "core.autocrlf", setting)
    changes = {"crlf.txt": b"a\r\nc\r\n", "lf.txt": b"a\r\nc\r\n", "new.txt": b"x\r\n"}
    repository = Repository.open(folder)
    assert repository.write_tree("HEAD", changes) == add_like_a_person(folder, changes)


def test_attributes_come_from_the_tree_and_not_from_the_user(tmp_path: Path) -> None:
    folder = make_repository(
        tmp_path / "r",
        {
            ".gitattributes": "*.txt text eol=crlf filter=shout\n",
            "a.txt": "x\n",
            "sub/b.txt": "y\n",
        },
    )
    git(folder, "config", "filter.shout.clean", "tr a-z A-Z")
    git(folder, "config", "filter.shout.smudge", "tr A-Z a-z")
    write_files(folder, {".gitattributes": "*.txt -text -filter\n"})
    repository = Repository.open(folder)
    tree = repository.write_tree("HEAD", {"a.txt": b"new\r\n", "sub/b.txt": b"more\n"})
    assert repository.read_files(tree, ["a.txt", "sub/b.txt"]) == {
        "a.txt": b"NEW\n",
        "sub/b.txt": b"MORE\n",
    }
    repository.export(tree, tmp_path / "out")
    assert (tmp_path / "out/a.txt").read_bytes() == b"new\r\n"
    changed = repository.write_tree("HEAD", {"a.txt": b"q\n", ".gitattributes": b"*.md text\n"})
    assert repository.read_file(changed, "a.txt") == b"q\n"


def test_a_long_running_pointer_filter(tmp_path: Path) -> None:
    store = tmp_path / "store"
    store.mkdir()
    folder = make_repository(tmp_path / "r", {"a.py": "a\n"})
    git(folder, "config", "filter.big.clean", f"tee {store}/kept | sha256sum | cut -c1-64")
    git(folder, "config", "filter.big.smudge", f"cat > /dev/null; cat {store}/kept")
    git(folder, "config", "filter.big.required", "true")
    repository = Repository.open(folder)
    tree = repository.write_tree(
        "HEAD", {".gitattributes": b"*.bin filter=big -text\n", "w.bin": b"weights"}
    )
    stored = repository.read_file(tree, "w.bin")
    assert stored is not None
    assert len(stored) == 65
    repository.export(tree, tmp_path / "out")
    assert (tmp_path / "out/w.bin").read_bytes() == b"weights"
    git(folder, "config", "filter.big.clean", "false")
    with pytest.raises(RepositoryError, match="big"):
        repository.write_tree(tree, {"w.bin": b"other"})


def test_export_skips_links_out_submodules_and_what_is_asked(tmp_path: Path) -> None:
    inner = make_repository(tmp_path / "inner", {"i.py": "i\n"})
    files = {**FILES, ".gitattributes": "a.py export-ignore\nb.py export-subst\n", "tasks/t": "s\n"}
    folder = make_repository(tmp_path / "r", files)
    git(
        folder, "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", str(inner), "sub"
    )
    for name, target in {
        "inside": "pkg/b.py",
        "pkg/up": "../a.py",
        "absolute": "/etc/passwd",
        "outside": "../secret",
        "pkg/sneaky": "up2/../../../secret",
        "dangling": "nowhere",
        "folder": "pkg",
        "turn": "folder/../../secret",
        "loop": "loop",
        "to-git": ".git/config",
    }.items():
        (folder / name).symlink_to(target)
    git(folder, "add", "--all")
    git(folder, "commit", "--quiet", "-m", "links")
    (folder / "run.sh").chmod(0o755)
    git(folder, "commit", "--quiet", "-am", "mode")
    repository = Repository.open(folder)
    out = tmp_path / "out"
    repository.export("HEAD", out, skip=lambda path: path.startswith("tasks/"))
    assert (out / "a.py").read_bytes() == b"a = 1\n"
    assert (out / "inside").read_bytes() == b"b = 2\n"
    assert (out / "pkg/up").read_bytes() == b"a = 1\n"
    assert os.access(out / "run.sh", os.X_OK)
    assert not os.access(out / "a.py", os.X_OK)
    assert (out / "sub").is_dir()
    assert list((out / "sub").iterdir()) == []
    for name in ("absolute", "outside", "pkg/sneaky", "turn", "loop"):
        assert not (out / name).is_symlink(), name
    assert not (out / "tasks").exists()
    assert not (out / ".git").exists()


@pytest.mark.parametrize(
    ("path", "target", "inside"),
    [
        ("a", "b", True),
        ("d/a", "../b", True),
        ("a", "../b", False),
        ("d/a", "../../b", False),
        ("a", "/b", False),
        ("a", "", False),
        ("a", "x/../../r/b", False),
        ("a", "./b/.", True),
    ],
)
def test_where_a_link_leads(path: str, target: str, inside: bool) -> None:
    assert stays_inside(path, target) is inside


def test_the_user_s_index_work_tree_and_stash_stay(tmp_path: Path) -> None:
    folder = make_repository(tmp_path / "r", FILES)
    git(folder, "config", "index.version", "4")
    git(folder, "config", "core.splitIndex", "true")
    write_files(folder, {"a.py": "stashed\n"})
    git(folder, "stash")
    write_files(folder, {"a.py": "staged\n", "untracked": "u\n"})
    git(folder, "add", "a.py")
    write_files(folder, {"a.py": "changed again\n", "pkg/b.py": "dirty\n"})
    before = user_state(folder)
    listing = sorted(p.name for p in (folder / ".git").iterdir())
    repository = Repository.open(folder)
    tree = repository.write_tree("HEAD", {"a.py": b"bot\n"})
    commit = repository.commit_tree(tree, [repository.resolve_commit("HEAD")], "x")
    repository.update_ref("refs/heads/ecdysis/gen-0001", commit, None)
    repository.export(tree, tmp_path / "out")
    repository.state_problems()
    assert user_state(folder) == before
    assert sorted(p.name for p in (folder / ".git").iterdir()) == listing


def test_no_hook_runs(tmp_path: Path) -> None:
    folder = make_repository(tmp_path / "r", FILES)
    for name in ("pre-commit", "commit-msg", "post-commit", "reference-transaction",
                 "post-index-change", "post-checkout"):  # fmt: skip
        hook = folder / ".git/hooks" / name
        hook.write_text(f"#!/bin/sh\ntouch {tmp_path}/ran-{name}\nexit 1\n")
        hook.chmod(0o755)
    repository = Repository.open(folder)
    tree = repository.write_tree("HEAD", {"a.py": b"bot\n"})
    commit = repository.commit_tree(tree, [repository.resolve_commit("HEAD")], "x")
    repository.update_ref("refs/heads/ecdysis/gen-0001", commit, None)
    repository.export(tree, tmp_path / "out")
    assert list(tmp_path.glob("ran-*")) == []
    assert git(folder, "rev-parse", "ecdysis/gen-0001") == commit


def test_graft_puts_stored_objects_at_paths(tmp_path: Path) -> None:
    repository = Repository.open(make_repository(tmp_path / "r", FILES))
    git(repository.root, "config", "core.autocrlf", "true")
    blob = repository.write_blob(b"as\r\nit is")
    tree = repository.graft(None, {"ab/cdef": ("100644", blob)})
    tree = repository.graft(tree, {"ab/0123": ("100644", blob)})
    assert repository.read_files(tree) == {"ab/0123": b"as\r\nit is", "ab/cdef": b"as\r\nit is"}
    outer = repository.make_tree({"sub": ("040000", tree), "top": ("100644", blob)})
    assert sorted(repository.read_files(outer)) == ["sub/ab/0123", "sub/ab/cdef", "top"]


def test_no_child_process_or_descriptor_is_left(tmp_path: Path) -> None:
    folder = make_repository(tmp_path / "r", FILES)
    children = Path(f"/proc/self/task/{os.getpid()}/children")
    if not children.exists():
        pytest.skip("this system has no /proc")
    Repository.open(folder)
    before, descriptors = children.read_text(), len(list(Path("/proc/self/fd").iterdir()))
    kept = [Repository.open(folder) for _ in range(20)]
    for number, repository in enumerate(kept):
        tree = repository.write_tree("HEAD", {"a.py": str(number).encode()})
        repository.read_files(tree)
    assert children.read_text() == before
    assert len(list(Path("/proc/self/fd").iterdir())) == descriptors
