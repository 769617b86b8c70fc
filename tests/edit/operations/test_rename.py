"""Rename by scope: before and after, and what programs do then."""

import contextlib
import io

import pytest

from tests.edit.making import block, edit_code, refusal


def renamed(before: str, target: str, to: str = "new", **fields: object) -> str:
    return edit_code(before, {"op": "rename", "target": target, "to": to} | fields)


def printed(code: str) -> str:
    """What a program prints."""
    output = io.StringIO()
    with contextlib.redirect_stdout(output):
        exec(compile(code, "program", "exec", dont_inherit=True), {"__name__": "program"})
    return output.getvalue()


@pytest.mark.parametrize(
    ("target", "before", "after"),
    [
        ("x", "x = 1  # x\nprint( x )\n", "new = 1  # x\nprint( new )\n"),
        ("f", "def f(): return f\nf().f\n", "def new(): return new\nnew().f\n"),
        ("A", "class A: pass\nclass B(A):\n  x: 'list[A]'\n  def f(self) -> \"A\": return A()\n",
         "class new: pass\nclass B(new):\n  x: 'list[new]'\n"
         "  def f(self) -> \"new\": return new()\n"),
        ("x", "x = 1\ndef f():\n  global x, y\n  x += 1\ndef g(x): return x\n",
         "new = 1\ndef f():\n  global new, y\n  new += 1\ndef g(x): return x\n"),
        ("x", "__all__ = ['x', \"y\"]\n__all__ += ('x',)\nx = 1\n",
         "__all__ = ['new', \"y\"]\n__all__ += ('new',)\nnew = 1\n"),
        ("x", "import x\nx.x\n", "import x as new\nnew.x\n"),
        ("x", "from a import (x, y as z)\n", "from a import (x as new, y as z)\n"),
        ("x", "import a.b as x\r\n\r\nx.c\r\n", "import a.b as new\r\n\r\nnew.c\r\n"),
        ("f.x", "x = 0\ndef f(x):\n\tdef g():\n\t\tnonlocal x\n\t\tx = 2\n\treturn x\n",
         "x = 0\ndef f(new):\n\tdef g():\n\t\tnonlocal new\n\t\tnew = 2\n\treturn new\n"),
        ("f.x", "async def f(x=x, *, y=1): return [x for x in x]\nawait f(x=3)\n",
         "async def f(new=x, *, y=1): return [x for x in new]\nawait f(new=3)\n"),
        ("f.x", "def f(x, /): pass\nf(x=1)\n", "def f(new, /): pass\nf(x=1)\n"),
        ("f.x", "def f(*x): return x\nf(x)\n", "def f(*new): return new\nf(x)\n"),
        ("f.x", "def f():\n  for x in y:\n    if z := x: print(f'{x} x')\n",
         "def f():\n  for new in y:\n    if z := new: print(f'{new} x')\n"),
        ("f.g", "def f():\n  def g(): pass\n  return g\n",
         "def f():\n  def new(): pass\n  return new\n"),
        ("A.m.x", "class A:\n  def m(self, x): return self.m(x=x)\nA.m(1, x=2)\n",
         "class A:\n  def m(self, new): return self.m(new=new)\nA.m(1, new=2)\n"),
        ("A.__init__.x", "class A:\n  def __init__(self, x): self.x = x\nA(x=1)\n",
         "class A:\n  def __init__(self, new): self.x = new\nA(new=1)\n"),
        ("x", "if a:\n  x = 1\nelse:\n  def x(): pass\n",
         "if a:\n  new = 1\nelse:\n  def new(): pass\n"),
        ("f.x", "def f():\n  try: a\n  except E as x: raise x\n",
         "def f():\n  try: a\n  except E as new: raise new\n"),
        ("f.x", "def f():\n  match a:\n    case [x, *_]: return x\n",
         "def f():\n  match a:\n    case [new, *_]: return new\n"),
    ],
)  # fmt: skip
def test_renamed(target: str, before: str, after: str) -> None:
    assert renamed(before, target) == after


PROGRAM = block("""
    __all__ = ["run"]
    total = 0
    scale = 2

    class Box:
        total = 5

        def __init__(self, item, scale=scale):
            self.__item = item
            self.scale = scale

        def grow(self, scale):
            return [scale * self.__item for item in range(scale)]

        @classmethod
        def make(cls, item):
            return cls(item=item).grow(scale=3)

    def run(count, *, scale: "Box" = 3):
        global total
        def inner():
            nonlocal count
            count += scale
            return lambda scale: (scale, count)
        total += count
        return inner()(scale=1)

    print(run(1), run(count=2, scale=4), total, Box.total)
    print(Box.make(2), Box(1).grow(2), [total for total in range(2)], __all__)
""")


@pytest.mark.parametrize(
    "target",
    [
        *("total", "scale", "Box", "run.count", "run.scale", "run.inner", "Box.make.item"),
        *("Box.__init__.scale", "Box.__init__.item", "Box.__init__.self"),
    ],
)
def test_a_program_does_the_same(target: str) -> None:
    after = renamed(PROGRAM, target)
    assert after != PROGRAM
    assert printed(after) == printed(PROGRAM)


