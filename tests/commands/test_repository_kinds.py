"""A generation in every kind of repository there is: recorded, shown, and nothing else touched."""

import os
import shutil
import stat
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from bot.cli import main
from bot.errors import RepositoryError
from bot.git.repository import Repository
from bot.lineage.generations import list_generations, record_generation
from bot.lineage.rejected import record_rejected
from tests.helpers.order_desk import as_json
from tests.helpers.repairs import add_generation, make_figures, make_message, make_spec
from tests.helpers.repositories import git, isolate_git, make_repository, user_state, write_files

FILES = {"agent.py": "ANSWER = 6\n", "lib/deep/tool.py": "T = 1\n", "docs/a.md": "words\n"}
POINTER = (
    "version https://git-lfs.github.com/spec/v1\n"
    "oid sha256:4d7a214614ab2935c943f9e0ff69d22eadbb8f32b1258daaa5e2ca24d17e2393\nsize 12345\n"
)


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "home").mkdir()
    isolate_git(monkeypatch, tmp_path / "home")
    return tmp_path


def trunk(place: Path) -> Path:
    return make_repository(place / "r", FILES, "--initial-branch", "trunk")


def linked_worktree(place: Path) -> Path:
    folder = make_repository(place / "r", FILES)
    git(folder, "worktree", "add", "--quiet", "-b", "side", str(place / "linked"))
    return place / "linked"


def with_a_submodule(place: Path) -> Path:
    inner = make_repository(place / "inner", {"x.py": "x\n"})
    folder = make_repository(place / "r", FILES)
    git(
        folder, "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", str(inner), "sub"
    )
    git(folder, "commit", "--quiet", "-m", "With a submodule")
    return folder


def inside_a_submodule(place: Path) -> Path:
    inner = make_repository(place / "inner", FILES)
    folder = make_repository(place / "r", {"x.py": "x\n"})
    git(
        folder, "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", str(inner), "sub"
    )
    git(folder, "commit", "--quiet", "-m", "With a submodule")
    return folder / "sub"


def lfs(place: Path, command: str) -> Path:
    """A repository with one file in LFS, whose filters are `command clean` and `command smudge`."""
    files = {**FILES, "model.bin": POINTER, ".gitattributes": "*.bin filter=lfs diff=lfs -text\n"}
    folder = make_repository(place / "r", files)
    for path in folder.rglob("*"):  # so old that git need not look into them again
        if path.is_file() and ".git" not in path.relative_to(folder).parts:
            os.utime(path, (1_700_000_000,) * 2)
    git(folder, "update-index", "--refresh")
    for name in ("clean", "smudge"):
        git(folder, "config", f"filter.lfs.{name}", f"{command} {name}")
    git(folder, "config", "filter.lfs.required", "true")
    return folder


def lfs_that_is_installed(place: Path) -> Path:
    """The filter keeps the large content elsewhere, as git-lfs does."""
    filters = place / "lfs"
    filters.write_text(
        f"#!/bin/sh\nif [ $1 = clean ]; then cat > '{place}/large'; cat '{place}/pointer'\n"
        "else cat > /dev/null; echo large content; fi\n"
    )
    filters.chmod(0o755)
    (place / "pointer").write_text(POINTER.replace("12345", "6"))
    return lfs(place, str(filters))


def lfs_that_is_not_installed(place: Path) -> Path:
    return lfs(place, "git-lfs-is-missing")


def carriage_returns(place: Path) -> Path:
    folder = make_repository(place / "r", FILES)
    git(folder, "config", "core.autocrlf", "true")
    write_files(folder, {name: text.replace("\n", "\r\n") for name, text in FILES.items()})
    git(folder, "add", "--all")
    return folder


def sparse(place: Path) -> Path:
    folder = make_repository(place / "r", FILES)
    git(folder, "sparse-checkout", "set", "--cone", "docs")
    return folder


def sparse_index(place: Path) -> Path:
    folder = make_repository(place / "r", FILES)
    git(folder, "sparse-checkout", "set", "--cone", "--sparse-index", "docs")
    return folder


def partial(place: Path) -> Path:
    origin = make_repository(place / "origin", FILES)
    write_files(origin, {"lib/deep/tool.py": "T = 2\n"})
    git(origin, "commit", "--quiet", "-am", "second")
    git(origin, "config", "uploadpack.allowFilter", "true")
    git(origin, "config", "uploadpack.allowAnySHA1InWant", "true")
    git(place, "clone", "--quiet", "--filter=blob:none", "--sparse", f"file://{origin}", "r")
    return place / "r"


