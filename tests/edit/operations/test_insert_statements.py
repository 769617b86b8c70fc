"""Insert statements: before and after."""

import pytest

from tests.edit.making import block, edit_code, refusal

BEFORE = block('''
    """Doc."""
    from __future__ import annotations

    # about run
    @trace
    def run(items):
        """Run."""

        # count
        total = 0
        for item in items:
            if item: total += 1  # one more

            # done
            log("item", item)
        return total  # sum


    class Empty: pass
''')


def insert(before: str, **edit: object) -> str:
    return edit_code(before, {"op": "insert_statements", **edit})


def test_at_the_start_behind_the_docstring() -> None:
    after = BEFORE.replace("\n    # count", "\n    items = list(items)\n    # count")
    assert insert(BEFORE, target="run", code="items = list(items)") == after


def test_at_the_start_of_a_module_behind_late_imports() -> None:
    after = BEFORE.replace("annotations\n\n", "annotations\n\nX = 1\n\n\n")
    assert insert(BEFORE, code="X = 1") == after


def test_at_the_end() -> None:
    after = BEFORE.replace("return total  # sum\n", "return total  # sum\n    x = 1\n    y = 2\n")
    assert insert(BEFORE, target="run", place="end", code="x = 1\ny = 2") == after


def test_before_an_anchor_above_its_comment_and_below_the_blank_line() -> None:
    after = BEFORE.replace("        # done", "        check(item)\n        # done")
    edit = {"place": "before", "anchor": "log ( 'item',item )  # other", "code": "check(item)"}
    assert insert(BEFORE, target="run", **edit) == after


def test_after_an_anchor_that_is_a_whole_loop() -> None:
    anchor = "for item in items:\n  if item:\n    total += 1\n  log('item', item)\n"
    after = BEFORE.replace("    return total", "    close()\n    return total")
    assert insert(BEFORE, target="run", place="after", anchor=anchor, code="close()") == after


def test_beside_the_body_of_a_one_line_if() -> None:
    after = BEFORE.replace(
        "if item: total += 1  # one more",
        "if item:\n            mark(item)\n            total += 1  # one more",
    )
    edit = {"place": "before", "anchor": "total += 1", "code": "mark(item)"}
    assert insert(BEFORE, target="run", **edit) == after


def test_a_class_without_a_block_gets_one() -> None:
    after = BEFORE.replace("class Empty: pass", "class Empty:\n    pass\n    size: int = 0")
    assert insert(BEFORE, target="Empty", place="end", code="size: int = 0") == after


def test_a_method_is_set_off_by_a_blank_line() -> None:
    before = "class A:\n    x = 1\n    y = 2\n"
    after = "class A:\n    x = 1\n\n    def f(self):\n        return 1\n\n    y = 2\n"
    code = "def f(self):\n  return 1"
    assert insert(before, target="A", place="after", anchor="x = 1", code=code) == after


def test_a_statement_before_a_definition_leaves_its_section_comment_alone() -> None:
    before = "x = 1\n\n\n# --- section\n\ndef f(): pass\n"
    after = "x = 1\n\n\n# --- section\n\ny = 2\n\n\ndef f(): pass\n"
    assert insert(before, place="before", anchor="def f(): pass", code="y = 2") == after


def test_in_the_middle_of_a_line_the_line_is_broken_there() -> None:
    before = "def f():\n    a(); b(); c()  # all\n"
    after = "def f():\n    a()\n    x = 1\n    b(); c()  # all\n"
    assert insert(before, target="f", place="before", anchor="b()", code="x = 1") == after


def test_comments_of_the_code_come_along() -> None:
    before = "def f():\n    return 1\n"
    after = "def f():\n    # why\n    x = 1  # this\n    return 1\n"
    assert insert(before, target="f", code="    # why\n    x = 1  # this") == after


@pytest.mark.parametrize(
    ("before", "edit"),
    [
        ("def f():\n    x = 1\n    return x\n", {"code": "x=1  # same"}),
        ("def f():\n    'doc'\n    x = 'a'\n", {"code": 'x = "a"'}),
        ("def f():\n    y\n    x = 1\n", {"place": "end", "code": "x = 1"}),
        ("def f():\n    y\n    x = 1\n", {"place": "after", "anchor": "y", "code": "x = 1"}),
        ("def f():\n    x = 1; y\n", {"place": "before", "anchor": "y", "code": "x = 1"}),
        (
            "def f():\n    if a:\n        return b\n    return b\n",
            {"place": "before", "anchor": "return b", "code": "if a: return b"},
        ),
    ],
)
def test_no_change(before: str, edit: dict[str, str]) -> None:
    assert insert(before, target="f", **edit) == before


def test_several_anchors_are_refused_with_their_lines_or_chosen_by_number() -> None:
    before = "def f():\n    if a:\n        log()\n    else:\n        log()\n    log()\n"
    edit = {"op": "insert_statements", "target": "f", "place": "after", "anchor": "log()"}
    assert refusal(before, {**edit, "code": "x = 1"}) == (
        "ambiguous",
        "The anchor 'log()' stands 3 times in f, at lines 3, 5 and 6: give a larger anchor, a "
        "narrower target, or say which with number, from 1.",
    )
    after = before.replace("else:\n        log()\n", "else:\n        log()\n        x = 1\n")
    assert edit_code(before, {**edit, "code": "x = 1", "number": 2}) == after
    assert refusal(before, {**edit, "code": "x = 1", "number": 4})[0] == "not_found"


def test_a_missing_anchor_names_the_nearest_statement() -> None:
    edit = {"op": "insert_statements", "target": "run", "place": "after", "code": "x = 1"}
    assert refusal(BEFORE, {**edit, "anchor": "total = 1"}) == (
        "not_found",
        "There is no statement 'total = 1' in run. The nearest is at line 12: 'total += 1'.",
    )
    assert refusal(BEFORE, {**edit, "anchor": "for item in items:\n    pass"})[1] == (
        "There is no statement 'for item in items:' in run. Line 11 begins like it, but goes on "
        "differently."
    )


def test_statements_that_stand_elsewhere_in_the_block_cannot_be_decided() -> None:
    before = "def f():\n    log()\n    x = 1\n"
    edit = {"op": "insert_statements", "target": "f", "place": "end", "code": "log()"}
    kind, message = refusal(before, edit)
    assert kind == "conflict"
    assert message.startswith("These statements stand at line 2 already, not where they are to go")


def test_two_repairs_to_the_same_function_compose() -> None:
    once = insert(BEFORE, target="run", code="first()")
    twice = insert(once, target="run", code="second()")
    assert twice == BEFORE.replace("\n    # count", "\n    second()\n    first()\n    # count")
