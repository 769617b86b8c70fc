"""Add functions and constants: before and after."""

import pytest

from tests.edit.making import edit_code, refusal

BEFORE = "LIMIT = 3\n\n\n# one\ndef one():\n    return 1\n\n\ndef two(): return 2\n"
ADDED = "def added():\n    return 0"


def test_before_and_after_a_target() -> None:
    edit = {"op": "add_function", "target": "one", "code": ADDED}
    before_it = BEFORE.replace("# one", f"{ADDED}\n\n\n# one")
    assert edit_code(BEFORE, edit) == before_it
    after_it = BEFORE.replace("return 1\n", f"return 1\n\n\n{ADDED}\n")
    assert edit_code(BEFORE, {**edit, "place": "after"}) == after_it


def test_beside_the_class_of_a_method() -> None:
    before = "class A:\n    def f(self): pass\n\n\nx = 1\n"
    edit = {"op": "add_function", "target": "A.f", "place": "after", "code": ADDED}
    assert edit_code(before, edit) == f"class A:\n    def f(self): pass\n\n\n{ADDED}\n\n\nx = 1\n"


def test_at_the_end_of_the_module() -> None:
    edit = {"op": "add_function", "code": f"A = 1\n\n\n{ADDED}"}
    assert edit_code(BEFORE, edit) == f"{BEFORE}\n\nA = 1\n\n\n{ADDED}\n"
    assert edit_code(BEFORE.rstrip("\n"), edit) == f"{BEFORE}\n\nA = 1\n\n\n{ADDED}"


def test_above_the_main_guard_and_what_is_said_of_it() -> None:
    guard = '# --- start\n\nif __name__ == "__main__":\n    one()\n'
    edit = {"op": "add_function", "code": ADDED}
    assert edit_code(f"{BEFORE}\n\n{guard}", edit) == f"{BEFORE}\n\n{ADDED}\n\n\n{guard}"


def test_below_the_comments_of_a_module_without_code() -> None:
    edit = {"op": "add_function", "code": ADDED}
    assert edit_code("# licence\n", edit) == f"# licence\n{ADDED}\n"
    assert edit_code("", edit) == f"{ADDED}\n"


@pytest.mark.parametrize("code", ["def one(): return 1", "LIMIT = 3\n\n\ndef two():\n  return 2"])
def test_no_change(code: str) -> None:
    assert edit_code(BEFORE, {"op": "add_function", "code": code}) == BEFORE


def test_only_what_is_missing_is_added() -> None:
    edit = {"op": "add_function", "code": f"LIMIT = 3\n\n\n{ADDED}"}
    assert edit_code(BEFORE, edit) == f"{BEFORE}\n\n{ADDED}\n"


def test_refusals() -> None:
    assert refusal(BEFORE, {"op": "add_function", "code": "def one(): return 5"}) == (
        "conflict",
        "one exists in this file already, at line 5, with other code; choose another name, or "
        "replace that.",
    )
    assert refusal("import re\n", {"op": "add_function", "code": "def re(): pass"})[0] == "conflict"
    assert refusal(BEFORE, {"op": "add_function", "code": "import re\ndef f(): pass"}) == (
        "unsupported",
        "add_function takes definitions and assignments; add_import takes imports.",
    )
