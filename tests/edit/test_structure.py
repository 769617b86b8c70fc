"""What counts as the same code."""

import ast

import libcst as cst
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.edit.structure import is_docstring, same


def parsed(code: str) -> cst.Module:
    return cst.parse_module(code)


SAME = [
    ("x = 1", "x  =  1  # one"),
    ("x = 'a'", 'x = """a"""'),
    ("x = 'a' 'b'", "x = ('ab')"),
    ("x = 'a\\x41'", "x = 'aA'"),
    ("x = r'\\d'", "x = '\\\\d'"),
    ("x = f'{a}\\n'", 'x = f"""{a}\n"""'),
    ("x = 'a' f'{b}'", "x = f'a{b}'"),
    ("x = 16", "x = 0x1_0"),
    ("x = 1e3", "x = 1000.0"),
    ("f(a, b,)", "f(\n  a,\n  b\n)"),
    ("(a + b)", "a + b"),
    ("if a: b; c", "if a:\n    b\n    c"),
    ("if a: b\nelif c: d", "if a: b\nelse:\n    if c:\n        d"),
    ("x = 1, 2", "x = (1, 2,)"),
    ("from a import (b, c)", "from a import b, c"),
    ("class A(): pass", "class A: pass"),
    ("x[1:2:]", "x[1:2]"),
    ("with (a as b): pass", "with a as b: pass"),
    ("def f(a, *, b = 1) -> int: pass", "def f(a,*,b=1)->int:\n\n  # c\n  pass"),
]
OTHER = [
    ("x = 1", "x = 1.0"),
    ("x = 'a'", "x = b'a'"),
    ("x = 'a'", "x = f'a'"),
    ("x = f'{a}'", "x = f'{a=}'"),
    ("x = f'{a!r}'", "x = f'{a}'"),
    ("x = f'{a:>3}'", "x = f'{a:>4}'"),
    ("x = (1,)", "x = 1"),
    ("x[1,]", "x[1]"),
    ("f(*a)", "f(a)"),
    ("f(a=b)", "f(a)"),
    ("f(**a)", "f(*a)"),
    ("async def f(): pass", "def f(): pass"),
    ("from . import a", "from .. import a"),
    ("x is y", "x is not y"),
    ("x in y", "x not in y"),
    ("def f(a, /): pass", "def f(a): pass"),
    ("def f(*, a): pass", "def f(a): pass"),
    ("def f(*a): pass", "def f(a): pass"),
    ("if a: b\nc", "if a:\n    b\n    c"),
    ("for a in b: c\nelse: d", "for a in b: c"),
    ("x: int", "x: int = 1"),
    ("x += 1", "x -= 1"),
    ("yield x", "yield from x"),
    ("raise a from b", "raise a"),
    ("{**a}", "{*a}"),
    ("@a\ndef f(): pass", "def f(): pass"),
    ("import a as b", "import a"),
    ("lambda: x", "lambda x: x"),
]


@pytest.mark.parametrize(("one", "other"), SAME)
def test_same(one: str, other: str) -> None:
    assert ast.dump(ast.parse(one)) == ast.dump(ast.parse(other))
    assert same(parsed(one), parsed(other))


@pytest.mark.parametrize(("one", "other"), OTHER)
def test_other(one: str, other: str) -> None:
    assert not same(parsed(one), parsed(other))


CODES = [code for pair in SAME + OTHER for code in pair]


@given(st.lists(st.sampled_from(CODES), max_size=3), st.lists(st.sampled_from(CODES), max_size=3))
def test_it_agrees_with_the_parser_of_python(one: list[str], other: list[str]) -> None:
    first, second = "\n".join(one), "\n".join(other)
    expected = ast.dump(ast.parse(first)) == ast.dump(ast.parse(second))
    assert same(parsed(first), parsed(second)) == expected


def test_docstrings() -> None:
    for code, expected in [("'a'", True), ("'a' 'b'", True), ("b'a'", False), ("f'a'", False)]:
        assert is_docstring(parsed(code).body[0].body[0]) == expected  # type: ignore[union-attr]
