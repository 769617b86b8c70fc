"""A spec on the whole way: both child processes, several files, the traps of the parser."""

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from bot.edit import apply as room
from bot.edit.apply import Applied, apply_spec
from bot.edit.refusal import Refusal
from bot.edit.text_dangers import PROGRAM
from bot.records import Edit, ModificationSpec
from bot.sandbox import ProcessLimits
from tests.edit.in_process import in_process

SET = {"op": "set_constant", "target": "X", "code": "2"}


def apply(
    files: dict[str, bytes], *edits: dict[str, Any], python: str = sys.executable
) -> Applied | Refusal:
    spec = ModificationSpec(
        title="t",
        pattern="p",
        layer="procedural-skill",
        hypothesis="h",
        origin="test",
        edits=[Edit.model_validate({"file": "a.py", **edit}) for edit in edits],
    )
    return apply_spec(spec, files.get, editable=["**"], protected=["p.py"], python=python)


def changed(content: bytes, *edits: dict[str, Any]) -> bytes:
    result = apply({"a.py": content}, *edits)
    assert isinstance(result, Applied), result
    return result.files["a.py"]


def refused(content: bytes, *edits: dict[str, Any]) -> Refusal:
    result = apply({"a.py": content}, *edits)
    assert isinstance(result, Refusal), result
    return result


@pytest.mark.parametrize(
    ("before", "edit", "after"),
    [
        (b"X = {}\n", {"op": "append_to", "code": "**a"}, b"X = {**a}\n"),
        (b"X = {}\n", {"op": "append_to", "code": "'a':\n  lambda: 1"},
         b"X = {'a':\n    lambda: 1}\n"),
        (b"X = []\n", {"op": "append_to", "code": "*a"}, b"X = [*a]\n"),
        (b"X = []\n", {"op": "append_to", "code": "a[1:2]"}, b"X = [a[1:2]]\n"),
        (b"X = {'a': 1, 'b': 2}\n", {"op": "remove_from", "code": "'a'"}, b"X = {'b': 2}\n"),
        (b"def X(): pass\n", {"op": "add_parameter", "code": "*, a: int = 1"},
         b"def X(*, a: int = 1): pass\n"),
        (b"def X(a): pass\n", {"op": "set_default", "parameter": "a", "code": "{\n}  # so"},
         b"def X(a={\n}): pass\n"),
        (b"class X:\n  y = f(1)\n", {"op": "set_argument", "anchor": "f", "keyword": "k",
                                     "code": "1"}, b"class X:\n  y = f(1, k=1)\n"),
        (b"class X:\n  y = f(1)\n", {"op": "wrap_call", "anchor": "f", "code": "g(lambda: ...)"},
         b"class X:\n  y = g(lambda: f(1))\n"),
    ],
)  # fmt: skip
@in_process()
def test_each_kind_of_code(before: bytes, edit: dict[str, Any], after: bytes) -> None:
    assert changed(before, {"target": "X", **edit}) == after


def test_several_files_and_kinds_in_one_spec() -> None:
    files = {"a.py": b"X = 1\n", "b.py": b"Y = 1\n", "p/prompt.md": b"Be brief.\r\n"}
    result = apply(
        files,
        SET,
        {"op": "set_constant", "file": "b.py", "target": "Y", "code": "1"},
        {"op": "edit_text", "file": "p/prompt.md", "place": "end", "code": "Be kind."},
        {"op": "insert_statements", "place": "after", "anchor": "X = 2", "code": "Z = X"},
    )
    assert result == Applied(
        {"a.py": b"X = 2\nZ = X\n", "p/prompt.md": b"Be brief.\r\nBe kind.\r\n"},
        [True, False, True, True],
    )


@in_process()
def test_all_or_nothing_names_the_edit_at_fault() -> None:
    said = apply({"a.py": b"X = 1\n", "b.py": b""}, SET, {**SET, "file": "b.py"})
    assert said == Refusal("not_found", "This file assigns no 'X'.", 1)


