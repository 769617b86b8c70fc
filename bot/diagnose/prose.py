"""The words of a diagnosis: what keeps failing, why, and what the repair does about it."""

from __future__ import annotations

from bot.display import count
from bot.records import ModificationSpec, Pattern

LAYERS = {
    "environment-contract": "what the model is told about its tools",
    "procedural-skill": "what the model is told about how to proceed",
    "action-realization": "how the model's text becomes an action",
    "trajectory-regulation": "the loop around the model",
}


def explain(pattern: Pattern, spec: ModificationSpec, episodes: int) -> str:
    """The body of the commit: paragraphs of prose, without evidence and trailers."""
    where = "in the model's own text" if pattern.component == "model-text" else pattern.component
    passed = (
        f"It shows in {pattern.passed_episodes} passing ones as well."
        if pattern.passed_episodes
        else "No passing episode shows it."
    )
    what = (
        f"{pattern.failed_episodes} of {episodes} train episodes over "
        f"{count(pattern.distinct_tasks, 'distinct task')} failed with "
        f'"{pattern.template}" ({pattern.kind}, {where}). {passed}'
    )
    why = (
        f"Cause: {spec.hypothesis} The layer is {spec.layer}: {LAYERS[spec.layer]}. "
        f"Attribution: {pattern.attribution.label} "
        f"({pattern.attribution.probability:.2f}), because "
        + "; ".join(reason.rstrip(".") for reason in pattern.attribution.reasons)
        + "."
    )
    changes = " ".join(f"{edit.file}: {edit.why}" for edit in spec.edits if edit.why)
    paragraphs = [what, why, changes]
    if spec.applicability:
        paragraphs.append(f"When it acts: {spec.applicability}")
    if spec.risk_tasks:
        paragraphs.append(
            f"Risk: {count(len(spec.risk_tasks), 'passing train task')} reach the edited code."
        )
    return "\n\n".join(paragraph for paragraph in paragraphs if paragraph)
