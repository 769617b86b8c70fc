"""What holds for every edit of a text, over generated documents."""

import itertools
import json
import re
import tomllib
from collections.abc import Iterator
from typing import Any

import jinja2
import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from bot.edit.refusal import Refused
from tests.edit.making import edit_bytes, edit_code

WORDS = st.sampled_from(["alpha", "beta", "gamma", "delta", "one two", "x: y", "# no", "'q'", "-"])
NAMES = st.sampled_from(["a", "b", "c", "d", "e"])
VALUES = st.recursive(
    st.one_of(WORDS, st.integers(0, 99), st.booleans(), st.just("one\ntwo\n")),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(NAMES, inner, max_size=3)),
    max_leaves=8,
)
DATA = st.dictionaries(NAMES, VALUES, min_size=1, max_size=4)
# Whatever may stand in the code of an edit, well-formed or not.
PIECES = st.one_of(
    st.sampled_from(
        ['"zz": 1,', '"a": 1,', '}, "zz": {', "], [", "2,", "zz: 1", "  zz: 1", "- zz", "  - zz",
         "zz = 1", "[zz]", "  two"]
    ),
    st.lists(
        st.sampled_from(
            ["a", "b", "1", '"', "'", ":", ": ", "- ", "[", "]", "{", "}", ",", "\n", "\n  ", "|",
             ">", "#", " = ", "[t]\n", "[[b]]\n", '"""', "---\n", "&a ", "*a", "?"]
        ),
        min_size=1,
        max_size=5,
    ).map("".join).filter(str.strip),
)  # fmt: skip


def as_toml(data: dict[str, Any], path: tuple[str, ...] = ()) -> Iterator[str]:
    """Lines of a table: its values, then the tables and arrays of tables in it."""
    inner = {}
    for name, value in data.items():
        tables = isinstance(value, list) and value and all(isinstance(v, dict) for v in value)
        if isinstance(value, dict) or tables:
            inner[name] = value
        elif isinstance(value, str) and "\n" in value:
            yield f'{name} = """\n{value}"""'
        else:
            yield f"{name} = {inline(value)}"
    for name, value in inner.items():
        where = ".".join((*path, name))
        for table in [value] if isinstance(value, dict) else value:
            yield f"[{where}]" if table is value else f"[[{where}]]"
            yield from as_toml(table, (*path, name))


def inline(value: Any) -> str:
    if isinstance(value, dict):
        return "{" + ", ".join(f"{name} = {inline(v)}" for name, v in value.items()) + "}"
    if isinstance(value, list):
        return "[" + "".join(f"\n  {inline(v)}," for v in value) + "]"
    return json.dumps(value)


def written(file: str, data: dict[str, Any], style: bool) -> str:
    if file == "a.json":
        return json.dumps(data, indent=2 if style else None)
    if file == "a.toml":
        return "\n".join(as_toml(data)) + "\n"
    return str(yaml.safe_dump(data, default_flow_style=style or None, width=1000))


def read(file: str, text: str) -> Any:
    return {"a.json": json.loads, "a.toml": tomllib.loads, "a.yaml": yaml.safe_load}[file](text)


def holds(new: Any, old: Any) -> bool:
    """Whether all that `old` holds is held by `new`, at the same keys and in the same order."""
    if isinstance(old, dict):
        return isinstance(new, dict) and all(
            key in new and holds(new[key], value) for key, value in old.items()
        )
    if isinstance(old, list):
        rest = iter(new if isinstance(new, list) else [])
        return all(any(holds(item, value) for item in rest) for value in old)
    if isinstance(old, str) and "\n" in old and isinstance(new, str):
        # A line that is put into a text of several lines is one that was asked for.
        return holds(new.split(), old.split())
    return bool(new == old) or old is None


@pytest.mark.parametrize("file", ["a.json", "a.toml", "a.yaml"])
@given(data=DATA, style=st.booleans(), code=PIECES, where=st.integers(0, 99))
@settings(max_examples=150, deadline=None)
def test_what_is_inserted_takes_nothing_away(
    file: str, data: dict[str, Any], style: bool, code: str, where: int
) -> None:
    before = written(file, data, style)
    assert read(file, before) == data
    lines = before.splitlines()
    edit = {"op": "edit_text", "place": "before", "anchor": lines[where % len(lines)], "code": code}
    if not edit["anchor"].strip():
        edit |= {"place": "end", "anchor": ""}
    try:
        after = edit_code(before, edit, file=file)
    except Refused:
        return
    try:
        new = read(file, after)
    except (yaml.constructor.ConstructorError, ValueError):
        assert file == "a.yaml"  # an unknown tag, or a key that is a mapping: well-formed
        return
    assert holds(new, data), after


