"""Text files of known formats: they stay well-formed, and what is outside keeps its meaning."""

import pytest

from tests.edit.making import block, edit_code, refusal

YAML = block("""
    name: a
    args:
      x: 1
      y: 2
    prompt: |
      Be brief.
      Be kind.
    last: [1, 2]
    steps:
    - do: p
      then: q
    - do: r
      then: s
""")
JSON = '{"a": {"b": 1,\n  "c": 2},\n "d": [], "e": [3]}\n'
LINES = '{"id": 1}\n\n{"id": 2}\n'
TOML = block('''
    x = 1
    [a]
    y = [
      1,
    ]
    z = """
    [q]
    """
    [[p]]
    n = 1
    [p.q]
    m = 2
''')
JINJA = block("""
    Hello {{ name }}
    {% if a %}
    A {{ a
       | upper
       | trim }}
    {% else %}
    B
    {% endif %}
    {# c #}
    The end
""")
MARKDOWN = block("""
    ---
    title: x
    tags: [a]
    ---
    # H
    ```py
    x
    ```
    text
    <!-- c
    d -->
    - one
      ~~~
      two
      ~~~
""")
FILES = {
    "a.yaml": YAML,
    "a.json": JSON,
    "a.jsonl": LINES,
    "a.toml": TOML,
    "p.md.j2": JINJA,
    "a.md": MARKDOWN,
}


def replace(anchor: str, code: str) -> dict[str, object]:
    return {"op": "edit_text", "anchor": anchor, "code": code}


def insert(place: str, anchor: str, code: str) -> dict[str, object]:
    return {"op": "edit_text", "place": place, "anchor": anchor, "code": code}


@pytest.mark.parametrize(
    ("file", "edit", "after"),
    [
        ("a.yaml", replace("x: 1", "x: 5"), ("x: 1", "x: 5")),
        ("a.yaml", replace("args:", "arguments:"), ("args:", "arguments:")),
        ("a.yaml", replace("args:", "args: &base"), ("args:", "args: &base")),
        ("a.yaml", replace("1, 2", "1, 2, 3"), ("1, 2", "1, 2, 3")),
        ("a.yaml", replace("name: a", "name: |\n  a\n  b"), ("name: a", "name: |\n  a\n  b")),
        ("a.yaml", replace("prompt: |", "prompt: >"), ("prompt: |", "prompt: >")),
        ("a.yaml", insert("after", "x: 1", "  w: 1"), ("x: 1\n", "x: 1\n  w: 1\n")),
        ("a.yaml", insert("before", "x: 1", "  w: 1"), ("  x: 1\n", "  w: 1\n  x: 1\n")),
        ("a.yaml", insert("after", "kind", "  Be right."), ("kind.\n", "kind.\n  Be right.\n")),
        ("a.yaml", insert("before", "brief", "  Be."), ("  Be brief", "  Be.\n  Be brief")),
        ("a.yaml", insert("before", "- do: r", "- do: t"), ("- do: r", "- do: t\n- do: r")),
        ("a.yaml", insert("after", "name", "# note"), ("name: a\n", "name: a\n# note\n")),
        ("a.json", replace("1,", '1, "x": [{}],'), ("1,", '1, "x": [{}],')),
        ("a.json", replace("[]", "[4]"), ("[]", "[4]")),
        ("a.json", replace("3", "3, 4"), ("3", "3, 4")),
        ("a.json", replace('"a"', '"z"'), ('"a"', '"z"')),
        ("a.jsonl", insert("after", '{"id": 1}', '{"id": 3}'), ("1}\n", '1}\n{"id": 3}\n')),
        ("a.toml", replace("  1,\n", "  1,\n  2,\n"), ("  1,\n", "  1,\n  2,\n")),
        ("a.toml", replace("[q]", "[r]"), ("[q]", "[r]")),
        ("a.toml", replace("[a]", "[b]"), ("[a]", "[b]")),
        ("a.toml", insert("before", "[[p]]", "[t]\nu = 1"), ("[[p]]", "[t]\nu = 1\n[[p]]")),
        ("a.toml", insert("before", "[p.q]", "k = 3"), ("[p.q]", "k = 3\n[p.q]")),
        ("a.toml", replace("m = 2", "m = 2\n\n[[p]]\nn = 2"), ("m = 2", "m = 2\n\n[[p]]\nn = 2")),
        ("p.md.j2", replace("if a", "if a and b"), ("if a", "if a and b")),
        ("p.md.j2", insert("before", "B\n", "{{ b }}"), ("B\n", "{{ b }}\nB\n")),
        ("p.md.j2", insert("start", "", "{% set b = 1 %}"),
         ("Hello", "{% set b = 1 %}\nHello")),
        ("p.md.j2", insert("after", "upper", "   | title"), ("upper\n", "upper\n   | title\n")),
        ("p.md.j2", insert("before", "{% else", "{% elif b %}\nX"),
         ("{% else", "{% elif b %}\nX\n{% else")),
        ("p.md.j2", replace("The end", "{% raw %}\n{{ x }}\n{% endraw %}"),
         ("The end", "{% raw %}\n{{ x }}\n{% endraw %}")),
        ("a.md", insert("after", "# H", "```sh\ny\n```"), ("# H\n", "# H\n```sh\ny\n```\n")),
        ("a.md", replace("```py", "```python"), ("```py", "```python")),
        ("a.md", replace("title: x", "title: 'x: y'"), ("title: x", "title: 'x: y'")),
        ("a.md", insert("after", "title", "by: z"), ("title: x\n", "title: x\nby: z\n")),
        ("a.md", insert("after", "text", "Use `<!--`."), ("text\n", "text\nUse `<!--`.\n")),
    ],
)  # fmt: skip
def test_what_keeps_the_rest_is_made(
    file: str, edit: dict[str, object], after: tuple[str, str]
) -> None:
    assert FILES[file].count(after[0]) == 1
    assert edit_code(FILES[file], edit, file=file) == FILES[file].replace(*after)


