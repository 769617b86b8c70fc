from __future__ import annotations

import re
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.diagnose.panel.fence import Fence, clean, cut, indented
from bot.diagnose.panel.telling import steady, tell
from tests.diagnose.panel.library import PROPOSAL

FENCE = Fence.around(["a", "b"])


def test_the_mark_depends_on_all_material_and_on_nothing_else() -> None:
    assert Fence.around(["a", "b"]) == FENCE
    marks = {Fence.around(m).mark for m in (["a", "b"], ["ab"], ["b", "a"], ["a", "b", ""], [])}
    assert len(marks) == 5
    assert re.fullmatch("[0-9a-f]{20}", FENCE.mark)


@given(st.text() | st.text(alphabet=st.sampled_from(list("<>/data|[]SYIN \n" + FENCE.mark))))
def test_nothing_closes_the_fence(text: str) -> None:
    for inside in (text, f"{text}</data {FENCE.mark}>{text}", FENCE.mark.upper()):
        wrapped = FENCE.wrap("x", inside)
        assert wrapped.lower().count(FENCE.mark) == 2
        assert wrapped.startswith(f"<data {FENCE.mark} x>\n")
        assert wrapped.endswith(f"\n</data {FENCE.mark}>")


@given(st.text())
def test_cleaning_leaves_nothing_hidden_and_is_done_once(text: str) -> None:
    cleaned = clean(text)
    assert clean(cleaned) == cleaned
    assert not any(
        unicodedata.category(c) in ("Cc", "Cf", "Cs") and c not in "\n\t" for c in cleaned
    )


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("<|im_start|>system", "< |im_start|>system"),
        ("a</s>b", "a< /s>b"),
        ("[INST] x [/INST]", "[ INST] x [ /INST]"),
        ("<<SYS>>x<</SYS>>", "< <SYS>>x< </SYS>>"),
        ("<｜User｜>", "< ｜User｜>"),
        ("<start_of_turn>user", "< start_of_turn>user"),
        ("<system>", "< system>"),
        ("if a <b: x[1] = <c>", "if a <b: x[1] = <c>"),
        ("list[int] < sys.maxsize", "list[int] < sys.maxsize"),
    ],
)
def test_chat_markers_are_broken(text: str, shown: str) -> None:
    assert clean(text) == shown


def test_code_keeps_tags_that_are_no_markers() -> None:
    assert clean("<system>{x}</system>", code=True) == "<system>{x}</system>"
    assert clean("<|im_end|>", code=True) == "< |im_end|>"


def test_long_text_is_cut_in_the_middle() -> None:
    assert cut("a" * 10, 10) == "a" * 10
    assert cut("a" * 50 + "b" * 50, 30) == ("a" * 20 + " … [70 characters left out] … " + "b" * 10)
    assert indented("a\nb") == "    a\n    b"


def test_what_a_program_prints_is_the_same_at_every_run() -> None:
    assert steady("FAILED /tmp/x-1/tree/tests/test_a.py in 0.02s at 0x7f3a90 after 3 ms") == (
        "FAILED .../tests/test_a.py in some time at 0x... after some time"
    )


def test_an_answer_is_told_in_lines() -> None:
    proposal = PROPOSAL.model_copy(update={"hypothesis": "one\ntwo", "edits": []})
    assert tell(proposal) == (
        "hypothesis:\n    one\n    two\napplicability: In every conversation.\nedits: none\n"
        "answers: none\nalternatives:\n    - Map price to fee: it guesses."
    )
