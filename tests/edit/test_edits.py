"""Every operation, before and after; a second application changes nothing."""

import sys
from textwrap import dedent
from typing import Any

import pytest

from bot.edit.apply import Applied, apply_spec
from bot.edit.refusal import Refusal
from bot.records import Edit, ModificationSpec
from tests.edit.in_process import in_process


def spec(*edits: dict[str, Any]) -> ModificationSpec:
    return ModificationSpec(
        title="t",
        pattern="p",
        layer="procedural-skill",
        hypothesis="h",
        origin="test",
        edits=[Edit.model_validate({"file": "a.py", **edit}) for edit in edits],
    )


def apply_in_processes(before: bytes | str, *edits: dict[str, Any]) -> Applied | Refusal:
    content = before.encode() if isinstance(before, str) else before
    return apply_spec(
        spec(*edits),
        {"a.py": content}.get,
        editable=["*.py"],
        protected=[],
        python=sys.executable,
    )


@in_process()
def apply(before: bytes | str, *edits: dict[str, Any]) -> Applied | Refusal:
    return apply_in_processes(before, *edits)


def after(before: bytes | str, *edits: dict[str, Any]) -> bytes:
    """The file after the edits; asserts that applying them again is no change or a refusal."""
    result = apply(before, *edits)
    assert isinstance(result, Applied), result
    content = result.files.get("a.py", before.encode() if isinstance(before, str) else before)
    again = apply(content, *edits)
    assert isinstance(again, Refusal) or again.files == {}
    return content


def refusal(before: bytes | str, *edits: dict[str, Any]) -> Refusal:
    result = apply(before, *edits)
    assert isinstance(result, Refusal), result
    return result


MODULE = dedent('''\
    """Doc."""

    from __future__ import annotations

    import json
    from pathlib import Path

    LIMIT = 3  # tries


    # Asks.
    @trace
    def ask(text: str) -> str:
        """Ask."""
        first = text.strip()
        if first:
            return first
        return text


    class Shelf:
        size: int = 2

        def put(self, book): return book


    if __name__ == "__main__":
        ask("x")
''')


def test_insert_at_the_start_keeps_the_docstring_first() -> None:
    result = after(
        MODULE, {"op": "insert_statements", "target": "ask", "code": "text = text.lower()"}
    ).decode()
    assert result == MODULE.replace('    """Ask."""\n', '    """Ask."""\n    text = text.lower()\n')


def test_insert_at_the_end_and_around_an_anchor() -> None:
    edit = {"op": "insert_statements", "target": "ask", "code": "log(text)"}
    assert after(MODULE, {**edit, "place": "end"}).decode() == MODULE.replace(
        "    return text\n\n\nclass", "    return text\n    log(text)\n\n\nclass"
    )
    anchored = {**edit, "place": "before", "anchor": "first=text . strip( )  # any spacing"}
    assert after(MODULE, anchored).decode() == MODULE.replace(
        "    first =", "    log(text)\n    first ="
    )
    deep = {**edit, "place": "before", "anchor": "return first"}
    assert after(MODULE, deep).decode() == MODULE.replace(
        "        return first", "        log(text)\n        return first"
    )


def test_a_one_line_body_becomes_a_block() -> None:
    result = after(
        MODULE, {"op": "insert_statements", "target": "Shelf.put", "code": "check(book)"}
    ).decode()
    assert "    def put(self, book):\n        check(book)\n        return book\n" in result


def test_an_ambiguous_or_missing_anchor_is_refused() -> None:
    twice = "def f():\n    x = 1\n    x = 1\n"
    edit = {"op": "insert_statements", "target": "f", "place": "after", "code": "y = 2"}
    said = refusal(twice, {**edit, "anchor": "x = 1"})
    assert (said.kind, said.edit) == ("ambiguous", 0)
    assert "stands 2 times" in said.message
    assert refusal(twice, {**edit, "anchor": "z = 1"}).kind == "not_found"
    assert refusal(twice, {**edit, "anchor": "z ="}).kind == "not_found"
    assert refusal(twice, {**edit, "place": "middle"}).kind == "unsupported"


def test_add_function_stands_before_its_target_with_the_comments_in_place() -> None:
    code = "WORDS = ['a']\n\n\ndef helper(x):\n    return x in WORDS"
    result = after(MODULE, {"op": "add_function", "target": "ask", "code": code}).decode()
    assert result == MODULE.replace("# Asks.", f"{code}\n\n\n# Asks.")


def test_add_function_at_the_end_stays_before_the_main_guard() -> None:
    result = after(MODULE, {"op": "add_function", "code": "def helper():\n    pass"}).decode()
    assert result == MODULE.replace(
        'if __name__ == "__main__":', 'def helper():\n    pass\n\n\nif __name__ == "__main__":'
    )


