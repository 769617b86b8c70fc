"""Which edit is behind which hunk."""

import difflib

from bot.edit.apply import Applied, apply_spec
from bot.edit.hunks import explain_diff
from bot.records import Edit
from tests.edit.in_process import in_process
from tests.edit.making import PYTHON
from tests.helpers.repairs import make_spec

BEFORE = (
    "LIMIT = 3\n"
    + "\n\n"
    + "".join(f"def f{i}(a):\n    b = a\n    return b\n\n\n" for i in range(6))
)


@in_process()
def hunks_of(*edits: dict[str, str]) -> list[list[int]]:
    spec = make_spec(edits=[Edit(file="a.py", **edit) for edit in edits])
    files = {"a.py": BEFORE.encode()}
    applied = apply_spec(spec, files.get, editable=["*"], protected=[], python=PYTHON)
    assert isinstance(applied, Applied)
    after = applied.files["a.py"].decode()
    lines = difflib.unified_diff(
        BEFORE.splitlines(True), after.splitlines(True), "a/a.py", "b/a.py"
    )
    return [hunk.edits for hunk in explain_diff("".join(lines), spec, files.get)]


def test_edits_far_apart_have_their_own_hunks() -> None:
    assert hunks_of(
        {"op": "set_constant", "target": "LIMIT", "code": "4"},
        {"op": "insert_statements", "target": "f3", "code": "a = a or 1"},
        {"op": "add_import", "code": "import json"},
    ) == [[0, 2], [1]]


def test_an_edit_inside_of_what_another_has_brought() -> None:
    assert hunks_of(
        {"op": "insert_statements", "target": "f5", "code": "c = 1\nd = 2"},
        {"op": "insert_statements", "target": "f5", "place": "after"}
        | {"anchor": "d = 2", "code": "e = 3"},
    ) == [[0, 1]]


def test_statements_that_are_replaced() -> None:
    edit = {"op": "replace_statements", "target": "f2", "anchor": "b = a", "code": "b = a + 1"}
    assert hunks_of(edit) == [[0]]


def test_a_change_that_no_edit_has_made() -> None:
    spec = make_spec(edits=[Edit(op="set_constant", file="a.py", target="LIMIT", code="4")])
    diff = "--- a/a.py\n+++ b/a.py\n@@ -4,2 +4,2 @@\n def f0(a):\n-    b = a\n+    b = 1\n"
    files = {"a.py": BEFORE.encode()}
    assert [hunk.edits for hunk in explain_diff(diff, spec, files.get)] == [[]]
    assert [hunk.edits for hunk in explain_diff(diff, None, files.get)] == [[]]
