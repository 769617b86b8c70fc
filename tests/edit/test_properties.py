"""What holds for every edit, over generated modules and over real code."""

import ast
import random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bot.edit.refusal import Refused
from tests.edit.making import edit_bytes
from tests.edit.random_edits import check, functions, library_files, trials

NAMES = st.sampled_from(["a", "b", "run", "x1"])
EXPRESSIONS = st.recursive(
    st.sampled_from(["a", "b.c", "1", "0x10", "'t'", '"""m"""', "f'{a}'", "None"]),
    lambda inner: st.one_of(
        st.tuples(inner, st.sampled_from([" + ", "*", " and ", " if a else ", " < "]), inner).map(
            "".join
        ),
        inner.map(lambda e: f"({e})"),
        inner.map(lambda e: f"f({e}, k = {e})"),
        inner.map(lambda e: f"[{e},]"),
        inner.map(lambda e: f"not {e}"),
    ),
    max_leaves=4,
)
SIMPLE = st.one_of(
    EXPRESSIONS,
    st.tuples(NAMES, EXPRESSIONS).map(" = ".join),
    st.sampled_from(["pass", "import os", "del a", "a: int", "assert a  # sure"]),
)


def indent(code: str, unit: str) -> str:
    return "\n".join(unit + line if line else line for line in code.split("\n"))


def bodies(inner: st.SearchStrategy[str], unit: str) -> st.SearchStrategy[str]:
    lines = st.lists(inner, min_size=1, max_size=3).map("\n".join)
    blocks = lines.map(lambda code: indent(code, unit))
    return st.one_of(
        blocks.map(lambda b: f"if a:  # when\n{b}"),
        st.tuples(blocks, blocks).map(lambda b: f"for a in b:\n{b[0]}\nelse:\n\n{b[1]}"),
        st.tuples(NAMES, blocks).map(lambda b: f"\n# about\n@a\ndef {b[0]}(a, b=1):\n{b[1]}\n"),
        st.tuples(NAMES, blocks).map(lambda b: f'class {b[0]}:\n{unit}"""Doc."""\n{b[1]}'),
        st.tuples(SIMPLE, SIMPLE).map(lambda b: f"if a: {b[0].split('#')[0]}; {b[1]}"),
        st.tuples(SIMPLE, SIMPLE).map(lambda b: f"{b[0].split('#')[0]}; {b[1]}"),
    )


@st.composite
def modules(draw: st.DrawFn) -> bytes:
    unit = draw(st.sampled_from(["    ", "  ", "\t"]))
    statement = st.recursive(SIMPLE, lambda inner: bodies(inner, unit), max_leaves=5)
    parts = draw(st.lists(statement, max_size=4))
    head = draw(st.sampled_from(["", '"""Doc."""\n', "#!x\n# l\n\n", "'''D'''; a = 1\n"]))
    text = head + "\n".join(parts) + draw(st.sampled_from(["", "\n", "\n\n# end\n", "\n\x0c\n"]))
    text = text.replace("\n", draw(st.sampled_from(["\n", "\r\n", "\r"])))
    mark = draw(st.sampled_from([b"", b"\xef\xbb\xbf"]))
    return mark + text.encode()


OPERATIONS = [
    *("insert_statements", "replace_statements", "replace_expression", "set_constant"),
    *("replace_function_body", "replace_function", "add_function", "add_import"),
    *("set_default", "set_argument", "wrap_call", "append_to", "remove_from"),
]
ON_EXPRESSIONS = ("replace_expression", *OPERATIONS[-4:])
WRAPPERS = st.sampled_from(["a", "f(...)", "f(lambda: ...)", "... or a", "f'{...}'", "[..., 1]"])
ITEMS = st.one_of(EXPRESSIONS, EXPRESSIONS.map(lambda e: f"'k': {e}"), st.just("*a"))


