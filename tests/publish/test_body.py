"""The text of a pull request, whole: read `body.md` beside this file."""

import re
from pathlib import Path
from typing import Any

import pytest
from markdown_it import MarkdownIt

from bot.publish.body import (
    LARGEST_BODY,
    Marker,
    read_marker,
    write_body,
    write_explanation,
    write_title,
)
from bot.publish.facts import (
    LABELS,
    Alternative,
    GenerationFacts,
    HunkFacts,
    Place,
    RepairFacts,
    choose_labels,
    weaknesses,
)
from bot.records import Accommodation, Attribution, Evidence, Inference, OtherModel, Verdict
from tests.helpers.repairs import make_pattern, make_spec

GOLDEN = Path(__file__).with_name("body.md")


def make_repair(**more: Any) -> RepairFacts:
    pattern = make_pattern(
        attribution=Attribution(
            label="undetermined",
            probability=0.55,
            reasons=[
                "12 distinct tasks show it, none of them always.",
                "It sits at the boundary of the tool lookup_order.",
                "Only one model was run, so a quirk of it would look alike.",
            ],
        ),
        evidence=[
            Evidence(
                task_id=f"task-{n:04d}",
                trial=0,
                step=2,
                quote=f"lookup_order({3200 + n}, destination) -> error: unknown field",
            )
            for n in (31, 33, 44, 51, 52, 60)
        ],
    )
    values: dict[str, Any] = {
        "commit": "a1" * 20,
        "title": "Tell the model which order fields exist",
        "explanation": "17 of 36 train episodes over 12 distinct tasks ended in an unknown field."
        '\n\nCause: the model asked for "destination" and "amount", where the tool knows\n'
        '"city" and "total"; the prompt names neither.',
        "trailers": {
            "Generation": "3",
            "Pattern": pattern.key,
            "Attribution": "undetermined 0.55",
            "Layer": "environment-contract",
            "Origin": "panel",
            "Tasks": "12",
        },
        "spec": make_spec(),
        "pattern": pattern,
        "hunks": [
            HunkFacts(
                "harness/prompt.py",
                "@@ -12,3 +12,4 @@ def system_prompt():",
                ["+    fields = describe(CONTRACT)"],
                ["edit 1 of 2, insert_statements in system_prompt: The model cannot guess names."],
                Place("harness/prompt.py", 12),
            ),
            HunkFacts(
                "harness/actions.py",
                "@@ -40 +41 @@",
                ["-    return value", "+    return resolve(value)"],
                ["edit 2 of 2, replace_statements in argument: Near names are taken for meant."],
                Place("harness/actions.py", 41),
            ),
        ],
        "objections": [
            "(overfitting): It may name fields of these tasks. Answer: It reads the contract."
        ],
        "alternatives": [
            Alternative(
                "Show one worked example per field",
                "catalog:worked-examples",
                "On the train split it fixes 11 and breaks 8 of 40 tasks.",
            )
        ],
    }
    return RepairFacts(**{**values, **more})


def make_facts(**more: Any) -> GenerationFacts:
    values: dict[str, Any] = {
        "number": 3,
        "branch": "ecdysis/gen-0003",
        "base": "b0" * 20,
        "commit": "a1" * 20,
        "tree": "c2" * 20,
        "target": "main",
        "repairs": [make_repair()],
        "figures": {
            "Score": "11/24 -> 21/24",
            "Fixed": "10",
            "Broken": "0",
            "Noise-Band": "1",
            "P-Value": "0.001",
            "Trials": "1",
            "Sandbox": "bubblewrap",
        },
        "verdict": Verdict(
            decision="accept",
            reason="Better on the hidden tasks at level 0.05: 11/24 -> 21/24, p = 0.001.",
            fixed=[f"task-{n:04d}" for n in range(101, 111)],
            noise_band=1.0,
            p_value=0.001,
            tasks=24,
            trials=1,
            activated=[True, True],
            accommodation=Accommodation(
                edits=2, other_tasks=9, acted=[9, 0], narrow=[1], ratio=0.5
            ),
            cost={"model_calls": 412, "tokens": 183_000, "wall_s": 151.0},
            inference=Inference(
                tokens_before=430, tokens_after=512, calls_before=2.1, calls_after=1.8
            ),
            other_models=[
                OtherModel(model="other-7b", tasks=24, before=15, after=18, fixed=["task-0104"])
            ],
        ),
    }
    return GenerationFacts(**{**values, **more})


