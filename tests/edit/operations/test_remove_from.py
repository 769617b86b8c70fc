"""Remove an item: before and after; which comments stay."""

import pytest

from tests.edit.making import edit_code, refusal


def without(before: str, code: str, target: str = "X", **fields: object) -> str:
    return edit_code(before, {"op": "remove_from", "target": target, "code": code} | fields)


@pytest.mark.parametrize(
    ("value", "code", "after"),
    [
        ("[n]", "n", "[]"),
        ("[ n ]", "n", "[]"),
        ("[n, 1]", "n", "[1]"),
        ("[1, n]", "n", "[1]"),
        ("[1, n,]", "n", "[1,]"),
        ("[1,n,2]", "n", "[1,2]"),
        ("[ 1, n ]", "n", "[ 1 ]"),
        ("[1, *n]", "*n", "[1]"),
        ("(n,)", "n", "()"),
        ("(1, n)", "n", "(1,)"),
        ("(1, n, 2)", "n", "(1, 2)"),
        ("((1, n))", "n", "((1,))"),
        ("1, n", "n", "1,"),
        ("n,", "n", "()"),
        ("(\n    1,\n    n,\n)", "n", "(\n    1,\n)"),
        ("{n}", "n", "set()"),
        ("{n, 1, n}", "n", "{1}"),
        ("frozenset({n})", "n", "frozenset()"),
        ("set({n})", "n", "set()"),
        ("f({n})", "n", "f(set())"),
        ("frozenset([n])", "n", "frozenset([])"),
        ("{\n    # none\n\n    n,\n}", "n", "set(\n    # none\n)"),
        ("{'k': n}", "'k'", "{}"),
        ("{'a': 1, 'k': n}", "'k': n", "{'a': 1}"),
        ("{'k': 1, 'a': 1, 'k': 2}", "'k'", "{'a': 1}"),
        ("{**n, 'a': 1}", "**n", "{'a': 1}"),
        ("dict(k=n)", "'k'", "dict()"),
        ("dict(a=1, k=n, **y)", "'k': n", "dict(a=1, **y)"),
        ("dict(a=1, **n)", "**n", "dict(a=1)"),
        ("dict(\n    a=1,\n    k=n,\n)", "'k'", "dict(\n    a=1,\n)"),
        ("[n] + Y + [1]", "n", "[] + Y + [1]"),
        ("{'k': 1} | {'k': 2, 'a': 3}", "'k'", "{} | {'a': 3}"),
        ("[\n    n,\n    1,\n]", "n", "[\n    1,\n]"),
        ("[\n    1,\n    n\n]", "n", "[\n    1\n]"),
        ("[\n\tn,  # n\n\t1,  # one\n]", "n", "[\n\t1,  # one\n]"),
        ("[\n    1,  # one\n    n,  # n\n]", "n", "[\n    1,  # one\n]"),
        ("[\n    1,  # one\n    n  # n\n]", "n", "[\n    1  # one\n]"),
        ("[  # all\n    n,  # n\n    1,\n]", "n", "[  # all\n    1,\n]"),
        ("[  # all\n    n,  # n\n]", "n", "[  # all\n]"),
        ("[\n    n,  # n\n]", "n", "[]"),
        # A comment right above goes too, unless it heads a group that goes on.
        ("[\n    1,\n    # about n\n    n,\n    # about 2\n    2,\n]", "n",
         "[\n    1,\n    # about 2\n    2,\n]"),
        ("[\n    1,\n    # group\n    n,\n    2,\n]", "n", "[\n    1,\n    # group\n    2,\n]"),
        ("[\n    1,\n    # about n\n    n,\n]", "n", "[\n    1,\n]"),
        ("[\n    # names\n    n,\n]", "n", "[\n    # names\n]"),
        ("[\n    1,\n    n,\n    # 2,\n]", "n", "[\n    1,\n    # 2,\n]"),
        ("[\n    1,\n\n    # about n\n    n,\n\n    2,\n]", "n", "[\n    1,\n\n    2,\n]"),
        ("[\n    1,\n\n    n,\n]", "n", "[\n    1,\n]"),
        ("[\n    1,\n\n    n,\n    2,\n]", "n", "[\n    1,\n\n    2,\n]"),
        ("[\n    # about n\n    n,\n    # about 1\n    1,\n]", "n",
         "[\n    # about 1\n    1,\n]"),
        # A comment at a line of several is about all of them.
        ("[\n    1, n,  # both\n    2,\n]", "n", "[\n    1,  # both\n    2,\n]"),
        ("[\n    n, 1,  # both\n    2,\n]", "n", "[\n    1,  # both\n    2,\n]"),
        ("[n,  # n\n    1]", "n", "[1]"),
        ("[n,  # n\n    # about 1\n    1]", "n", "[\n    # about 1\n    1]"),
        ("[1,\n    n]", "n", "[1]"),
        ("[1,  # one\n    n]", "n", "[1  # one\n    ]"),
        ("[1  # one\n    , n]", "n", "[1  # one\n    ,]"),
        ("{n: [\n    1,\n], 1: 2}", "n", "{1: 2}"),
    ],
)  # fmt: skip
@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_what_goes(value: str, code: str, after: str, newline: str) -> None:
    before = f"# about\nX = {value}  # so\n\n\ndef f():\n    return X\n"
    wanted = f"# about\nX = {after}  # so\n\n\ndef f():\n    return X\n"
    assert without(before.replace("\n", newline), code) == wanted.replace("\n", newline)


