"""Delete statements: before and after."""

import pytest

from tests.edit.making import edit_bytes, edit_code, refusal


def deleted(before: str, anchor: str, **edit: object) -> str:
    return edit_code(before, {"op": "delete_statements", "anchor": anchor, **edit})


@pytest.mark.parametrize(
    ("before", "anchor", "after"),
    [
        ("a = 1\nb = 2\nc = 3\n", "b = 2", "a = 1\nc = 3\n"),
        ("a = 1\nb = 2\nc = 3\n", "a=1\nb=2", "c = 3\n"),
        ("a = 1\nb = 2\nc = 3\n", "c = 3", "a = 1\nb = 2\n"),
        ("a = 1\n", "a = 1", ""),
        # The blank lines of a paragraph stay, once.
        ("a = 1\n\nb = 2\nc = 3\n", "b = 2", "a = 1\n\nc = 3\n"),
        ("a = 1\n\nb = 2\n\nc = 3\n", "b = 2", "a = 1\n\nc = 3\n"),
        # Comments right on it go along; others stay.
        (
            "a = 1\n# about b\nb = 2  # two\n# about c\nc = 3\n",
            "b = 2",
            "a = 1\n# about c\nc = 3\n",
        ),
        ("a = 1\n# a heading\n\nb = 2\nc = 3\n", "b = 2", "a = 1\n# a heading\n\nc = 3\n"),
        ("#!x\n\n# about a\na = 1\nb = 2\n", "a = 1", "#!x\n\nb = 2\n"),
        (
            "def f():\n    a = 1\n    # a heading\n\n    b = 2\n",
            "b = 2",
            "def f():\n    a = 1\n    # a heading\n",
        ),
        # An emptied block.
        ("if x:\n    a = 1\nelse:\n    b = 2\n", "b = 2", "if x:\n    a = 1\nelse:\n    pass\n"),
        ("def f(): return 1\n", "return 1", "def f(): pass\n"),
        ("class A:\n    a = 1  # one\n", "a = 1", "class A:\n    pass\n"),
        # One of several on a line.
        ("a = 1; b = 2; c = 3\n", "b = 2", "a = 1\nc = 3\n"),
        ("a = 1; b = 2  # both\n", "b = 2", "a = 1\n"),
        ("# on it\na = 1; b = 2\n", "a = 1", "# on it\nb = 2\n"),
        # Compound statements, whole.
        ("for i in x:\n    if i:\n        y()\nz()\n", "for i in x:\n  if i: y()", "z()\n"),
    ],
)
def test_before_and_after(before: str, anchor: str, after: str) -> None:
    assert deleted(before, anchor) == after


def test_in_a_target_by_number() -> None:
    before = "def f():\n    a()\n    b()\n    a()\n\n\ndef g():\n    a()\n"
    after = "def f():\n    a()\n    b()\n\n\ndef g():\n    a()\n"
    assert deleted(before, "a()", target="f", number=2) == after
    kind, message = refusal(before, {"op": "delete_statements", "target": "f", "anchor": "a()"})
    assert kind == "ambiguous"
    assert "at lines 2 and 4" in message


def test_line_ends_stay() -> None:
    edit = {"op": "delete_statements", "anchor": "b = 2"}
    assert edit_bytes(b"a = 1\r\nb = 2\r\nc = 3", edit) == b"a = 1\r\nc = 3"
    assert edit_bytes(b"\xef\xbb\xbfa = 1\rb = 2\r", edit) == b"\xef\xbb\xbfa = 1\r"


def test_what_is_gone_already_changes_nothing() -> None:
    assert deleted("class A:\n    x: int\n", "b.append(2)") == "class A:\n    x: int\n"


def test_something_like_it_is_refused() -> None:
    kind, message = refusal("total = 1\n", {"op": "delete_statements", "anchor": "total = 2"})
    assert kind == "not_found"
    assert "The nearest is at line 1: 'total = 1'" in message