@pytest.mark.parametrize(
    ("file", "edit", "message"),
    [
        ("a.yaml", insert("after", "x: 1", "w: 1"),
         "YAML: line 5: mapping values are not allowed in this context."),
        ("a.yaml", replace("1, 2]", "1, 2"), "YAML: line 9: did not find expected ',' or ']'."),
        ("a.yaml", insert("end", "", "b: *x"), "YAML: line 14: found undefined alias 'x'."),
        ("a.yaml", replace("name: a", "name:\ta: b"),
         "YAML: line 1: mapping values are not allowed in this context."),
        ("a.json", replace("1,", "1"), "JSON: line 2: Expecting ',' delimiter."),
        ("a.json", replace("[]", "[// none\n]"), "JSON: line 3: Expecting value."),
        ("a.jsonl", replace('{"id": 2}', '{"id":\n2}'), "JSON Lines: line 3: Expecting value."),
        ("a.toml", insert("before", "[p.q]", "n = 3"), "TOML: line 11: Cannot overwrite a value."),
        ("a.toml", insert("end", "", "[ a ]"),
         "TOML: line 13: Cannot declare ('a',) twice."),
        ("p.md.j2", replace("{% endif %}", "{% end %}"), "Jinja: line 8: Encountered unknown tag "
         "'end'. Jinja was looking for the following tags: 'endif'. The innermost block that needs "
         "to be closed is 'if'."),
        ("p.md.j2", replace("{{ name }}", "{{ name }"), "Jinja: line 1: unexpected '}'."),
        ("a.md", replace("title: x", "title: x: y"),
         "Markdown: line 2: mapping values are not allowed in this context."),
        ("a.md", replace("tags: [a]\n---", "tags: [a]"),
         "Markdown: line 1: the front matter that begins here has no end."),
        ("a.md", insert("end", "", "````\nz"),
         "Markdown: line 16: the code fence that begins here has no end."),
        ("a.md", insert("end", "", "<!-- z"),
         "Markdown: line 16: the comment that begins here has no end."),
    ],
)  # fmt: skip
def test_what_would_break_the_file_is_refused(
    file: str, edit: dict[str, object], message: str
) -> None:
    kind, said = refusal(FILES[file], edit, file=file)
    assert kind == "would_not_compile"
    assert said == f"{file} would not be well-formed {message}"


