"""A spec on a base that has moved: followed, or refused; never put where it only looks right."""

from typing import Any

import pytest

from bot.edit.moving import Reapplied, reapply_spec
from bot.edit.refusal import Refusal
from bot.records import ModificationSpec
from tests.edit.in_process import in_process
from tests.edit.making import PYTHON, block

BASE = block(
    """
    LIMIT = 3


    def read(text, limit):
        parts = text.split(",")
        if not parts:
            return []
        found = []
        for part in parts:
            found.append(part)
        return found


    def other(text):
        parts = text.split(",")
        return parts
    """
)
FILE = "h/read.py"


def spec_of(*edits: dict[str, Any]) -> ModificationSpec:
    return ModificationSpec.model_validate(
        {
            "title": "T",
            "pattern": "p",
            "layer": "procedural-skill",
            "hypothesis": "h",
            "origin": "test",
            "edits": [{"file": FILE} | edit for edit in edits],
        }
    )


def moved_in_processes(
    now: dict[str, str], *edits: dict[str, Any], base: str = BASE
) -> Reapplied | Refusal:
    old, new = {FILE: base.encode()}, {path: text.encode() for path, text in now.items()}
    return reapply_spec(
        spec_of(*edits),
        old.get,
        new.get,
        editable=["**"],
        protected=[],
        python=PYTHON,
        files=new,
    )


@in_process()
def moved(now: dict[str, str], *edits: dict[str, Any], base: str = BASE) -> Reapplied | Refusal:
    return moved_in_processes(now, *edits, base=base)


def code(result: Reapplied | Refusal, path: str = FILE) -> str:
    assert isinstance(result, Reapplied), result
    return result.applied.files[path].decode()


STRIP = {
    "op": "replace_statements",
    "target": "read",
    "anchor": "found.append(part)",
    "code": "found.append(part.strip())",
}


def test_the_same_base_takes_the_same_spec() -> None:
    result = moved_in_processes({FILE: BASE}, STRIP)
    assert isinstance(result, Reapplied)
    assert result.spec == spec_of(STRIP)


def test_renamed_locals_and_parameters() -> None:
    now = BASE.replace("found", "kept").replace("part ", "piece ").replace("(part)", "(piece)")
    assert "kept.append(piece.strip())" in code(moved({FILE: now}, STRIP))


def test_a_renamed_function_in_another_order() -> None:
    constant, read, other = BASE.split("\n\n\n")
    now = "\n\n\n".join([constant, other.strip("\n"), read.replace("def read(", "def cut(") + "\n"])
    assert "found.append(part.strip())" in code(moved({FILE: now}, STRIP))


def test_a_function_that_moved_to_another_file() -> None:
    rest = "from h.parts import read\n\n\ndef other(text):\n    return []\n"
    now = {FILE: rest, "h/parts.py": BASE, "h/z.py": "x = 1\n"}
    result = moved_in_processes(now, STRIP)
    assert "found.append(part.strip())" in code(result, "h/parts.py")


def test_an_import_goes_along_with_the_code_that_needs_it() -> None:
    rest = "from h.parts import read\n\n\ndef other(text):\n    return []\n"
    needs = STRIP | {"code": "found.append(json.loads(part))"}
    result = moved(
        {FILE: rest, "h/parts.py": BASE}, {"op": "add_import", "code": "import json"}, needs
    )
    assert code(result, "h/parts.py").startswith("import json\n")
    assert isinstance(result, Reapplied)
    assert list(result.applied.files) == ["h/parts.py"]


def test_the_anchor_is_followed_among_others_like_it() -> None:
    now = BASE.replace(
        "        return []\n",
        "        found = []\n        found.append(part)\n        return found\n",
    ).replace("    found = []\n    for", "    found = []\n    text = text\n    for")
    changed = code(moved({FILE: now}, STRIP))
    assert changed.count("found.append(part)\n") == 1
    assert changed.index("found.append(part)\n") < changed.index("found.append(part.strip())")


def test_a_value_that_was_changed_meanwhile_is_not_overwritten() -> None:
    edit = {"op": "set_constant", "target": "LIMIT", "code": "5"}
    result = moved({FILE: BASE.replace("LIMIT = 3", "LIMIT = 4")}, edit)
    assert isinstance(result, Refusal)
    assert (result.kind, result.edit) == ("conflict", 0)
    renamed = BASE.replace("LIMIT", "MOST")
    assert code(moved({FILE: renamed}, edit)).startswith("MOST = 5\n")


