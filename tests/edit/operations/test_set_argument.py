"""Set a keyword argument at a call: before and after; what the call may pass in another way."""

import pytest

from tests.edit.making import block, edit_code, refusal


def passed(before: str, anchor: str, code: str = "5", **fields: object) -> str:
    edit = {"op": "set_argument", "anchor": anchor, "keyword": "k", "code": code}
    return edit_code(before, edit | fields)


@pytest.mark.parametrize("by_callee", [False, True])
@pytest.mark.parametrize("newline", ["\n", "\r\n"])
@pytest.mark.parametrize(
    ("call", "code", "after"),
    [
        ("a.get()", "5", "a.get(k=5)"),
        ("a.get( )", "5", "a.get( k=5)"),
        ("a.get(1)", "5", "a.get(1, k=5)"),
        ("a.get(1,)", "5", "a.get(1, k=5,)"),
        ("a.get(1, b=2)", "5", "a.get(1, b=2, k=5)"),
        ("a.get(1, k=2)", "5", "a.get(1, k=5)"),
        ("a.get(1, k = (2), b=3)", "5", "a.get(1, k = (5), b=3)"),
        ("a.get(*x)", "5", "a.get(*x, k=5)"),
        ("a.get(1, k=2, **x)", "5", "a.get(1, k=5, **x)"),
        ("a.get(x for x in y)", "5", "a.get((x for x in y), k=5)"),
        ("a.get(1)", "x, y", "a.get(1, k=(x, y))"),
        ("a.get(1, k=2)", "x, y", "a.get(1, k=(x, y))"),
        ("a.get(1)", "(x := 1)", "a.get(1, k=(x := 1))"),
        ("a.get(1)", "lambda: x", "a.get(1, k=lambda: x)"),
        ("(  # why\n    a.get(1)\n)", "5", "(  # why\n    a.get(1, k=5)\n)"),
        ("a.get(\n    1,  # one\n    b=2,  # two\n)", "5",
         "a.get(\n    1,  # one\n    b=2,  # two\n    k=5,\n)"),
        ("a.get(\n\t1,\n\tb=2  # two\n)", "5", "a.get(\n\t1,\n\tb=2,  # two\n\tk=5\n)"),
        ("a.get(\n    1,\n    # b=2,\n)", "5", "a.get(\n    1,\n    k=5,\n    # b=2,\n)"),
        ("a.get(1,\n      b=2)", "5", "a.get(1,\n      b=2,\n      k=5)"),
        ("a.get(\n)", "5", "a.get(\n    k=5,\n)"),
        ("a.get(\n    1,\n)", "{\n  'x': 1,\n}",
         "a.get(\n    1,\n    k={\n        'x': 1,\n    },\n)"),
        ("a.get(\n    k=1,  # one\n)", "{\n    'x': 1,\n}",
         "a.get(\n    k={\n        'x': 1,\n    },  # one\n)"),
    ],
)  # fmt: skip
def test_before_and_after(call: str, code: str, after: str, newline: str, by_callee: bool) -> None:
    before = f"def f():\n    '''Doc.'''\n    x = 1; y = {call}  # so\n    return y\n"
    wanted = before.replace(call, after).replace("\n", newline)
    anchor = "a.get" if by_callee else call
    assert passed(before.replace("\n", newline), anchor, code, target="f") == wanted


def test_inside_an_f_string() -> None:
    assert passed("x = f'{f(1)}'\n", "f(1)", "'a'") == "x = f'{f(1, k=\"a\")}'\n"
    assert passed("x = f'{(f(1))}'\n", "f(1)", "'a'") == "x = f'{(f(1, k=\"a\"))}'\n"
    assert passed("x = f'{f(k=1)}'\n", "f", "'a'") == "x = f'{f(k=\"a\")}'\n"


def test_which_call() -> None:
    before = "f(1)\nf(2)\n@f(1)\ndef g(): return f(1)\n"
    assert passed(before, "f", target="g", number=1) == before.replace("@f(1)", "@f(1, k=5)")
    assert passed(before, "f(2)") == before.replace("f(2)", "f(2, k=5)")
    assert passed(before, "f", number=2) == before.replace("f(2)", "f(2, k=5)")
    assert passed(before, "f(1)", number=3) == before.replace("return f(1)", "return f(1, k=5)")
    assert passed("f(f(1))\n", "f", number=2) == "f(f(1, k=5))\n"
    assert passed("f(1)\n", "f", "f(2)") == "f(1, k=f(2))\n"
    assert passed("f(1)\n", "f(1)", "f(1)") == "f(1, k=f(1))\n"


