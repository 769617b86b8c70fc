"""The material of the drift benchmark: specs that show, drift that does not, merges like git's."""

import ast
import itertools
import random
from pathlib import Path

import pytest

from bot.edit.apply import Applied
from tests.benchmarks.edit_drift import apply_to_base, program_outcome, texts
from tests.helpers.drift.cases import KINDS, Case, drift_cases
from tests.helpers.drift.kind import Place
from tests.helpers.drift.merges import Merges
from tests.helpers.drift.outcomes import Outcome, summary
from tests.helpers.drift.packages import package_edits, tree_of
from tests.helpers.drift.program import (
    behaviour,
    program_files,
    program_names,
    program_specs,
)

RETRY = program_files("retry")
OLDER = "def f(x):\n    y = x + 1\n    if y:\n        g(y)\n    return y\n"
NEWER = OLDER.replace("if y:\n", "if y and x:\n        h()\n")


def test_a_program_does_what_its_check_calls() -> None:
    results = behaviour(RETRY)
    assert results.splitlines()[:4] == ["0", "0", "0", "0"]
    broken = {**RETRY, "harness/retry.py": "x = 1"}
    assert behaviour(broken).startswith("not importable: ImportError")


@pytest.mark.parametrize("name", program_names())
def test_every_place_of_a_spec_is_a_function_of_its_program(name: str) -> None:
    files = program_files(name)
    for spec in program_specs(name):
        place = Place(spec.spec.edits[0].file, spec.place)
        drift = KINDS["documented"](files, place, random.Random(1))
        assert drift is not None, spec.name
        assert behaviour(drift.change(files)) == behaviour(files)


@pytest.mark.parametrize("kind", KINDS)
def test_each_kind_of_drift_changes_the_text_and_keeps_what_the_program_does(kind: str) -> None:
    place = Place("harness/retry.py", "delay_before", frozenset({"BASE_DELAY", "delay"}))
    drift = KINDS[kind](RETRY, place, random.Random(3))
    assert drift is not None
    drifted = drift.change(RETRY)
    assert drifted != RETRY
    assert behaviour(drifted) == behaviour(RETRY)
    [function] = [
        node
        for node in ast.walk(ast.parse(drifted[drift.place.file]))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        and node.name == drift.place.name.rpartition(".")[2]
    ]
    assert function.lineno > 0


def test_requoting_leaves_f_strings_alone() -> None:
    files = {"harness/a.py": "def f(x):\n    return f\"{x['k']}\" + 'y'\n"}
    drift = KINDS["requoted"](files, Place("harness/a.py", "f"), random.Random(1))
    assert drift is not None
    assert drift.change(files) == {"harness/a.py": 'def f(x):\n    return f"{x[\'k\']}" + "y"\n'}


def test_what_is_not_there_is_not_moved() -> None:
    for name in ("Gone.delay_before", "delay_before.inner", "gone"):
        place = Place("harness/retry.py", name)
        assert KINDS["moved_in_file"](RETRY, place, random.Random(1)) is None


def test_an_edit_in_a_wrong_place_is_found_out() -> None:
    spec = next(s for s in program_specs("retry") if s.name == "wait exponentially")
    edited = apply_to_base(spec, RETRY)
    elsewhere = RETRY["harness/retry.py"].replace("BASE_DELAY * round", "BASE_DELAY**round")
    assert behaviour(edited) != behaviour({**RETRY, "harness/retry.py": elsewhere})
    right = Case(spec, ("unparsed",), RETRY, behaviour(edited), True)
    assert program_outcome(right, RETRY).what == "reapplied"
    other = Case(spec, ("unparsed",), RETRY, "other", True)
    assert program_outcome(other, RETRY).what == "wrong"


def test_cases_are_the_same_in_each_run() -> None:
    spec = program_specs("retry")[1]
    edited = apply_to_base(spec, RETRY)
    one, two = (
        [
            (case.kinds, case.onto)
            for case in itertools.islice(drift_cases(spec, RETRY, edited, 3, random.Random(5)), 8)
        ]
        for _ in range(2)
    )
    assert one == two
    assert len(one) == 8


@pytest.mark.parametrize(
    ("theirs", "conflict"), [("a\nb\nC\nd\ne\n", True), ("a\nb\nc\nd\nE\n", False)]
)
def test_a_merge_conflicts_where_cherry_pick_does(
    tmp_path: Path, theirs: str, conflict: bool
) -> None:
    merges = Merges(tmp_path / "git", {"a.txt": "a\nb\nc\nd\ne\n"})
    change = merges.commit({"a.txt": "a\nB\nc\nd\ne\n"})
    onto = merges.commit({"a.txt": theirs})
    assert merges.conflict(change, onto) == conflict
    assert merges.cherry_pick_conflicts(change, onto) == conflict


def test_the_reference_edit_of_a_package_is_made_at_the_same_statement() -> None:
    older, newer = {"p/a.py": OLDER}, {"p/a.py": NEWER}
    for edit in itertools.islice(package_edits(older, newer, random.Random(2)), 20):
        [only] = edit.spec.edits
        if only.anchor.strip().startswith("if y"):
            assert (edit.onto_file, edit.wanted) == (None, None)
        else:
            assert edit.onto_file == "p/a.py"
            assert edit.wanted is not None
            assert edit.wanted.count("probe_") == tree_of(only.code).count("probe_")


def test_a_summary_counts_each_kind_and_what_is_applicable() -> None:
    outcomes = [
        Outcome("reapplied", ("a",), ("x",), "1"),
        Outcome("refused", ("a", "b"), ("x", "y"), "2"),
        Outcome("wrong", ("b",), ("x",), "3"),
        Outcome("inapplicable", ("b",), ("x",), "4"),
    ]
    found = summary(outcomes)
    assert (found["conflicts"], found["applicable"], found["reapplied"]) == (4, 3, 1)
    assert (found["wrong"], found["share"]) == (1, 0.333)
    assert found["by_kind"]["combined"]["conflicts"] == 1
    assert found["by_kind"]["b"]["applicable"] == 2
    assert found["by_op"]["y"]["share"] == 0.0


def test_texts_of_what_was_applied() -> None:
    assert texts(Applied({"a.py": b"x"}, [True])) == {"a.py": "x"}
