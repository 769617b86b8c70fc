"""Random edits of real code, and what must hold of each: for the tests over many files."""

from __future__ import annotations

import ast
import random
import re
import sysconfig
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bot.edit.documents import open_python
from bot.edit.inverse import undo
from bot.edit.refusal import Refused
from bot.edit.schema import read_fields
from bot.records import Edit
from tests.edit.making import edit_bytes
from tests.edit.random_parts import COMMAS, Text, check_part, part_trials

NEW = "probe_value(  'x' )"
_LAYOUT = b" \t\r\n;\\"
BLOCK = "if probe_value():\n    probe_value('a')\nprobe_last = '''1\n2'''"


@dataclass(frozen=True)
class Trial:
    """An edit, and the part of the file (in bytes) that it may touch; None: any one place."""

    edit: dict[str, Any]
    start: int | None = None
    stop: int | None = None


def library_files(count: int, seed: int, largest: int = 60_000) -> list[Path]:
    """Files of the standard library, sampled."""
    library = Path(sysconfig.get_paths()["stdlib"])
    files = [
        path
        for path in sorted(library.rglob("*.py"))
        if "site-packages" not in path.parts and 0 < path.stat().st_size < largest
    ]
    return random.Random(seed).sample(files, min(count, len(files)))


def trials(source: bytes, chance: random.Random) -> Iterator[Trial]:
    """One random edit of each kind that the file has a place for."""
    tree = ast.parse(source)
    lines = _line_starts(source)
    text = source.removeprefix(b"\xef\xbb\xbf")
    found_functions = list(functions(tree))
    yield Trial({"op": "add_import", "code": "import probe_module"})
    if b"__future__ import annotations" not in source:
        yield Trial({"op": "add_import", "code": "from __future__ import annotations"})
    yield Trial({"op": "add_function", "code": "def probe_function(): pass"})
    yield Trial({"op": "insert_statements", "place": "end", "code": BLOCK})
    yield Trial({"op": "insert_statements", "place": "start", "code": BLOCK})
    if not found_functions:
        return
    name, function = chance.choice(found_functions)
    for place in ("start", "end"):
        yield Trial({"op": "insert_statements", "target": name, "place": place, "code": BLOCK})
    yield Trial({"op": "replace_function_body", "target": name, "code": BLOCK})
    yield Trial({"op": "add_function", "target": name, "code": "PROBE = 1\n\n\ndef probe(): pass"})
    statement = chance.choice([n for n in ast.walk(function) if isinstance(n, ast.stmt)])
    anchor = _segment(text, lines, statement)
    if anchor is not None and statement is not function:
        span = _span(lines, statement)
        for op in ("replace_statements", "insert_statements"):
            for code in (NEW, BLOCK):
                edit = {"op": op, "target": name, "anchor": anchor, "code": code}
                if op == "insert_statements":
                    edit["place"] = chance.choice(["before", "after"])
                    yield Trial(edit)
                else:
                    yield Trial(edit, *span)
    found = [n for n in ast.walk(function) if isinstance(n, ast.Call | ast.BinOp | ast.Compare)]
    if found:
        expression = chance.choice(found)
        anchor = _segment(text, lines, expression)
        for code in (NEW, "probe + 1", "[probe_a,\n probe_b]"):
            edit = {"op": "replace_expression", "target": name, "anchor": anchor, "code": code}
            yield Trial(edit, *_span(lines, expression))
    for edit, start, stop in part_trials(Text(text, lines), name, function, tree, chance):
        yield Trial(edit, start, stop)


