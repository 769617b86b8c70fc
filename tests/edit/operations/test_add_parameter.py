"""Add a parameter: before and after, and what programs do then."""

import pytest

from tests.edit.making import block, edit_code, refusal
from tests.edit.operations.test_rename import printed


def added(before: str, code: str, target: str = "f", **fields: object) -> str:
    return edit_code(before, {"op": "add_parameter", "target": target, "code": code} | fields)


@pytest.mark.parametrize(
    ("signature", "code", "after"),
    [
        ("()", "n", "(n)"),
        ("( )", "n: int = 5", "( n: int = 5)"),
        ("(a)", "n = 5", "(a, n = 5)"),
        ("(a,)", "n", "(a, n,)"),
        ("(a, b=1)", "n", "(a, n, b=1)"),
        ("(a, b=1)", "n=2", "(a, b=1, n=2)"),
        ("(a, /)", "n", "(a, /, n)"),
        ("(a, /, b)", "n=1", "(a, /, b, n=1)"),
        ("(a, *args, b, **rest)", "n", "(a, n, *args, b, **rest)"),
        ("(a, *args, b, **rest)", "*, n", "(a, *args, b, n, **rest)"),
        ("(a, *, b)", "*, n=1", "(a, *, b, n=1)"),
        ("(a, **rest)", "*, n=1", "(a, *, n=1, **rest)"),
        ("(a)", "*, n=1,", "(a, *, n=1)"),
        ("()", "*, n=1", "(*, n=1)"),
        ("(**rest)", "n", "(n, **rest)"),
        ("(\n    a,  # A\n    b,  # B\n)", "n", "(\n    a,  # A\n    b,  # B\n    n,\n)"),
        ("(\n    a,  # A\n    b  # B\n)", "n", "(\n    a,  # A\n    b,  # B\n    n\n)"),
        ("(\n\ta,\n)", "*, n=1", "(\n\ta,\n\t*,\n\tn=1,\n)"),
        ("(\n    a  # A\n)", "n", "(\n    a,  # A\n    n\n)"),
        ("(a,\n      b)", "n", "(a,\n      b,\n      n)"),
        ("(a: int) -> None", "n", "(a: int, n) -> None"),
    ],
)
@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_its_place_in_the_signature(signature: str, code: str, after: str, newline: str) -> None:
    before = f"# about f\n@x\nasync def f{signature}:  # so\n    pass\n"
    wanted = before.replace(signature, after)
    assert added(before.replace("\n", newline), code) == wanted.replace("\n", newline)


@pytest.mark.parametrize(
    ("signature", "code", "call", "after"),
    [
        ("(a)", "n", "f(1)", "f(1, n=5)"),
        ("()", "n", "f( )", "f( n=5)"),
        ("(a)", "n", "f(a=1)", "f(a=1, n=5)"),
        ("(a, b=1)", "n", "f(1, 2)", "f(1, 5, 2)"),
        ("(a, b=1)", "n", "f(1)", "f(1, n=5)"),
        ("(a, *b)", "n=1", "f(1, 2)", "f(1, 5, 2)"),
        ("(a)", "*, n", "f(*x)", "f(*x, n=5)"),
        ("(a)", "n", "f(*x, **y)", "f(*x, n=5, **y)"),
        ("(a)", "n", "f(f(1))", "f(f(1, n=5), n=5)"),
        ("(a)", "n", "f(x for x in y)", "f((x for x in y), n=5)"),
        ("(a)", "n", "f(\n    1,  # one\n)", "f(\n    1,  # one\n    n=5,\n)"),
        ("(a)", "n", "f(\n    1\n)", "f(\n    1,\n    n=5\n)"),
        ("(a, **b)", "n", "f(1, n=2)", "f(1, n=2)"),
        ("(a)", "n", "def g(f): return f(1)", "def g(f): return f(1)"),
        ("(a)", "n", "def g(): return [f(1) for _ in f(2)]",
         "def g(): return [f(1, n=5) for _ in f(2, n=5)]"),
    ],
)  # fmt: skip
def test_passed_at_the_calls(signature: str, code: str, call: str, after: str) -> None:
    edited = added(f"def f{signature}: pass\n{call}\n", code, argument="5")
    assert edited.split("\n", 1)[1] == f"{after}\n"


def test_left_out_at_the_calls_where_there_is_a_default() -> None:
    before = "def f(a): pass\nf(1)\nmap(f, x)\nx.f(2)\n"
    assert added(before, "n=1") == before.replace("(a)", "(a, n=1)")


METHODS = block("""
    class A:
        def __init__(self, a): self.a = a
        def f(self, a): return self.f(1) if a else self.a
        @classmethod
        def g(cls, a): return cls(a), cls.h(2)
        @staticmethod
        def h(a): return a
        def i(this, a): return [this.h(x) for x in this.g(3)]
    A(1), A.f(A(2), 3), A.g(4), A.h(5)
""")


