"""A spec that undoes a spec gives the very bytes of before."""

import base64
from contextlib import nullcontext
from typing import Any

import pytest

from bot.edit.apply import Applied, apply_spec
from bot.edit.refusal import Refusal
from bot.edit.schema import read_fields
from bot.edit.undoing import undo_spec
from bot.edit.worker import apply_edits, undo_edits
from bot.records import ModificationSpec
from tests.edit.in_process import in_process
from tests.edit.making import PYTHON

SOURCE = '''"""An agent."""

import json
from os import path, sep

LIMIT = 5  # tries
TOOLS = ["find"]


def ask(order, field="city"):
    # Ask once.
    answer = look_up(order, field)
    for _ in range(LIMIT):
        print( answer )  # shown
        answer = look_up(order, field)
    return answer


class Desk:
    size = 1

    def open(self):
        return ask(self.size)
'''
PROMPT = "# Rules\n\nOne call.\nOne call.\n\nEnd\n"
RULES: dict[str, Any] = {"editable": ["**"], "protected": [], "python": PYTHON}


def spec_of(*edits: dict[str, Any]) -> ModificationSpec:
    return ModificationSpec.model_validate(
        {
            "title": "t",
            "pattern": "p",
            "layer": "procedural-skill",
            "hypothesis": "h",
            "origin": "test",
            "edits": [{"file": "a.py", **edit} for edit in edits],
        }
    )


CASES: dict[str, list[dict[str, Any]]] = {
    "constant": [{"op": "set_constant", "target": "LIMIT", "code": "6"}],
    "insert": [{"op": "insert_statements", "target": "ask", "code": "if order:\n    order = 1"}],
    "append": [{"op": "insert_statements", "place": "end", "code": "print(1)"}],
    "replace": [
        {"op": "replace_statements", "target": "ask", "anchor": "return answer", "code": "return 1"}
    ],
    "one of two": [
        {
            "op": "replace_expression",
            "target": "ask",
            "anchor": "look_up(order, field)",
            "number": 2,
            "code": "look_up(order, field).strip()",
        }
    ],
    "import": [{"op": "add_import", "code": "import re"}],
    "import from": [{"op": "add_import", "code": "from os import linesep"}],
    "function": [{"op": "add_function", "code": "def new():\n    return 1"}],
    "method": [{"op": "add_method", "target": "Desk", "code": "def close(self):\n    pass"}],
    "field": [{"op": "add_field", "target": "Desk", "code": "width = 2"}],
    "rename": [{"op": "rename", "target": "ask", "to": "inquire"}],
    "parameter": [{"op": "add_parameter", "target": "ask", "code": "times=1"}],
    "decorator": [{"op": "add_decorator", "target": "ask", "code": "json.dumps"}],
    "default": [{"op": "set_default", "target": "ask", "parameter": "field", "code": "'name'"}],
    "first default": [{"op": "set_default", "target": "ask", "parameter": "order", "code": "0"}],
    "argument": [
        {"op": "set_argument", "target": "ask", "anchor": "print", "keyword": "end", "code": "''"}
    ],
    "call": [
        {"op": "wrap_call", "target": "Desk", "anchor": "ask", "code": "str(lambda: ...)"},
        {"op": "wrap_call", "target": "ask", "anchor": "look_up", "code": "str", "number": 2},
    ],
    "item": [{"op": "append_to", "target": "TOOLS", "code": "'look'"}],
    "last item": [{"op": "remove_from", "target": "TOOLS", "code": "'find'"}],
    "several": [
        {"op": "set_constant", "target": "LIMIT", "code": "6"},
        {"op": "insert_statements", "target": "ask", "place": "end", "code": "print(2)"},
        {"op": "set_constant", "target": "LIMIT", "code": "7"},
    ],
    "text": [{"op": "edit_text", "file": "p.md", "anchor": "End", "code": "Fin"}],
    "text before": [
        {"op": "edit_text", "file": "p.md", "place": "before", "anchor": "End", "code": "Two"}
    ],
    "text twice": [
        {
            "op": "edit_text",
            "file": "p.md",
            "place": "replace",
            "anchor": "One call.",
            "code": "Two.",
            "number": 2,
        }
    ],
    "two files": [
        {"op": "edit_text", "file": "p.md", "place": "end", "code": "More"},
        {"op": "set_constant", "target": "LIMIT", "code": "6"},
    ],
}


def in_bytes(newline: str) -> dict[str, bytes]:
    texts = {"a.py": SOURCE, "p.md": PROMPT}
    return {path: text.replace("\n", newline).encode() for path, text in texts.items()}


def edited(files: dict[str, bytes], edits: list[dict[str, Any]]) -> dict[str, bytes]:
    answer = apply_edits(files, edits)
    assert not answer.get("unread", answer), answer
    return files | {path: base64.b64decode(text) for path, text in answer["files"].items()}


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
@pytest.mark.parametrize("name", CASES)
def test_the_bytes_of_before(name: str, newline: str) -> None:
    files = in_bytes(newline)
    edits = [
        {"op": edit.op} | read_fields(edit.op, edit).model_dump()
        for edit in spec_of(*CASES[name]).edits
    ]
    after = edited(files, edits)
    assert after != files
    answer = undo_edits(files, edits)
    assert "edits" in answer, answer
    assert edited(after, answer["edits"]) == files


@pytest.mark.parametrize("name", ["several", "two files"])
def test_a_spec_that_undoes_a_spec(name: str) -> None:
    spec, files = spec_of(*CASES[name]), in_bytes("\n")
    with in_process() if name == "several" else nullcontext():
        applied = apply_spec(spec, files.get, **RULES)
        assert isinstance(applied, Applied), applied
        undoing = undo_spec(spec, applied, files.get, **RULES)
        assert isinstance(undoing, ModificationSpec), undoing
        undone = apply_spec(undoing, {**files, **applied.files}.get, **RULES)
    assert isinstance(undone, Applied), undone
    assert {**files, **applied.files, **undone.files} == files


@in_process()
def not_undone(source: str, edit: dict[str, Any]) -> Refusal:
    spec, files = spec_of(edit), {"a.py": source.encode()}
    applied = apply_spec(spec, files.get, **RULES)
    assert isinstance(applied, Applied), applied
    undoing = undo_spec(spec, applied, files.get, **RULES)
    assert isinstance(undoing, Refusal)
    return undoing


def test_nothing_to_undo() -> None:
    undoing = not_undone(SOURCE, {"op": "set_constant", "target": "LIMIT", "code": "5"})
    assert (undoing.kind, undoing.edit) == ("unsupported", -1)


def test_what_has_no_inverse() -> None:
    # The line is opened into a block, which no operation closes again.
    source = "def f(): x = 1; y = 2 ; z = 3\n"
    edit = {"op": "replace_statements", "anchor": "y = 2", "code": "if x:\n    y = 3"}
    undoing = not_undone(source, {"target": "f", **edit})
    assert (undoing.kind, undoing.edit) == ("unsupported", 0)


def test_a_danger_that_was_taken_out_is_not_brought_back() -> None:
    edit = {"op": "set_constant", "target": "X", "code": "1"}
    undoing = not_undone("X = eval('1')\n", edit)
    assert undoing.kind == "unsupported"
    assert 'allow = ["eval"]' in undoing.message