@pytest.mark.parametrize(
    ("file", "edit", "line"),
    [
        ("a.yaml", insert("after", "args:", "sub:"), 3),
        ("a.yaml", insert("after", "brief", "note: x"), 7),
        ("a.yaml", insert("after", "name", "---"), 2),
        ("a.yaml", insert("after", "name", "  more"), 1),
        ("a.yaml", replace("- do: r", "  with: r"), 13),
        ("a.yaml", replace("args:", "args: >"), 3),
        ("a.json", replace("1,", '1}, "x": {'), 2),
        ("a.toml", insert("before", "y =", "[t]"), 3),
        ("a.toml", replace("[a]", "b = 2"), 3),
        ("a.toml", insert("before", "z =", "[t]"), 6),
        ("a.toml", insert("before", "[p.q]", "[[p]]\nn = 3"), 11),
        ("a.toml", insert("before", "[q]", '"""\nw = """'), 7),
        ("p.md.j2", insert("after", "{% if a %}", "{% endif %}{% if b %}"), 3),
        ("p.md.j2", insert("before", "A {{", "{% elif b %}"), 3),
        ("p.md.j2", insert("after", "Hello", "{# x"), 2),
        ("a.md", insert("start", "", "Note"), 2),
        ("a.md", insert("after", "# H", "<!-- y"), 6),
        ("a.md", insert("before", "x\n```", "```\nand\n```"), 7),
    ],
)  # fmt: skip
def test_what_reaches_beyond_its_place_is_refused(
    file: str, edit: dict[str, object], line: int
) -> None:
    kind, said = refusal(FILES[file], edit, file=file)
    assert (kind, said.partition(",")[0]) == ("conflict", f"Line {line} of {file}")


@pytest.mark.parametrize(
    ("file", "edit", "key", "line"),
    [
        ("a.yaml", insert("end", "", "name: b"), "name", 14),
        ("a.yaml", insert("end", "", '"name": b'), '"name"', 14),
        ("a.yaml", replace("y: 2", "x: 2"), "x", 4),
        ("a.json", replace("1,", '1, "\\u0063": 3,'), '"c"', 2),
        ("a.jsonl", replace('"id": 1', '"id": 1, "id": 2'), '"id"', 1),
        ("a.md", insert("after", "title", "tags: 4"), "tags", 4),
    ],
)
def test_a_key_that_comes_twice_is_refused(
    file: str, edit: dict[str, object], key: str, line: int
) -> None:
    assert refusal(FILES[file], edit, file=file) == (
        "conflict",
        f"The key {key} would stand twice in one place of {file}, see line {line}.",
    )


@pytest.mark.parametrize(
    ("file", "before", "edit", "after"),
    [
        # Oddities that were there before.
        ("a.yml", "a: 1\na: 2\n", replace("2", "3"), "a: 1\na: 3\n"),
        ("a.yml", "a: !tag {b: &x 1}\nc: *x\n", replace("1", "2"), "a: !tag {b: &x 2}\nc: *x\n"),
        ("a.yml", "a: 1\n---\na: 2\n", replace("2", "3"), "a: 1\n---\na: 3\n"),
        ("a.yml", "a: &x 1\nb: &x 2\nc: *x\n", replace("2", "3"), "a: &x 1\nb: &x 3\nc: *x\n"),
        ("a.yml", "<<: *x\n", replace("x", "y"), "<<: *y\n"),
        ("a.yml", "? [a, b]\n: {c}\n", replace("{c}", "{d}"), "? [a, b]\n: {d}\n"),
        ("a.yml", "a:\n", insert("after", "a", "  b: 1"), "a:\n  b: 1\n"),
        ("a.json", '{"a": 1, "a": 2}', replace("2", "3"), '{"a": 1, "a": 3}'),
        # What is not well-formed may become so, or be of another kind.
        ("a.json", '{"a": 1,}', replace("1,", "1"), '{"a": 1}'),
        ("a.json", '{"a": 1, // x\n}', replace("x", "y"), '{"a": 1, // y\n}'),
        ("a.yml", "a: {{ b }} c\nd: 1\n", replace("d", "e"), "a: {{ b }} c\ne: 1\n"),
        ("a.j2", "{% x %}hello{% y %}{{", replace("hello", "{{"), "{% x %}{{{% y %}{{"),
        ("a.md", "```\na\n", replace("a", "b"), "```\nb\n"),
        ("a.md", "---\nA text: a: b\n---\n", replace("a:", "c:"), "---\nA text: c: b\n---\n"),
        ("a.txt", "```\n{", replace("{", "{{"), "```\n{{"),
    ],
)  # fmt: skip
def test_what_was_odd_before_may_stay(
    file: str, before: str, edit: dict[str, object], after: str
) -> None:
    assert edit_code(before, edit, file=file) == after