def edits_of(content: bytes) -> st.SearchStrategy[dict[str, Any]]:
    """Edits whose targets and anchors mostly stand in the module."""
    text = content.decode("utf-8-sig").replace("\r\n", "\n").replace("\r", "\n")
    nodes = list(ast.walk(ast.parse(text)))
    segments = {
        kind: [
            ast.get_source_segment(text, node) or "a" for node in nodes if isinstance(node, kind)
        ]
        for kind in (ast.stmt, ast.expr)
    }
    targets = [name for name, _ in functions(ast.parse(text))]
    names = [node.id for node in nodes if isinstance(node, ast.Name)]
    number = st.sampled_from([None, None, None, 1, 2])

    @st.composite
    def draw_edit(draw: st.DrawFn) -> dict[str, Any]:
        op = draw(st.sampled_from(OPERATIONS))
        is_expression = op in (*ON_EXPRESSIONS, "set_constant", "set_default")
        lines = st.lists(SIMPLE, min_size=1, max_size=3).map("\n".join)
        code = draw(EXPRESSIONS if is_expression else lines)
        targeted = op.startswith(("replace_function", "set_default"))
        target = draw(st.sampled_from([*targets, *([] if targets and targeted else [""])]))
        anchors = segments[ast.expr if is_expression else ast.stmt] or ["a"]
        if op == "set_constant":
            target = draw(st.sampled_from(names or ["a"]))
        elif op in ("replace_function", "add_function"):
            named = target.rpartition(".")[2] if op == "replace_function" else "new"
            code = f"def {named or 'new'}(a, b=1):\n{indent(code, '  ')}"
        elif op == "add_import":
            code = draw(st.sampled_from(["import os", "from a import b as c", "import run.x"]))
        elif op == "wrap_call":
            code = draw(WRAPPERS)
        elif op in ("append_to", "remove_from"):
            code = draw(ITEMS)
        return {
            "op": op,
            "target": target,
            "anchor": draw(st.sampled_from(anchors)),
            "code": code,
            "parameter": draw(st.sampled_from(["a", "b"])),
            "keyword": draw(st.sampled_from(["k", "n"])),
            "place": draw(st.sampled_from(["start", "end", "before", "after"])),
            "number": draw(number),
            "target_number": draw(number),
        }

    return draw_edit()


def attempt(content: bytes, *wanted: dict[str, Any]) -> bytes | None:
    try:
        return edit_bytes(content, *wanted)
    except Refused:
        return None


def parses(content: bytes) -> bool:
    try:
        ast.parse(content)
    except SyntaxError:
        return False
    return True


@settings(deadline=None, max_examples=150)
@given(st.data())
def test_an_edit_of_any_module(data: st.DataObject) -> None:
    content = data.draw(modules().filter(parses))
    wanted = data.draw(st.lists(edits_of(content), min_size=1, max_size=2))
    result = attempt(content, *wanted)
    if result is None:
        return
    # The result is code, in the file's own line ends, with its mark and its end. An f-string in
    # an f-string is none before Python 3.12; the harness's interpreter refuses it.
    if not parses(result):
        assert b"f'" in content, result
        assert any("f'" in edit["code"] for edit in wanted), result
        return
    assert attempt(result, *wanted) in (None, result)
    assert result.startswith(b"\xef\xbb\xbf") == content.startswith(b"\xef\xbb\xbf")
    if content.strip(b"\xef\xbb\xbf"):
        assert result.endswith((b"\n", b"\r")) == content.endswith((b"\n", b"\r"))
    for newline in (b"\n", b"\r\n", b"\r"):
        if set(ends(content)) == {newline}:
            assert set(ends(result)) <= {newline}
    # Lines that the edits do not touch stand as they stood: comments all stay.
    if all(edit["op"].startswith(("insert", "add", "append", "set", "wrap")) for edit in wanted):
        for comment in (b"#!x", b"# l", b"# when", b"# about", b"# end", b"# sure"):
            assert result.count(comment) >= content.count(comment)


def ends(content: bytes) -> list[bytes]:
    return [line[len(line.rstrip(b"\r\n")) :] for line in content.splitlines(True)][:-1]


def try_library(count: int, seed: int, share: float) -> tuple[int, int]:
    chance = random.Random(seed)
    made = refused = 0
    for path in library_files(count, seed, largest=12_000 if share < 1 else 60_000):
        source = path.read_bytes()
        if not parses(source) or b"coding" in source[:200]:
            continue
        for trial in trials(source, chance):
            if chance.random() < share:
                result = check(source, trial)
                made, refused = made + result, refused + (not result)
    return made, refused


def test_edits_of_real_code() -> None:
    made, refused = try_library(count=20, seed=5, share=0.1)
    assert made > 15
    assert refused < made


@pytest.mark.slow
def test_edits_of_more_real_code() -> None:
    made, refused = try_library(count=120, seed=5, share=0.05)
    assert made > 40
    assert refused < made


@pytest.mark.slow
def test_edits_of_much_real_code() -> None:
    made, refused = try_library(count=60, seed=7, share=1)
    assert made > 600
    assert refused < made / 10
