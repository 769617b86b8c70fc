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
    # What a module has imported is at hand in it.
    "from os import path\npath.os.system('x')",
    "import logging\nlogging.os.system('x')",
    "import tempfile\ntempfile._os.system('x')",
    "import inspect\ninspect.builtins.eval('x')",
    "import inspect\ninspect.importlib.import_module('x')",
    "from logging.handlers import pickle",
    "from .shell import subprocess",
    "import asyncio\nasyncio.base_events.subprocess.run('x')",
    # Under another name, its use is not seen, in another file least of all.
    "import os as other",
    "from glob import os as other",
    "import os\nother = os",
    "import logging\nother = logging.os",
    "g = getattr\ng(a, b)",
    "v = vars\nv(a)",
    "from operator import attrgetter as a\na('os.system')(b)",
    "import operator\ng = operator.attrgetter",
    "import os\ngetattr(*(os, 'system'))('x')",
    "'{0.__init__.__globals__}'.format(x)",
    "open('/proc/self/environ')",
    "__spec__.loader.exec_module(m)",
    "import typing\ntyping.get_type_hints(A)",
    "import inspect\ninspect.signature(f, eval_str=True)",
    "import numpy\nnumpy.load(x, allow_pickle=True)",
    "import types\ntypes.FunctionType(c, {})",
    "import gc\ngc.get_objects()",
    "import sys\nsys.meta_path.append(x)",
    "import yaml\nyaml.load(x, Loader=yaml.UnsafeLoader)",
    "import asyncio\nasyncio.start_server(f)",
    "loop.create_connection(f)",
    "from concurrent.futures import ProcessPoolExecutor",
    "import logging.handlers\nlogging.handlers.SocketHandler('h', 1)",
    "import imaplib",
    "import ssl",
    "import pydoc",
    "import _ctypes",
    "import logging.config",
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
    "import os as _os\n_os.path.join(a)",
    "from os import path",
    "import sys\nprint(x, file=sys.stderr)",
    "import os\nhasattr(os, 'getpgid') and getattr(os, 'getpgid')",
    "from operator import attrgetter\nsorted(a, key=attrgetter('score'))",
    "vars = {}\nf(vars)",
    "import asyncio\nasyncio.subprocess.PIPE",
    "'call {name.__name__} of {0.title}'.format(x)",
    "self.socket.close()",
    "import inspect\ninspect.signature(f, eval_str=False)",
    "prompt = 'describe your environment'",
]


def test_a_pattern_reads_attributes() -> None:
    code = "import os\nmatch os:\n    case object(system=run):\n        run('x')\n"
    assert sorted(dangers(ast.parse(code))) == ["os as a value", "system"]
    assert list(dangers(ast.parse("match a:\n    case B(system=c): pass\n"))) == []


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
