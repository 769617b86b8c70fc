"""Code that other codemods, formatters and refactoring tools are known to have broken.

Each trap is a kind of report on libcst, black, ruff, rope, bowler, isort, autoflake or unimport;
the number behind a name is that of a report there. One edit of one source gives these very bytes,
or this refusal.
"""

import sys
from typing import Any

import pytest

from bot.edit.apply import Applied, apply_spec
from bot.edit.refusal import Refusal
from bot.records import Edit, ModificationSpec
from tests.edit.in_process import in_process
from tests.edit.making import PYTHON

NEWEST = sys.version_info >= (3, 12)  # type parameters, and any quote in an f-string


def insert(code: str, **more: Any) -> dict[str, Any]:
    return {"op": "insert_statements", "code": code, **more}


def before(anchor: str, code: str, **more: Any) -> dict[str, Any]:
    return insert(code, place="before", anchor=anchor, **more)


def statements(anchor: str, code: str, **more: Any) -> dict[str, Any]:
    return {"op": "replace_statements", "anchor": anchor, "code": code, **more}


def expression(anchor: str, code: str, **more: Any) -> dict[str, Any]:
    return {"op": "replace_expression", "anchor": anchor, "code": code, **more}


def delete(anchor: str, **more: Any) -> dict[str, Any]:
    return {"op": "delete_statements", "anchor": anchor, **more}


def add_import(code: str) -> dict[str, Any]:
    return {"op": "add_import", "code": code}


def remove_import(code: str, **more: Any) -> dict[str, Any]:
    return {"op": "remove_import", "code": code, **more}


def rename(target: str, to: str) -> dict[str, Any]:
    return {"op": "rename", "target": target, "to": to}


def body(target: str, code: str, **more: Any) -> dict[str, Any]:
    return {"op": "replace_function_body", "target": target, "code": code, **more}


def function(target: str, code: str) -> dict[str, Any]:
    return {"op": "replace_function", "target": target, "code": code}


def constant(target: str, code: str) -> dict[str, Any]:
    return {"op": "set_constant", "target": target, "code": code}


def op(name: str, **fields: Any) -> dict[str, Any]:
    return {"op": name, **fields}


