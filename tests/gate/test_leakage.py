import pytest

from bot.gate.leakage import all_text, find_leak
from bot.records import Edit, ModificationSpec, Task

TASKS = [
    Task(task_id="task-0031", input={"message": "?"}, expected={"answer": "287"}),
    Task(task_id="task-0032", input={"message": "?"}, expected={"answer": "12 Harbour Road"}),
    Task(task_id="task-0033", input={"message": "?"}, expected={"answer": "7"}),
    Task(task_id="task-0034", input={"message": "?"}, expected={"answer": "$4.50"}),
    Task(task_id="task-0035", input={"message": "?"}, expected={"answer": "-12"}),
]


@pytest.mark.parametrize(
    ("code", "said"),
    [
        ("if task == 'TASK-0031': pass", "names the task task-0031"),
        ("TOTAL = 287", "expected answer of task-0031"),
        ("return '12 Harbour Road'", "expected answer of task-0032"),
        ("PRICE = '$4.50'", "expected answer of task-0034"),
        ('HINT = "It was 4.50."', "expected answer of task-0034"),
        ("SHIFT = -12", "expected answer of task-0035"),
        ('HINT = "Remember task-0031."', "names the task task-0031"),
        ('HINT = "It was 287."', "expected answer of task-0031"),
        ('HINT = """It is 12  harbour\nroad."""', "expected answer of task-0032"),
    ],
)
def test_leaks_are_named(code: str, said: str) -> None:
    leak = find_leak(code, TASKS, [], known_text="")
    assert leak is not None
    assert said in leak


def test_what_the_harness_knows_anyway_is_no_leak() -> None:
    assert find_leak("EXAMPLE = 287", TASKS, [], known_text='"examples": ["287"]') is None
    assert find_leak("x = 2870; y = 7", TASKS, [], known_text="") is None


@pytest.mark.parametrize(
    ("code", "said"),
    [
        ("if task == 'task-0031': pass", "The edit names a hidden task."),
        ("TOTAL = 287", "The edit holds the expected answer of a hidden task."),
    ],
)
def test_hidden_tasks_are_found_and_not_named(code: str, said: str) -> None:
    assert find_leak(code, [], TASKS, known_text="") == said


@pytest.mark.parametrize("field", ["argument", "to", "keyword"])
def test_every_field_that_brings_text_is_read(field: str) -> None:
    edit = Edit.model_validate({"op": "x", "file": "a.py", "code": "price", field: "287"})
    sly = ModificationSpec(
        title="t",
        pattern="p",
        layer="procedural-skill",
        hypothesis="h",
        origin="o",
        edits=[edit],
    )
    leak = find_leak(all_text(sly), TASKS, [], known_text="")
    assert leak == "The edit holds the expected answer of task-0031."
