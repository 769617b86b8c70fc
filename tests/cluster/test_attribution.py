import math
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.cluster.attribution import HARNESS_FROM, MODEL_UP_TO, Finding, attribute
from bot.cluster.events import LAYER

BASE = Finding("tool_error", 6, 12, 2, 2, 0, 0, "unavailable")
FINDINGS = st.builds(
    Finding,
    kind=st.sampled_from([*LAYER, "something new"]),
    distinct_tasks=st.integers(0, 40),
    all_tasks=st.integers(0, 50),
    pattern_models=st.integers(0, 4),
    batch_models=st.integers(0, 4),
    tasks_with_trials=st.integers(0, 5),
    always=st.integers(0, 5),
    p_value=st.just("unavailable") | st.floats(0, 1),
    passed_episodes=st.integers(0, 5),
)


@given(FINDINGS)
def test_the_label_follows_from_the_probability(finding: Finding) -> None:
    answer = attribute(finding)
    assert 0 <= answer.probability <= 1
    assert answer.reasons
    assert all(reason.isprintable() for reason in answer.reasons)
    if answer.label == "harness":
        assert answer.probability >= HARNESS_FROM
    elif answer.label == "model":
        assert answer.probability <= MODEL_UP_TO
    elif answer.label == "task":
        assert finding.distinct_tasks == finding.tasks_with_trials == finding.always == 1
    else:
        assert MODEL_UP_TO < answer.probability < HARNESS_FROM
    assert attribute(finding) == answer


@given(FINDINGS)
def test_one_model_never_tells_harness_from_model(finding: Finding) -> None:
    answer = attribute(replace(finding, batch_models=1, pattern_models=1))
    if finding.kind != "harness_exception":
        assert answer.label in ("undetermined", "task")
        assert 0.3 <= answer.probability <= 0.7
        assert "one model alone cannot tell a quirk of the model from a harness defect" in (
            answer.reasons
        )


@given(FINDINGS)
def test_more_tasks_and_more_models_never_speak_for_the_model(finding: Finding) -> None:
    models = max(finding.batch_models, 2)
    few = replace(finding, batch_models=models, pattern_models=1)
    assert attribute(few).probability <= attribute(replace(few, pattern_models=models)).probability
    more = replace(few, distinct_tasks=few.distinct_tasks + 1)
    assert attribute(few).probability <= attribute(more).probability


@pytest.mark.parametrize(
    ("finding", "label", "odds", "reasons"),
    [
        (
            BASE,
            "harness",
            0.2 + 0.3 * math.log2(6) + 1.4,
            [
                "it sits at the tool boundary, where contract and model meet",
                "it recurs over 6 distinct tasks (50% of the batch's)",
                "all 2 models of the batch show it",
                "contrast is unavailable: nothing that reaches this place passes",
            ],
        ),
        (
            Finding("wrong_answer", 1, 10, 1, 3, 2, 0, 0.8, 4),
            "model",
            -0.4 - 0.8 - 1.8 - 0.4 - 0.6,
            [
                "it sits in what the model decided",
                "it shows in one task only",
                "only one of 3 models shows it",
                "it comes and goes: only 0 of 2 tasks fail with it in every trial",
                "passing episodes show it too (p = 0.8)",
            ],
        ),
        (
            Finding("missing_action", 1, 10, 1, 1, 1, 1, 0.3, 0),
            "task",
            -0.4 - 0.8 + 0.5,
            [
                "it sits in what the model decided",
                "it shows in one task only",
                "1 of 1 tasks fail with it in every trial",
                "no passing episode shows it, but few could (p = 0.3)",
                "one model alone cannot tell a quirk of the model from a harness defect",
                "the one task that shows it fails in every trial",
            ],
        ),
        (
            Finding("harness_exception", 2, 40, 1, 1, 0, 0, 0.01, 0),
            "harness",
            2.2 + 0.3 + 0.5,
            [
                "it sits in the harness's own code",
                "it recurs over 2 distinct tasks (5% of the batch's)",
                "it goes with failing (p = 0.01)",
            ],
        ),
    ],
)
def test_what_the_evidence_says(
    finding: Finding, label: str, odds: float, reasons: list[str]
) -> None:
    answer = attribute(finding)
    assert (answer.label, answer.reasons) == (label, reasons)
    assert answer.probability == pytest.approx(1 / (1 + math.exp(-odds)), abs=0.0006)


def test_contrast_moves_the_probability_in_its_direction() -> None:
    steps = [(0.9, 9), (0.3, 9), (0.3, 0), (0.01, 0)]
    found = [attribute(replace(BASE, p_value=p, passed_episodes=n)) for p, n in steps]
    probabilities = [answer.probability for answer in found]
    assert probabilities == sorted(probabilities)
    assert len(set(probabilities)) == 4
