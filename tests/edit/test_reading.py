"""What a path leads to is edited only where the path itself holds it."""

from pathlib import Path

import pytest

from bot.edit.reading import Reader, read_commit, read_work_tree
from bot.edit.refusal import Refused
from bot.git.repository import Repository
from tests.helpers.repositories import git, isolate_git, make_repository


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    isolate_git(monkeypatch, tmp_path)
    inner = make_repository(tmp_path / "inner", {"x.py": "X = 1\n"})
    outer = make_repository(tmp_path / "outer", {"real/a.py": "A = 1\n", "run.sh": "true\n"})
    (outer / "linked").symlink_to("real", target_is_directory=True)
    (outer / "b.py").symlink_to("real/a.py")
    git(
        outer,
        *("-c", "protocol.file.allow=always", "submodule", "add", "-q", str(inner), "module"),
    )
    git(outer, "add", "-A")
    git(outer, "commit", "-qm", "links and a submodule")
    return outer


@pytest.fixture(params=["commit", "work tree"])
def read(request: pytest.FixtureRequest, root: Path) -> Reader:
    if request.param == "commit":
        return read_commit(Repository.open(root), "HEAD")
    return read_work_tree(root)


def test_a_file(read: Reader) -> None:
    assert read("real/a.py") == b"A = 1\n"


@pytest.mark.parametrize("path", ["real", "real/c.py", "real/A.py", "REAL/a.py", "run.sh/x"])
def test_no_file(read: Reader, path: str) -> None:
    assert read(path) is None


@pytest.mark.parametrize(
    ("path", "why"),
    [
        ("b.py", "b.py is not edited: b.py is a link."),
        ("linked/a.py", "linked/a.py is not edited: it lies behind linked, which is a link."),
        ("module/x.py", "module/x.py is not edited: it lies behind module, which is a submodule."),
    ],
)
def test_another_file_than_the_named_one(read: Reader, path: str, why: str) -> None:
    with pytest.raises(Refused, match=f"^{why}$") as refused:
        read(path)
    assert refused.value.kind == "not_editable"
