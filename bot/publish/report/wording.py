"""How figures of a report are written; an en dash stands for what was not recorded."""

from __future__ import annotations

from collections.abc import Sequence

from bot.display import show_seconds
from bot.publish.report.chronicle import ReportedGeneration, Score

NONE = "–"


def number(value: float | None, form: str = ",.6g") -> str:
    return NONE if value is None else format(value, form)


def thousands(value: float) -> str:
    """`830`, `12k`, `1.7M`: short, for a headline."""
    if value < 1_000:
        return f"{value:.0f}"
    return f"{value / 1e3:,.0f}k" if value < 999_500 else f"{value / 1e6:,.1f}M"


def score_line(score: Score | None) -> str:
    """`11/24 → 21/24`."""
    if score is None:
        return NONE
    return f"{score.before:g}/{score.tasks} → {score.after:g}/{score.tasks}"


def percent(part: float, whole: float) -> str:
    """A whole percentage; what is not nothing never reads `0%`, what is not all never `100%`."""
    if not whole:
        return NONE
    share = 100 * part / whole
    if 0 < share < 1:
        return "<1%"
    return f"{min(share, 99) if part < whole else 100:.0f}%"


def flips_line(generation: ReportedGeneration) -> str:
    """`+10 −0`."""
    if generation.fixed_count is None and generation.broken_count is None:
        return NONE
    return f"+{generation.fixed_count or 0} −{generation.broken_count or 0}"


def seconds(value: float | None) -> str:
    return NONE if value is None else show_seconds(value)


def per_episode(before: float | None, after: float | None) -> str:
    """Tokens of an episode before and after: `1,200 → 900 (−25%)`."""
    if before is None or after is None:
        return NONE
    change = f" ({100 * (after / before - 1):+.0f}%)".replace("-", "−") if before > 0 else ""
    return f"{before:,.0f} → {after:,.0f}{change}"


def total(values: Sequence[float | None]) -> float | None:
    """The sum of what was recorded; None where nothing was."""
    known = [value for value in values if value is not None]
    return sum(known) if known else None
