"""Add a method: before and after."""

import pytest

from tests.edit.making import block, edit_code, refusal

BEFORE = block("""
    class A:
        limit = 3  # most

        # about f
        def f(self): pass

        @property
        def size(self): return 1

        @size.setter
        def size(self, value): pass
        # the end


    def g(): pass
""")
ADDED = "async def new(self):\n    return 0"
INSIDE = "    async def new(self):\n        return 0\n"


@pytest.mark.parametrize(
    ("fields", "old", "new"),
    [
        ({}, "value): pass\n", f"value): pass\n\n{INSIDE}"),
        ({"place": "start"}, "    # about", f"{INSIDE}\n    # about"),
        ({"place": "before", "anchor": "f"}, "    # about", f"{INSIDE}\n    # about"),
        ({"place": "after", "anchor": "f"}, "self): pass\n", f"self): pass\n\n{INSIDE}"),
        ({"place": "before", "anchor": "size"}, "    @prop", f"{INSIDE}\n    @prop"),
        ({"place": "after", "anchor": "size"}, "value): pass\n", f"value): pass\n\n{INSIDE}"),
    ],
)
def test_where_it_goes(fields: dict[str, str], old: str, new: str) -> None:
    edit = {"op": "add_method", "target": "A", "code": ADDED} | fields
    assert edit_code(BEFORE, edit) == BEFORE.replace(old, new, 1)
    crlf = BEFORE.replace("\n", "\r\n")
    assert edit_code(crlf, edit) == BEFORE.replace(old, new, 1).replace("\n", "\r\n")


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("class A: pass\n", "class A:\n    def f(self): pass\n"),
        ("class A:\n\t...\n", "class A:\n\tdef f(self): pass\n"),
        ('class A:\n\t"""Doc."""\n', 'class A:\n\t"""Doc."""\n\n\tdef f(self): pass\n'),
        ("class A:\n  x = 1", "class A:\n  x = 1\n\n  def f(self): pass"),
        ("class A: x = 1\n", "class A:\n    x = 1\n\n    def f(self): pass\n"),
    ],
)
def test_in_a_class_of_another_kind(before: str, after: str) -> None:
    edit = {"op": "add_method", "target": "A", "code": "def f(self): pass"}
    assert edit_code(before, edit) == after


def test_in_a_nested_class_with_a_comment_and_a_decorator() -> None:
    before = "class A:\n    class B:\n        x = 1\n    y = 2\n"
    edit = {"op": "add_method", "target": "A.B", "code": "# why\n@cache\ndef f(self): pass"}
    added = "        # why\n        @cache\n        def f(self): pass\n"
    assert edit_code(before, edit) == before.replace("x = 1\n", f"x = 1\n\n{added}")


def test_no_change() -> None:
    edit = {"op": "add_method", "target": "A", "code": "def f(self):  # so\n  pass"}
    assert edit_code(BEFORE, {**edit, "place": "after", "anchor": "size"}) == BEFORE


def test_refusals() -> None:
    edit = {"op": "add_method", "target": "A", "code": "def f(self): return 2"}
    assert refusal(BEFORE, edit) == (
        "conflict",
        "f exists in A already, at line 5, with other code; choose another name, or replace that.",
    )
    assert refusal(BEFORE, {**edit, "code": "def limit(self): pass"})[0] == "conflict"
    assert refusal(BEFORE, {**edit, "code": "x = 1"}) == (
        "unsupported",
        "add_method takes the code of one function.",
    )
    assert refusal(BEFORE, {**edit, "target": "g"})[0] == "unsupported"
    anchored = {**edit, "code": ADDED, "place": "after", "anchor": "sise"}
    assert refusal(BEFORE, anchored) == (
        "not_found",
        "A has no method 'sise' of its own. It has size.",
    )
    assert "needs an anchor" in refusal(BEFORE, {**edit, "place": "after"})[1]
