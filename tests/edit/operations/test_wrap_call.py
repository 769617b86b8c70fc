"""Wrap a call: before and after; what would not mean the same inside."""

import pytest

from tests.edit.making import edit_code, refusal


def wrapped(before: str, anchor: str, code: str, **fields: object) -> str:
    return edit_code(before, {"op": "wrap_call", "anchor": anchor, "code": code} | fields)


@pytest.mark.parametrize(
    ("before", "anchor", "code", "after"),
    [
        ("x = f(1)\n", "f", "str", "x = str(f(1))\n"),
        ("x = f(1)\n", "f(1)", "a.b", "x = a.b(f(1))\n"),
        ("x = f(1)\n", "f(1)", "retry(lambda: ...)", "x = retry(lambda: f(1))\n"),
        ("x = f(1)\n", "f(1)", "retry(3)(...)", "x = retry(3)(f(1))\n"),
        ("x = f(1)\n", "f(1)", "... or []", "x = f(1) or []\n"),
        ("x = f(1).y\n", "f(1)", "... or z", "x = (f(1) or z).y\n"),
        ("x = f(1) + 2\n", "f", "-...", "x = -f(1) + 2\n"),
        ("x = f(1) ** 2\n", "f", "-...", "x = (-f(1)) ** 2\n"),
        ("x = f(1)\n", "f", "....strip()", "x = f(1).strip()\n"),
        ("x = f(1)[0]\n", "f", "...[1:]", "x = f(1)[1:][0]\n"),
        ("f(1)\n", "f", "[*..., 2]", "[*f(1), 2]\n"),
        ("g(f(1), k=f(2))\n", "f(2)", "x, ...", "g(f(1), k=(x, f(2)))\n"),
        ("x = f(f(1))\n", "f(1)", "str", "x = f(str(f(1)))\n"),
        ("x = f(2, g(f(1)))\n", "g", "f", "x = f(2, f(g(f(1))))\n"),
        ("@f(1)\ndef g(): pass\n", "f", "h(...)", "@h(f(1))\ndef g(): pass\n"),
        ("with f(1) as x: pass\n", "f", "closing", "with closing(f(1)) as x: pass\n"),
        ("x = f'{f(1)!r:>3}'\n", "f", "g(..., 'a')", "x = f'{g(f(1), \"a\")!r:>3}'\n"),
        ("x = f'{f(1)}'\n", "f", "(lambda: ...)()", "x = f'{(lambda: f(1))()}'\n"),
        ('x = f"{f(1)}"\n', "f", '... or ""', "x = f\"{f(1) or ''}\"\n"),
        ("x = (  # why\n    f(1)  # so\n)\n", "f", "str", "x = (  # why\n    str(f(1))  # so\n)\n"),
        ("x = f(\n\t1,  # one\n\tb=2,\n)\n", "f", "retry(lambda: ...)",
         "x = retry(lambda: f(\n\t1,  # one\n\tb=2,\n))\n"),
        ("x = (a\n     .f(1))\n", "a.f", "... or z", "x = ((a\n     .f(1)) or z)\n"),
        ("def g():\n  return f(1)\n", "f", "retry(\n    lambda: ...,\n)",
         "def g():\n  return retry(\n    lambda: f(1),\n  )\n"),
        ("async def g():\n  return await f(1)\n", "await f(1)", "str",
         "async def g():\n  return str(await f(1))\n"),
        ("async def g():\n  return await f(1)\n", "f(1)", "wait_for(..., 5)",
         "async def g():\n  return await wait_for(f(1), 5)\n"),
        ("async def g():\n  return await f(1)\n", "f", "retry(lambda: ...)",
         "async def g():\n  return await retry(lambda: f(1))\n"),
        ("async def g():\n  return await f(1)\n", "f", "anext",
         "async def g():\n  return await anext(f(1))\n"),
        ("async def g():\n  return f(await x)\n", "f", "[... for i in y]",
         "async def g():\n  return [f(await x) for i in y]\n"),
        ("async def g():\n  async with f() as x: pass\n", "f", "closing",
         "async def g():\n  async with closing(f()) as x: pass\n"),
        ("def g():\n  x = f((yield 1))\n", "f", "str", "def g():\n  x = str(f((yield 1)))\n"),
        ("class A:\n  x = 1\n  y = f(x)\n", "f", "str", "class A:\n  x = 1\n  y = str(f(x))\n"),
        ("class A:\n  x = 1\n  y = f(x)\n", "f", "[i for i in ...]",
         "class A:\n  x = 1\n  y = [i for i in f(x)]\n"),
        ("class A:\n  y = f(lambda x: x)\n", "f", "g(lambda: ...)",
         "class A:\n  y = g(lambda: f(lambda x: x))\n"),
        ("x = f(a.y)\n", "f", "g(lambda y: ...)", "x = g(lambda y: f(a.y))\n"),
    ],
)  # fmt: skip
@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_before_and_after(before: str, anchor: str, code: str, after: str, newline: str) -> None:
    wanted = f"# about\n{after}y = 1  # end\n".replace("\n", newline)
    before = f"# about\n{before}y = 1  # end\n"
    assert wrapped(before.replace("\n", newline), anchor, code) == wanted


def test_the_unit_of_the_file() -> None:
    before = "def g():\n\treturn f(1)\n"
    after = "def g():\n\treturn retry(\n\t\tlambda: f(1),\n\t)\n"
    assert wrapped(before, "f", "retry(\n    lambda: ...,\n)", target="g") == after


