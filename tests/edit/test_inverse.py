"""What undoes an edit: the very bytes of before."""

from typing import Any

import pytest

from bot.edit.documents import open_python
from bot.edit.inverse import undo
from bot.edit.schema import read_fields
from bot.records import Edit
from tests.edit.making import edit_bytes


def undone(source: str, edit: dict[str, Any]) -> list[dict[str, Any]]:
    """The undoing edits; they are made, and must lead back."""
    whole = Edit(file="a.py", **edit)
    fields = {"op": whole.op} | read_fields(whole.op, whole).model_dump()
    content = source.encode()
    changed = edit_bytes(content, edit)
    assert changed != content
    undoing = undo(open_python("a.py", content), open_python("a.py", changed), fields)
    without_file = [{k: v for k, v in one.items() if k != "file"} for one in undoing]
    assert edit_bytes(changed, *without_file) == content
    return undoing


@pytest.mark.parametrize(
    ("source", "edit", "ops"),
    [
        ("X = [\n    1,  # one\n]\n", {"op": "append_to", "target": "X", "code": "2"},
         ["remove_from"]),
        ("f([1], k={})\n", {"op": "append_to", "anchor": "{}", "code": "'a': 1"},
         ["replace_expression"]),
        ("X = [1, 2]\n", {"op": "remove_from", "target": "X", "code": "2"}, ["append_to"]),
        ("X = [1, 2]\n", {"op": "remove_from", "target": "X", "code": "1"},
         ["replace_expression"]),
        ("X = {'a': 1}\n", {"op": "remove_from", "target": "X", "code": "'a'"},
         ["replace_expression"]),
        ("def f(a: int = 0x1): pass\n",
         {"op": "set_default", "target": "f", "parameter": "a", "code": "2"}, ["set_default"]),
        ("def f(a):\n    return a\n",
         {"op": "set_default", "target": "f", "parameter": "a", "code": "2"},
         ["replace_statements"]),
        ("x = f(\n    1,\n)\n",
         {"op": "set_argument", "anchor": "f", "keyword": "k", "code": "2"},
         ["replace_expression"]),
        ("x = f(1)\nx = f(2)\n", {"op": "wrap_call", "anchor": "f(1)", "code": "g(lambda: ...)"},
         ["replace_expression"]),
        ("def f(): return g\nf()\n", {"op": "rename", "target": "f", "to": "h"}, ["rename"]),
    ],
)  # fmt: skip
def test_what_undoes_it(source: str, edit: dict[str, Any], ops: list[str]) -> None:
    assert [one["op"] for one in undone(source, edit)] == ops
    assert [one["op"] for one in undone(source.replace("\n", "\r\n"), edit)] == ops
