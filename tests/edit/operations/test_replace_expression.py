"""Replace an expression: before and after; parentheses exactly where they are needed."""

import pytest

from tests.edit.making import edit_code, refusal


def replaced(before: str, anchor: str, code: str, **edit: object) -> str:
    return edit_code(before, {"op": "replace_expression", "anchor": anchor, "code": code, **edit})


@pytest.mark.parametrize(
    ("before", "anchor", "code", "after"),
    [
        ("x = a * b\n", "a", "c + d", "x = (c + d) * b\n"),
        ("x = a * b\n", "a * b", "c + d", "x = c + d\n"),
        ("x = a * b\n", "a", "c * d", "x = c * d * b\n"),
        ("x = a ** b\n", "a", "-c", "x = (-c) ** b\n"),
        ("x = (a + b) * c\n", "a + b", "d", "x = (d) * c\n"),
        ("f(a, k=a.b)\n", "a.b", "1, 2", "f(a, k=(1, 2))\n"),
        ("return_ = a\n", "a", "1, 2", "return_ = 1, 2\n"),
        ("def f():\n    return(a)\n", "a", "b", "def f():\n    return(b)\n"),
        ("def f():\n    return[a]\n", "[a]", "b", "def f():\n    return(b)\n"),
        ("x = a.b.c\n", "a.b", "c or d", "x = (c or d).c\n"),
        ("x = f(a)(b)\n", "f(a)", "lambda: 1", "x = (lambda: 1)(b)\n"),
        (
            "x = [i for i in a if b]\n",
            "a",
            "c if d else e",
            "x = [i for i in (c if d else e) if b]\n",
        ),
        ("x = not a\n", "a", "b == c", "x = not b == c\n"),
        ("x = a\n", "a", "b +\nc", "x = (b +\nc)\n"),
        ("print(f'{a} x')\n", "a", "b.c", "print(f'{b.c} x')\n"),
        ("print(f'{a} x')\n", "a", "b['c']", "print(f'{b[\"c\"]} x')\n"),
        ('print(f"{a} x")\n', "a", 'b["c"]', "print(f\"{b['c']} x\")\n"),
        ('print(f"""{a} x""")\n', "a", "b['c']", 'print(f"""{b[\'c\']} x""")\n'),
        ("print(f'{(a)} x')\n", "a", "b['c']", "print(f'{(b[\"c\"])} x')\n"),
        ("x = 'one' 'two'\n", "'onetwo'", "'three'", "x = 'three'\n"),
        ("x = d[a:b]\n", "a", "c + 1", "x = d[c + 1:b]\n"),
        ("async def f():\n    await a\n", "a", "b or c", "async def f():\n    await (b or c)\n"),
        ("with a as b: pass\n", "a", "c()", "with c() as b: pass\n"),
        ("@a\ndef f(): pass\n", "a", "b(1)", "@b(1)\ndef f(): pass\n"),
        ("x = (  # why\n    a\n)\n", "a", "b + c", "x = (  # why\n    b + c\n)\n"),
    ],
)
def test_before_and_after(before: str, anchor: str, code: str, after: str) -> None:
    assert replaced(before, anchor, code) == after


def test_white_space_quotes_and_comments_of_the_anchor_do_not_matter() -> None:
    before = "x = f( 'a',  # first\n       0x10 )\n"
    assert replaced(before, 'f("a", 16)', "g()") == "x = g()\n"


def test_what_is_assigned_to_is_not_meant() -> None:
    assert replaced("a = 1\nx.a = a\n", "a", "b") == "a = 1\nx.a = b\n"
    assert replaced("for a in b:\n    c(a=a)\n", "a", "d") == "for a in b:\n    c(a=d)\n"


@pytest.mark.parametrize(
    ("before", "anchor", "code"),
    [
        ("x = f(g(a))\n", "g(a)", "f(g(a))"),
        ("x = g()\n", "f()", "g()"),
        ("x = 'a'\n", "'b'", '"a"'),
    ],
)
def test_no_change(before: str, anchor: str, code: str) -> None:
    assert replaced(before, anchor, code) == before


def test_refusals() -> None:
    edit = {"op": "replace_expression", "target": "f", "anchor": "size(x)", "code": "y"}
    assert refusal("def f():\n    return size(z), size(w)\n", edit) == (
        "not_found",
        "There is no expression 'size(x)' in f. The nearest is at line 2: 'size(z)'.",
    )
    twice = "def f():\n    return size(x) + \\\n        size(x)\n"
    assert refusal(twice, edit) == (
        "ambiguous",
        "The anchor 'size(x)' stands 2 times in f, at lines 2 and 3: give a larger anchor, a "
        "narrower target, or say which with number, from 1.",
    )
    assert edit_code(twice, {**edit, "number": 1}) == twice.replace("size(x) +", "y +")
    assert refusal(twice, {**edit, "anchor": "x = 1"})[0] == "would_not_compile"