def test_an_anchor_given_anew_changes_what_its_aliases_hold() -> None:
    before = "a: &x 1\nb: 2\nc: *x\n"
    kind, said = refusal(before, replace("b: 2", "b: &x 2"), file="a.yml")
    assert (kind, said[:6]) == ("conflict", "Line 3")
    assert edit_code(before, insert("end", "", "d: &x 2"), file="a.yml") == before + "d: &x 2\n"


@pytest.mark.parametrize(
    ("before", "edit", "counts"),
    [
        ("a: 1\n", insert("end", "", "---\nb: 2"), "2 YAML documents where it holds 1"),
        ("a: 1\n", insert("end", "", "...\n---\nb: 2"), "2 YAML documents where it holds 1"),
        ("a: 1\n", insert("start", "", "b: 2\n---"), "2 YAML documents where it holds 1"),
        ("---\na: 1\n", insert("start", "", "b: 2"), "2 YAML documents where it holds 1"),
        ("a: 1\n", replace("a: 1", "a: 1\n---\nb: 2"), "2 YAML documents where it holds 1"),
        ("# none\n", insert("end", "", "a: 1\n---\nb: 2"), "2 YAML documents where it holds 0"),
        ("a: 1\n---\nb: 2\n", replace("---\nb: 2\n", "c: 1\n"),
         "1 YAML documents where it holds 2"),
    ],
)  # fmt: skip
def test_one_document_stays_one_and_several_stay_several(
    before: str, edit: dict[str, object], counts: str
) -> None:
    kind, said = refusal(before, edit, file="a.yaml")
    assert (kind, said.partition(",")[0]) == ("conflict", f"a.yaml would hold {counts}")


@pytest.mark.parametrize(
    ("before", "edit", "after"),
    [
        ("", insert("end", "", "a: 1"), "a: 1\n"),
        ("a: 1\n", insert("start", "", "---"), "---\na: 1\n"),
        ("a: 1\n", insert("start", "", "%YAML 1.1\n---"), "%YAML 1.1\n---\na: 1\n"),
        ("a: 1\n", insert("end", "", "..."), "a: 1\n...\n"),
        ("a: 1\n---\nb: 2\n", insert("end", "", "---\nc: 3"), "a: 1\n---\nb: 2\n---\nc: 3\n"),
        ("a: |\n  x\n", insert("end", "", "  ---\n  y"), "a: |\n  x\n  ---\n  y\n"),
    ],
)  # fmt: skip
def test_marks_that_make_no_other_document(
    before: str, edit: dict[str, object], after: str
) -> None:
    assert edit_code(before, edit, file="a.yml") == after


def test_brackets_that_are_closed_and_opened_in_between() -> None:
    before = "c = [\n  [\n    1,\n    2,\n  ],\n]\n"
    kind, said = refusal(before, insert("before", "    2,", "  ], ["), file="a.toml")
    assert (kind, said.partition(",")[0]) == ("conflict", "Line 4 of a.toml")
    assert edit_code(before, insert("before", "    2,", "    [3],"), file="a.toml") == (
        before.replace("    2", "    [3],\n    2")
    )