def test_which_call() -> None:
    before = "f(1)\ndef g(): return f(1), f(2)\n"
    assert wrapped(before, "f(2)", "h") == before.replace("f(2)", "h(f(2))")
    assert wrapped(before, "f(1)", "h", target="g") == before.replace("n f(1)", "n h(f(1))")
    assert wrapped(before, "f", "h", number=1) == "h(f(1))\n" + before.split("\n", 1)[1]
    once = wrapped(before, "f", "h", number=2)
    assert once == before.replace("n f(1)", "n h(f(1))")
    assert wrapped(once, "f", "h", number=3) == once.replace("f(2)", "h(f(2))")


@pytest.mark.parametrize(
    ("before", "anchor", "code"),
    [
        ("x = retry(lambda : f( 1 ))\n", "f(1)", "retry(lambda: ...)"),
        ("x = str(f(1))\n", "f", "str"),
        ("x = str(str(f(1)))\n", "f", "str"),
        ("x = str(str(1))\n", "str", "str"),
        ("x = f(f(1))\n", "f(1)", "f"),
        ("x = (f(1)) or []\n", "f", "... or []"),
        ("async def g(): return str((await f(1)))\n", "await f(1)", "str"),
        ("h(f(1)), h(f(2))\n", "f", "h"),
    ],
)
def test_no_change(before: str, anchor: str, code: str) -> None:
    assert wrapped(before, anchor, code) == before


ASYNC = "async def g():\n    {}\n"


@pytest.mark.parametrize(
    ("before", "fields", "kind", "message"),
    [
        (ASYNC.format("x = await f(1)"), {"code": "str"}, "conflict",
         "The call at line 2 is awaited, and what 'str(...)' gives is not to be awaited; give the "
         "anchor `await f(1)` to wrap what comes out of it."),
        (ASYNC.format("x = await f(1)"), {"code": "... or []"}, "conflict",
         "The call at line 2 is awaited, and what '... or []' gives is not to be awaited; give "
         "the anchor `await f(1)` to wrap what comes out of it."),
        (ASYNC.format("async for x in f(1): pass"), {"code": "list"}, "conflict",
         "The call at line 2 is awaited, and what 'list(...)' gives is not to be awaited."),
        (ASYNC.format("async with f(1): pass"), {"code": "list"}, "conflict",
         "The call at line 2 is awaited, and what 'list(...)' gives is not to be awaited."),
        (ASYNC.format("x = await f(1)"), {"anchor": "await f(1)"}, "conflict",
         "The call at line 2 holds an await, which would not mean the same in the lambda of the "
         "code."),
        (ASYNC.format("x = f(await y)"), {}, "conflict",
         "The call at line 2 holds an await, which would not mean the same in the lambda of the "
         "code."),
        (ASYNC.format("x = f(await y)"), {"code": "any(... for i in z)"}, "conflict",
         "The call at line 2 holds an await, which would not mean the same in the comprehension "
         "of the code."),
        (ASYNC.format("x = f((yield))"), {"code": "[... for i in z]"}, "conflict",
         "The call at line 2 holds a yield, which would not mean the same in the comprehension of "
         "the code."),
        ("x = f(y := 1)\n", {}, "conflict",
         "The call at line 1 holds a `:=`, which would not mean the same in the lambda of the "
         "code."),
        ("class A:\n  def g(self): f(super())\n", {}, "conflict",
         "The call at line 2 holds a super(), which would not mean the same in the lambda of the "
         "code."),
        ("f(x)\n", {"code": "g(lambda x: ...)"}, "conflict",
         "The call at line 1 uses x, which would not mean the same in the lambda of the code."),
        ("f(x)\n", {"code": "[... for x in y]"}, "conflict",
         "The call at line 1 uses x, which would not mean the same in the comprehension of the "
         "code."),
        ("class A:\n  x = 1\n  y = f(x)\n", {}, "conflict",
         "The call at line 3 uses x of the class, which is not known inside a lambda or "
         "comprehension."),
        ("f(1)\n", {"code": "retry(3)"}, "unsupported",
         "'retry(3)' does not say where the call goes: give one `...` in its place, as in "
         "`retry(lambda: ...)`, or only a name to call with it."),
        ("f(1)\n", {"code": "g(..., ...)"}, "unsupported",
         "'g(..., ...)' does not say where the call goes: give one `...` in its place, as in "
         "`retry(lambda: ...)`, or only a name to call with it."),
        ("f(1)\n", {"code": "..."}, "unsupported",
         "'...' does not say where the call goes: give one `...` in its place, as in "
         "`retry(lambda: ...)`, or only a name to call with it."),
        ("f(1)\nh(f(2))\n", {}, "ambiguous",
         "'f' stands 2 times in this file, at lines 1 and 2: give a larger anchor, a narrower "
         "target, or say which with number, from 1."),
        ("client.get(1)\n", {"anchor": "client.gett"}, "not_found",
         "There is no call of 'client.gett' in this file. The nearest is at line 1: 'client.get'."),
        ("f(1)\n", {"anchor": "f(2)"}, "not_found",
         "There is no expression 'f(2)' in this file. The nearest is at line 1: 'f(1)'."),
        ("f(1)\n", {"anchor": "1"}, "unsupported",
         "The anchor '1' is no call, and nothing that is called; replace_expression can wrap it."),
    ],
)  # fmt: skip
def test_refused(before: str, fields: dict[str, object], kind: str, message: str) -> None:
    edit = {"op": "wrap_call", "anchor": "f", "code": "retry(lambda: ...)"} | fields
    assert refusal(before, edit) == (kind, message)
