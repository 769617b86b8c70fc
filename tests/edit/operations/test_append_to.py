"""Append an item: before and after; layout, comments, and what is no literal."""

import pytest

from tests.edit.making import block, edit_code, refusal


def appended(before: str, code: str, target: str = "X", **fields: object) -> str:
    return edit_code(before, {"op": "append_to", "target": target, "code": code} | fields)


@pytest.mark.parametrize(
    ("value", "code", "after"),
    [
        ("[]", "n", "[n]"),
        ("[1]", "n", "[1, n]"),
        ("[1,]", "n", "[1, n,]"),
        ("[1,2]", "n", "[1,2,n]"),
        ("[ 1, 2 ]", "n", "[ 1, 2, n ]"),
        ("[1, *y]", "*n", "[1, *y, *n]"),
        ("([1])", "n", "([1, n])"),
        ("()", "n", "(n,)"),
        ("(1,)", "n", "(1, n)"),
        ("(1, )", "n", "(1, n)"),
        ("( 1, )", "n", "( 1, n )"),
        ("(\n    1,\n)", "n", "(\n    1,\n    n,\n)"),
        ("(1, 2)", "n", "(1, 2, n)"),
        ("((1, 2))", "n", "((1, 2, n))"),
        ("1, 2", "n", "1, 2, n"),
        ("1,", "n", "1, n"),
        ("1,", "a +\nb", "(1, a +\nb)"),
        ("1, 2", "(n := 3)", "1, 2, (n := 3)"),
        ("1, 2", "lambda: 0", "1, 2, lambda: 0"),
        ("{1}", "n", "{1, n}"),
        ("{}", "'k': n", "{'k': n}"),
        ("{'a': 1}", "'k': n", "{'a': 1, 'k': n}"),
        ("{**y}", "**n", "{**y, **n}"),
        ("{'a': 1, **y}", "'k': n", "{'a': 1, **y, 'k': n}"),
        ("set()", "n", "{n}"),
        ("list()", "n", "[n]"),
        ("tuple()", "n", "(n,)"),
        ("frozenset()", "n", "frozenset({n})"),
        ("dict()", "'k': n", "dict(k=n)"),
        ("dict()", "'not-a-name': n", "{'not-a-name': n}"),
        ("dict()", "1: n", "{1: n}"),
        ("dict(a=1)", "'k': n", "dict(a=1, k=n)"),
        ("dict(y)", "'k': n", "dict(y, k=n)"),
        ("dict(a=1)", "**n", "dict(a=1, **n)"),
        ("dict({'a': 1})", "'k': n", "dict({'a': 1, 'k': n})"),
        ("frozenset({1})", "n", "frozenset({1, n})"),
        ("frozenset([1])", "n", "frozenset([1, n])"),
        ("tuple([1])", "n", "tuple([1, n])"),
        ("deque([1], maxlen=5)", "n", "deque([1, n], maxlen=5)"),
        ("field(default_factory=lambda: [1])", "n", "field(default_factory=lambda: [1, n])"),
        ("Y + [1]", "n", "Y + [1, n]"),
        ("[1] + Y", "n", "[1, n] + Y"),
        ("[1] + Y + [2]", "n", "[1] + Y + [2, n]"),
        ("[1] + [x for x in Y]", "n", "[1, n] + [x for x in Y]"),
        ("Y | {1}", "n", "Y | {1, n}"),
        ("{'a': 1} | Y", "'k': n", "{'a': 1, 'k': n} | Y"),
        ("frozenset({1} | {2})", "n", "frozenset({1} | {2, n})"),
        ("[\n    1,\n    2,\n]", "n", "[\n    1,\n    2,\n    n,\n]"),
        ("[\n    1,\n    2\n]", "n", "[\n    1,\n    2,\n    n\n]"),
        ("[\n\t1,  # one\n\t2,  # two\n]", "n", "[\n\t1,  # one\n\t2,  # two\n\tn,\n]"),
        ("[\n    1,\n    2  # two\n]", "n", "[\n    1,\n    2,  # two\n    n\n]"),
        ("[\n    1,\n    # 2,\n]", "n", "[\n    1,\n    n,\n    # 2,\n]"),
        ("[\n    # one\n    1,\n\n    # two\n    2,\n]", "n",
         "[\n    # one\n    1,\n\n    # two\n    2,\n    n,\n]"),
        ("[1,\n     2]", "n", "[1,\n     2,\n     n]"),
        ("[1, 2  # two\n]", "n", "[1, 2,  # two\nn\n]"),
        ("[\n    1, 2,\n    3, 4,\n]", "n", "[\n    1, 2,\n    3, 4, n,\n]"),
        ("[\n]", "n", "[\n    n,\n]"),
        ("[  # none\n]", "n", "[  # none\n    n,\n]"),
        ("[\n  # none\n]", "n", "[\n  # none\n  n,\n]"),
        ("{\n}", "'k': n", "{\n    'k': n,\n}"),
        ("dict(\n    a=1,\n)", "'k': n", "dict(\n    a=1,\n    k=n,\n)"),
        ("{\n    'a': 1,\n}", "'k': {\n    'b': [\n        1,\n    ],\n}",
         "{\n    'a': 1,\n    'k': {\n        'b': [\n            1,\n        ],\n    },\n}"),
        ("[{\n    'a': 1,\n}]", "{\n    'b': 1,\n}", "[{\n    'a': 1,\n}, {\n    'b': 1,\n}]"),
        ("[\n    1\n    , 2\n]", "n", "[\n    1\n    , 2, n\n]"),
        ("[1, 2]", "n,", "[1, 2, n]"),
        ("['a' 'b']", "'c'", "['a' 'b', 'c']"),
    ],
)  # fmt: skip
@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_its_place(value: str, code: str, after: str, newline: str) -> None:
    before = f"# about\nX = {value}  # so\n\n\ndef f():\n    return X\n"
    wanted = f"# about\nX = {after}  # so\n\n\ndef f():\n    return X\n"
    assert appended(before.replace("\n", newline), code) == wanted.replace("\n", newline)