def test_the_whole_body() -> None:
    assert write_body(make_facts()) == GOLDEN.read_text(encoding="utf-8")


def test_the_title() -> None:
    assert write_title(make_facts()) == "gen-0003: Tell the model which order fields exist"
    two = make_facts(repairs=[make_repair(title="x" * 200), make_repair()])
    title = write_title(two)
    assert len(title) == 120
    assert title.endswith("x… (and 1 more)")
    assert write_title(make_facts(repairs=[make_repair(title="Fix #1 @maya\n\nCloses #2")])) == (
        "gen-0003: Fix # 1 @ maya Closes # 2"
    )


def test_the_marker() -> None:
    facts = make_facts()
    assert read_marker(write_body(facts)) == Marker(3, facts.commit, facts.tree)
    assert read_marker("text\n" + write_body(facts)) is None
    assert read_marker(None) is None


HOSTILE = (
    "@maya </details><script>x</script> Closes #12 ![p](http://x.example/p) | `a` <!-- ecdysis"
)

KNOWN_TAGS = {
    *("h2", "p", "ul", "li", "hr", "sub", "strong", "em", "code", "pre", "blockquote"),
    *("table", "thead", "tbody", "tr", "th", "td"),
}


def test_nothing_foreign_acts() -> None:
    repair = make_repair(
        title=HOSTILE,
        explanation=HOSTILE,
        trailers={"Origin": HOSTILE, "Layer": HOSTILE, "Attribution": HOSTILE, "Tasks": HOSTILE},
        pattern=make_pattern(
            HOSTILE,
            f"```\n{HOSTILE}",
            key=HOSTILE,
            attribution=Attribution(label="model", probability=0.5, reasons=[HOSTILE]),
        ),
        hunks=[HunkFacts(HOSTILE, HOSTILE, [HOSTILE], [HOSTILE])],
        objections=[HOSTILE],
        alternatives=[Alternative(HOSTILE, HOSTILE, HOSTILE)],
    )
    facts = make_facts(
        repairs=[repair],
        figures=dict.fromkeys(make_facts().figures, HOSTILE),
        notes=[HOSTILE],
        reported_by=HOSTILE,
        verdict=Verdict(
            decision="reject",
            reason=HOSTILE,
            fixed=[HOSTILE],
            broken=[HOSTILE],
            accommodation=Accommodation(edits=1, shrunk=[HOSTILE], flags=[HOSTILE]),
        ),
    )
    for body in (write_body(facts), write_explanation(facts, 1)):
        assert "@maya" not in body
        assert "#12" not in body
        html = MarkdownIt("commonmark", {"html": True}).enable("table").render(body)
        assert set(re.findall(r"<([a-z][a-z0-9]*)", html)) <= KNOWN_TAGS
        assert html.count("<!--") == body.count("<!-- ecdysis generation=")
        # What stands in code is shown and not read.
        read = re.sub(r"<code.*?</code>", "", html, flags=re.DOTALL)
        assert "://x" not in read


def test_a_long_body_says_what_it_leaves_out() -> None:
    repair = make_repair(explanation="\n\n".join(["wörd " * 700] * 30))
    body = write_body(make_facts(repairs=[repair]))
    assert len(body.encode()) <= LARGEST_BODY
    assert (
        "_Left out, for GitHub takes no longer text: the evidence quotes, the rejected "
        "alternatives, the objections, the explanations (they are the commits' messages). "
        "`ecdysis show 3 --diff` has everything._"
    ) in body
    assert "harness/prompt.py" in body
    assert "task-0110" in body


