"""The splits of a revision: read from git, and disjoint."""

import json
from pathlib import Path

import pytest

from bot.batch.tasks import Splits, load_splits, parse_tasks
from bot.commands.revision import load_table
from bot.config import parse_config
from bot.errors import InputError
from bot.git.repository import Repository, init_repository
from tests.helpers.harnesses import SPLITS, TABLE, tiny

TEST_SPLIT = '[splits]\ntrain = "train.jsonl"\nselect = "select.jsonl"\ntest = "test.jsonl"\n'


def load(repository: Repository) -> Splits:
    return load_splits(repository, repository.tree_of("HEAD"), load_table(repository, "HEAD"))


def lines(*tasks: tuple[str, object]) -> str:
    return "".join(json.dumps({"task_id": name, "input": {"q": q}}) + "\n" for name, q in tasks)


def three(folder: Path, test: str) -> Repository:
    """A repository with a sealed split `test` beside t0 (input 0) and s0 (input "x")."""
    return tiny(folder, "", files={"ecdysis.toml": TABLE + TEST_SPLIT, "test.jsonl": test})


def test_splits_are_read_in_their_order(tmp_path: Path) -> None:
    splits = load(three(tmp_path, lines(("z", 1), ("a", 2))))
    assert splits.sizes == {"train": 1, "select": 1, "test": 2}
    assert [task.task_id for task in splits["train"]] == ["t0"]
    assert [task.task_id for task in splits["select"]] == ["s0"]


def test_the_test_split_opens_once_its_read_is_entered(tmp_path: Path) -> None:
    splits = load(three(tmp_path, lines(("z", 1), ("a", 2))))
    with pytest.raises(KeyError, match="sealed"):
        splits["test"]
    entered: list[str] = []
    assert [t.task_id for t in splits.open_test(lambda: entered.append("read"))] == ["z", "a"]
    assert entered == ["read"]

    def refuse() -> None:
        raise PermissionError

    with pytest.raises(PermissionError):
        splits.open_test(refuse)


@pytest.mark.parametrize(
    ("test", "said"),
    [
        (lines(("t0", 9)), "t0 of test has the same id as a task of train"),
        (lines(("s0", 9)), "s0 of test has the same id as a task of select"),
        (lines(("u", 8), ("v", "x")), "v of test has the same input as a task of select"),
    ],
)
def test_the_sealed_split_overlaps_with_none(test: str, said: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=said):
        load(three(tmp_path, test))


def test_the_order_of_keys_hides_no_shared_input(tmp_path: Path) -> None:
    one = '{"task_id": "a", "input": {"x": 1, "y": {"p": 1, "q": 2}}}\n'
    two = '{"task_id": "b", "input": {"y": {"q": 2, "p": 1}, "x": 1}, "tags": ["other"]}\n'
    repository = tiny(tmp_path, "", files={"train.jsonl": one, "select.jsonl": two})
    with pytest.raises(InputError, match="b of select has the same input"):
        load(repository)


def test_one_split_may_ask_the_same_twice(tmp_path: Path) -> None:
    repository = tiny(tmp_path, "", files={"train.jsonl": lines(("a", 1), ("b", 1))})
    assert len(load(repository)["train"]) == 2


def test_a_split_must_be_committed(tmp_path: Path) -> None:
    repository = tiny(tmp_path, "")
    without = repository.write_tree("HEAD", {"select.jsonl": None})
    assert (tmp_path / "select.jsonl").exists()
    with pytest.raises(InputError, match=r"select split select\.jsonl is not in this revision"):
        load_splits(repository, without, load_table(repository, "HEAD"))


def test_the_splits_are_those_of_the_revision_not_of_the_work_tree(tmp_path: Path) -> None:
    repository = tiny(tmp_path, "")
    (tmp_path / "train.jsonl").write_text("nonsense", encoding="utf-8")
    assert [t.task_id for t in load(repository)["train"]] == ["t0"]


@pytest.mark.parametrize("files", [{"a.txt": "x"}, {"pyproject.toml": "[project]\nname = 'a'\n"}])
def test_a_revision_without_a_table(files: dict[str, str], tmp_path: Path) -> None:
    for name, text in files.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    repository = init_repository(tmp_path)
    repository.commit_all("Start")
    with pytest.raises(InputError, match=r"no \[tool.ecdysis\] table") as raised:
        load_table(repository, "HEAD")
    assert raised.value.exit_code == 3
    assert "ecdysis init" in raised.value.next_step


@pytest.mark.parametrize("path", ["/etc/passwd", "../train.jsonl", "a/../../b"])
def test_a_split_lies_inside_the_repository(path: str) -> None:
    text = TABLE + SPLITS.replace('"train.jsonl"', f'"{path}"')
    with pytest.raises(InputError, match="must be a path inside the repository"):
        parse_config(text, "ecdysis.toml")


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b'{"task_id": "a", "input": {}}\n\n[1]\n', "x, line 3: the line: "),
        (b'{"task_id": "a"}', "x, line 1: input: Field required"),
        (b'{"task_id": "a", "input": "text"}', "x, line 1: input: "),
        (b'{"task_id": 7, "input": {}}', "x, line 1: task_id: "),
        (b'{"task_id": "\xff", "input": {}}', "x, line 1 is not JSON"),
        (b'{"task_id": "a", "input": {"n": NaN}}', "x, line 1 is not JSON"),
        (b'{"format_version": 2, "task_id": "a", "input": {}}', "x, line 1: format_version: "),
        (b'{"task_id": "a", "input": {}, "tags": "one"}', "x, line 1: tags: "),
        (b"[" * 100000, "x, line 1 is not JSON"),
    ],
)
def test_a_line_that_is_no_task_is_named(content: bytes, said: str) -> None:
    with pytest.raises(InputError) as raised:
        list(parse_tasks(content, "x"))
    assert raised.value.message.startswith(said)


def test_windows_line_ends_and_separators_inside_strings() -> None:
    content = '{"task_id": "a", "input": {"q": "x\u2028y"}}\r\n{"task_id": "b", "input": {}}\r\n'
    first, second = parse_tasks(content.encode(), "x")
    assert (first.input, second.task_id) == ({"q": "x\u2028y"}, "b")
