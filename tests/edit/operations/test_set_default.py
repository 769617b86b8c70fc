"""Set a default value: before and after."""

import pytest

from tests.edit.making import edit_code, refusal


def defaulted(before: str, parameter: str, code: str, target: str = "f", **fields: object) -> str:
    edit = {"op": "set_default", "target": target, "parameter": parameter, "code": code}
    return edit_code(before, edit | fields)


@pytest.mark.parametrize(
    ("signature", "parameter", "code", "after"),
    [
        ("(a)", "a", "5", "(a=5)"),
        ("(a,)", "a", "5", "(a=5,)"),
        ("( a )", "a", "5", "( a=5 )"),
        ("(a: int)", "a", "5", "(a: int = 5)"),
        ("(a: int, b)", "b", "None", "(a: int, b=None)"),
        ("(a, b: int = 3)", "a", "1", "(a=1, b: int = 3)"),
        ("(a = 3)", "a", "5", "(a = 5)"),
        ("(a: int=3)", "a", "5", "(a: int=5)"),
        ("(a=(3))", "a", "5", "(a=(5))"),
        ("(a, /, b)", "b", "1", "(a, /, b=1)"),
        ("(a, b=1, /)", "a", "0", "(a=0, b=1, /)"),
        ("(a, *b, c, d)", "a", "1", "(a=1, *b, c, d)"),
        ("(*, a, b)", "a", "1", "(*, a=1, b)"),
        ("(*, a: int, **b)", "a", "1", "(*, a: int = 1, **b)"),
        ("(a)", "a", "1, 2", "(a=(1, 2))"),
        ("(a=0)", "a", "1, 2", "(a=(1, 2))"),
        ("(a)", "a", "(x := 1)", "(a=(x := 1))"),
        ("(a)", "a", "lambda: 1", "(a=lambda: 1)"),
        ("(a)", "a", "x +\ny", "(a=(x +\ny))"),
        (
            "(\n    a,  # A\n    b: int,  # B\n)",
            "b",
            "5",
            "(\n    a,  # A\n    b: int = 5,  # B\n)",
        ),
        ("(\n\ta  # A\n)", "a", "'x'", "(\n\ta='x'  # A\n)"),
        ("(a=[\n    1,  # one\n])", "a", "()", "(a=())"),
    ],
)
@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_before_and_after(
    signature: str, parameter: str, code: str, after: str, newline: str
) -> None:
    before = f"# about f\n@x\nasync def f{signature} -> None:  # so\n\tpass\n\n\nf(1)\n"
    wanted = before.replace(signature, after).replace("\n", newline)
    assert defaulted(before.replace("\n", newline), parameter, code) == wanted


@pytest.mark.parametrize(
    ("signature", "code"), [("(a=0x10)", "16"), ("(a : int=  ( 'x' ))", '"x"'), ("(*, a=1)", "1")]
)
def test_no_change(signature: str, code: str) -> None:
    before = f"def f{signature}: pass\n"
    assert defaulted(before, "a", code) == before


def test_a_method_and_one_of_several_definitions() -> None:
    before = "class A:\n  def f(self, a): pass\nif x:\n  def f(a): pass\nelse:\n  def f(a): pass\n"
    assert defaulted(before, "a", "1", "A.f") == before.replace("self, a", "self, a=1")
    after = before[::-1].replace(")a(", ")1=a(", 1)[::-1]
    assert defaulted(before, "a", "1", target_number=2) == after


OVERLOADS = """\
@overload
def f(a: int) -> int: ...
@typing.overload
def f(a: str) -> str: ...
def f(a): return a
"""


def test_overloads() -> None:
    edit = {"op": "set_default", "target": "f", "parameter": "a", "code": "1"}
    assert refusal(OVERLOADS, edit) == (
        "ambiguous",
        "f is defined 3 times, at lines 2, 4 and 5: say which with target_number, from 1. Those "
        "at lines 2 and 4 are overloads; the function itself is target_number 3.",
    )
    assert refusal(OVERLOADS, edit | {"target_number": 2}) == (
        "unsupported",
        "f is an overload; replace each signature. Those at lines 2 and 4 are overloads; the "
        "function itself is target_number 3.",
    )
    after = OVERLOADS.replace("f(a):", "f(a=1):")
    assert edit_code(OVERLOADS, edit | {"target_number": 3}) == after


@pytest.mark.parametrize(
    ("before", "fields", "kind", "message"),
    [
        ("def f(limits, depth): pass\n", {"parameter": "limit"}, "not_found",
         "f has no parameter limit; the nearest names are limits."),
        ("def f(x, *, y): pass\n", {}, "not_found", "f has no parameter a; it takes x, y."),
        ("def f(): pass\n", {}, "not_found", "f has no parameter a; it takes none."),
        ("def f(a, b, c, d=1): pass\n", {}, "would_not_compile",
         "b has no default and stands behind a; give b and c a default first, from the last one "
         "on."),
        ("def f(a, /, b): pass\n", {}, "would_not_compile",
         "b has no default and stands behind a; give b a default first, from the last one on."),
        ("def f(*a): pass\n", {}, "unsupported",
         "a takes any number of arguments, so no default."),
        ("def f(**a): pass\n", {}, "unsupported",
         "a takes any number of arguments, so no default."),
        ("class f: pass\n", {}, "unsupported",
         "f is a class, not a function; name its __init__ instead."),
        ("def g(a): pass\n", {}, "not_found",
         "There is no f in this file, which defines g."),
        ("def f(a): pass\n", {"code": "1 +"}, "would_not_compile", "'1 +' is no expression."),
        ("def f(a): pass\n", {"parameter": " "}, "unsupported", "set_default needs parameter."),
    ],
)  # fmt: skip
def test_refused(before: str, fields: dict[str, str], kind: str, message: str) -> None:
    edit = {"op": "set_default", "target": "f", "parameter": "a", "code": "1"} | fields
    assert refusal(before, edit) == (kind, message)