def test_a_body_of_names_alone_is_cut_between_lines() -> None:
    many = [make_repair(title=f"Repair {n} {'x' * 150}") for n in range(400)]
    body = write_body(make_facts(repairs=many))
    assert len(body.encode()) <= LARGEST_BODY
    assert body.endswith("`ecdysis show` has it all._\n")
    assert read_marker(body) is not None


def test_quotes_only_where_wanted() -> None:
    quote = "lookup_order(3231, destination)"
    assert quote in write_body(make_facts())
    assert quote not in write_body(make_facts(quotes=False))
    assert "task-0031" not in write_body(make_facts(quotes=False))


def test_without_notes_it_says_what_is_unknown() -> None:
    facts = make_facts(
        repairs=[make_repair(spec=None, pattern=None, hunks=[], objections=[], alternatives=[])],
        verdict=None,
    )
    body = write_body(facts)
    assert (
        "| `tool_error/lookup_order/unknown-field` | `environment-contract` | 12 | ? | ? | 1 |"
        in body
    )
    assert "| **Fixed** | 10 |" in body
    assert "No objection is on record." in body
    assert weaknesses(facts) == [
        "A repair's spec is not known here, so it cannot be applied again."
    ]


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"Sandbox": "limits"}, "isolation level limits"),
        ({"Sandbox": "unknown"}, "isolation level unknown"),
        ({"P-Value": "0.2"}, "above 0.05"),
        ({"Noise-Band": "10"}, "inside the noise band of 10"),
        ({"Noise-Band": "nan"}, None),
        ({"P-Value": "0.05", "Noise-Band": "9"}, None),
        ({"Sandbox": "landlock"}, None),
    ],
)
def test_weak_figures_make_a_draft(changes: dict[str, str], why: str | None) -> None:
    facts = make_facts(figures={**make_facts().figures, **changes})
    if why is None:
        assert weaknesses(facts) == []
        assert "[!WARNING]" not in write_body(facts)
    else:
        (sentence,) = weaknesses(facts)
        assert why in sentence
        assert "> [!WARNING]" in write_body(facts)


@pytest.mark.parametrize(
    ("verdict", "why"),
    [
        ({"decision": "undecidable"}, "decision is undecidable"),
        ({"activated": [True, False]}, "never ran"),
        ({"reason": "Better; the state is self-reported."}, "harness itself reported"),
        ({"accommodation": Accommodation(edits=1, narrow=[0])}, "that it was derived from"),
        ({"accommodation": Accommodation(edits=2, shrunk=["a tool"])}, "take away something"),
    ],
)
def test_a_weak_verdict_makes_a_draft(verdict: dict[str, Any], why: str) -> None:
    facts = make_facts()
    assert facts.verdict is not None
    weak = make_facts(verdict=facts.verdict.model_copy(update=verdict))
    (sentence,) = weaknesses(weak)
    assert why in sentence


def test_labels() -> None:
    assert choose_labels(make_facts()) == [
        "ecdysis",
        "ecdysis: environment-contract",
        "ecdysis: undetermined",
    ]
    hostile = make_facts(
        repairs=[make_repair(trailers={"Layer": "x", "Attribution": "weak evidence 1"})],
        figures={"Sandbox": "limits", "Score": "1/2 -> 2/2"},
    )
    assert choose_labels(hostile) == ["ecdysis", "ecdysis: weak evidence"]
    assert all(len(name) <= 50 and len(text) <= 100 for name, (_, text) in LABELS.items())


def test_an_explanation_is_of_one_repair() -> None:
    facts = make_facts(repairs=[make_repair(title="One"), make_repair(title="Two")])
    said = write_explanation(facts, 2)
    assert "Two" in said
    assert "One**" not in said
    assert "lookup_order(3231, destination)" in said