def test_the_kind_of_file_and_of_operation_must_fit() -> None:
    said = refused(b"X = 1\n", {"op": "edit_text", "anchor": "1", "code": "2"})
    assert said.kind == "unsupported"
    assert said.message == ("a.py is Python: use an operation on its syntax tree, not edit_text.")
    said = apply({"a.md": b""}, {**SET, "file": "a.md"})  # type: ignore[assignment]
    assert said.message == (
        "a.md is no Python file: set_constant needs one; edit_text is for others."
    )


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (b"X = 1\ry = '''a\rb'''\r", b"X = 2\ry = '''a\rb'''\r"),
        (b"X = 1\r\ny = 2\n", b"X = 2\r\ny = 2\n"),
        (b"\xef\xbb\xbf# coding: utf-8\nX = 1", b"\xef\xbb\xbf# coding: utf-8\nX = 2"),
        (b"# coding: latin-1\nX = 1  # \xe9\n", b"# coding: latin-1\nX = 2  # \xe9\n"),
        (b"# coding: cp1252\nX = 1  # \x80\n", b"# coding: cp1252\nX = 2  # \x80\n"),
        (b"\x0c\nX = 1\n\x0c\n", b"\x0c\nX = 2\n\x0c\n"),
        (b"\x0cX = 1\n \x0cdef f():\n    a\n    \x0c    b\n\x0c# c\n",
         b"\x0cX = 2\n \x0cdef f():\n    a\n    \x0c    b\n\x0c# c\n"),
        (b"y = (1,\n\x0c2)\r\nX = 1\r\n\x0cz\r\n", b"y = (1,\n\x0c2)\r\nX = 2\r\n\x0cz\r\n"),
        (b"if a:\n\tX = 1 \t \n", b"if a:\n\tX = 2 \t \n"),
        (b"def f():\n  return 1\nreturn 5\nX = 1\n", b"def f():\n  return 1\nreturn 5\nX = 2\n"),
    ],
    ids=[
        *("cr", "mixed", "bom", "latin-1", "cp1252", "form-feed", "form-feed-code"),
        *("form-feed-mixed", "tabs", "never-compiled"),
    ],
)  # fmt: skip
@in_process()
def test_only_the_value_changes(before: bytes, after: bytes) -> None:
    assert changed(before, SET) == after


def test_the_value_changes_beside_deep_code() -> None:
    deep = b"y = " + b"+".join([b"a"] * 1500)
    assert changed(b"X = 1\n" + deep, SET) == b"X = 2\n" + deep


@pytest.mark.parametrize(
    ("content", "edit", "kind", "message"),
    [
        (b"X = 1\ntry:\n    a\nexcept (A, B) :\n    b\n", SET, "unsupported",
         "a.py cannot be written back byte for byte: see line 4 (odd white space?)."),
        (b"# coding: latin-1\nX = 1\n", {**SET, "code": "'\u20ac'"}, "unsupported",
         "The encoding of a.py, iso-8859-1, has no '\u20ac'."),
        (b"X = 1\n" * 39 + b"y = = 1\n", SET, "unparseable",
         "a.py does not parse: line 40: invalid syntax."),
        (b"X = 1\nelse: 1\n", SET, "unparseable", "a.py does not parse: line 2: invalid syntax."),
        (b"X = 1\n", {**SET, "code": "1 +"}, "would_not_compile",
         "The edit's expression does not parse: line 1: invalid syntax."),
        (b"X = []\n", {"op": "append_to", "target": "X", "code": "1 2"}, "would_not_compile",
         "The edit's code does not parse: line 1: invalid syntax. Perhaps you forgot a comma?."),
        (b"def f(): pass\n", {"op": "add_parameter", "target": "f", "code": "a b"},
         "would_not_compile", "The edit's code does not parse: line 2: invalid syntax."),
        (b"X = 1\n", {"op": "insert_statements", "code": "a\n  b"}, "would_not_compile",
         "The edit's code does not parse: line 2: unexpected indent."),
        (b"X = 1\n", {"op": "insert_statements", "code": "break"}, "would_not_compile",
         "a.py would not compile: line 1: 'break' outside loop."),
        (b"X = 1\n", {"op": "insert_statements", "code": "import socket"}, "dangerous",
         "The edits add to a.py: import socket. Repairs may not bring new ways to run code, reach "
         "the network or read secrets, but those that the harness's table names: "
         'allow = ["import socket"].'),
        (b"#" * (1 << 20) + b"\nX = 1\n", SET, "too_large",
         "a.py has 1.0 MB; files over 1 MiB are not edited."),
        (b"X = 1\n", {**SET, "file": "p.py"}, "protected", "p.py is protected in the table."),
        (b"X = 1\n", {**SET, "file": "q.py"}, "not_found", "There is no file q.py."),
        (b"X = 1\n", {**SET, "number": 0}, "unsupported",
         "set_constant: number: Input should be greater than 0. It takes file, code, target; may "
         "have target_number, number."),
    ],
)  # fmt: skip
@in_process()
def test_refusals(content: bytes, edit: dict[str, Any], kind: str, message: str) -> None:
    assert refused(content, edit) == Refusal(kind, message, 0)  # type: ignore[arg-type]