BEFORE = block("""
    __all__ = ["f"]
    __all__ += ["g"]


    class Config:
    \tTOOLS: tuple[str, ...] = (
    \t\t"a",
    \t)

    \tdef __init__(self):
    \t\tself.tools = []
    \t\tlimits = {"a": 1}
    \t\trun([1, 2], names=["a"], others=["a"])
    \t\tTABLE["x"] = {1}


    if Config:
    \tX = [1]
    else:
    \tX = [2]
""")


@pytest.mark.parametrize(
    ("fields", "code", "old", "new"),
    [
        ({"target": "Config.TOOLS"}, "'b'", '\t\t"a",\n', "\t\t\"a\",\n\t\t'b',\n"),
        ({"target": "Config.TOOLS"}, "[\n    1,\n]", '\t\t"a",\n',
         '\t\t"a",\n\t\t[\n\t\t\t1,\n\t\t],\n'),
        ({"target": "Config", "anchor": "TOOLS"}, "'b'", '\t\t"a",\n', "\t\t\"a\",\n\t\t'b',\n"),
        ({"target": "Config", "anchor": "self.tools"}, "'b'", "tools = []", "tools = ['b']"),
        ({"target": "Config.__init__", "anchor": "self.tools"}, "'b'", "tools = []",
         "tools = ['b']"),
        ({"target": "Config.__init__", "anchor": "limits"}, "'b': 2", '{"a": 1}',
         "{\"a\": 1, 'b': 2}"),
        ({"target": "Config.__init__.limits"}, "'b': 2", '{"a": 1}', "{\"a\": 1, 'b': 2}"),
        ({"target": "Config.__init__", "anchor": "[1, 2]"}, "3", "[1, 2]", "[1, 2, 3]"),
        ({"target": "Config.__init__", "anchor": "['a']", "number": 2}, "'b'", 'others=["a"]',
         "others=[\"a\", 'b']"),
        ({"target": "", "anchor": "TABLE['x']"}, "2", "{1}", "{1, 2}"),
        ({"target": "__all__", "number": 2}, "'h'", '["g"]', "[\"g\", 'h']"),
        ({"target": "X", "number": 2}, "3", "X = [2]", "X = [2, 3]"),
    ],
)  # fmt: skip
def test_where(fields: dict[str, str], code: str, old: str, new: str) -> None:
    assert appended(BEFORE, code, **fields) == BEFORE.replace(old, new)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("value", "code"),
    [
        ("[1, 0x10]", "16"),
        ("('a',)", '"a"'),
        ("{*a, b}", "*a"),
        ("{'a': 1, 'b': 2}", '"a" : 0x1'),
        ("{'a': 2, 'a': 1}", "'a': 1"),
        ("{**a}", "**a"),
        ("dict(a=1)", "'a': 1"),
        ("dict(**a)", "**a"),
        ("[1] + Y + [2]", "1"),
        ("frozenset(  # why\n    {1}\n)", "1"),
    ],
)
def test_no_change(value: str, code: str) -> None:
    before = f"X = {value}\n"
    assert appended(before, code) == before
    # By the value as it stands, and where it is inside a call.
    assert appended(f"f(X({value}))\n", code, "", anchor=value) == f"f(X({value}))\n"