def hooks_that_refuse(place: Path) -> Path:
    folder = make_repository(place / "r", FILES)
    for name in ("pre-commit", "commit-msg", "prepare-commit-msg", "post-commit", "post-checkout",
                 "reference-transaction", "post-index-change", "pre-push"):  # fmt: skip
        hook = folder / ".git" / "hooks" / name
        hook.parent.mkdir(exist_ok=True)
        hook.write_text(f"#!/bin/sh\necho {name} >> '{place}/ran'\nexit 1\n")
        hook.chmod(hook.stat().st_mode | stat.S_IXUSR)
    return folder


def packed_refs(place: Path) -> Path:
    folder = make_repository(place / "r", FILES)
    add_generation(Repository.open(folder), titles=("Packed",))
    git(folder, "pack-refs", "--all")
    git(folder, "gc", "--quiet")
    return folder


def index_v4(place: Path) -> Path:
    folder = make_repository(place / "r", FILES)
    git(folder, "config", "index.version", "4")
    git(folder, "update-index", "--index-version", "4")
    return folder


def split_index(place: Path) -> Path:
    folder = make_repository(place / "r", FILES)
    git(folder, "config", "core.splitIndex", "true")
    git(folder, "update-index", "--split-index")
    return folder


def sha256(place: Path) -> Path:
    return make_repository(place / "r", FILES, "--object-format=sha256")


def reftable(place: Path) -> Path:
    return make_repository(place / "r", FILES, "--ref-format=reftable")


def borrowed_objects(place: Path) -> Path:
    make_repository(place / "origin", FILES)
    git(place, "clone", "--quiet", "--shared", str(place / "origin"), "r")
    return place / "r"


def git_dir_elsewhere(place: Path) -> Path:
    folder = place / "r"
    return make_repository(folder, FILES, "--separate-git-dir", str(place / "elsewhere.git"))


def detached_in_a_merge(place: Path) -> Path:
    folder = make_repository(place / "r", FILES)
    git(folder, "checkout", "--quiet", "--detach")
    git(folder, "checkout", "--quiet", "-b", "side")
    write_files(folder, {"docs/a.md": "side\n"})
    git(folder, "commit", "--quiet", "-am", "side")
    git(folder, "checkout", "--quiet", "--detach", "main")
    write_files(folder, {"docs/a.md": "main\n"})
    git(folder, "commit", "--quiet", "-am", "main")
    with pytest.raises(AssertionError):
        git(folder, "merge", "side")
    return folder


KINDS = [
    trunk, linked_worktree, with_a_submodule, inside_a_submodule, lfs_that_is_installed,
    lfs_that_is_not_installed,
    carriage_returns, sparse, sparse_index, partial, hooks_that_refuse, packed_refs, index_v4,
    split_index, sha256, borrowed_objects, git_dir_elsewhere, detached_in_a_merge,
]  # fmt: skip
HAS_REFTABLE = "--ref-format" in subprocess.run(
    ["git", "init", "-h"], capture_output=True, text=True, check=False
).stdout  # fmt: skip
if HAS_REFTABLE:  # git 2.45 and newer
    KINDS.append(reftable)