@in_process()
def test_what_may_be_dangerous_already_may_stay_but_not_grow() -> None:
    before = b"import os\nkey = os.environ['KEY']\nX = 1\n"
    assert changed(before, SET) == before.replace(b"X = 1", b"X = 2")
    edit = {"op": "insert_statements", "place": "end", "code": "other = os.environ['OTHER']"}
    assert refused(before, edit).kind == "dangerous"


def test_syntax_is_judged_by_the_interpreter_of_the_harness(tmp_path: Path) -> None:
    python = tmp_path / "python"
    python.write_text(
        "#!/bin/sh\ncat > /dev/null\n"
        """echo '[{"parses": false, "compiles": false, "line": 7, "message": "too new",'"""
        """ '"dangers": {}}, {"parses": true, "compiles": false, "line": null, "message": "",'"""
        """ '"dangers": {}}]'\n"""
    )
    python.chmod(0o755)
    said = apply({"a.py": b"X = 1\n"}, SET, python=str(python))
    assert said == Refusal("unparseable", "a.py does not parse: line 7: too new.", 0)
    said = apply({"a.py": b"X = 1\n"}, SET, python="/nowhere/python")
    assert said == Refusal("unsupported", "The interpreter /nowhere/python cannot be run.")


@pytest.mark.parametrize(
    ("limits", "message"),
    [
        (ProcessLimits(wall_s=0.05), "Editing takes over 0 s."),
        (
            ProcessLimits(wall_s=10, memory_mb=64),
            "The code is nested too deep, or is too large, to be edited.",
        ),
    ],
)
def test_a_worker_that_hangs_or_dies(
    limits: ProcessLimits, message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(room, "WORKER_LIMITS", limits)
    assert refused(b"X = 1\n", SET) == Refusal("too_large", message)


def test_too_many_edits() -> None:
    assert refused(b"X = 1\n", *[SET] * 201) == Refusal(
        "too_large", "The spec holds 201 edits, over 200."
    )


@in_process()
def test_edits_of_a_file_that_contradict_each_other_end_where_the_last_one_leads() -> None:
    assert changed(b"X = 1\n", SET, {**SET, "code": "3"}) == b"X = 3\n"
    again = apply({"a.py": b"X = 3\n"}, SET, {**SET, "code": "3"})
    assert isinstance(again, Applied)
    assert again.files == {}


@in_process()
def test_repairs_of_successive_specs_compose_in_one_function() -> None:
    before = b"def f(x):\n    return x\n"
    first = {"op": "insert_statements", "target": "f", "code": "x = clean(x)"}
    second = {"op": "replace_expression", "target": "f", "anchor": "x", "code": "g(x)", "number": 2}
    middle = changed(before, first)
    assert middle == b"def f(x):\n    x = clean(x)\n    return x\n"
    after = changed(middle, second)
    assert after == b"def f(x):\n    x = clean(x)\n    return g(x)\n"
    assert apply({"a.py": after}, first) == Applied({}, [False])


@pytest.mark.parametrize(
    ("file", "before", "code", "danger"),
    [
        ("a.j2", "{{ x }}\n", "{{ x.__class__.__mro__ }}", "__mro__"),
        ("a.j2", "{{ x }}\n", "{{ x|attr('a' ~ 'b') }}", "the filter attr"),
        ("prompt.txt", "{{ x }}\n", "{{ ''.__class__ }}", "__class__"),
        (
            "a.yaml",
            "a: {{ x }}\n",
            "!!python/object/apply:os.system ['x']",
            "!!python/object/apply",
        ),
        ("run.sh", "echo {{ x }}\n", "$(id)", PROGRAM),
        ("tool", "#!/bin/sh\necho {{ x }}\n", "$(id)", PROGRAM),
    ],
)
@in_process()
def test_files_of_other_kinds_bring_no_dangers(
    file: str, before: str, code: str, danger: str
) -> None:
    edit = {"op": "edit_text", "file": file, "anchor": "{{ x }}", "code": code}
    spec = ModificationSpec.model_validate(
        {"title": "t", "pattern": "p", "layer": "procedural-skill", "hypothesis": "h"}
        | {"origin": "test", "edits": [edit]}
    )
    rules = {"editable": ["**"], "protected": [], "python": sys.executable}
    read = {file: before.encode()}.get
    refused = apply_spec(spec, read, **rules)  # type: ignore[arg-type]
    assert isinstance(refused, Refusal)
    assert (refused.kind, refused.edit) == ("dangerous", 0)
    assert json.dumps(danger) in refused.message
    allow = ["__class__", "__mro__", danger]
    allowed = apply_spec(spec, read, allow=allow, **rules)  # type: ignore[arg-type]
    assert isinstance(allowed, Applied)
    assert allowed.files == {file: before.replace("{{ x }}", code).encode()}
