"""An answer is read out of whatever text a model wrote, or it is said what is wrong."""

import json
import time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.llm.answers import Failed, Said, find_objects, read_answer, well_formed
from tests.llm.asking import GOOD, GOOD_TEXT, Cause


def read(text: str, finish: str | None = "stop") -> Any:
    return read_answer(Said(text, finish), Cause)


@pytest.mark.parametrize(
    "text",
    [
        GOOD_TEXT,
        f"  \n{GOOD_TEXT}\n\n",
        f"```json\n{GOOD_TEXT}\n```",
        f"```\n{GOOD_TEXT}\n```\nThat is all.",
        f"Sure! The cause is this: {GOOD_TEXT} I hope that {{helps}}.",
        f"The set {{1, 2}} is meant:\n{GOOD_TEXT}",
        f"<think>First {{maybe}}\n</think>\n\n{GOOD_TEXT}",
        f'<think>{{"layer": "prompt", "steps": []}}</think>{GOOD_TEXT}',
        f'so {{"layer": "prompt", "steps": []}} no.</think>{GOOD_TEXT}',
        f"{GOOD_TEXT}\nonce more:\n{GOOD_TEXT}",
        f'{GOOD_TEXT}\n<think>or {{"layer": "prompt", "steps": []}}',
        f'For {{"city": "Rome"}} it fails. {GOOD_TEXT}',
    ],
)
def test_one_answer_is_found_wherever_it_stands(text: str) -> None:
    assert read(text) == GOOD


def test_an_answer_may_quote_what_ends_a_thought() -> None:
    class Quote(Cause):
        said: str

    text = json.dumps({"layer": "tool", "steps": [], "said": "</think> {x} <think>"})
    found = read_answer(Said(text, "stop"), Quote)
    assert isinstance(found, Quote)
    assert found.said == "</think> {x} <think>"


@pytest.mark.parametrize(
    ("text", "wanted", "reason"),
    [
        ("", "empty", "nothing"),
        (" \n", "empty", "nothing"),
        ("no object", "not_json", "no JSON object"),
        ("[1, 2]", "not_json", "no JSON object"),
        ('{"layer": "tool", "steps": [1,]}', "not_json", "near"),
        ('{"layer": "tool", "steps": [1],}', "not_json", "near"),
        ("{'layer': 'tool', 'steps': []}", "not_json", "double quotes"),
        ('{"layer": "tool", "layer": "prompt", "steps": []}', "not_json", "twice"),
        ('{"layer": "tool", "steps": [NaN]}', "not_json", "NaN"),
        (r'{"layer": "tool", "steps": [], "x": "\ud800"}', "not_json", "surrogate"),
        ('{"a":' * 3000, "not_json", "nested"),
        ('{"a":' + "[" * 150 + "]" * 150 + "}", "not_json", "nested too deeply"),
        ('{"a": ' + "9" * 5000 + "}", "not_json", "Not valid JSON"),
        ('{"layer": "tool"}', "wrong_schema", "steps: Field required"),
        ('{"layer": "tool", "steps": [1, 2, 3, 4]}', "wrong_schema", "at most 3 items"),
        ('{"layer": "tool", "steps": ["1", "x"]}', "wrong_schema", "steps.1"),
        (f'{GOOD_TEXT} {{"layer": "prompt", "steps": []}}', "not_json", "2 different"),
        ("<!doctype html><title>x</title>", "html", "base_url"),
    ],
)
def test_what_is_wrong_is_said(text: str, wanted: str, reason: str) -> None:
    failed = read(text)
    assert isinstance(failed, Failed)
    assert failed.kind == wanted
    assert reason in failed.reason


@pytest.mark.parametrize(
    ("finish", "wanted"),
    [(None, "truncated"), ("length", "truncated"), ("repetition", "repetition")],
)
def test_half_an_answer_is_known_and_a_whole_one_taken(finish: str | None, wanted: str) -> None:
    assert read(GOOD_TEXT, finish) == GOOD
    failed = read(GOOD_TEXT[:-1], finish)
    assert isinstance(failed, Failed)
    assert failed.kind == wanted


def test_complaints_are_short() -> None:
    steps = ", ".join(['"x"'] * 2000)
    failed = read('{"layer": "tool", "steps": [' + steps + "]}")
    assert isinstance(failed, Failed)
    assert len(failed.reason) <= 1500


@given(st.text(st.sampled_from('{}[]",:\\ \nau0<>/think'), max_size=300))
def test_any_text_has_a_result(text: str) -> None:
    for found in find_objects(text):
        assert isinstance(found, dict | Failed)
    assert isinstance(read(text), Cause | Failed)


@given(
    st.sampled_from(["tool", "prompt"]),
    st.lists(st.integers(), max_size=3),
    st.text(st.characters(exclude_characters="{<"), max_size=50),
)
def test_prose_around_it_does_not_hide_an_answer(layer: Any, steps: list[int], prose: str) -> None:
    wanted = Cause(layer=layer, steps=steps)
    assert read(f"{prose}{wanted.model_dump_json()}{prose}") == wanted


@pytest.mark.parametrize("piece", ["{", '{"a', "<think>", "</think>", "<think>{</think>"])
def test_a_text_full_of_beginnings_is_read_in_no_time(piece: str) -> None:
    started = time.monotonic()
    assert read(piece * 20_000).kind == "not_json"
    assert time.monotonic() - started < 1.0


def test_thoughts_within_thoughts_are_left_out() -> None:
    inner = '{"layer": "prompt", "steps": []}'
    assert read(f"<think>a<think>{inner}</think>{inner}</think>{GOOD_TEXT}") == GOOD


def test_halves_of_characters_are_joined_or_replaced() -> None:
    assert well_formed("\ud83d" + "\ude00") == "😀"
    assert well_formed("é\ud800!") == "é\ufffd!"
