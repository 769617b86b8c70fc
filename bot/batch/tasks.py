"""The splits of a harness: task files, read from a git tree, checked to be disjoint."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator

import orjson
from pydantic import ValidationError

from bot.config import HarnessTable
from bot.errors import InputError
from bot.git.repository import Repository
from bot.records import Task


class Splits:
    """The tasks of each split. `test` is sealed: only `open_test` gives it, after an entry."""

    def __init__(self, tasks: dict[str, list[Task]]) -> None:
        self._tasks = tasks
        self.sizes = {name: len(those) for name, those in tasks.items()}

    def __contains__(self, name: str) -> bool:
        return name in self._tasks

    def __getitem__(self, name: str) -> list[Task]:
        if name == "test":
            raise KeyError("the test split is sealed; open_test enters the read")
        return self._tasks[name]

    def open_test(self, enter_read: Callable[[], object]) -> list[Task]:
        """The test tasks; `enter_read` puts the read on record first, and may refuse it."""
        enter_read()
        return self._tasks["test"]


def load_splits(repository: Repository, tree: str, table: HarnessTable) -> Splits:
    """The splits from the files of `tree`.

    Raises InputError for a missing or empty file, a line that is no task (with its number), and
    for a task that two splits share by id or by input: a shared task would let a harness be
    judged by what it was repaired from.
    """
    splits: dict[str, list[Task]] = {}
    ids: dict[str, str] = {}
    inputs: dict[str, str] = {}
    for name, path in table.splits.paths().items():
        content = repository.read_file(tree, path)
        if content is None:
            raise InputError(
                f"The {name} split {path} is not in this revision.",
                "Commit it, or correct [tool.ecdysis.splits].",
            )
        tasks = list(parse_tasks(content, path))
        if not tasks:
            raise InputError(f"The {name} split {path} holds no task.", "Add tasks to it.")
        for task in tasks:
            asked = json.dumps(task.input, sort_keys=True)
            for seen, key, what in ((ids, task.task_id, "id"), (inputs, asked, "input")):
                other = seen.setdefault(key, name)
                if other != name:
                    raise InputError(
                        f"The splits overlap: {task.task_id} of {name} has the same {what} as a "
                        f"task of {other}.",
                        "Make them disjoint; otherwise the hidden split proves nothing.",
                    )
        splits[name] = tasks
    return Splits(splits)


def parse_tasks(content: bytes, where: str) -> Iterator[Task]:
    """Tasks of a JSONL file; blank lines and a byte-order mark are allowed.

    Raises InputError with file and line for anything else, and for an id that occurs twice.
    """
    seen: dict[str, int] = {}
    for number, line in enumerate(content.removeprefix(b"\xef\xbb\xbf").splitlines(), 1):
        if not line.strip():
            continue
        try:
            task = Task.model_validate(orjson.loads(line))
        except orjson.JSONDecodeError as error:
            raise InputError(
                f"{where}, line {number} is not JSON: {error.msg}.", "Mend or remove the line."
            ) from None
        except ValidationError as error:
            first = error.errors()[0]
            key = ".".join(str(part) for part in first["loc"]) or "the line"
            raise InputError(
                f"{where}, line {number}: {key}: {first['msg']}.",
                "`ecdysis schema task` prints what a task holds.",
            ) from None
        if task.task_id in seen:
            raise InputError(
                f"{where}, line {number}: the id {task.task_id} stands in line "
                f"{seen[task.task_id]} already.",
                "Give each task an id of its own.",
            )
        seen[task.task_id] = number
        yield task