# Name, source, edit, and the new source or (kind of refusal, a part of its message).
Trap = tuple[str, str, dict[str, Any], str | tuple[str, str]]
PRECEDENCE: list[Trap] = [
    ("a sum in a product, libcst 341", "y = x * z\n", expression("x", "1 + 2"),
     "y = (1 + 2) * z\n"),
    ("a sign below a power", "y = x ** 2\n", expression("x", "-1"), "y = (-1) ** 2\n"),
    ("a sign before a sum", "x = -a\n", expression("a", "b + c"), "x = -(b + c)\n"),
    ("a difference taken away", "x = a - b\n", expression("b", "c - d"), "x = a - (c - d)\n"),
    ("a comparison in a chain", "x = a < b\n", expression("b", "c < d"), "x = a < (c < d)\n"),
    ("an or below a not", "y = not x == z\n", expression("x == z", "a or b"),
     "y = not (a or b)\n"),
    ("an attribute of a number", "y = x.real\n", expression("x", "1"), "y = (1).real\n"),
    ("an attribute of an await", "async def f():\n    return g().h\n",
     expression("g()", "await g()"), "async def f():\n    return (await g()).h\n"),
    ("a lambda as a condition", "y = x if z else w\n", expression("z", "lambda: 1"),
     "y = x if (lambda: 1) else w\n"),
    ("a lambda as a filter", "x = [a for a in b if c]\n", expression("c", "lambda: d"),
     "x = [a for a in b if (lambda: d)]\n"),
    ("a condition to go through", "x = [a for a in b]\n", expression("b", "c if d else e"),
     "x = [a for a in (c if d else e)]\n"),
    ("a tuple as an argument", "x = f(b)\n", expression("b", "1, 2"), "x = f((1, 2))\n"),
    ("a tuple as an index", "x = a[b]\n", expression("b", "1, 2"), "x = a[1, 2]\n"),
    ("a tuple to search", "x = a in b\n", expression("b", "1, 2"), "x = a in (1, 2)\n"),
    ("a tuple asserted", "assert b\n", expression("b", "1, 2"), "assert (1, 2)\n"),
    ("a tuple entered, not two managers", "with b as c: pass\n", expression("b", "1, 2"),
     "with (1, 2) as c: pass\n"),
    ("a yield in a sum", "def f():\n    return a + 1\n", expression("a", "yield b"),
     "def f():\n    return (yield b) + 1\n"),
    ("unpacking an or", "x = {**a}\n", expression("a", "b or c"), "x = {**(b or c)}\n"),
    ("a star in a return", "def f():\n    return 1, *x\n", expression("x", "y or z"),
     "def f():\n    return 1, *(y or z)\n"),
    ("a walrus as a value, ruff 14808", "y = x\n", expression("x", "z := 1"), "y = (z := 1)\n"),
    ("a walrus as an argument", "y = f(x)\n", expression("x", "z := 1"), "y = f(z := 1)\n"),
    ("a walrus as a keyword", "y = f(k=x)\n", expression("x", "z := 1"), "y = f(k=(z := 1))\n"),
    ("a walrus in a lambda, ruff 18675", "f = lambda: x\n", expression("x", "z := 1"),
     "f = lambda: (z := 1)\n"),
    ("a walrus to go through", "y = [a for a in x]\n", expression("x", "z := 1"),
     ("would_not_compile", "cannot be used in a comprehension iterable expression")),
    ("a generator beside an argument, ruff 21590", "y = f(x, 1)\n",
     expression("x", "a for a in b"), "y = f((a for a in b), 1)\n"),
    ("an argument beside a generator", "y = max(a for a in b)\n",
     op("set_argument", anchor="max", keyword="default", code="0"),
     "y = max((a for a in b), default=0)\n"),
    ("no space behind a word", "x = 'a'if b else'c'\n", expression("'c'", "d"),
     "x = 'a'if b else(d)\n"),
    ("no space behind return", "def f():\n    return[a]\n", expression("[a]", "b"),
     "def f():\n    return(b)\n"),
    ("no space behind in", "for x in[a]: pass\n", expression("[a]", "b"),
     "for x in(b): pass\n"),
    ("a lambda as decorator", "@deco\ndef f(): pass\n", expression("deco", "lambda f: f"),
     "@lambda f: f\ndef f(): pass\n"),
    ("a tuple as a lambda's default", "f = lambda x, *, y=(1, 2): x\n",
     expression("(1, 2)", "3"), "f = lambda x, *, y=3: x\n"),
    ("what is deleted", "del b[i]\n", expression("i", "i + 1"), "del b[i + 1]\n"),
]  # fmt: skip
STRINGS: list[Trap] = [
    ("quotes inside an f-string, ruff 10761", "y = f'{x}'\n", expression("x", "d['k']"),
     "y = f'{d[\"k\"]}'\n"),
    ("quotes inside a raw f-string", "s = rf'\\d{a}'\n", expression("a", "b['k']"),
     "s = rf'\\d{b[\"k\"]}'\n"),
    ("quotes inside two f-strings", "s = f\"a {f'{x}' if y else z}\"\n",
     expression("x", "q['a']"),
     "s = f\"a {f'{q[\"a\"]}' if y else z}\"\n" if NEWEST
     else ("would_not_compile", "f-string: unterminated string")),
    ("other quotes inside long ones", "s = f'''{a}\n'{b}' '''\n", expression("b", "c['k']"),
     "s = f'''{a}\n'{c['k']}' '''\n"),
    ("a backslash inside an f-string, black 322", "y = f'{x}'\n",
     expression("x", '"\\n".join(x)'),
     "y = f'{\"\\n\".join(x)}'\n" if NEWEST
     else ("would_not_compile", "f-string expression part cannot include a backslash")),
    ("braces inside an f-string, ruff 4249", "y = f'{x}'\n", expression("x", "{1: 2}"),
     "y = f'{({1: 2})}'\n"),
    ("a lambda's colon in an f-string", "y = f'{x}'\n", expression("x", "lambda: 1"),
     "y = f'{(lambda: 1)}'\n"),
    ("a walrus in an f-string", "y = f'{x}'\n", expression("x", "z := 1"),
     "y = f'{(z := 1)}'\n"),
    ("an f-string that prints its code", "y = f'{x=}'\n", expression("x", "z"), "y = f'{z=}'\n"),
    ("a part of printed code", "y = f'{x + y=}'\n", expression("x", "a or b"),
     "y = f'{(a or b) + y=}'\n"),
    ("a width of an f-string", "y = f'{x:{w}}'\n", expression("w", "n + 1"),
     "y = f'{x:{n + 1}}'\n"),
    ("a piece of a joined string", "s = ('a'\n     f'{b}'\n     'c')\n", expression("b", "d"),
     "s = ('a'\n     f'{d}'\n     'c')\n"),
    ("a prefix is part of a string", "X = rb'a'\n", constant("X", "rb'\\d'"), "X = rb'\\d'\n"),
    ("CRLF in a long string, and around", "s = '''a\r\nb'''\r\nX = 1\r\n",
     add_import("import re"), "import re\r\n\r\ns = '''a\r\nb'''\r\nX = 1\r\n"),
    ("a long string into CRLF", "def f():\r\n    return 1\r\n",
     insert("if a:\n    b = '''x\ny'''", target="f"),
     "def f():\r\n    if a:\r\n        b = '''x\r\ny'''\r\n    return 1\r\n"),
    ("a long string is not indented", "def f():\n    return 1\n",
     body("f", 's = """a\n  b\n"""\nreturn s'),
     'def f():\n    s = """a\n  b\n"""\n    return s\n'),
    ("a long string in indented code", "class A:\n    def f(self):\n        return 1\n",
     body("A.f", '        s = """a\n  b\n"""\n        return s'),
     'class A:\n    def f(self):\n        s = """a\n  b\n"""\n        return s\n'),
    ("separators that are no line ends", "X = 'a\u2028b\x85c\x0bd'\nY = 1\n", constant("Y", "2"),
     "X = 'a\u2028b\x85c\x0bd'\nY = 2\n"),
    ("half a character", "X = 1\n", constant("X", "'\ud800'"),
     ("would_not_compile", "The edit's expression does not parse")),
    ("a zero byte", "X = 1\0\n", constant("X", "2"), ("unparseable", "null bytes")),
]  # fmt: skip
IMPORTS: list[Trap] = [
    ("a docstring before a semicolon", "'doc'; x = 1\n", add_import("import re"),
     "'doc'; x = 1\n\nimport re\n"),
    ("a form feed before a semicolon, ruff 19310", '"doc"\x0c; print(\n    1,\n)\n',
     add_import("import sys"), '"doc"\x0c; print(\n    1,\n)\n\nimport sys\n'),
    ("a docstring and a backslash, ruff 19498", '"doc"\\\n\nprint(1)\n',
     add_import("import sys"), '"doc"\\\n\n\nimport sys\n\nprint(1)\n'),
    ("two backslashes, ruff 19815", '"doc"\\\n\\\n\nprint(1)\n', add_import("import sys"),
     '"doc"\\\n\\\n\n\nimport sys\n\nprint(1)\n'),
    ("two strings, ruff 19159", '"doc"\n"no doc"\nx = 1\n',
     add_import("from __future__ import annotations"),
     '"doc"\n\nfrom __future__ import annotations\n\n"no doc"\nx = 1\n'),
    ("a string below the imports, libcst 841",
     'from __future__ import division\n\nimport abc\n\n"""Text."""\ndef f(): pass\n',
     add_import("from typing import List"),
     'from __future__ import division\n\nimport abc\nfrom typing import List\n\n"""Text."""\n'
     "def f(): pass\n"),
    ("comments at the top, ruff 6504", "# one\n\n# two\n\nfrom sys import stdout\n",
     add_import("from __future__ import annotations"),
     "# one\n\n# two\n\nfrom __future__ import annotations\n\nfrom sys import stdout\n"),
    ("a comment beside the docstring, isort 1894",
     '"""Doc."""\n\n# Comment.\n\nfrom __future__ import annotations\n',
     add_import("from __future__ import annotations"),
     '"""Doc."""\n\n# Comment.\n\nfrom __future__ import annotations\n'),
    ("a mark of the byte order, ruff 6155", "\ufeffimport os\nx = os\n", add_import("import re"),
     "\ufeffimport os\nimport re\nx = os\n"),
    ("a script's first lines", "#!/usr/bin/env python\n# -*- coding: utf-8 -*-\nx = 1\n",
     add_import("import re"),
     "#!/usr/bin/env python\n# -*- coding: utf-8 -*-\nimport re\n\nx = 1\n"),
    ("a use before the imports, libcst 1023", "begin()\nimport a\nfrom b import d\n",
     add_import("from c import begin"),
     "from c import begin\n\nbegin()\nimport a\nfrom b import d\n"),
    ("an import that may not run", "from typing import TYPE_CHECKING\n\nif TYPE_CHECKING:\n"
     "    from a import B\n", add_import("from a import B"),
     "from typing import TYPE_CHECKING\n\nfrom a import B\n\nif TYPE_CHECKING:\n"
     "    from a import B\n"),
    ("a name that is taken", "def json():\n    pass\n", add_import("import json"),
     ("conflict", "json means something else at line 1")),
    ("an empty file", "", add_import("import re"), "import re\n"),
    ("a comment and no line end", "# c", add_import("import re"), "# c\nimport re"),
    ("a docstring and no line end", '"""D."""', add_import("import re"),
     '"""D."""\n\nimport re'),
    ("the last import in a try, autoflake 52",
     "try:\n    import a\nexcept ImportError:\n    a = None\n",
     remove_import("import a", unused_only=False),
     "try:\n    pass\nexcept ImportError:\n    a = None\n"),
    ("imports in both branches, libcst 258",
     "try:\n    import a\nexcept Exception:\n    import a\n\na.go()\n",
     remove_import("import a"), ("conflict", "a is still used at line 6")),
    ("an import behind its use, unimport 178", "def f():\n    sys.path\n\n\nimport sys\n",
     remove_import("import sys"), ("conflict", "sys is still used at line 2")),
    ("a future that annotations need, libcst 344",
     "from __future__ import annotations\nx: B\n",
     remove_import("from __future__ import annotations"), ("conflict", "still used at line 2")),
    ("a use in quotes", "from a import B\n\n\ndef f(x: 'B'):\n    pass\n",
     remove_import("from a import B"), ("conflict", "B is still used at line 4")),
    ("a use in a comment on types", "from a import B\nx = []  # type: list[B]\n",
     remove_import("from a import B"), ("conflict", "B is still used at line 2")),
    ("a use in __all__", "import a\n__all__ = ['a']\n", remove_import("import a"),
     ("conflict", "a is still used at line 2")),
    ("a name imported twice in part", "import a.b\nimport a.c\na.c.d()\n",
     remove_import("import a.b"), "import a.c\na.c.d()\n"),
    ("the last name before a comma", "from a import b, x\nb\n",
     remove_import("from a import x"), "from a import b\nb\n"),
    ("a name before a backslash", "from a import b, \\\n    c\nc\n",
     remove_import("from a import b"), "from a import c\nc\n"),
    ("comments between names, libcst 392",
     "from a import (\n    b,  # why b\n    # about c\n    c,\n)\nc\n",
     remove_import("from a import b"), "from a import (\n    # about c\n    c,\n)\nc\n"),
    ("the first of two on a line", "import a; x = 1\n", remove_import("import a"), "x = 1\n"),
    ("the only one behind a colon", "if x: import a\n",
     remove_import("import a", unused_only=False), "if x: pass\n"),
    ("a file that begins with a backslash, ruff 5156", "\\\nimport os\n",
     remove_import("import os"), ("unsupported", "byte for byte: see line 1")),
]  # fmt: skip
NAMES: list[Trap] = [
    ("a name in an f-string, rope 303", "name = 1\ns = f\" '{name!r:>{name}}' name {{name}}\"\n",
     rename("name", "word"), "word = 1\ns = f\" '{word!r:>{word}}' name {{name}}\"\n"),
    ("a name in an f-string's f-string", "x = 1\ns = f\"a {f'{x} {{x}}'} x\"\n",
     rename("x", "long"), "long = 1\ns = f\"a {f'{long} {{x}}'} x\"\n"),
    ("a name that is printed, rope 308", "name = 1\nprint(f'{name=}')\n",
     rename("name", "word"), ("unsupported", "The f-string prints the name name")),
    ("a keyword of another function, rope 18", "a = 10\nfoo = dict(a=a)\n", rename("a", "b"),
     "b = 10\nfoo = dict(a=b)\n"),
    ("a name of a comprehension, rope 293", "x = 1\ny = [x for x in range(10)]\nz = x\n",
     rename("x", "w"), "w = 1\ny = [x for x in range(10)]\nz = w\n"),
    ("__all__, rope 402", "__all__ = ['old']\n\n\ndef old():\n    pass\n", rename("old", "new"),
     "__all__ = ['new']\n\n\ndef new():\n    pass\n"),
    ("annotations in quotes, rope 370",
     "class B:\n    pass\n\n\ndef f(b: 'B', c: 'list[B]') -> 'B':\n    pass\n",
     rename("B", "C"),
     "class C:\n    pass\n\n\ndef f(b: 'C', c: 'list[C]') -> 'C':\n    pass\n"),
    ("comments on types",
     "B = 1\nx = []  # type: list[B]  # B\nx = B  # type: ignore[B]\n\n\ndef f(\n"
     "    a,  # type: B\n    b  # type: int\n):\n    # type: (...) -> B\n"
     "    for x in y:  # type: B\n        pass  # B\n\n\ndef g(a):  # type: (B) -> None\n"
     "    pass\n", rename("B", "C"),
     "C = 1\nx = []  # type: list[C]  # B\nx = C  # type: ignore[B]\n\n\ndef f(\n"
     "    a,  # type: C\n    b  # type: int\n):\n    # type: (...) -> C\n"
     "    for x in y:  # type: C\n        pass  # B\n\n\ndef g(a):  # type: (C) -> None\n"
     "    pass\n"),
    ("global, ruff 5134", "x = 1\n\n\ndef f():\n    global x\n    x = 2\n", rename("x", "y"),
     "y = 1\n\n\ndef f():\n    global y\n    y = 2\n"),
    ("a decorator, bowler 90", "def d(f):\n    return f\n\n\n@d\nclass A:\n    pass\n",
     rename("d", "e"), "def e(f):\n    return f\n\n\n@e\nclass A:\n    pass\n"),
    ("an import under another name, rope 229", "import json as o\nprint(o.dumps)\n",
     rename("o", "p"), "import json as p\nprint(p.dumps)\n"),
    ("what is caught and captured",
     "e = 1\ntry:\n    f()\nexcept E as e:\n    print(e)\nmatch y:\n    case e: pass\ndel e\n",
     rename("e", "z"),
     "z = 1\ntry:\n    f()\nexcept E as z:\n    print(z)\nmatch y:\n    case z: pass\ndel z\n"),
    ("a class that shadows", "x = 1\n\n\nclass A:\n    x = x\n", rename("x", "z"),
     ("unsupported", "may be that of the class or the outer one")),
    ("a mangled name", "class A:\n    def f(self):\n        return __x\n\n\n__x = 1\n",
     rename("__x", "y"), ("unsupported", "Inside a class, __x is another name, at line 3")),
    ("a private method", "class A:\n    def __x(self):\n        return self.__x()\n",
     rename("A.__x", "__z"), "class A:\n    def __z(self):\n        return self.__z()\n"),
    ("a special name, rope 762", "class A:\n    x = 1\n", rename("A.x", "__getitem__"),
     ("unsupported", "'__getitem__' means something to Python")),
    ("another form of a letter", "\ufb01 = 2\nprint(fi)\n", rename("fi", "z"),
     "z = 2\nprint(z)\n"),
    ("a name that is taken by another form", "X = 1\n\ufb01 = 2\n", rename("X", "fi"),
     ("conflict", "fi exists in this file already, at line 2")),
]  # fmt: skip
BLOCKS: list[Trap] = [
    ("one of several on a line", "def f():\n    a = 1; b = 2; c = 3\n",
     statements("b = 2", "b = 4"), "def f():\n    a = 1; b = 4; c = 3\n"),
    ("a block for one of several", "def f():\n    a = 1; b = 2; c = 3\n",
     statements("b = 2", "if b:\n    pass"),
     "def f():\n    a = 1\n    if b:\n        pass\n    c = 3\n"),
    ("a semicolon and dots, ruff 5154", "while 1:\n  1;...\n", statements("1", "2"),
     "while 1:\n  2;...\n"),
    ("a semicolon at the end, ruff 7123", "try:\n    m(d);\nexcept E:\n    pass;\n", delete("m(d)"),
     "try:\n    pass\nexcept E:\n    pass;\n"),
    ("a semicolon and a backslash, ruff 4404", "if a:\n    x = 1; \\\n   \ny = 2\n",
     statements("x = 1", "x = 2"), "if a:\n    x = 2; \\\n   \ny = 2\n"),
    ("a backslash before a comment, ruff 19326", "x = 0 \\\n#\n+1\n",
     statements("x = 0", "x = 1"), "x = 1 \\\n#\n+1\n"),
    ("a backslash in an expression", "x = 1 + \\\n    2\n", expression("2", "a or b"),
     "x = 1 + \\\n    (a or b)\n"),
    ("a backslash at the end, black 1012", "X = 1\n\\\n", constant("X", "2"),
     ("unparseable", "line 2")),
    ("two lines behind a colon", "if x: y = 1\nelse: y = 2\n", statements("y = 1", "y = 3\nz = 4"),
     "if x:\n    y = 3\n    z = 4\nelse: y = 2\n"),
    ("a comment behind one line", "if x: y = 1  # c\n", before("y = 1", "z = 0"),
     "if x:\n    z = 0\n    y = 1  # c\n"),
    ("a class of one line", "class A: pass\n",
     op("add_method", target="A", code="def f(self):\n    pass"),
     "class A:\n    def f(self):\n        pass\n"),
    ("a class that is a docstring",
     'class A: """Doc."""\n', op("add_field", target="A", code="x = 1"),
     'class A:\n    """Doc."""\n\n    x = 1\n'),
    ("a function that is a docstring", "def f():\n    'Doc.'\n", body("f", "return 1"),
     "def f():\n    'Doc.'\n    return 1\n"),
    ("a stub", "def f(): ...  # stub\n", body("f", "return 1"),
     "def f():  # stub\n    return 1\n"),
    ("a statement before a docstring", "def f():\n    '''Doc.'''\n    return 1\n",
     before("'''Doc.'''", "x = 1", target="f"), ("conflict", "Before the docstring at line 2")),
    ("a statement before the module's docstring", "'''Doc.'''\nx = 1\n",
     before("'''Doc.'''", "y = 1"), ("conflict", "Before the docstring at line 1")),
    ("a statement before a mere string", "if x:\n    'text'\n", before("'text'", "y = 1"),
     "if x:\n    y = 1\n    'text'\n"),
    ("a statement before a future", "from __future__ import annotations\nx = 1\n",
     before("from __future__ import annotations", "y = 1"),
     ("would_not_compile", "must occur at the beginning of the file")),
    ("a name before it is nonlocal", "def f():\n    x = 1\n    def g():\n        nonlocal x\n",
     insert("x = 3", target="f.g"), ("would_not_compile", "assigned to before nonlocal")),
    ("overloads", "@o\ndef f(a: int): ...\n@o\ndef f(a: str): ...\ndef f(a):\n    return a\n",
     body("f", "return 1"), ("ambiguous", "f is defined 3 times, at lines 2, 4 and 5")),
    ("the third of three",
     "@o\ndef f(a: int): ...\n@o\ndef f(a: str): ...\ndef f(a):\n    return a\n",
     body("f", "return 1", target_number=3),
     "@o\ndef f(a: int): ...\n@o\ndef f(a: str): ...\ndef f(a):\n    return 1\n"),
    ("a function of the same name inside",
     "def f():\n    def g(): return 1\n\n\ndef g(): return 2\n",
     body("g", "return 3"), "def f():\n    def g(): return 1\n\n\ndef g():\n    return 3\n"),
    ("an elif is no statement", "if a:\n    b\nelif c:\n    d\n", statements("if c:\n    d", "g"),
     ("not_found", "There is no statement 'if c:'")),
    ("async stays", "async def f():\n    await g()\n", function("f", "def f():\n    await h()"),
     "async def f():\n    await h()\n"),
    ("decorators and what is said of them",
     "@a\n# why\n@b  # and\ndef f():  # no cover\n    pass\n",
     function("f", "def f(x):\n    return 1"),
     "@a\n# why\n@b  # and\ndef f(x):  # no cover\n    return 1\n"),
    ("a decorator where nothing is formatted, black 560",
     "class A:\n    # fmt: off\n    @d(\n        a=1,\n    )\n    # fmt: on\n"
     "    def f(self): pass\n",
     op("add_decorator", target="A.f", code="@e"),
     "class A:\n    # fmt: off\n    @e\n    @d(\n        a=1,\n    )\n    # fmt: on\n"
     "    def f(self): pass\n"),
    ("formatting off in a body, black 569",
     "def x():\n    # fmt: off\n    return\n\n\ndef y(): pass\n",
     insert("z = 1", target="x"),
     "def x():\n    z = 1\n    # fmt: off\n    return\n\n\ndef y(): pass\n"),
    ("a comment for the checker stays", "x = f(a)  # type: ignore[arg-type]\n",
     statements("x = f(a)", "x = g(a)"), "x = g(a)  # type: ignore[arg-type]\n"),
    ("comments between arguments, ruff 7772",
     "x = sorted(\n    list(y.z()),\n    # about the key\n    key=k,\n)\n",
     expression("list(y.z())", "y.z()"),
     "x = sorted(\n    y.z(),\n    # about the key\n    key=k,\n)\n"),
    ("comments behind the last item", "X = [\n    1,  # one\n    # end\n]\n",
     op("append_to", target="X", code="2"), "X = [\n    1,  # one\n    2,\n    # end\n]\n"),
    ("the comment of an item goes with it", "X = [\n    1,  # one\n    # two\n    2,\n]\n",
     op("remove_from", target="X", code="2"), "X = [\n    1,  # one\n]\n"),
    ("comments in parentheses", "def f():\n    return (  # why\n        a\n        + b\n    )\n",
     expression("a + b", "c"), "def f():\n    return (  # why\n        c\n    )\n"),
    ("managers in parentheses", "with (\n    a() as x,  # first\n    b() as y,\n):\n    pass\n",
     expression("a()", "a(1)"), "with (\n    a(1) as x,  # first\n    b() as y,\n):\n    pass\n"),
    ("managers and backslashes, black 1186",
     "async def f():\n    async with \\\n            a() as x, \\\n            b() as y \\\n"
     "    :\n        pass\n", expression("a()", "a(1)"),
     "async def f():\n    async with \\\n            a(1) as x, \\\n            b() as y \\\n"
     "    :\n        pass\n"),
    ("a slash and a line end, libcst 679", "def s(\n    u: str, /\n):\n    pass\n",
     op("add_parameter", target="s", code="v: int = 1"),
     "def s(\n    u: str, /, v: int = 1\n):\n    pass\n"),
    ("a match, libcst 568",
     "match x:\n    case [1, *r]:  # c\n        pass\n    case {'a': y, **z} if y: f(y)\n",
     expression("f(y)", "f(z)"),
     "match x:\n    case [1, *r]:  # c\n        pass\n    case {'a': y, **z} if y: f(z)\n"),
    ("a group of exceptions, libcst 571", "try:\n    g()\nexcept* ValueError as e:\n    pass\n",
     statements("pass", "raise"), "try:\n    g()\nexcept* ValueError as e:\n    raise\n"),
    ("type parameters, libcst 922", "def f[T: (int, str)](a: T) -> T:\n    return a\n",
     body("f", "return 1"), "def f[T: (int, str)](a: T) -> T:\n    return 1\n" if NEWEST
     else ("unparseable", "a.py does not parse: line 1")),
    ("a starred type, libcst 696", "x: tuple[*Ts]\n", expression("Ts", "Us"), "x: tuple[*Us]\n"),
    ("a target in parentheses, black 5321", "(x): int = 5\n", constant("x", "6"),
     ("unparseable", "holds syntax that cannot be edited here, about line 1")),
    ("two targets", "a = b = 1\n", constant("a", "2"),
     ("unsupported", "a is not set by a plain assignment")),
    ("a call that is awaited around", "async def f():\n    x = await g(1)\n",
     op("wrap_call", anchor="await g(1)", code="retry(lambda: ...)"),
     ("conflict", "holds an await, which would not mean the same")),
    ("comments at each depth",
     "def f():\n    if a:\n        b\n        # of if\n    # of f\n\n# end\n",
     insert("c", target="f", place="end"),
     "def f():\n    if a:\n        b\n        # of if\n    c\n    # of f\n\n# end\n"),
    ("a comment right above goes, others stay",
     "def f():\n    # why a\n    a()\n    # why b\n    b()\n",
     delete("a()"), "def f():\n    # why b\n    b()\n"),
    ("a comment that is not indented", "def f():\n    a\n# odd\n    b\n", before("b", "c"),
     "def f():\n    a\n    c\n# odd\n    b\n"),
    ("spaces at ends of lines", "def f():   \n    a   \n    \n    b\n", before("b", "c"),
     "def f():   \n    a   \n    \n    c\n    b\n"),
    ("tabs, ruff 1657", "if a:\n\tif b:\n\t\tx\n", statements("x", "if c:\n    y"),
     "if a:\n\tif b:\n\t\tif c:\n\t\t\ty\n"),
    ("a form feed between functions", "def f():\n    a\n\x0c\ndef g():\n    b\n",
     insert("c", target="g"), "def f():\n    a\n\x0c\ndef g():\n    c\n    b\n"),
    ("no end of the last line", "def f():\n    return 1", insert("x = 1", target="f", place="end"),
     "def f():\n    return 1\n    x = 1"),
    ("a semicolon and no line end", "X = 1;", constant("X", "2"), "X = 2;"),
    ("a lone CR in a comment", "X = 1  # a\rY = 2\n", constant("Y", "3"), "X = 1  # a\rY = 3\n"),
    ("another language's print", "print 'x'\n", constant("X", "2"), ("unparseable", "line 1")),
]  # fmt: skip
TRAPS = [*PRECEDENCE, *STRINGS, *IMPORTS, *NAMES, *BLOCKS]


@pytest.mark.parametrize(
    ("source", "edit", "expected"),
    [trap[1:] for trap in TRAPS],
    ids=[trap[0] for trap in TRAPS],
)
def test_a_trap(source: str, edit: dict[str, Any], expected: str | tuple[str, str]) -> None:
    content = source.encode()
    spec = ModificationSpec(
        title="t",
        pattern="p",
        layer="procedural-skill",
        hypothesis="h",
        origin="test",
        edits=[Edit.model_validate({"file": "a.py", **edit})],
    )
    with in_process():
        result = apply_spec(
            spec, {"a.py": content}.get, editable=["**"], protected=[], python=PYTHON
        )
    if isinstance(expected, str):
        assert isinstance(result, Applied), result
        assert result.files.get("a.py", content) == expected.encode()
    else:
        assert isinstance(result, Refusal), result.files
        assert (result.kind, expected[1] in result.message) == (expected[0], True), result
