"""What refusals teach, and what is remembered of it."""

from pathlib import Path

import pytest

from bot.llm.abilities import Abilities, AbilityBook, follows_schema, strict_schema
from bot.llm.answers import Turn
from tests.llm.asking import GOOD_TEXT, Cause

FRESH = Abilities()


@pytest.mark.parametrize(
    ("words", "lesson"),
    [
        (
            "Unsupported parameter: 'max_tokens' is not supported with this model. "
            "Use 'max_completion_tokens' instead.",
            Abilities(limit="max_completion_tokens"),
        ),
        (
            "Unsupported value: 'temperature' does not support 0",
            Abilities(dropped=("temperature",)),
        ),
        ("seed: Extra inputs are not permitted", Abilities(dropped=("seed",))),
        ("unknown field stream_options", Abilities(dropped=("stream_options",))),
        ("stream is not implemented", Abilities(dropped=("stream",))),
        ("'response_format' of type 'json_schema' is not supported", Abilities("json_object")),
        ("failed to parse grammar", Abilities("json_object")),
        ("max_tokens must be at most 2048", None),
        ("something else", None),
    ],
)
def test_a_refusal_teaches_what_to_leave(words: str, lesson: Abilities | None) -> None:
    assert FRESH.after(words) == lesson


def test_the_ladder_has_a_foot() -> None:
    text = Abilities("text")
    assert Abilities("json_object").lower() == text
    assert text.lower() is None
    assert text.after("response_format") is None
    assert Abilities(dropped=("seed",)).after("seed") is None
    assert Abilities(limit="max_completion_tokens").after("unknown: max_completion_tokens") == FRESH


def test_each_form_says_the_schema_once() -> None:
    turns = [Turn("user", "Why?")]
    enforced = FRESH.body(turns, Cause, 100)
    assert enforced["messages"] == [{"role": "user", "content": "Why?"}]
    told = Abilities("json_object", dropped=("stream",)).body(turns, Cause, 100)
    assert told["response_format"] == {"type": "json_object"}
    assert "JSON" in told["messages"][0]["content"]
    assert "stream" not in told
    assert "stream_options" not in told
    last = Abilities("text").body([*turns, Turn("assistant", "x")], Cause, 100)["messages"][-1]
    assert last["role"] == "user"
    assert turns == [Turn("user", "Why?")]


def test_whether_a_schema_was_kept_is_judged_by_its_names() -> None:
    assert follows_schema(GOOD_TEXT, Cause)
    assert follows_schema('{"layer": "other", "steps": []}', Cause)
    assert not follows_schema('{"layer": "tool"}', Cause)
    assert not follows_schema("The tool.", Cause)
    assert strict_schema(Cause)["required"] == ["layer", "steps"]


def test_what_is_learned_is_kept_for_each_server_and_model(tmp_path: Path) -> None:
    path = tmp_path / "cache" / "abilities.json"
    book, text = AbilityBook(path), Abilities("text")
    book.learn("http://a/v1", "m", text)
    AbilityBook(path).learn("http://b/v1", "m", Abilities(dropped=("seed",)))
    again = AbilityBook(path)
    assert again.get("http://a/v1", "m", Cause) == text
    assert again.get("http://b/v1", "m", Cause).dropped == ("seed",)
    assert again.get("http://a/v1", "other", Cause) == FRESH
    again.learn("http://a/v1", "m", Abilities("json_object"), Cause)
    assert AbilityBook(path).get("http://a/v1", "m", Cause).form == "json_object"
    assert sorted(entry.name for entry in path.parent.iterdir()) == [
        *("abilities.json", "abilities.lock")
    ]


def test_a_cache_that_is_a_file_is_no_fault(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    book = AbilityBook(tmp_path / "file" / "abilities.json")
    book.learn("http://a/v1", "m", Abilities("text"))
    assert book.get("http://a/v1", "m", Cause).form == "text"
