from bot.gate.accommodation import (
    Acts,
    EditEvidence,
    acting_lines,
    find_acts,
    measure_accommodation,
    shrunk_actions,
)
from bot.gate.task_values import Flag
from bot.records import Episode, Ran, ToolStep

SOURCE = """\
def answer(name, arguments):
    if name != "cancel":
        return arguments
    known = TABLE.get(name)
    for key in arguments:
        if key in known:
            continue
        elif key == "now":
            arguments = drop(arguments, key)
        else:
            note(key)
    try:
        run(arguments)
    except KeyError:
        repair(arguments)
    return arguments
"""


def test_lines_that_run_only_where_an_edit_does_something() -> None:
    # All of it is new: what is under its conditions, not the early exits, not the conditions.
    assert acting_lines(SOURCE.encode(), range(1, 17)) == [4, 9, 11, 13, 15, 16]
    # The conditions are older than the edit: it acts whenever it is reached.
    assert acting_lines(SOURCE.encode(), [11]) == [11]
    assert acting_lines(SOURCE.encode(), [12, 13]) == [12, 13]
    assert acting_lines(SOURCE.encode(), [14, 15]) == [15]
    assert acting_lines(b"if a:\n    return given\n", [1, 2]) == [2]
    assert acting_lines(b"match a:\n    case 'x':\n        go()\n", [1, 2, 3]) == [3]
    assert acting_lines(b"no (python", [1]) == [1]


def episode(task: str, *lines: int, **ran: object) -> Episode:
    values = {"runnable": {"a.py": [7, 8]}, "lines": {"a.py": list(lines)}, **ran}
    return Episode(task_id=task, outcome="pass", ran=Ran.model_validate(values))


def test_where_an_edit_acts() -> None:
    episodes = [episode("t1", 7), episode("t2", 6), episode("t3", 8, blind=True)]
    assert find_acts({"a.py": [7, 8]}, episodes) == Acts(frozenset({"t1", "t2"}), frozenset({"t1"}))
    # It never acted: that is known, too.
    assert find_acts({"a.py": [8]}, episodes) == Acts(frozenset({"t1", "t2"}), frozenset())
    assert find_acts({"a.py": [8]}, [Episode(task_id="t1", outcome="pass")]) == Acts()
    assert find_acts(None, episodes) == find_acts({}, episodes) == Acts()


def test_the_ratio_of_edits_that_serve_their_own_tasks() -> None:
    derived = frozenset({"t1", "t2"})
    everything = frozenset({"t1", "t2", "s1", "s2", "s3"})
    edits = [
        EditEvidence(derived, Acts(everything, frozenset({"t1", "s2"}))),
        EditEvidence(derived, Acts(everything, derived)),
        EditEvidence(derived, Acts(everything, everything), [Flag("task", "It holds '3467'.")]),
        EditEvidence(derived, Acts(), [Flag("rule", "It lays down a rule.")]),
    ]
    figures = measure_accommodation(edits, ["No episode uses x any more."])
    assert figures.edits == 4
    assert figures.other_tasks == 3
    assert figures.acted == [1, 0, 3, 0]
    assert figures.narrow == [1, 2]
    assert figures.ratio == 0.5
    assert figures.flags == ["Edit 3: It holds '3467'.", "Edit 4: It lays down a rule."]
    assert figures.shrunk == ["No episode uses x any more."]
    assert measure_accommodation([]).ratio is None


def using(*tools: str, error: bool = False) -> Episode:
    steps = [ToolStep(name=name, error=error) for name in tools]
    return Episode(task_id="t", outcome="pass", steps=steps)


def test_tools_that_are_taken_away() -> None:
    before = [using("look", "cancel"), using("cancel"), using("send"), using("move", error=True)]
    after = [using("look"), using("look"), using("look"), using("cancel", error=True)]
    files = {"prompt.py": "TOOLS = ['look', 'cancel', 'send']"}, {"prompt.py": "TOOLS = ['look']"}
    assert shrunk_actions(before, after, *files) == [
        "No episode uses cancel any more (before: 2 of 4).",
        "The edited files no longer hold the tool's name cancel.",
        "The edited files no longer hold the tool's name send.",
    ]
    assert shrunk_actions(before, before, *files[:1], *files[:1]) == []
