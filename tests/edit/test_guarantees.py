"""What holds for every edit: bytes outside stay, all or nothing, typed refusals, no crash."""

import ast
import sys
import sysconfig
from pathlib import Path
from typing import Any

import pytest

from bot.edit.apply import Applied, apply_spec
from bot.edit.paths import is_plain_path
from bot.edit.refusal import Refusal
from tests.edit.test_edits import after, apply, apply_in_processes, refusal, spec

START = {"op": "insert_statements", "target": "f", "code": "x = '''one\ntwo'''"}


@pytest.mark.parametrize(
    ("before", "expected"),
    [
        (
            b"def f():\r\n    return 1\r\n",
            b"def f():\r\n    x = '''one\r\ntwo'''\r\n    return 1\r\n",
        ),
        (b"def f():\r    return 1\r", b"def f():\r    x = '''one\rtwo'''\r    return 1\r"),
        (b"def f():\n\treturn 1", b"def f():\n\tx = '''one\ntwo'''\n\treturn 1"),
        (
            b"\xef\xbb\xbfdef f():\n    return 1\n",
            b"\xef\xbb\xbfdef f():\n    x = '''one\ntwo'''\n    return 1\n",
        ),
        (
            b"# -*- coding: latin-1 -*-\ns = '\xe9'\ndef f():\n    return 1\n",
            b"# -*- coding: latin-1 -*-\ns = '\xe9'\ndef f():\n"
            b"    x = '''one\ntwo'''\n    return 1\n",
        ),
        (
            b"a = 1\n\x0c\ndef f():\n  return 1  # two spaces\n",
            b"a = 1\n\x0c\ndef f():\n  x = '''one\ntwo'''\n  return 1  # two spaces\n",
        ),
    ],
    ids=["crlf", "cr", "tab-no-final-newline", "bom", "latin-1", "form-feed"],
)
def test_bytes_outside_the_edit_stay(before: bytes, expected: bytes) -> None:
    result = apply(before, START)
    if isinstance(result, Refusal):
        # Refusing is allowed where the file cannot be written back byte for byte; guessing is not.
        assert result.kind == "unsupported"
        assert "byte for byte" in result.message
    else:
        assert result.files["a.py"] == expected


def test_all_edits_or_none() -> None:
    files = {"a.py": b"def f():\n    return 1\n", "b.py": b"y = 1\n"}
    both = spec(START, {"op": "set_constant", "file": "b.py", "target": "z", "code": "2"})
    result = apply_spec(both, files.get, editable=["*.py"], protected=[], python=sys.executable)
    assert isinstance(result, Refusal)
    assert (result.kind, result.edit) == ("not_found", 1)


@pytest.mark.parametrize(
    ("file", "kind"),
    [
        ("../a.py", "not_editable"),
        ("/etc/a.py", "not_editable"),
        ("x/../a.py", "not_editable"),
        ("./a.py", "not_editable"),
        ("a\\b.py", "not_editable"),
        ("", "not_editable"),
        (".github/workflows/ci.yml", "workflow"),
        (".GitHub/workflows/ci.yml", "workflow"),
        (".git/config", "not_editable"),
        ("other/a.py", "not_editable"),
        ("harness/secret.py", "protected"),
        ("harness/notes.md", "unsupported"),
        ("harness/missing.py", "not_found"),
    ],
)
def test_files_that_may_not_be_edited(file: str, kind: str) -> None:
    result = apply_spec(
        spec({"op": "add_import", "file": file, "code": "import re"}),
        lambda path: None,
        editable=["harness/**", ".github/**", ".git/**"],
        protected=["harness/secret.py"],
        python=sys.executable,
    )
    assert isinstance(result, Refusal)
    assert result.kind == kind
    assert result.message


def test_plain_paths() -> None:
    assert is_plain_path("a/b c.py")
    assert not is_plain_path("a//b.py")
    assert not is_plain_path("a/ b.py")
    assert not is_plain_path("a\nb.py")


def test_an_unknown_operation_and_missing_fields() -> None:
    said = refusal("x = 1\n", {"op": "rewrite_everything", "code": "x"})
    assert said.kind == "unsupported"
    assert "there are add_class, add_decorator" in said.message
    said = refusal("x = 1\n", {"op": "replace_expression", "code": "x"})
    assert said.message == "replace_expression needs anchor."


def test_a_syntax_error_is_reported_where_it_is() -> None:
    before = "def f():\n    return 1\n" + "\n" * 37 + "def broken(:\n    pass\n"
    said = refusal(before, START)
    assert said.kind == "unparseable"
    assert "line 40" in said.message


