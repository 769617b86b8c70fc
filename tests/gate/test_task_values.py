import pytest

from bot.gate.task_values import find_flags, parse_piece
from bot.records import Task

TASKS = [
    Task(task_id="task-0031", input={"message": "How much was order 3467?"}, expected="287 euros"),
    Task(task_id="task-0032", input={"message": "Cancel order 3468 for Hopper."}, expected=None),
    Task(task_id="task-0033", input={"message": "What did order 3469 cost?"}, expected=["ok"]),
]
KNOWN = "def dispatch_tool(desk, name): lookup_order cancel_order status"


def kinds(added: str, **more: object) -> list[str]:
    return [flag.kind for flag in find_flags(added, **more)]  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("added", "word", "task"),
    [
        ("if order == '3467':\n    return total\n", "3467", "task-0031"),
        ('NAMES = ["hopper"]', "hopper", "task-0032"),
        ("Order 3469 is a special case.", "3469", "task-0033"),
        ("if task['task_id'] == 'task-0032': x()", "task-0032", "task-0032"),
        ("answer = '287'", "287", "task-0031"),
    ],
)
def test_values_of_tasks(added: str, word: str, task: str) -> None:
    said = [flag.said for flag in find_flags(added, known=KNOWN, tasks=TASKS)]
    assert f"It holds {word!r}, which stands in {task}." in said


@pytest.mark.parametrize(
    "added",
    [
        "order = find(order)",  # a word of every task
        "if name == 'lookup_order': x()",  # known to the harness
        "# what did it cost",  # plain words
        "hopper = 1",  # a name of the program's
        "retries = 42",
    ],
)
def test_what_is_common_or_known_is_no_value(added: str) -> None:
    assert "task" not in kinds(added, known=KNOWN, tasks=TASKS)


@pytest.mark.parametrize(
    ("added", "kind"),
    [
        ("On 2021-07-04 the office was shut.", "value"),
        ("It was built in March 1987.", "value"),
        ("Ask for C1001 first.", "value"),
        ("Run SELECT name FROM drivers to see them.", "value"),
        ("# find it\ngit grep OrderFactory src/", "value"),
        ("Look into src/shop/orders.py first.", "value"),
        ("Write to jane.doe@example.org.", "value"),
        ("Use 4.999 as the factor.", "value"),
        ('For example "Springfield, IL" is meant.', "value"),
        ("Change only OrderFactory.", "value"),
        ("ALWAYS call the search tool FIRST when a year is named.", "rule"),
        ("You MUST stop if nothing is found.", "rule"),
        ("Answers are 3-6 words.", "threshold"),
        ("Give up after 12 steps.", "threshold"),
        ("STOP_FRACTION = 0.65", "threshold"),
        ("if used / limit > 0.8:\n    stop()", "threshold"),
        ("if answer == 'not known':\n    retry()", "branch"),
        ("if kind in ('rent', 'loan', 'sale'):\n    retry()", "branch"),
        ("if any(w in text for w in ('sorry', 'cannot', 'unable')):\n    retry()", "branch"),
        ("match city:\n    case 'Springfield':\n        go()", "branch"),
        ("CODES = {'red': 4, 'green': 7, 'blue': 9}", "table"),
        ("words (that I've cut):\n'aa', 'bb', \"c'c\",\n'dd', 'ee', 'ff'", "table"),
        ("if pct >= 80:\n    tag()", "threshold"),
        ("ALLOWED = frozenset(['look', 'take', 'drop', 'open', 'shut'])", "table"),
        ("if self.calls > limit:\n    raise StopEpisode()", "refusal"),
        ("if self.done:\n    return 'error: already called'", "refusal"),
    ],
)
def test_forms_that_serve_some_tasks(added: str, kind: str) -> None:
    assert kind in kinds(added)


@pytest.mark.parametrize(
    "added",
    [
        "",
        "Reply with one tool call and nothing else.",
        "Write to {work_dir}/solution.txt.",
        "if reply.finish_reason == 'length':\n    ask()",
        "if name not in tools:\n    return 'error: no such tool'",
        "if not text:\n    raise ValueError('empty')",
        "messages = [{'role': 'user', 'content': text}]",
        "if ratio > 0.5:\n    stop()",
        "if percent == 100:\n    stop()",
        "Use SHA256 and UTF8.",
        "Show lines 1-10\nof it.",
        "Write SELECT {columns} FROM {table}.",
        "def f(x: Kind) -> OrderFactory:\nreturn broken",
        "x = f'{a} of {b}, {c}: {d} ({e})'",
    ],
)
def test_forms_that_serve_all(added: str) -> None:
    assert kinds(added) == []


def test_names_are_judged_only_where_it_is_known_what_the_harness_knew() -> None:
    text = "Call get_customer before you call cancel_order with it."
    assert kinds(text) == []
    assert [flag.said for flag in find_flags(text, known=KNOWN)] == [
        "It names get_customer, which is nothing of the harness's."
    ]


@pytest.mark.parametrize(
    "piece",
    [
        "    if a:\n        return 1",
        "if a:\n        return 1",
        "def f():\nreturn 1",
        "except ValueError:\n    return 1",
    ],
)
def test_pieces_of_code_are_read_however_they_are_cut(piece: str) -> None:
    assert parse_piece(piece) is not None


@pytest.mark.parametrize("piece", ["", "Stop", "Reply with one call.", "a, b", "Note: this", "("])
def test_prose_is_no_code(piece: str) -> None:
    assert parse_piece(piece) is None