def states(place: Path) -> dict[str, dict[str, object]]:
    """What must not change, of every work tree there is below `place`."""
    trees = [path.parent for path in sorted(place.rglob(".git")) if path.parent.name != "modules"]
    return {str(tree): user_state(tree) for tree in trees}


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_a_generation_in(
    kind: Callable[[Path], Path], place: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = kind(place)
    (place / "ran").unlink(missing_ok=True)
    repository = Repository.open(folder)
    before = states(place)
    changes = {"agent.py": b"ANSWER = 7\n", "lib/deep/tool.py": b"T = 9\r\n", "new.py": b"n = 1\n"}
    tree = repository.tree_of("HEAD")
    repairs = []
    for path, content in changes.items():
        tree = repository.write_tree(tree, {path: content})
        repairs.append((tree, make_message(f"Change {path}")))
    made = record_generation(
        repository, base_commit="HEAD", repairs=repairs, figures=make_figures()
    )
    number = str(made.number)
    assert states(place) == before
    assert list_generations(repository)[-1] == made

    # What was written is what was asked for, and all the rest is as it was.
    normal = b"T = 9\n" if kind is carriage_returns else b"T = 9\r\n"
    files = {entry.path: entry for entry in repository.list_files(made.commit)}
    for path, content in {**changes, "lib/deep/tool.py": normal}.items():
        assert repository.read_file(made.commit, path) == content
    for entry in repository.list_files("HEAD"):
        assert entry.path in changes or files[entry.path] == entry
    assert len(git(folder, "diff", "--name-only", "HEAD", made.commit).splitlines()) == 3

    for command in (["log"], ["show", number, "--diff"], ["diff", number], ["prune", "--dry-run"]):
        assert main([*command, "-C", str(folder), "--json"]) == 0, capsys.readouterr().err
        said = as_json(capsys.readouterr().out)
        assert said["format_version"] == 1
        if command[0] == "diff":
            assert [file["path"] for file in said["files"]] == list(changes)
            assert "+ANSWER = 7" in said["diff"]
        if command[0] == "log":
            assert said["generations"][0]["commit"] == made.commit
    # The copy that the harness runs in.
    if kind is lfs_that_is_not_installed:
        with pytest.raises(RepositoryError, match=r"filter of \.gitattributes cannot run"):
            repository.export(made.commit, place / "copy")
    else:
        repository.export(made.commit, place / "copy")
        assert (place / "copy" / "agent.py").read_bytes().splitlines() == [b"ANSWER = 7"]
    if kind is lfs_that_is_installed:
        assert (place / "copy" / "model.bin").read_text() == "large content\n"
    shutil.rmtree(place / "copy")
    # Old evidence goes, the generation stays.
    record_rejected(repository, tree=made.commit, spec=make_spec("Bad idea"), reason="It breaks.")
    command = ["prune", "--days", "0", "--keep", "0", "-C", str(folder), "--json"]
    assert main(command) == 0
    pruned = as_json(capsys.readouterr().out)
    assert (len(pruned["rejected"]), pruned["notes_emptied"] >= 3) == (1, True)
    assert list_generations(repository)[-1] == made
    assert states(place) == before
    assert not (place / "ran").exists()
    assert git(folder, "fsck", "--no-dangling").replace("notice: HEAD", "")[:6] in ("", "notice")


def test_an_edit_of_what_lfs_keeps(place: Path) -> None:
    """A pointer is stored; without git-lfs nothing is: not the bytes where a pointer belongs."""
    repository = Repository.open(lfs_that_is_installed(place))
    tree = repository.write_tree("HEAD", {"model.bin": b"new bytes\n"})
    assert repository.read_file(tree, "model.bin") == (place / "pointer").read_bytes()
    assert (place / "large").read_bytes() == b"new bytes\n"
    git(repository.root, "config", "filter.lfs.clean", "git-lfs-is-missing clean")
    with pytest.raises(RepositoryError, match=r"filter of \.gitattributes cannot run") as caught:
        repository.write_tree("HEAD", {"model.bin": b"more bytes\n"})
    assert "git-lfs" in caught.value.next_step


def test_a_partial_clone_whose_remote_is_gone(
    place: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = partial(place)
    add_generation(Repository.open(folder), titles=("One",))
    shutil.rmtree(place / "origin")
    for command in (["log"], ["show", "1", "--diff"], ["diff", "1"]):
        assert main([*command, "-C", str(folder)]) == 0
        assert "One" in capsys.readouterr().out
    repository = Repository.open(folder)
    with pytest.raises(RepositoryError, match="does not appear to be a git repository"):
        repository.read_file("HEAD~1", "lib/deep/tool.py")


def sign_with(folder: Path, key: Path) -> None:
    for name, value in {
        "gpg.format": "ssh",
        "user.signingkey": str(key),
        "commit.gpgsign": "true",
        "gpg.ssh.allowedSignersFile": str(key.with_name("signers")),
    }.items():
        git(folder, "config", name, value)


def test_commits_are_signed(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    if shutil.which("ssh-keygen") is None:
        pytest.skip("there is no ssh-keygen here; the refusal is tested below")
    folder, key = trunk(place), place / "key"
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(key)], check=True)
    public = key.with_suffix(".pub").read_text()
    (place / "signers").write_text(f"tester@example.invalid {public}")
    sign_with(folder, key)
    before = user_state(folder)
    made = add_generation(Repository.open(folder), titles=("One", "Two"))
    for commit in [*made.commits, "refs/notes/ecdysis"]:
        git(folder, "verify-commit", commit)
    assert main(["show", "1", "-C", str(folder)]) == 0
    assert "Good" not in capsys.readouterr().out
    assert user_state(folder) == before


def test_what_cannot_be_signed_is_not_committed(
    place: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = trunk(place)
    sign_with(folder, place / "no such key")
    refs = git(folder, "for-each-ref")
    with pytest.raises(RepositoryError, match="cannot be signed") as caught:
        add_generation(Repository.open(folder))
    assert "commit.gpgsign" in caught.value.next_step
    assert git(folder, "for-each-ref") == refs


def test_a_format_that_this_git_does_not_know_is_refused(
    place: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = trunk(place)
    git(folder, "config", "core.repositoryFormatVersion", "1")
    git(folder, "config", "extensions.newerThanThis", "true")
    assert main(["log", "-C", str(folder)]) == 4
    said = capsys.readouterr().err
    assert "unknown repository extension" in said
    assert "Traceback" not in said
