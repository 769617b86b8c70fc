"""What git reads back from a message is what was put in."""

import subprocess
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bot.lineage.message import (
    RepairMessage,
    name_tasks,
    parse_message,
    spec_digest,
)
from bot.records import Accommodation
from tests.helpers.repairs import make_figures, make_message, make_pattern, make_spec


def git_trailers(text: str) -> list[tuple[str, str]]:
    done = subprocess.run(
        ["git", "interpret-trailers", "--parse"],
        input=text.encode(), capture_output=True, check=True,
    )  # fmt: skip
    lines = done.stdout.decode().splitlines()
    return [(name, value) for name, _, value in (line.partition(": ") for line in lines)]


def test_the_figures_say_which_edits_ran_and_which_serve_some_tasks_alone() -> None:
    figures = make_figures()
    assert not {"Ecdysis-Activated", "Ecdysis-Accommodation"} & dict(figures.trailers("")).keys()
    figures.verdict.activated = [True, False, True]
    figures.verdict.accommodation = Accommodation(edits=3, narrow=[1])
    trailers = dict(figures.trailers("b" * 40))
    assert trailers["Ecdysis-Activated"] == "2/3"
    assert trailers["Ecdysis-Accommodation"] == "1/3"


def test_a_whole_message() -> None:
    message = make_message("Tell the model which order fields exist")
    text = message.write(3, make_figures().trailers("b" * 40))
    assert text == (
        """Tell the model which order fields exist

17 of 36 train episodes over 12 distinct tasks failed.

Cause: nobody told it.

  task-0031 step 2   lookup_order(3201, destination)

Ecdysis-Generation: 3
Ecdysis-Pattern: tool_error/lookup_order/unknown-field
Ecdysis-Attribution: undetermined 0.55
Ecdysis-Layer: environment-contract
Ecdysis-Origin: catalog:worked-examples
Ecdysis-Tasks: 12
Ecdysis-Predicted-Fixes: task-0031, task-0044
Ecdysis-Spec: """
        + spec_digest(message.spec)
        + """
Ecdysis-Score: 11/24 -> 21/24
Ecdysis-Fixed: 10
Ecdysis-Broken: 0
Ecdysis-Noise-Band: 1
Ecdysis-P-Value: 0.00098
Ecdysis-Trials: 1
Ecdysis-Sandbox: bubblewrap
Ecdysis-Base: """
        + "b" * 40
        + "\n"
    )
    assert git_trailers(text) == [
        *message.trailers(3),
        *make_figures().trailers("b" * 40),
    ]
    parsed = parse_message(text)
    assert parsed.title == "Tell the model which order fields exist"
    assert parsed.body.endswith("lookup_order(3201, destination)")
    assert parsed.trailers["Score"] == "11/24 -> 21/24"


hostile = st.one_of(
    st.text(max_size=60),
    st.sampled_from(
        ["Ecdysis-Fixed: 99", "x\n\nEcdysis-Fixed: 99", "---\nEcdysis-Score: 1", "\n\n", ":", "",
         "a: b", "(cherry picked from commit 1)", "#", "\x1b[2J\r\n\r\nSigned-off-by: x"]
    ),
)  # fmt: skip


@settings(max_examples=40, deadline=None)
@given(title=hostile, explanation=hostile, quote=hostile, task=hostile, origin=hostile)
def test_hostile_text_forges_no_trailer(
    title: str, explanation: str, quote: str, task: str, origin: str
) -> None:
    spec = make_spec(title or "x", origin=origin, predicted_fixes=[task or "t"])
    evidence: dict[str, Any] = {"task_id": task, "trial": 0, "step": 1, "quote": quote}
    message = RepairMessage(spec, make_pattern(evidence=[evidence]), explanation)
    text = message.write(1, make_figures().trailers("c" * 40))
    expected = [
        (name, value)
        for name, value in [*message.trailers(1), *make_figures().trailers("c" * 40)]
        if value
    ]
    assert git_trailers(text) == expected
    parsed = parse_message(text)
    assert parsed.trailers == {name.removeprefix("Ecdysis-"): value for name, value in expected}
    assert text.startswith(parsed.title + "\n")


def test_much_evidence_is_capped() -> None:
    message = RepairMessage(make_spec(), make_pattern(*["quote " * 100] * 30), "Why.")
    lines = message.evidence_lines()
    assert len(lines) == 9
    assert lines[-1] == "  ... and 22 more"
    assert all(len(line) <= 74 for line in lines)
    assert lines[0].endswith("…")
    many = name_tasks([f"t{n}" for n in range(500)])
    assert many.startswith("t0, t1, ")
    assert many.endswith("t19 and 480 more")


def test_figures_that_are_not_known_have_no_line() -> None:
    names = [name for name, value in make_figures(before=None).trailers("d" * 40) if value]
    assert "Ecdysis-Score" not in names
    assert "Ecdysis-Fixed" in names


@pytest.mark.parametrize(
    ("text", "title", "body", "trailers"),
    [
        ("", "", "", {}),
        ("only", "only", "", {}),
        ("Ecdysis-Score: 1", "Ecdysis-Score: 1", "", {}),
        ("t\n\nbody\n\nEcdysis-Score: 1\nOther: 2\n", "t", "body", {"Score": "1"}),
        ("t\n\nEcdysis-Score: 1\n  more\n", "t", "", {"Score": "1 more"}),
        ("t\n\nprose\nEcdysis-Score: 1\n", "t", "prose\nEcdysis-Score: 1", {}),
        ("t\r\n\r\nx\r\n\r\necdysis-score: 1\r\n", "t", "x", {"score": "1"}),
        ("t\nsame paragraph\n\nb", "t", "same paragraph\n\nb", {}),
    ],
)
def test_parse_any_message(text: str, title: str, body: str, trailers: dict[str, str]) -> None:
    parsed = parse_message(text)
    assert (parsed.title, parsed.body, parsed.trailers) == (title, body, trailers)


@given(st.text())
def test_parsing_never_raises(text: str) -> None:
    parse_message(text)


def test_the_digest_is_that_of_the_content() -> None:
    assert spec_digest(make_spec()) == spec_digest(make_spec())
    assert spec_digest(make_spec()) != spec_digest(make_spec("Another"))
    assert spec_digest(make_spec(unknown_field={"b": 1, "a": 2})) == spec_digest(
        make_spec(unknown_field={"a": 2, "b": 1})
    )
