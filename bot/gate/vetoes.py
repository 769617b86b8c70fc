"""What speaks against a candidate that is proven to help: its cost, and other models."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from bot.gate.paired_test import Comparison, sign_flip_p_value
from bot.records import Inference, OtherModel

Cost = Literal["tokens", "calls", "seconds"]
MOST_FALSE_VETOES = 0.05
"""Chance that a candidate which harms no other model is vetoed for any of them."""


def veto_for_growth(inference: Inference, most_growth: Mapping[Cost, float]) -> str | None:
    """One sentence where an episode costs more than `most_growth` times the control's, or None.

    A cost that the control does not have at all cannot be compared and is no veto.
    """
    for what, limit in most_growth.items():
        before: float | None = getattr(inference, f"{what}_before")
        after: float | None = getattr(inference, f"{what}_after")
        if before and after is not None and after > limit * before:
            return (
                f"It helps, but an episode takes {after / before:.2f} times the {what} "
                f"({before:g} -> {after:g}), over the limit of {limit:g}."
            )
    return None


def compare_other_model(model: str, comparison: Comparison) -> OtherModel:
    """The comparison with another model as a record; the p-value is that of its loss."""
    before, after = comparison.scores
    losses = [-gain for gain in comparison.gains.values()]
    return OtherModel(
        model=model,
        tasks=comparison.tasks,
        before=float(before),
        after=float(after),
        fixed=comparison.fixed,
        broken=comparison.broken,
        p_value=sign_flip_p_value(losses) if sum(losses) > 0 else None,
    )


def veto_for_other_models(others: list[OtherModel]) -> str | None:
    """One sentence about the first other model that is proven to lose, or None."""
    for other in others:
        if other.p_value is not None and other.p_value <= MOST_FALSE_VETOES / len(others):
            return (
                f"It helps, but harms {other.model}: {other.before:g}/{other.tasks} -> "
                f"{other.after:g}/{other.tasks}, {len(other.fixed)} fixed and "
                f"{len(other.broken)} broken, p = {other.p_value:.2g}."
            )
    return None