@pytest.mark.parametrize("file", ["a.json", "a.toml", "a.yaml"])
@given(data=DATA, style=st.booleans(), value=WORDS | st.integers(100, 999))
@settings(max_examples=60, deadline=None)
def test_a_value_is_replaced_alone(
    file: str, data: dict[str, Any], style: bool, value: Any
) -> None:
    before = written(file, data | {"key": "the old value"}, style)
    anchor = '"the old value"' if file != "a.yaml" else "the old value"
    edit = {"op": "edit_text", "anchor": anchor, "code": json.dumps(value)}
    assert read(file, edit_code(before, edit, file=file)) == data | {"key": value}


BLOCKS = st.recursive(
    st.sampled_from(
        ["<N>", '{{ "<N>" }}', "{# <N> #}", "{%- set q = 1 -%}", "<N>{{- '<N>'\n| upper }}"]
    ),
    lambda inner: st.one_of(
        st.lists(inner, min_size=1, max_size=3).map("\n".join),
        inner.map(lambda body: "{% if a %}\n" + body + "\n{%- endif %}"),
        st.tuples(inner, inner).map(
            lambda b: "{% if b -%}\n" + "{% else %}".join(b) + "{% endif %}"
        ),
        inner.map(lambda body: "{% for i in [1, 2] %}\n" + body + "\n{% endfor %}"),
    ),
    max_leaves=6,
)
TAGS = st.lists(
    st.sampled_from(
        ["{% if a %}", "{% endif %}", "{% else %}", "{% elif b %}", "{#", "#}", "{{", "}}", "x",
         "\n", "{% for i in [1] %}", "{% endfor %}", "{% raw %}", "{% endraw %}", "{% set q = 2 %}"]
    ),
    min_size=1,
    max_size=5,
).map("".join).filter(str.strip)  # fmt: skip


@given(template=BLOCKS, code=TAGS, where=st.integers(0, 99))
@settings(max_examples=300, deadline=None)
def test_what_is_inserted_in_a_template_takes_nothing_away(
    template: str, code: str, where: int
) -> None:
    count = itertools.count(1)
    before = re.sub("N", lambda match: str(next(count)), template)
    lines = [line for line in before.split("\n") if before.count(line) == 1]
    edit = {"op": "edit_text", "place": "end", "code": code}
    if lines:
        edit |= {"place": "before", "anchor": lines[where % len(lines)]}
    try:
        after = edit_code(before, edit, file="a.j2")
    except Refused:
        return
    for a, b in itertools.product([True, False], repeat=2):
        new, old = (
            re.findall(r"<\d+>", jinja2.Environment().from_string(text).render(a=a, b=b))
            for text in (after, before)
        )
        assert holds(new, old), after


TEXT = st.lists(
    st.sampled_from(
        [b"a", b"b c", b"\t", b" ", b"\xff", b"\xc3\xa9", b"\n", b"\r\n", b"\r", b"\x0c"]
    )
).map(b"".join)


@given(start=TEXT, stop=TEXT, code=st.sampled_from(["x", "x\ny", "\tx \r\ny", "é"]))
@settings(max_examples=200, deadline=None)
def test_bytes_outside_stay(start: bytes, stop: bytes, code: str) -> None:
    start = b"\xef\xbb\xbf" + start if len(start) % 2 else start
    edit = {"op": "edit_text", "anchor": "The one", "code": code}
    after = edit_bytes(start + b"The one" + stop, edit, file="a.txt")
    assert after.startswith(start)
    assert after.endswith(stop)
    made = after[len(start) : len(after) - len(stop)].decode()
    assert made.splitlines() == code.splitlines()
    ends = {b"\r\n" if b"\r\n" in part else b"\r" for part in re.findall(b"\r\n?", after)}
    assert b"\r" in start + stop or not ends