def check(source: bytes, trial: Trial) -> bool:
    """Make the edit and assert what must hold; whether it was made rather than refused."""
    result, refused = _make(source, trial)
    if result is None:
        known = ("ambiguous", "not_found", "conflict", "unsupported")
        assert refused in (known if _parses(source) else ("unparseable",)), trial
        return False
    assert result != source
    head, tail = _common(source, result)
    removed = source[head : len(source) - tail]
    layout = _LAYOUT + (b",()" if trial.edit["op"] in COMMAS else b"")
    if trial.start is not None and trial.stop is not None:
        # Only what the anchor spans, and white space beside it, may go.
        before = source[head : trial.start]
        after = source[trial.stop : len(source) - _common(source[::-1], result[::-1])[0]]
        assert not before.strip(layout), (before, trial)
        assert not after.strip(layout), (after, trial)
    elif trial.edit["op"] != "replace_function_body" and removed.strip(layout):
        # `def f(): return 1` was opened into a block: only white space changes beside the code.
        first, second = (
            b"".join(re.split(rb"[%s]+" % re.escape(layout), text)) for text in (source, result)
        )
        assert sum(_common(first, second)) == len(first), (removed, trial)
    assert (result[-1:] in b"\r\n") == (source[-1:] in b"\r\n")
    again, _ = _make(result, trial)
    assert again in (None, result), trial
    _check_inverse(source, result, trial)
    _check_meaning(source, result, trial)
    return True


def _check_inverse(source: bytes, result: bytes, trial: Trial) -> None:
    """What is said to undo the edit gives the original bytes."""
    edit = Edit(file="a.py", **trial.edit)
    fields = {"op": edit.op} | read_fields(edit.op, edit).model_dump()
    try:
        undoing = undo(open_python("a.py", source), open_python("a.py", result), fields)
    except Refused:
        return
    said = [{k: v for k, v in one.items() if k != "file" and v is not None} for one in undoing]
    assert edit_bytes(result, *said) == source, (undoing, trial)


def _make(source: bytes, trial: Trial) -> tuple[bytes | None, str]:
    try:
        return edit_bytes(source, trial.edit), ""
    except Refused as refused:
        return None, refused.kind


def _check_meaning(source: bytes, result: bytes, trial: Trial) -> None:
    if _compiles(source) and trial.edit["op"] != "replace_expression":
        assert _compiles(result), trial
    try:
        ast.parse(result)
    except SyntaxError:
        # An f-string takes no quotes of its kind in this interpreter; refused on the whole way.
        assert trial.edit["op"] == "replace_expression", trial
        return
    if trial.edit["op"] == "replace_expression":
        kind = ast.dump(ast.parse(trial.edit["code"], mode="eval").body)
        assert kind in ast.dump(ast.parse(result)), trial
    elif trial.edit["op"] in (*COMMAS, "set_default", "wrap_call"):
        check_part(source, result, trial.edit)


def _parses(source: bytes) -> bool:
    try:
        ast.parse(source)
    except (SyntaxError, ValueError):
        return False
    return True


def _compiles(source: bytes) -> bool:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            compile(source, "code", "exec", dont_inherit=True)
    except (SyntaxError, ValueError):
        return False
    return True


def _common(one: bytes, other: bytes) -> tuple[int, int]:
    """Lengths of the longest common beginning and, of the rest, the longest common end."""
    length = min(len(one), len(other))
    head = next((i for i in range(length) if one[i] != other[i]), length)
    rest = length - head
    tail = next((i for i in range(rest) if one[-1 - i] != other[-1 - i]), rest)
    return head, tail


def functions(tree: ast.AST, prefix: str = "") -> Iterator[tuple[str, ast.AST]]:
    """Dotted names of the functions, and their nodes."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            if not isinstance(node, ast.ClassDef):
                yield prefix + node.name, node
            yield from functions(node, f"{prefix}{node.name}.")


def _line_starts(source: bytes) -> list[int]:
    starts = [3 if source.startswith(b"\xef\xbb\xbf") else 0]
    for line in source[starts[0] :].splitlines(keepends=True):
        starts.append(starts[-1] + len(line))
    return starts


def _span(lines: list[int], node: Any) -> tuple[int, int]:
    first = min([node.lineno, *(d.lineno for d in getattr(node, "decorator_list", []))])
    start = lines[first - 1] + (node.col_offset if first == node.lineno else 0)
    return start, lines[node.end_lineno - 1] + node.end_col_offset


def _segment(text: bytes, lines: list[int], node: Any) -> str | None:
    if getattr(node, "decorator_list", None):
        return None
    return ast.get_source_segment(text.decode("utf-8", "replace"), node, padded=True)
