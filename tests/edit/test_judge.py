"""What the harness's interpreter says: syntax with its line, and dangerous things."""

import ast
import sys
from pathlib import Path

import pytest

from bot.edit.interpreter import HarnessInterpreter, Judgement, Source
from bot.edit.judge import dangers, judge
from bot.edit.refusal import Refused

DANGEROUS = [
    "exec(x)",
    "run = eval",
    "compile(x, '', 'exec')",
    "__import__('x')",
    "import subprocess",
    "import os.path, socket as s",
    "from multiprocessing import pool",
    "from asyncio import subprocess",
    "from urllib import request",
    "import urllib.request",
    "from http.client import HTTPConnection",
    "import pickle",
    "import ctypes.util",
    "from importlib import import_module",
    "from os import environ",
    "from os import *",
    "import os\nos.system('x')",
    "import os as o\nother = o\nother.popen('x')",
    "import os\nos.environ['KEY']",
    "import os\nos.getenv('KEY')",
    "import sys\nsys.modules['os']",
    "getattr(__builtins__, 'x')",
    "getattr(a, 'ev' + 'al')",
    "getattr(a, f'{b}')",
    "getattr(a, 'system')",
    "from operator import attrgetter\nattrgetter('os.system')(a)",
    "a.__getattribute__('x')",
    "a.__class__.__mro__[1].__subclasses__()",
    "f.__globals__['x']",
    "a.__dict__['x']",
    "vars(a)['x']",
    "globals()['x']",
    "a['__import__']",
    "ｅｖａｌ(x)",
]
HARMLESS = [
    "import re\nre.compile('x')",
    "import os\nos.path.join('a', 'b')",
    "message = {'role': 'system'}",
    "prompt.system = 'x'",
    "registry.modules",
    "splits = ['train', 'eval']",
    "from urllib.parse import quote",
    "from http import HTTPStatus",
    "self.__dict__",
    "x.__class__.__name__",
    "import ast\nast.literal_eval(x)",
    "getattr(a, 'name', None)",
    "from .socket import thing",
    "evaluate(x)",
]


@pytest.mark.parametrize("code", DANGEROUS)
def test_dangerous(code: str) -> None:
    assert list(dangers(ast.parse(code)))


@pytest.mark.parametrize("code", HARMLESS)
def test_harmless(code: str) -> None:
    assert list(dangers(ast.parse(code))) == []


def test_a_file_and_a_piece_of_code() -> None:
    assert judge(b"x = 1\nreturn x\n", whole=True)["parses"]
    said = judge(b"x = 1\nreturn x\n", whole=True)
    assert (said["compiles"], said["line"]) == (False, 2)
    assert judge(b"return x\n", whole=False)["message"] == ""
    assert judge(b"x = 1\n" * 39 + b"y = = 2\n", whole=True)["line"] == 40
    assert not judge(b"x = \0 1\n", whole=True)["parses"]
    assert not judge(b"# coding: nonsense\nx = 1\n", whole=True)["parses"]
    assert not judge(b"x = 1" + b" + 1" * 50_000, whole=True)["parses"]
    # Hidden behind another encoding, code is still what the interpreter makes of it.
    assert judge(b"# coding: utf-7\n+AGUAdgBhAGwAKAB4ACk-\n", whole=True)["dangers"] == {"eval": 1}


def test_many_sources_from_one_process() -> None:
    sources = [Source(b"x = 1\n"), Source(b"x = = 1\n"), Source(b"eval(x)", whole=False)]
    said = HarnessInterpreter(sys.executable).judge(sources)
    assert [judgement.parses for judgement in said] == [True, False, True]
    assert said[1].reason == "line 1: invalid syntax"
    assert said[2] == Judgement(True, False, None, "", {"eval": 1})
    assert HarnessInterpreter(sys.executable).judge([]) == []


def test_an_interpreter_that_dies_of_one_source_judges_the_others(tmp_path: Path) -> None:
    python = tmp_path / "python"
    python.write_text(
        f'#!/bin/sh\ninput=$(cat)\ncase "$input" in *ZGVhZGx5*) kill -SEGV $$;; esac\n'
        f'echo "$input" | exec "{sys.executable}" "$@"\n'
    )
    python.chmod(0o755)
    said = HarnessInterpreter(str(python)).judge(
        [Source(b"x = 1"), Source(b"deadly"), Source(b"y")]
    )
    assert [judgement.parses for judgement in said] == [True, False, True]
    assert said[1].message == f"{python} does not survive reading it"


def test_an_interpreter_that_is_not_there() -> None:
    with pytest.raises(Refused, match="cannot be run"):
        HarnessInterpreter("/nowhere/python").judge([Source(b"x = 1")])