@pytest.mark.parametrize(
    ("before", "fields", "after"),
    [
        ("class A:\n\tX = [1, n]\n", {"target": "A.X"}, "class A:\n\tX = [1]\n"),
        ("def f(): run([1, n])\n", {"target": "f", "anchor": "[1, n]"}, "def f(): run([1])\n"),
        ("class A:\n  def f(self): self.x = {n}\n", {"target": "A", "anchor": "self.x"},
         "class A:\n  def f(self): self.x = set()\n"),
        ("X = [n]\nX += [n]\n", {"number": 2}, "X = [n]\nX += []\n"),
    ],
)  # fmt: skip
def test_where(before: str, fields: dict[str, str], after: str) -> None:
    edit = {"op": "remove_from", "target": "X", "code": "n"} | fields
    assert edit_code(before, edit) == after


@pytest.mark.parametrize(
    ("value", "code"),
    [
        *(("[1, m]", "n"), ("()", "n"), ("{'k': 1}", "'n'"), ("{'k': 1}", "**k")),
        *(("dict(k=1)", "'n': 2"), ("set()", "n"), ("[1] + n", "n")),
    ],
)
def test_no_change(value: str, code: str) -> None:
    assert without(f"X = {value}\n", code) == f"X = {value}\n"
    assert without(f"f(X({value}))\n", code, "", anchor=value) == f"f(X({value}))\n"


@pytest.mark.parametrize(
    ("before", "fields", "kind", "message"),
    [
        ("TOOLS = []\n", {"target": "TOOL"}, "not_found",
         "This file assigns no 'TOOL'. The nearest names are TOOLS."),
        ("X = [\n    n,\n    1,\n    n,\n]\n", {}, "ambiguous",
         "'n' stands 2 times in X, at lines 2 and 4; replace_expression can change the whole."),
        ("X = []\nX = [n]\n", {}, "ambiguous",
         "X is assigned 2 times in this file, at lines 1 and 2: give a larger anchor, a narrower "
         "target, or say which with number, from 1."),
        ("X = {\n    'k': 1,\n}\n", {"code": "'k': 2"}, "conflict",
         "X has 'k' with another value, at line 2; give the key alone to remove it all the same."),
        ("X = [x for x in y]\n", {}, "unsupported",
         "X is made by a comprehension, at line 1, not by a list, tuple, set or dict literal; "
         "replace_expression can change it."),
        ("X = [1]\n", {"code": "'k': 1"}, "unsupported",
         "X is no dict, so it takes no `key: value`."),
        ("f([1])\n", {"target": "", "anchor": "[n]"}, "not_found",
         "There is no expression '[n]' in this file. The nearest is at line 1: '[1]'."),
    ],
)  # fmt: skip
def test_refused(before: str, fields: dict[str, str], kind: str, message: str) -> None:
    edit = {"op": "remove_from", "target": "X", "code": "n"} | fields
    assert refusal(before, edit) == (kind, message)