def test_a_result_that_would_not_compile_is_refused() -> None:
    edit: dict[str, Any] = {"op": "insert_statements", "code": "return 1", "place": "end"}
    said = refusal("x = 1\n", edit)
    assert said.kind == "would_not_compile"
    assert "'return' outside function" in said.message
    duplicate = {"op": "add_function", "code": "def g(a, a):\n    pass"}
    assert refusal("x = 1\n", duplicate).kind == "would_not_compile"
    late = {"op": "insert_statements", "place": "end", "code": "from __future__ import division"}
    assert refusal("x = 1\n", late).kind == "would_not_compile"


@pytest.mark.parametrize(
    "code",
    [
        "exec(text)",
        "eval(text)",
        "__import__('os')",
        "import subprocess",
        "import socket as s",
        "from os import system",
        "import os\nos.environ['KEY']",
        "import os\nos.popen('x')",
        "import pickle",
        "import importlib",
        "getattr(x, name)",
        "x.__class__.__subclasses__()",
        "x['__builtins__']",
    ],
)
def test_new_dangers_are_refused(code: str) -> None:
    said = refusal("def f(x, name, text):\n    return 1\n", {**START, "code": code})
    assert said.kind == "dangerous"


def test_what_a_file_does_already_is_no_danger() -> None:
    before = "import subprocess\ndef f(x):\n    return subprocess.run(x)\n"
    assert b"y = 1" in after(before, {**START, "code": "y = 1"})


@pytest.mark.parametrize(
    "code",
    [
        "x = " + " + ".join(["1"] * 10_000),
        "x = " + "(" * 3_000 + "1" + ")" * 3_000,
        "if a:\n    pass\n" + "elif a:\n    pass\n" * 10_000,
        "x = " + " + ".join(["1"] * 400),
        "x = a" + ".b()" * 200,
        "x = " + "[" * 90 + "]" * 90,
    ],
    ids=["sum-10k", "parentheses-3k", "elif-10k", "sum-400", "chain-200", "lists-90"],
)
def test_deep_code_ends_in_a_value_and_not_in_a_crash(code: str) -> None:
    result = apply_in_processes(f"def f():\n    return 1\n{code}\n", START)
    if isinstance(result, Refusal):
        assert result.kind in ("too_large", "unparseable", "would_not_compile", "dangerous")
    else:
        assert b"two'''" in result.files["a.py"]


def test_ordinary_depth_is_edited() -> None:
    code = "x = " + " + ".join(["1"] * 400)
    assert isinstance(apply_in_processes(f"def f():\n    return 1\n{code}\n", START), Applied)


def test_a_huge_file_is_refused() -> None:
    said = refusal("def f():\n    return 1\n" + "# x\n" * 300_000, START)
    assert said.kind == "too_large"


def library_files() -> list[Path]:
    files = sorted(Path(sysconfig.get_paths()["stdlib"]).glob("*.py"))
    return [path for path in files if path.stat().st_size < 60_000]


def check_library_file(path: Path) -> bool:
    """Insert into the first function; all else stays byte for byte. False: nothing to insert in."""
    content = path.read_bytes()
    counts: dict[str, int] = {}
    for node in ast.walk(ast.parse(content)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            counts[node.name] = counts.get(node.name, 0) + 1
    names = [
        node.name
        for node in ast.parse(content).body
        if isinstance(node, ast.FunctionDef) and counts[node.name] == 1
    ]
    if not names:
        return False
    line = "inserted_by_the_test = 1"
    edit = {"op": "insert_statements", "target": names[0], "code": line}
    refused = apply(content, edit)
    if isinstance(refused, Refusal) and "byte for byte" in refused.message:
        return False  # white space that the parser loses: refusing is right
    result = after(content, edit)
    without = [part for part in result.splitlines(keepends=True) if line.encode() not in part]
    assert len(without) == len(result.splitlines()) - 1
    if b"".join(without) != content:
        # `def f(): return 1` was opened into a block: the same code all the same.
        assert ast.dump(ast.parse(b"".join(without))) == ast.dump(ast.parse(content))
    return True


def test_edits_of_real_files() -> None:
    assert sum(check_library_file(path) for path in library_files()[::40]) >= 2


@pytest.mark.slow
def test_edits_of_many_real_files() -> None:
    assert sum(check_library_file(path) for path in library_files()) >= 80