def test_a_private_attribute() -> None:
    after = renamed(PROGRAM, "Box.__item", "__thing")
    assert after == PROGRAM.replace("__item", "__thing")
    assert printed(after) == printed(PROGRAM)
    assert renamed(after, "Box.__item", "__thing") == after
    method = "class A:\n  def __f(self): return self.__f\nself.__f\n"
    assert renamed(method, "A.__f", "__g") == (
        "class A:\n  def __g(self): return self.__g\nself.__f\n"
    )
    edit = {"op": "rename", "target": "A.__f", "to": "__g"}
    outside = f"{method}getattr(a, '_A__f')\n"
    assert refusal(outside, edit) == (
        "unsupported",
        "__f is reached from outside of A: _A__f.",
    )
    assert refusal(method, {**edit, "to": "g"})[0] == "unsupported"
    taken = refusal("class A:\n  __f = 1\n  __g = 2\n", edit)
    assert taken == ("conflict", "__g exists in A already, at line 3.")


@pytest.mark.parametrize(
    ("target", "before"),
    [("x", "new = 1\n"), ("f.x", "def f(new): pass\n"), ("A.x", "class A:\n  new = x\n")],
)
def test_no_change(target: str, before: str) -> None:
    assert renamed(before, target) == before


@pytest.mark.parametrize(
    ("target", "before", "message"),
    [
        ("x", "x = 1\nnew = 2\n", "new exists in this file already, at line 2."),
        ("x", "x = 1\ndef f(new): return x\n",
         "new means something else at line 2; choose another name."),
        ("x", "x = 1\nprint(new)\n", "new means something else at line 2; choose another name."),
        ("f.x", "new = 1\ndef f(x):\n  return new\n",
         "new means something else at line 3; choose another name."),
        ("x", "__all__ = ['new']\nx = 1\n", "__all__ has new already, at line 1."),
        ("y", "x = 1\n", "This file binds no 'y'. The nearest names are x."),
        ("x", "x = 1\nglobals()['x']\n", "globals is used at line 2; it may mean x by its text."),
        ("f.x", "def f(x):\n  print(locals())\n",
         "locals is used at line 2; it may mean x by its text."),
        ("x", "x = 1\ndef f(): eval('x')\n", "eval is used at line 2; it may mean x by its text."),
        ("x", "from a import *\nx = 1\n",
         "It cannot be told which names the star import brings, at line 1."),
        ("x", "x = 1\nf'{x=}'\n", "The f-string prints the name x, at line 2."),
        ("x", "x = 1\nclass A:\n  x = x\n",
         "x at line 3 may be that of the class or the outer one."),
        ("x", "import x.y\n",
         "x comes from the dotted import at line 1, which cannot give it another name."),
        ("A.f", "class A:\n  def f(self): pass\n",
         "f is an attribute of A, and it cannot be told which .f mean it; only names, and "
         "attributes private to a class (__name), can be renamed."),
        ("f.x", "def f(x): pass\nf(**y)\n",
         "The call at line 2 may pass x in a mapping, which cannot be told."),
        ("f.x", "def f(x): pass\npartial(f, x=1)\n",
         "The call at line 2 may pass x to it, which cannot be told."),
        ("A.f.x", "class A:\n  def f(self, x): pass\na.f(x=1)\n",
         "The call at line 3 may pass x to it, which cannot be told."),
        ("A.f.x", "class A:\n  def f(self, x): self.f(x=1)\nclass B(A):\n  def f(self, x): pass\n",
         "f is also defined in a class above or below, at line 4; x is passed by keyword."),
        ("f.x", "@tool\ndef f(x): pass\n", "tool decorates f and may read the name x."),
        ("test_f.x", "def test_f(x): pass\n",
         "test_f looks like a test; its fixtures go by their names."),
        ("A", "class A: pass\nx: 'A[\"A\"]'\n",
         "The string at line 2 mentions A in a way that is not understood."),
        ("__all__", "__all__ = []\n", "'__all__' means something to Python."),
    ],
)  # fmt: skip
def test_refused(target: str, before: str, message: str) -> None:
    assert refusal(before, {"op": "rename", "target": target, "to": "new"})[1] == message


@pytest.mark.parametrize(
    ("to", "message"),
    [
        ("class", "'class' is a word of the language."),
        ("a b", "'a b' is no name."),
        ("__x__", "'__x__' means something to Python."),
    ],
)
def test_a_name_that_cannot_be(to: str, message: str) -> None:
    assert refusal("x = 1\n", {"op": "rename", "target": "x", "to": to})[1] == message


def test_the_new_name_is_needed() -> None:
    kind, message = refusal("x = 1\n", {"op": "rename", "target": "x"})
    assert (kind, message) == ("unsupported", "rename needs to.")
