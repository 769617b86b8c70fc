"""The benchmark of the accommodation checks: what it reads, counts and runs."""

import json
from pathlib import Path

import pytest

from bot.gate.task_values import Flag
from tests.benchmarks.accommodation import (
    FILE,
    by_kind,
    kitchen_reply,
    measure,
    piece_of,
)

LABELS = [
    "<where_error>\nif year == 'the year 2004':     \n    return 'done'\n</where_error>",
    "Look at the answer again.",
    "```python\nKEEP = ['aa', 'bb', 'cc', 'dd', 'ee']\n```",
    "",
]


def test_the_marks_of_a_label_are_no_part_of_the_edit() -> None:
    assert piece_of(LABELS[0]).strip() == "if year == 'the year 2004':\n    return 'done'"
    assert piece_of(LABELS[2]).strip() == "KEEP = ['aa', 'bb', 'cc', 'dd', 'ee']"


def test_an_edit_counts_once_for_each_kind() -> None:
    two = [Flag("rule", "a"), Flag("rule", "b"), Flag("value", "c")]
    assert by_kind([two, [], [Flag("rule", "a")]]) == {"rule": 2, "value": 1}


def test_a_model_of_the_kitchen_uses_the_words_of_the_user() -> None:
    def asked(text: str) -> str:
        return kitchen_reply({"messages": [{"content": text}]})

    assert asked("Convert 7 kilograms to grams.") == "convert: 7, kilograms"
    assert asked("How long can I keep trout?") == "keeps: trout"
    assert asked("How long does gouda keep in the fridge?") == "keeps: gouda"


@pytest.mark.slow
def test_figures_of_both_sides(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ECDYSIS_CACHE", str(tmp_path / "cache"))
    labels = [{"where_error": label} for label in LABELS]
    (tmp_path / FILE).write_text(json.dumps(labels), encoding="utf-8")
    figures = measure(tmp_path, smoke=True)
    assert (figures["bad"], figures["flagged_bad"]) == (4, 2)
    assert figures["held_out"] == {"bad": 2, "flagged": 0}
    assert figures["good"] == figures["written"]["good"] + figures["catalog"]["good"]
    assert figures["written"]["good"] == 48
    assert figures["catalog"]["good"] >= 8
    # The checks are of no use where they flag what people merge.
    assert figures["flagged_good"] <= figures["good"] / 20
