"""Text of models and trajectories in a commit message commands nothing."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.display import defuse
from bot.lineage.wording import one_line, write_body, write_subject


@pytest.mark.parametrize(
    ("text", "harmless"),
    [
        ("Closes #12 now", "Closes # 12 now"),
        ("fixes GH-7", "fixes GH 7"),
        ("see https://forge.example/a/b/issues/5", "see https://forge.example/a/b/issues/ 5"),
        ("ask @someone and @org/team", "ask @ someone and @ org/team"),
        ("mail a@b.example", "mail a@b.example"),
        ("done [skip ci] [CI Skip]", "done (skip ci) (CI Skip)"),
        ("key sk-abcdefghijklmnopqrstuv", "key [secret]"),
        ("k\u200bey \x1b[31mred\x1b[0m\a", "key red"),
        ("a colour #ff0000 and C# 9", "a colour #ff0000 and C# 9"),
    ],
)
def test_defuse(text: str, harmless: str) -> None:
    assert defuse(text) == harmless


@pytest.mark.parametrize(
    ("title", "subject"),
    [
        ("Tell the model which order fields exist", "Tell the model which order fields exist"),
        ("Ends with a stop.", "Ends with a stop"),
        ("two\nlines\r\nEcdysis-Score: 9", "two lines Ecdysis-Score: 9"),
        ("fixup! other", "fixup: other"),
        ("# heading", "heading"),
        ("  \x00 ", "the fallback"),
        ("x" * 100, "x" * 71 + "…"),
        (
            "A sentence that goes on and on until it is much longer than a subject may be",
            "A sentence that goes on and on until it is much longer than a subject…",
        ),
    ],
)
def test_subject(title: str, subject: str) -> None:
    assert write_subject(title, "the fallback") == subject


@pytest.mark.parametrize(
    "line",
    ["Ecdysis-Fixed: 99", "Signed-off-by: A <a@b>", "Co-authored-by: x", "# comment", "---",
     "diff --git a/x b/x", "From 0123 Mon Sep", "Fixes: the thing", "skip-checks: true"],
)  # fmt: skip
def test_lines_that_git_would_read_are_moved_in(line: str) -> None:
    assert write_body(f"First.\n\n{line}\n\nLast.").split("\n\n")[1].startswith("  ")


def test_prose_is_wrapped_and_kept() -> None:
    body = write_body("Cause: " + "word " * 40 + "\n\n\n\nSecond\nparagraph.")
    assert body.endswith("\n\nSecond paragraph.")
    assert body.startswith("Cause: word")
    assert body.count("word") == 40
    assert all(len(line) <= 74 for line in body.split("\n"))


def test_a_huge_text_is_capped() -> None:
    assert len(write_body("long " * 1_000_000)) < 13_000
    assert len(write_body("x" * 1_000_000)) < 13_000


@given(st.text(), st.text())
def test_nothing_special_survives(left: str, right: str) -> None:
    for text in (write_body(left + "\n" + right), one_line(left + right), write_subject(left, "F")):
        assert not re.search(r"(?<![\w.+-])@[\w-]|#\d", text)
        assert not re.search(r"[\x00-\x09\x0b-\x1f\x7f]", text)
    assert all(len(line) <= 76 for line in write_body(left).split("\n"))
    assert "\n" not in one_line(left)
    assert 0 < len(write_subject(left, "F")) <= 72