def test_add_function_with_another_body_is_a_conflict() -> None:
    said = refusal(MODULE, {"op": "add_function", "code": "def ask():\n    pass"})
    assert said.kind == "conflict"
    assert "ask exists in this file already" in said.message
    assert refusal(MODULE, {"op": "add_function", "code": "print(1)"}).kind == "unsupported"


@pytest.mark.parametrize(
    ("before", "code", "expected"),
    [
        (MODULE, "import re", MODULE.replace("import json\n", "import json\nimport re\n")),
        (MODULE, "import ast", MODULE.replace("import json\n", "import ast\nimport json\n")),
        (MODULE, "import json", MODULE),
        (
            MODULE,
            "from typing import Any",
            MODULE.replace("import Path\n", "import Path\nfrom typing import Any\n"),
        ),
        ('"""Doc."""; x = 1\n', "import re", '"""Doc."""; x = 1\n\nimport re\n'),
        ("x = 1\n", "import re", "import re\n\nx = 1\n"),
        ("from a import (b, c)\n", "from a import b", "from a import (b, c)\n"),
        ("", "import re", "import re\n"),
    ],
)
def test_add_import(before: str, code: str, expected: str) -> None:
    assert after(before, {"op": "add_import", "code": code}).decode() == expected


def test_add_import_keeps_future_imports_first() -> None:
    result = after(
        '"""Doc."""\nimport re\n',
        {"op": "add_import", "code": "from __future__ import annotations"},
    ).decode()
    assert result.splitlines()[:2] == ['"""Doc."""', "from __future__ import annotations"]


def test_replace_expression_may_wrap_the_anchor() -> None:
    edit = {"op": "replace_expression", "target": "ask", "anchor": "text.strip()"}
    result = after(MODULE, {**edit, "code": "clean(text.strip())"}).decode()
    assert result == MODULE.replace("text.strip()", "clean(text.strip())")
    assert refusal(MODULE, {**edit, "anchor": "text", "code": "x"}).kind == "ambiguous"
    assert refusal(MODULE, {**edit, "anchor": "nothing()", "code": "x"}).kind == "not_found"
    assert refusal(MODULE, {**edit, "anchor": "x +", "code": "x"}).kind == "would_not_compile"


def test_replace_function_body_keeps_all_around_it() -> None:
    edit = {"op": "replace_function_body", "target": "ask", "code": "return text * 2"}
    result = after(MODULE, edit).decode()
    assert '# Asks.\n@trace\ndef ask(text: str) -> str:\n    """Ask."""\n    return text * 2\n' in (
        result
    )
    assert after("async def f(): pass\n", {**edit, "target": "f"}) == (
        b"async def f():\n    return text * 2\n"
    )
    said = refusal(MODULE, {**edit, "target": "aks"})
    assert said.kind == "not_found"
    assert "The nearest names are ask" in said.message


def test_set_constant_in_the_module_and_in_a_class() -> None:
    assert after(MODULE, {"op": "set_constant", "target": "LIMIT", "code": "5"}).decode() == (
        MODULE.replace("LIMIT = 3  # tries", "LIMIT = 5  # tries")
    )
    assert "    size: int = 9\n" in (
        after(MODULE, {"op": "set_constant", "target": "Shelf.size", "code": "9"}).decode()
    )
    assert after(MODULE, {"op": "set_constant", "target": "LIMIT", "code": "3"}).decode() == MODULE
    assert refusal(MODULE, {"op": "set_constant", "target": "NO", "code": "3"}).kind == "not_found"
    twice = "A = 1\nA = 2\n"
    assert refusal(twice, {"op": "set_constant", "target": "A", "code": "3"}).kind == "ambiguous"


def test_overloads_are_ambiguous() -> None:
    before = "@overload\ndef f(x: int): ...\n@overload\ndef f(x: str): ...\ndef f(x): return x\n"
    said = refusal(before, {"op": "replace_function_body", "target": "f", "code": "return 1"})
    assert said.kind == "ambiguous"
    assert "defined 3 times" in said.message


def test_definitions_inside_if_are_found() -> None:
    before = "if x:\n    def f():\n        return 1\n"
    edit = {"op": "replace_function_body", "target": "f", "code": "return 2"}
    assert after(before, edit) == b"if x:\n    def f():\n        return 2\n"


def test_edits_of_one_file_build_on_each_other() -> None:
    result = after(
        MODULE,
        {"op": "add_function", "target": "ask", "code": "def helper(x):\n    return x"},
        {"op": "replace_function_body", "target": "helper", "code": "return [x]"},
    ).decode()
    assert "def helper(x):\n    return [x]\n" in result
