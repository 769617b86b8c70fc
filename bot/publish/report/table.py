"""The report as CSV: one row of figures for each generation, for notebooks and spreadsheets."""

from __future__ import annotations

import csv
import io

from bot.display import printable, scrub, show_day
from bot.publish.report.chronicle import Chronicle, ReportedGeneration

FORMULA = ("=", "+", "-", "@")
"""A cell that begins so would be computed by a spreadsheet."""


def write_csv(chronicle: Chronicle) -> str:
    """A head and the rows, oldest generation first; what was not recorded is empty."""
    rows = [describe_row(generation) for generation in chronicle.generations]
    output = io.StringIO()
    writer = csv.DictWriter(output, list(rows[0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return output.getvalue()


def describe_row(generation: ReportedGeneration) -> dict[str, str | float | None]:
    score = generation.score
    return {
        "generation": generation.generation,
        "branch": generation.branch,
        "commit": generation.commit,
        "date": show_day(generation.when),
        "parent": generation.parent,
        "status": generation.status,
        "score_before": score.before if score else None,
        "score_after": score.after if score else None,
        "tasks": score.tasks if score else None,
        "fixed": generation.fixed_count,
        "broken": generation.broken_count,
        "noise_band": generation.noise_band,
        "p_value": generation.p_value,
        "trials": generation.trials,
        "activated": cell(generation.activated),
        "accommodation": cell(generation.accommodation),
        "sandbox": cell(generation.sandbox),
        "model_calls": generation.model_calls,
        "tokens": generation.tokens,
        "wall_s": generation.wall_s,
        "tokens_before": generation.tokens_before,
        "tokens_after": generation.tokens_after,
        "titles": cell("; ".join(repair.title for repair in generation.repairs)),
        "patterns": cell("; ".join(repair.pattern for repair in generation.repairs)),
        "fixed_tasks": cell(" ".join(generation.fixed or ())),
        "broken_tasks": cell(" ".join(generation.broken or ())),
    }


def cell(text: str) -> str:
    """Text of one line that no spreadsheet takes for a formula."""
    clean = scrub(printable(text))
    return f"'{clean}" if clean.startswith(FORMULA) else clean