@pytest.mark.parametrize(
    ("before", "anchor"),
    [
        ("f(1, k=0x5)\n", "f"),
        ("f(1, k = 5, b=2)\n", "f(1, b=2)"),
        ("f(1, k=5, b=2)\n", "f(1, k=3, b=2)"),
        ("f(1, k=5)\n", "f(1, k=5)"),
        ("f(1, k=5, **x)\n", "f"),
        ("f(1, k=5)\nf(2, k=5)\n", "f"),
    ],
)
def test_no_change(before: str, anchor: str) -> None:
    assert passed(before, anchor) == before


MODULE = block("""
    def run(a, k=1, /, *, b=2): pass
    def walk(a, k=1, *rest): pass
    def take(a, **rest): pass
    def last(a, *, k=1): pass
    @wraps(x)
    def hidden(*a): pass
    class Box:
        def __init__(self, a, k=1): pass
        def put(self, a, k=1): return self.put(1)
        @classmethod
        def make(cls, k=1): return cls.make(2)
    class Other(Box):
        def put(self, kind): return self.put(1)
    run(1)
    walk(1)
    take(1)
    last(1)
    hidden(1)
    Box(1)
    Box.make()
""")


@pytest.mark.parametrize(
    ("call", "target"),
    [
        *(("walk(1)", ""), ("take(1)", ""), ("last(1)", ""), ("hidden(1)", ""), ("Box(1)", "")),
        *(("Box.make()", ""), ("self.put(1)", "Box"), ("self.put(1)", "Other")),
    ],
)
def test_functions_of_the_module(call: str, target: str) -> None:
    after = passed(MODULE, call, target=target, target_number=None)
    separator = "" if "()" in call else ", "
    new = call.replace(")", f"{separator}k=5)")
    assert after.count(new) == 1
    assert after.replace(new, call) == MODULE


@pytest.mark.parametrize(
    ("before", "fields", "kind", "message"),
    [
        ("f(1, **x)\n", {}, "conflict",
         "The call at line 1 passes a mapping, and it cannot be told whether that has k already."),
        ("f(1)\ng(f(2))\n", {}, "ambiguous",
         "f is called 2 times in this file, at lines 1 and 2: give a larger anchor, a narrower "
         "target, or say which with number, from 1."),
        ("f(1, k=5)\nf(2)\n", {}, "ambiguous",
         "f is called 2 times in this file, at lines 1 and 2: give a larger anchor, a narrower "
         "target, or say which with number, from 1."),
        ("f(1)\n", {"number": 2}, "not_found",
         "f is called once in this file, at line 1; there is no number 2."),
        ("client.get(1)\n", {"anchor": "client.gett"}, "not_found",
         "There is no call of 'client.gett' in this file. The nearest is at line 1: 'client.get'."),
        ("f(1)\n", {"anchor": "f(2)"}, "not_found",
         "There is no expression 'f(2)' in this file. The nearest is at line 1: 'f(1)'."),
        ("f(1, k=5)\nf(1)\n", {"anchor": "f(1)", "number": 1}, "conflict",
         "The new code stands at line 1 already, so it cannot be told which number is meant; "
         "narrow the target or give a larger anchor."),
        ("f(1)\n", {"target": "g"}, "not_found",
         "There is no g in this file, which defines nothing."),
        ("f(1)\n", {"anchor": "f + 1"}, "unsupported",
         "The anchor 'f + 1' is no call, and nothing that is called."),
        ("f(1)\n", {"keyword": "not"}, "unsupported",
         "set_argument: keyword 'not' is no name. It takes file, code, anchor, keyword; may have "
         "target, target_number, number."),
        ("def f(a, k=1): pass\nf(1, 2)\n", {}, "conflict",
         "The call at line 2 passes k by position already."),
        ("def f(a, k=1): pass\nf(*x)\n", {}, "conflict",
         "The call at line 2 passes `*`, and it cannot be told whether that reaches k."),
        ("def f(k=1, /): pass\nf()\n", {}, "conflict", "f takes k by position only."),
        ("def f(a, kind=1): pass\nf(1)\n", {}, "not_found",
         "f has no parameter k; it takes a, kind."),
        ("def f(a, kind=1): pass\nf(1)\n", {"keyword": "kin"}, "not_found",
         "f has no parameter kin; the nearest names are kind."),
        ("class f:\n  def __init__(self, k): pass\nf(1)\n", {}, "conflict",
         "The call at line 3 passes k by position already."),
        ("class A:\n  def f(self, k): self.f(1)\n", {"anchor": "self.f"}, "conflict",
         "The call at line 2 passes k by position already."),
    ],
)  # fmt: skip
def test_refused(before: str, fields: dict[str, object], kind: str, message: str) -> None:
    edit = {"op": "set_argument", "anchor": "f", "keyword": "k", "code": "5"} | fields
    assert refusal(before, edit) == (kind, message)
