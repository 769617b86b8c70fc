"""Foreign text in GitHub's Markdown shows itself and does nothing."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from bot.publish.markdown import block, code, paragraphs, prose, short_header, table

RENDERER = MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"])
ACTIVE = re.compile(r"(?<!\w)@[\w-]|#\d|\bGH-\d|/(?:issues|pull)/\w|\w://\w", re.IGNORECASE)
TEXT = st.text(
    st.sampled_from([*"ab1 \n\t`*_[]()<>#@!|~$&\\:/.-+=", "\u200b", "\x1b", "é"]), max_size=40
)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("ask @maya", "ask @ maya"),
        ("now.@maya", "now.@ maya"),
        ("Closes #12", "Closes # 12"),
        ("closes shop/desk#12", "closes shop/desk# 12"),
        ("fixes GH-3", "fixes GH 3"),
        (
            "closes https://github.com/shop/desk/issues/3",
            "closes https: //github.com/shop/desk/issues/ 3",
        ),
        ("see www.evil.example", "see www. evil.example"),
        ("<img src=x onerror=y>", "&lt;img src=x onerror=y>"),
        ("a <!-- ecdysis --> b", "a &lt;!-- ecdysis --> b"),
        ("[click](javascript:x)", r"\[click\](javascript:x)"),
        ("![pixel](a)", r"!\[pixel\](a)"),
        ("# Head", r"\# Head"),
        ("> quote", r"\> quote"),
        ("- item", r"\- item"),
        ("1. item", r"1\. item"),
        ("0.5 of it", "0.5 of it"),
        ("a | b", r"a \| b"),
        ("lookup_order and _this_", r"lookup_order and \_this\_"),
        ("`code` and **bold**", r"\`code\` and \*\*bold\*\*"),
        ("key sk-abcdefghijklmnopqrstuv", r"key \[secret\]"),
        ("two\nlines\x1b[31m", "two lines"),
        ("[skip ci]", "(skip ci)"),
    ],
)
def test_prose(text: str, shown: str) -> None:
    assert prose(text) == shown


@given(TEXT)
def test_prose_renders_as_one_plain_paragraph(text: str) -> None:
    html = RENDERER.render(f"- {prose(text)}\n")
    tags = set(re.findall(r"</?([a-zA-Z][\w-]*)", html))
    assert tags <= {"ul", "li"}
    assert "<!--" not in html


@given(TEXT)
def test_nothing_is_left_to_act_on(text: str) -> None:
    for written in (prose(text), code(text), block([text])):
        shown = re.sub(r"\\([^\w\s])", r"\1", written).replace("&amp;", "&")
        assert not ACTIVE.search(shown)


@given(TEXT)
def test_a_code_span_stays_one(text: str) -> None:
    html = RENDERER.render(f"x {code(text)} y\n")
    assert html.startswith("<p>x ")
    assert html.endswith(" y</p>\n")
    assert set(re.findall(r"<([a-z]+)", html)) <= {"p", "code"}


@given(TEXT)
def test_a_cell_stays_one(text: str) -> None:
    html = RENDERER.render(table(["a", "b"], [(prose(text), code(text))]))
    assert html.count("<td>") == 2
    assert set(re.findall(r"<([a-z]+)", html)) <= {
        *("table", "thead", "tbody", "tr", "th", "td", "code")
    }


@given(st.lists(TEXT, max_size=3))
def test_a_block_stays_one(lines: list[str]) -> None:
    html = RENDERER.render(block(lines) + "\n\nafter\n")
    assert html.count("<pre>") == 1
    assert html.endswith("<p>after</p>\n")


def test_paragraphs() -> None:
    assert paragraphs("One\nline.\n\n \n# Two") == ["One line.", r"\# Two"]
    assert paragraphs("") == []


def test_short_header() -> None:
    assert short_header("@@ -4,7 +4,7 @@ def run(`task`):") == "@@ -4,7 +4,7 @@"
    assert short_header("@@ -4,7 +4,7 @@") == "@@ -4,7 +4,7 @@"
