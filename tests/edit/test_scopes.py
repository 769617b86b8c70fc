"""Which names mean the same thing."""

import symtable
import textwrap

import libcst as cst
import pytest

from bot.edit.scopes import Scope, scan
from tests.edit.random_edits import library_files


def kinds(code: str, name: str) -> list[str]:
    """For each mention of a name, the kind of scope whose name it is, in the order of the code."""
    found = scan(cst.parse_module(textwrap.dedent(code)))
    meant = [m.scope.meaning(name) for m in found.mentions if m.name == name]
    return [scope.kind if scope else "none" for scope in meant]


@pytest.mark.parametrize(
    ("code", "meant"),
    [
        ("x = 1\ndef f(): return x", ["module", "module"]),
        ("x = 1\ndef f(x=x): return x", ["module", "function", "module", "function"]),
        ("x = 1\nclass A:\n  x = 2\n  def f(self): return x", ["module", "class", "module"]),
        ("def f():\n  global x\n  x = 1\n  def g(): return x", ["module"] * 3),
        ("def f():\n  x = 1\n  def g():\n    nonlocal x\n    x = 2", ["function"] * 3),
        ("[x for x in x]", ["none", "comprehension", "comprehension"]),
        ("class A:\n  x = 1\n  y = [x for _ in x]", ["class", "class", "none"]),
        ("def f():\n  if any((x := y) for y in z): return x", ["function", "function"]),
        ("def f():\n  try: pass\n  except E as x: x", ["function", "function"]),
        ("def f():\n  match a:\n    case {'k': [*x], **y}: x", ["function", "function"]),
        ("def f():\n  match a:\n    case A(x=y) | x: x", ["function", "function"]),
        ("def f():\n  for a.b, [*x] in y: x", ["function", "function"]),
        ("def f():\n  with a as (x, y): del x", ["function", "function"]),
        ("def f():\n  import x.y, z as x; x", ["function"] * 3),
        ("lambda x, *y: x.x(x=x)", ["function"] * 3),
        ("x = 1\ndef f(a: 'list[x]') -> x: ...", ["module"] * 3),
        ("x: Literal['x'] = cast('x', 'x')", ["module", "module"]),
        ("def f[x](a: x) -> x: return x", ["types"] * 4),
        ("class A[x](B[x]):\n  a: x", ["types"] * 3),
        ("type x[y] = list[x]", ["module", "module"]),
        ("f'{x!r:{x}} x'\nx += 1", ["module"] * 3),
    ],
)
def test_what_a_name_means(code: str, meant: list[str]) -> None:
    assert kinds(code, "x") == meant


def test_functions_bind_what_python_says() -> None:
    compared = 0
    for path in library_files(25, seed=3, largest=20_000):
        text = path.read_text("utf-8", "replace")
        try:
            table = symtable.symtable(text, str(path), "exec")
            found = scan(cst.parse_module(text))
        except (SyntaxError, cst.ParserSyntaxError, RecursionError):
            continue
        compared += compare(table, [s for s in found.all if s.kind == "function"])
    assert compared > 100


WITHOUT_NAME = ("lambda", "genexpr", "listcomp", "setcomp", "dictcomp")


def compare(table: symtable.SymbolTable, scopes: list[Scope]) -> int:
    """How many functions were compared."""
    expected: list[tuple[str, frozenset[str]]] = []
    pending = list(table.get_children())
    while pending:
        inner = pending.pop()
        pending += inner.get_children()
        if isinstance(inner, symtable.Function) and inner.get_name() not in WITHOUT_NAME:
            expected.append((inner.get_name(), frozenset(map(unmangled, inner.get_locals()))))
    actual = [
        (s.spot.node.name.value, frozenset(map(unmangled, s.bound)))
        for s in scopes
        if isinstance(s.spot.node, cst.FunctionDef)
    ]
    assert sorted(expected, key=repr_of) == sorted(actual, key=repr_of)
    return len(actual)


def repr_of(item: tuple[str, frozenset[str]]) -> tuple[str, list[str]]:
    return item[0], sorted(item[1])


def unmangled(name: str) -> str:
    """`_A__x` as `__x`."""
    head, mark, tail = name.partition("__")
    return f"__{tail}" if mark and head.startswith("_") else name