@pytest.mark.parametrize(
    ("target", "changes"),
    [
        ("A.__init__", ["self, a|): self.a = a", "cls(a|)", "A(1|)", "A(2|)"]),
        ("A.f", ["f(self, a|)", "self.f(1|)", "A.f(A(2), 3|)"]),
        ("A.g", ["g(cls, a|)", "this.g(3|)", "A.g(4|)"]),
        ("A.h", ["h(a|)", "cls.h(2|)", "this.h(x|)", "A.h(5|)"]),
    ],
)
def test_a_method(target: str, changes: list[str]) -> None:
    after = METHODS
    for number, place in enumerate(changes):
        new = ", n" if number == 0 else ", n=0"
        after = after.replace(place.replace("|", ""), place.replace("|", new))
    assert added(METHODS, "n", target, argument="0") == after


PROGRAM = block("""
    step = 2

    class Box:
        def __init__(self, *items, **options):
            self.items, self.options = items, options

        def first(self, count=1):
            return self.items[:count], self.last(count)

        def last(self, count):
            return self.items[-count:], sorted(self.options)

        @classmethod
        def make(cls, *items):
            return cls(*items, a=1).first(2)

    def run(a, b=2, *rest, key=None):
        return [a, b, rest, key, *(run(a - 1, b, 7) if a > 1 else ())]

    print(run(2), run(2, 3, 4, key=5), run(a=1), Box.make(1, 2, 3), Box(4).first())
""")


@pytest.mark.parametrize(
    ("target", "code"),
    [
        *(("run", code) for code in ("n", "n: int = 1", "*, n", "*, n=3")),
        *(("Box.last", code) for code in ("n", "n=0", "*, n")),
        *(("Box.__init__", code) for code in ("*, n", "*, n=0")),
        *(("Box.make", code) for code in ("n", "*, n=0")),
        ("Box.first", "n=0"),
    ],
)
def test_a_program_does_the_same(target: str, code: str) -> None:
    after = added(PROGRAM, code, target, argument="step")
    assert after != PROGRAM
    assert printed(after) == printed(PROGRAM)


@pytest.mark.parametrize("code", ["a: 'int'=0x1", "*, b"])
def test_no_change(code: str) -> None:
    before = 'def f(x, a : "int" = 1, *, b): pass\nf(1)\n'
    assert added(before, code, argument="9") == before


@pytest.mark.parametrize(
    ("before", "fields", "message"),
    [
        ("def f(n): pass\n", {}, "f has a parameter n already, of another kind or value."),
        ("def f(*, n=1): pass\n", {"code": "n=1"},
         "f has a parameter n already, of another kind or value."),
        ("def f(): pass\nf()\n", {"code": "n"},
         "n has no default: say with argument what the calls pass, at line 2."),
        ("def f(): pass\nx.y(f)\n", {"code": "n", "argument": "1"},
         "n has no default, and it cannot be told whether what stands at line 2 is a call of the "
         "function; give n a default."),
        ("class A:\n  def f(self): pass\nx.f()\n\n\ny.f()\n", {"target": "A.f", "code": "n"},
         "n has no default, and it cannot be told whether what stands at lines 3 and 6 is a call "
         "of the function; give n a default."),
        ("class A:\n  def f(self): self.f()\nclass B(A):\n  def f(self): pass\n",
         {"target": "A.f", "argument": "1"},
         "The calls at line 2 may be of another function of that name, at line 4; give n a "
         "default and no argument."),
        ("def f(a, *b): pass\nf(1, 2)\n", {},
         "The call at line 2 passes what stands behind n by position: say argument, or make it "
         "keyword-only with `*, `."),
        ("def f(a, *b): pass\nf(*x)\n", {},
         "The call at line 2 passes `*`, so the place of n cannot be told."),
        ("def f(**b): pass\nf(**x)\n", {"argument": "1"},
         "The call at line 2 may pass n in a mapping, which cannot be told."),
        ("def f(a=1, /): pass\n", {"code": "n"},
         "n has no default, but a positional-only parameter before it has one; give it a default, "
         "or make it keyword-only with `*, `."),
        ("def f(): pass\nf()\n", {"argument": "limit"},
         "The argument names limit, which means nothing at line 2."),
        ("@overload\ndef f(): pass\n", {}, "f is an overload; replace each signature."),
        ("class A:\n  @property\n  def f(self): pass\n", {"target": "A.f"},
         "A.f is a property, which takes no arguments."),
        ("class f: pass\n", {}, "f is a class, not a function; name its __init__ instead."),
        ("def f(): pass\n", {"code": "*n"},
         "add_parameter takes one parameter, as in a signature: limit: int = 5, or *, limit: "
         "int."),
    ],
)  # fmt: skip
def test_refused(before: str, fields: dict[str, str], message: str) -> None:
    edit = {"op": "add_parameter", "target": "f", "code": "n=0"} | fields
    assert refusal(before, edit)[1] == message
