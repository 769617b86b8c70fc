"""The policy that weighs whether a pattern is the harness's fault.

`diagnosis.py` hands over a `Finding`; the answer is a label, a probability that the harness is to
blame, and the reasons in words. Each piece of evidence shifts the log-odds; the sizes say how
much a careful engineer would let himself be moved, and are the same for every harness.

From one model, evidence at the tool boundary or in the model's text cannot tell a quirk of the
model from a defect of the harness: there the answer stays `undetermined`, whatever the sum.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

from bot.records import Attribution, Label

HARNESS_FROM, MODEL_UP_TO = 0.75, 0.25
_WHERE: dict[str, tuple[float, str]] = {
    "harness_exception": (2.2, "it sits in the harness's own code"),
    "harness_event": (1.2, "the harness itself reports it"),
    "tool_error": (0.2, "it sits at the tool boundary, where contract and model meet"),
    "unparsed_action": (0.2, "it sits where the harness reads the model's text"),
    "wrong_form": (0.4, "the model had the right value and the harness did not bring it home"),
    "repeated_action": (0.0, "it sits in the loop: the model repeats, the harness lets it"),
    "budget_exhausted": (0.0, "it sits in the loop: the limits are the harness's"),
    "truncated_reply": (0.4, "the token limit is the harness's"),
    "empty_reply": (-0.2, "it sits in the model's text"),
}
_ELSEWHERE = (-0.4, "it sits in what the model decided")
_CERTAIN_PLACES = frozenset({"harness_exception"})


@dataclass(frozen=True)
class Finding:
    """What is known of a pattern.

    `tasks_with_trials` are tasks run more than once that show it; `always` of them fail with it
    in every trial.
    """

    kind: str
    distinct_tasks: int
    all_tasks: int
    pattern_models: int
    batch_models: int
    tasks_with_trials: int
    always: int
    p_value: float | Literal["unavailable"]
    passed_episodes: int = 0


def attribute(finding: Finding) -> Attribution:
    """Label, probability of `harness`, and the reasons, strongest evidence first."""
    odds, where = _WHERE.get(finding.kind, _ELSEWHERE)
    reasons = [where]
    share = finding.distinct_tasks / max(finding.all_tasks, 1)
    if finding.distinct_tasks >= 2:
        odds += min(0.3 * math.log2(finding.distinct_tasks), 1.2)
        reasons.append(
            f"it recurs over {finding.distinct_tasks} distinct tasks ({share:.0%} of the batch's)"
        )
    else:
        odds -= 0.8
        reasons.append("it shows in one task only")
    odds += _weigh_models(finding, reasons)
    odds += _weigh_trials(finding, reasons)
    odds += _weigh_contrast(finding, reasons)
    # Rounded first: label and printed probability never contradict each other.
    probability = round(1 / (1 + math.exp(-odds)), 3)
    one_model = finding.batch_models < 2 and finding.kind not in _CERTAIN_PLACES
    if one_model:
        probability = min(max(probability, MODEL_UP_TO + 0.05), HARNESS_FROM - 0.05)
        reasons.append("one model alone cannot tell a quirk of the model from a harness defect")
    label: Label = "undetermined"
    if probability >= HARNESS_FROM:
        label = "harness"
    elif _is_task(finding):
        label = "task"
        reasons.append("the one task that shows it fails in every trial")
    elif probability <= MODEL_UP_TO:
        label = "model"
    return Attribution(label=label, probability=round(probability, 3), reasons=reasons)


def _weigh_models(finding: Finding, reasons: list[str]) -> float:
    if finding.batch_models < 2:
        return 0.0
    if finding.pattern_models == finding.batch_models:
        reasons.append(f"all {finding.batch_models} models of the batch show it")
        return 1.4
    if finding.pattern_models >= 2:
        reasons.append(f"{finding.pattern_models} of {finding.batch_models} models show it")
        return 0.6
    reasons.append(f"only one of {finding.batch_models} models shows it")
    return -1.8


def _weigh_trials(finding: Finding, reasons: list[str]) -> float:
    if not finding.tasks_with_trials:
        return 0.0
    share = finding.always / finding.tasks_with_trials
    if share >= 0.5:
        reasons.append(
            f"{finding.always} of {finding.tasks_with_trials} tasks fail with it in every trial"
        )
        return 0.5
    reasons.append(
        f"it comes and goes: only {finding.always} of {finding.tasks_with_trials} tasks fail "
        "with it in every trial"
    )
    return -0.4


def _weigh_contrast(finding: Finding, reasons: list[str]) -> float:
    if finding.p_value == "unavailable":
        reasons.append("contrast is unavailable: nothing that reaches this place passes")
        return 0.0
    if finding.p_value <= 0.05:
        reasons.append(f"it goes with failing (p = {finding.p_value:.2g})")
        return 0.5
    if not finding.passed_episodes:
        reasons.append(f"no passing episode shows it, but few could (p = {finding.p_value:.2g})")
        return 0.0
    reasons.append(f"passing episodes show it too (p = {finding.p_value:.2g})")
    return -0.6 if finding.p_value > 0.5 else -0.2


def _is_task(finding: Finding) -> bool:
    return (
        finding.distinct_tasks == 1
        and finding.tasks_with_trials == 1
        and finding.always == 1
        and finding.kind not in _CERTAIN_PLACES
    )
