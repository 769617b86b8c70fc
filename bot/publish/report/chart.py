"""The geometry of the score chart: percentages of its width and height, so that it fits anywhere.

Shapes are placed in percent and drawn in pixels: the SVG needs no view box, and a circle stays a
circle on a phone.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from bot.publish.report.chronicle import ReportedGeneration

TOP, BOTTOM = 6.0, 96.0
"""Where a score of 100 % and of 0 % lies, in percent of the height from above."""
LEFT = 7.0
"""Room for the scale, in percent of the width."""
MOST_LABELS = 10


@dataclass(frozen=True)
class Column:
    """One generation: its place, the noise band around the harness before it, and both scores."""

    label: str
    x: float
    left: float
    width: float
    before: float
    after: float
    better: bool
    band: tuple[float, float] | None  # from above, height
    source: tuple[float, float] | None  # the point of the generation that it stands on
    title: str


def place_columns(generations: Sequence[ReportedGeneration], titles: Sequence[str]) -> list[Column]:
    """A column for every generation with a score, oldest first; `titles` are what they say."""
    scored = [(g, title) for g, title in zip(generations, titles, strict=True) if g.score]
    width = (100 - LEFT) / max(len(scored), 1)
    every = max(1, -(-len(scored) // MOST_LABELS))
    points: dict[int, tuple[float, float]] = {}
    columns = []
    for place, (generation, title) in enumerate(scored):
        score = generation.score
        assert score is not None
        left = LEFT + place * width
        x = round(left + width / 2, 3)
        before, after = height(score.before / score.tasks), height(score.after / score.tasks)
        columns.append(
            Column(
                label=str(generation.generation) if place % every == 0 else "",
                x=x,
                left=round(left, 3),
                width=round(width, 3),
                before=before,
                after=after,
                better=score.after >= score.before,
                band=_band(score.before / score.tasks, generation.noise_band, score.tasks),
                source=points.get(generation.parent or 0),
                title=title,
            )
        )
        points[generation.generation] = (x, after)
    return columns


def height(share: float) -> float:
    """Where a score between 0 and 1 lies, in percent from above."""
    return round(BOTTOM - (BOTTOM - TOP) * min(max(share, 0.0), 1.0), 2)


def _band(before: float, noise: float | None, tasks: int) -> tuple[float, float] | None:
    if noise is None or noise <= 0:
        return None
    above, below = height(before + noise / tasks), height(before - noise / tasks)
    return above, round(below - above, 2)