def test_no_change_of_a_value_that_has_been_appended_to() -> None:
    before = "f([1], [1, 2])\n"
    assert appended("f([1, 2])\n", "2", "", anchor="[1]") == "f([1, 2])\n"
    assert appended(before, "2", "", anchor="[1]") == "f([1, 2], [1, 2])\n"


def test_inside_an_f_string() -> None:
    assert appended("X = f'{f([1])}'\n", '"a"', "", anchor="[1]") == "X = f'{f([1, \"a\"])}'\n"
    assert appended("f'{set()}'\n", "1", "", anchor="set()") == "f'{({1})}'\n"


@pytest.mark.parametrize(
    ("before", "fields", "kind", "message"),
    [
        ("TOOLS = []\nTOOL = 1\n", {"target": "TOOS"}, "not_found",
         "This file assigns no 'TOOS'. The nearest names are TOOLS, TOOL."),
        ("class Config:\n  X = []\n", {"target": "Confg.X"}, "not_found",
         "There is no Confg in this file. The nearest names are Config."),
        ("f([1, 2])\n", {"target": "", "anchor": "[1, 3]"}, "not_found",
         "There is no expression '[1, 3]' in this file. The nearest is at line 1: '[1, 2]'."),
        ("def f(): pass\n", {"target": "f", "anchor": "self.x"}, "not_found",
         "f assigns nothing to 'self.x'."),
        ("X = []\nX = [1]\n", {}, "ambiguous",
         "X is assigned 2 times in this file, at lines 1 and 2: give a larger anchor, a narrower "
         "target, or say which with number, from 1."),
        ("f([1])\n\ng([1])\n", {"target": "", "anchor": "[1]"}, "ambiguous",
         "The anchor '[1]' stands 2 times in this file, at lines 1 and 3: give a larger anchor, "
         "a narrower target, or say which with number, from 1."),
        ("f([1], [1, n])\n", {"target": "", "anchor": "[1]", "number": 1}, "conflict",
         "The new code stands at line 1 already, so it cannot be told which number is meant; "
         "narrow the target or give a larger anchor."),
        ("X = {\n  'k': 1,\n}\n", {"code": "'k': 2"}, "conflict",
         "X has 'k' already, at line 2, with another value; replace_expression can change that."),
        ("X = dict(k=1)\n", {"code": "'k': 2"}, "conflict",
         "X has 'k' already, at line 1, with another value; replace_expression can change that."),
        ("X = dict(**y)\n", {"code": "'k': 2"}, "conflict",
         "The call of dict takes a mapping, and it cannot be told whether it has k already."),
        ("X = dict(a=1)\n", {"code": "1: 2"}, "unsupported",
         "The key is no name, which a call of dict needs."),
        ("X = [x for x in y]\n", {}, "unsupported",
         "X is made by a comprehension, at line 1, not by a list, tuple, set or dict literal; "
         "replace_expression can change it."),
        ("X = frozenset(x for x in y)\n", {}, "unsupported",
         "X is made by a comprehension, at line 1, not by a list, tuple, set or dict literal; "
         "replace_expression can change it."),
        ("X = 'a b'.split()\n", {}, "unsupported",
         "X is made otherwise, at line 1, not by a list, tuple, set or dict literal; "
         "replace_expression can change it."),
        ("X = {1} - {2}\n", {}, "unsupported",
         "X is made otherwise, at line 1, not by a list, tuple, set or dict literal; "
         "replace_expression can change it."),
        ("X = {}\n", {}, "unsupported", "X is a dict, whose items are `key: value`."),
        ("X = []\n", {"code": "'a': 1"}, "unsupported",
         "X is no dict, so it takes no `key: value`."),
        ("X: list\n", {}, "unsupported",
         "X has a type, but no value; set_constant gives it one."),
        ("X = Y = []\n", {}, "unsupported",
         "X is not set by a plain assignment in this file."),
        ("X -= {1}\n", {}, "unsupported", "X is not added to there, but changed otherwise."),
        ("X = []\n", {"code": "a, b"}, "unsupported",
         "'a, b' is not one element or `key: value`."),
        ("X = []\n", {"code": "a for a in b"}, "unsupported",
         "'a for a in b' is not one element or `key: value`."),
        ("X = []\n", {"code": "1}, {2"}, "unsupported",
         "'1}, {2' is not one element or `key: value`."),
        ("X = []\n", {"code": "1  # one"}, "unsupported", "An item takes no comment beside it."),
        ("X = []\n", {"target": " "}, "unsupported",
         "append_to: needs a target, the name of a constant, or an anchor. It takes file, code; "
         "may have target, target_number, anchor, number."),
    ],
)  # fmt: skip
def test_refused(before: str, fields: dict[str, str], kind: str, message: str) -> None:
    edit = {"op": "append_to", "target": "X", "code": "n"} | fields
    assert refusal(before, edit) == (kind, message)
