import pytest

from bot.gate.activation import find_activation, lines_of_edit, refuse_inactive
from bot.records import Edit, Episode, Ran

LINES = {"a.py": [3, 4, 5]}
TEXT = {"prompt.md": [1]}


def episode(task: str = "t1", **ran: object) -> Episode:
    return Episode(task_id=task, outcome="fail", ran=Ran.model_validate(ran))


def test_a_line_in_a_function_proves_it_for_the_tasks_in_which_it_ran() -> None:
    episodes = [
        episode("t1", runnable={"a.py": [3, 4, 5]}),
        episode("t2", runnable={"a.py": [3, 4, 5]}, lines={"a.py": [4, 9]}),
        episode("t3", runnable={"a.py": [3, 4, 5]}, lines={"b.py": [4]}),
    ]
    found = find_activation(LINES, episodes)
    assert (found.level, found.tasks, found.episodes) == ("function", ("t2",), 3)
    assert found.proven


def test_import_proves_only_what_cannot_run_in_a_function() -> None:
    constant = [episode(importable={"a.py": [3]}, imported={"a.py": [3]})]
    assert find_activation(LINES, constant).level == "import"
    with_function = [*constant, episode("t2", runnable={"a.py": [4]}, imported={"a.py": [3]})]
    found = find_activation(LINES, with_function)
    assert (found.level, found.loaded, found.proven) == ("never", True, False)


def test_a_text_is_active_where_it_is_opened() -> None:
    assert find_activation(TEXT, [episode(opened=["prompt.md"])]).level == "open"
    assert find_activation(TEXT, [episode()]).level == "never"


@pytest.mark.parametrize(
    ("lines", "episodes", "level"),
    [
        (LINES, [], "unknown"),
        (LINES, [Episode(task_id="t1", outcome="pass")], "unknown"),
        (LINES, [episode(), episode("t2", blind=True)], "unknown"),
        (LINES, [episode(other=True)], "never"),
        (TEXT, [episode(other=True)], "unknown"),
        (None, [episode(lines={"a.py": [3]})], "unknown"),
        ({}, [episode()], "nothing"),
    ],
)
def test_what_is_not_known_is_not_held_against_it(
    lines: dict[str, list[int]] | None, episodes: list[Episode], level: str
) -> None:
    found = find_activation(lines, episodes)
    assert found.level == level
    refused = refuse_inactive([Edit(op="o", file="a.py")], [found])
    assert (refused is None) == (level != "never")


def test_the_refusal_names_the_edit() -> None:
    edits = [
        Edit(op="add_import", file="a.py"),
        Edit(op="add_function", file="b.py", target="hook"),
    ]
    good = find_activation({"a.py": [1]}, [episode(imported={"a.py": [1]})] * 2)
    lost = find_activation({"b.py": [1, 2]}, [episode()] * 2)
    assert refuse_inactive(edits, [good, lost]) == (
        "Edit 2 of 2 (add_function in b.py, hook) never ran in the 2 train episodes: "
        "b.py was never loaded."
    )
    idle = find_activation({"b.py": [1, 2]}, [episode(runnable={"b.py": [2]})])
    assert "(add_function in b.py, hook) never ran in the 1 train episodes: nothing of it" in str(
        refuse_inactive(edits, [good, idle])
    )
    assert refuse_inactive(edits, [good, good]) is None


def test_an_edit_that_takes_away_is_proven_by_the_lines_around() -> None:
    before = b"a = 1\n# why\nb = 2\n\nc = 3\n"
    assert lines_of_edit([], [3], before, b"a = 1\n# why\n\nc = 3\n") == [1, 4]
    assert lines_of_edit([], [1], before, before.removeprefix(b"a = 1\n")) == [2]
    assert lines_of_edit([], [5], before, b"a = 1\n# why\nb = 2\n\n") == [3]
    assert lines_of_edit([4, 2], [3], before, before) == [2, 4]
    assert lines_of_edit([], [], before, before) == []