CALLING = block(
    """
    TOOLS = ["a"]


    def ask(question, limit=3):
        options = {"a": 1}
        first = client.get(question)
        second = client.get(limit)
        return use(first, second, options)
    """
)
MOVED = block(
    """
    TOOLS = ["a", "c"]
    MORE = ["b"]


    def ask(text, most=3):
        client.get(0)
        choices = {"a": 1, "c": 3}
        first = client.get(text)
        second = client.get(most)
        return use(first, second, choices)
    """
)


@pytest.mark.parametrize(
    ("edit", "old", "new"),
    [
        ({"op": "set_argument", "anchor": "client.get", "number": 2, "keyword": "k",
          "code": "limit"}, "get(most)", "get(most, k=most)"),
        ({"op": "set_argument", "anchor": "client.get(question)", "keyword": "k", "code": "1"},
         "get(text)", "get(text, k=1)"),
        ({"op": "wrap_call", "anchor": "client.get", "number": 1, "code": "f(lambda: ..., limit)"},
         "client.get(text)", "f(lambda: client.get(text), most)"),
        ({"op": "append_to", "anchor": "options", "code": "'b': limit"}, '"c": 3',
         "\"c\": 3, 'b': most"),
        ({"op": "append_to", "target": "TOOLS", "code": "'b'"}, '"c"]', "\"c\", 'b']"),
        ({"op": "remove_from", "target": "TOOLS", "code": "'a'"}, '["a", ', "["),
        ({"op": "set_default", "parameter": "limit", "code": "5"}, "most=3", "most=5"),
    ],
)  # fmt: skip
def test_calls_items_and_defaults_are_followed(edit: dict[str, str], old: str, new: str) -> None:
    assert code(moved({FILE: MOVED}, {"target": "ask"} | edit, base=CALLING)) == MOVED.replace(
        old, new, 1
    )


def test_a_default_that_was_changed_meanwhile_is_not_overwritten() -> None:
    edit = {"op": "set_default", "target": "ask", "parameter": "limit", "code": "5"}
    result = moved({FILE: CALLING.replace("limit=3", "limit=4")}, edit, base=CALLING)
    assert isinstance(result, Refusal)
    assert result.message == "limit has another default in the new base already."


BODY = {
    "op": "replace_function_body",
    "target": "read",
    "code": BASE.partition("limit):\n")[2].partition("\n\n")[0].replace("(part)", "(part.strip())"),
}


def test_a_replaced_body_keeps_what_the_new_base_has_changed() -> None:
    now = BASE.replace('    parts = text.split(",")\n    if', '    parts = text.split(";")\n    if')
    changed = code(moved({FILE: now}, BODY))
    assert 'text.split(";")' in changed
    assert "found.append(part.strip())" in changed


def test_a_replaced_body_and_a_new_base_that_change_the_same_statement() -> None:
    now = BASE.replace("found.append(part)", "found.append(part.lower())")
    result = moved({FILE: now}, BODY)
    assert isinstance(result, Refusal)
    assert result.kind == "conflict"
    assert "found.append(part)" in result.message


@pytest.mark.parametrize(
    "now",
    [
        "def other(text):\n    return []\n",
        BASE.replace("        found.append(part)\n", "        yield part\n"),
        BASE.replace("found.append(part)", "found.extend(part)"),
    ],
)
def test_what_is_gone_is_refused(now: str) -> None:
    result = moved({FILE: now}, STRIP)
    assert isinstance(result, Refusal)
    assert result.kind == "not_found"


def test_a_name_that_the_new_file_does_not_know() -> None:
    edit = STRIP | {"code": "found.append(part[:LIMIT])"}
    rest = "from h.parts import read\n\nLIMIT = 3\n"
    alone = BASE.replace("LIMIT = 3\n\n\n", "")
    result = moved({FILE: rest, "h/parts.py": alone}, edit)
    assert isinstance(result, Refusal)
    assert "LIMIT is not known in h/parts.py" in result.message


def test_a_new_name_that_means_something_else_now() -> None:
    edit = STRIP | {"code": "clean = part.strip()\nfound.append(clean)"}
    now = BASE.replace("    found = []\n", "    clean = None\n    found = []\n", 1)
    result = moved({FILE: now}, edit)
    assert isinstance(result, Refusal)
    assert "clean is something else" in result.message


def test_hostile_depth_is_refused() -> None:
    deep = BASE + "x = " + "(" * 5000 + ")" * 5000 + "\n"
    result = moved_in_processes({FILE: deep}, STRIP)
    assert isinstance(result, Refusal)
