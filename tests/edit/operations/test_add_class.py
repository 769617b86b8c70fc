"""Add a class: before and after."""

import pytest

from tests.edit.making import block, edit_code, refusal

BEFORE = block('''
    import re


    # about A
    class A:
        """Doc."""

        limit = 3

        def f(self): pass


    def g(): pass
''')
ADDED = "class B:\n    x = 1"
NESTED = "    class B:\n        x = 1\n"


@pytest.mark.parametrize(
    ("fields", "old", "new"),
    [
        ({"target": "A"}, "# about", f"{ADDED}\n\n\n# about"),
        ({"target": "A.f", "place": "after"}, "pass\n\n\ndef", f"pass\n\n\n{ADDED}\n\n\ndef"),
        ({}, "def g(): pass\n", f"def g(): pass\n\n\n{ADDED}\n"),
        ({"target": "A", "place": "start"}, '"""\n\n', f'"""\n\n{NESTED}\n'),
        ({"target": "A", "place": "end"}, "self): pass\n", f"self): pass\n\n{NESTED}"),
    ],
)
def test_where_it_goes(fields: dict[str, str], old: str, new: str) -> None:
    edit = {"op": "add_class", "code": ADDED} | fields
    assert edit_code(BEFORE, edit) == BEFORE.replace(old, new, 1)
    crlf = BEFORE.replace("\n", "\r\n")
    assert edit_code(crlf, edit) == BEFORE.replace(old, new, 1).replace("\n", "\r\n")


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("class A: pass\n", "class A:\n    class B: pass\n"),
        ("class A: ...  # later\n", "class A:  # later\n    class B: pass\n"),
        ("class A:\n\t# why\n\tpass\n", "class A:\n\t# why\n\tclass B: pass\n"),
        ("class A:\n  pass  # empty\n", "class A:\n  # empty\n  class B: pass\n"),
        ('class A: "Doc."; pass\n', 'class A:\n    "Doc."\n\n    class B: pass\n'),
        ('class A:\n  """Doc."""\n  ...\n', 'class A:\n  """Doc."""\n\n  class B: pass\n'),
        ('class A: """Doc."""', 'class A:\n    """Doc."""\n\n    class B: pass'),
        ("class A: x = 1; pass\n", "class A:\n    x = 1; pass\n\n    class B: pass\n"),
    ],
)
def test_in_a_class_without_a_body(before: str, after: str) -> None:
    edit = {"op": "add_class", "target": "A", "place": "end", "code": "class B: pass"}
    assert edit_code(before, edit) == after


def test_no_change() -> None:
    code = "class A:\n  'Doc.'\n  limit = 3\n  def f(self):\n    pass"
    assert edit_code(BEFORE, {"op": "add_class", "code": code}) == BEFORE
    nested = "class A:\n    class B: pass\n"
    edit = {"op": "add_class", "target": "A", "place": "start", "code": "class B:\n  pass"}
    assert edit_code(nested, edit) == nested


def test_refusals() -> None:
    assert refusal(BEFORE, {"op": "add_class", "code": "class A: pass"}) == (
        "conflict",
        "A exists in this file already, at line 5, with other code; choose another name, or "
        "replace that.",
    )
    edit = {"op": "add_class", "target": "A", "place": "end", "code": "class f: pass"}
    assert refusal(BEFORE, edit)[1].startswith("f exists in A already, at line 10, with other")
    assert refusal(BEFORE, {"op": "add_class", "code": "x = 1"}) == (
        "unsupported",
        "add_class takes the code of one class.",
    )
    assert refusal(BEFORE, {**edit, "target": "g"}) == (
        "unsupported",
        "g is a function, not a class.",
    )
    assert "needs a target" in refusal(BEFORE, {**edit, "target": ""})[1]
