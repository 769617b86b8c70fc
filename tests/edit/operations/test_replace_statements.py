"""Replace statements: before and after."""

import pytest

from tests.edit.making import block, edit_code, refusal

BEFORE = block("""
    def run(a, b):
        # the limit
        limit = 3  # tries
        if a: return b  # early
        a(); b(); c()
        for x in a:
            limit -= 1
        return limit
""")


def replaced(before: str, anchor: str, code: str, **edit: object) -> str:
    whole = {"op": "replace_statements", "target": "run", "anchor": anchor, "code": code, **edit}
    return edit_code(before, whole)


def test_a_single_statement_takes_the_very_place() -> None:
    after = BEFORE.replace("limit = 3  # tries", "limit = 5  # tries")
    assert replaced(BEFORE, "limit=3", "limit = 5") == after
    assert replaced(BEFORE, "return b", "return a") == BEFORE.replace("return b ", "return a ")
    assert replaced(BEFORE, "b()", "d()") == BEFORE.replace("b();", "d();")


def test_several_statements_keep_the_comments_around_them() -> None:
    after = BEFORE.replace("limit = 3  # tries", "low = 1\n    limit = 5  # tries")
    assert replaced(BEFORE, "limit = 3", "low = 1\nlimit = 5") == after


def test_own_comments_of_the_code_win() -> None:
    after = BEFORE.replace("# the limit\n    limit = 3  # tries", "# new\n    limit = 5  # five")
    assert replaced(BEFORE, "limit = 3", "# new\nlimit = 5  # five") == after


def test_a_run_of_statements_over_lines() -> None:
    after = BEFORE.replace("a(); b(); c()\n    for x in a:\n        limit -= 1\n", "go()\n")
    anchor = "a()\nb()\nc()\nfor x in a:\n  limit -= 1"
    assert replaced(BEFORE, anchor, "go()") == after


def test_inside_a_line_only_that_place_is_broken() -> None:
    after = BEFORE.replace("a(); b(); c()", "a()\n    if x:\n        d()\n    c()")
    assert replaced(BEFORE, "b()", "if x:\n  d()") == after
    after = BEFORE.replace(
        "if a: return b  # early", "if a:\n        x = b\n        return x  # early"
    )
    assert replaced(BEFORE, "return b", "x = b\nreturn x") == after


def test_a_statement_can_be_wrapped() -> None:
    after = BEFORE.replace("    return limit\n", "    if limit:\n        return limit\n")
    assert replaced(BEFORE, "return limit", "if limit:\n    return limit") == after
    assert replaced(after, "return limit", "if limit:\n    return limit") == after


@pytest.mark.parametrize("code", ["limit = 3", "limit=3 # other"])
def test_no_change(code: str) -> None:
    assert replaced(BEFORE, "limit = 4", code) == BEFORE
    assert replaced(BEFORE, "limit = 3", code) == BEFORE


def test_number_chooses_and_is_refused_where_it_cannot_be_told() -> None:
    before = "def run():\n    x = 1\n    x = 1\n"
    after = "def run():\n    x = 1\n    x = 2\n"
    assert replaced(before, "x = 1", "x = 2", number=2) == after
    edit = {"op": "replace_statements", "target": "run", "anchor": "x = 1", "code": "x = 2"}
    assert refusal(after, {**edit, "number": 2}) == (
        "conflict",
        "The new code stands at line 3 already, so it cannot be told which number is meant; "
        "narrow the target or give a larger anchor.",
    )
    assert refusal(before, edit)[0] == "ambiguous"


def test_an_edit_that_would_apply_to_its_own_result_is_refused() -> None:
    edit = {"op": "replace_statements", "anchor": "a\nb", "code": "a"}
    kind, message = refusal("a\nb\nb\n", edit)
    assert kind == "conflict"
    assert message.startswith("Applied a second time, this edit would change the file again")


def test_comments_at_the_top_of_a_module_stay_with_what_they_are_about() -> None:
    before = "#!/usr/bin/env python\n# licence\n\n# about x\nx = 1\ny = 2\n"
    edit = {"op": "replace_statements", "anchor": "x = 1", "code": "w = 0\nx = 2"}
    after = before.replace("x = 1", "w = 0\nx = 2")
    assert edit_code(before, edit) == after
