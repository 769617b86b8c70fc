"""The report as one self-contained HTML page."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from markupsafe import Markup

from bot.display import count, printable, show_day
from bot.publish.report.chart import height, place_columns
from bot.publish.report.chronicle import (
    Chronicle,
    ExplainedHunk,
    ReportedGeneration,
    ReportedRejection,
    ReportedRepair,
)
from bot.publish.report.sheet import render_sheet
from bot.publish.report.wording import (
    NONE,
    flips_line,
    number,
    per_episode,
    percent,
    score_line,
    seconds,
    thousands,
    total,
)

MOST_COLUMNS = 40
"""Of a matrix: the newest generations that have something in it."""
MOST_ROWS = 80
MOST_REJECTED = 100
MOST_REASONS = 20
LONGEST_DIAGNOSIS = 6000
MOST_LINES = 300
"""Of one repair's diff; the whole of it is in git."""
MOST_CODE = 4000
"""Lines of diff in the page: a browser has to lay all of them out."""
WEAK = "limits"


@dataclass(frozen=True)
class Matrix:
    """What a table of cells shows: a row is its head and one cell a column; cells are markup."""

    columns: Sequence[str]
    rows: Sequence[tuple[str, Markup]]
    left_out: str


def write_page(chronicle: Chronicle) -> str:
    """The whole page; the newest generation stands first wherever text is read."""
    newest_first = chronicle.generations[::-1]
    diff_lines = 0
    described = []
    for generation in newest_first:
        described.append(describe_generation(generation, MOST_CODE - diff_lines))
        diff_lines += sum(len(hunk.lines) for repair in generation.repairs for hunk in repair.hunks)
    shown = chronicle.rejected[:MOST_REJECTED]
    return render_sheet(
        "bot.publish.report",
        "report",
        {
            "repository": printable(chronicle.repository, 80) or NONE,
            "summary": summarise(chronicle),
            "figures": describe_figures(chronicle),
            "chart": place_columns(
                chronicle.generations, [describe_point(g) for g in chronicle.generations]
            ),
            "scale": [{"y": height(share / 100), "label": f"{share}%"} for share in (0, 50, 100)],
            "generations": described,
            "flips": flips_matrix(chronicle.generations),
            "patterns": patterns_matrix(chronicle),
            "rejected": [describe_rejection(item) for item in shown],
            "hidden": count(len(chronicle.rejected) - len(shown), "older candidate")
            if len(shown) < len(chronicle.rejected)
            else "",
            "missing": chronicle.missing,
        },
    )


def summarise(chronicle: Chronicle) -> str:
    """What was made and rejected: `12 generations with 15 repairs; 4 candidates were rejected.`."""
    made = count(len(chronicle.generations), "generation")
    said = f"{made} with {count(chronicle.repairs, 'repair')}"
    tried = len(chronicle.rejected)
    was = "was" if tried == 1 else "were"
    return f"{said}; {count(tried, 'candidate')} {was} rejected." if tried else f"{said}."


def describe_figures(chronicle: Chronicle) -> list[dict[str, str]]:
    """The figures at the head: name, value, and a remark beside it."""
    generations = chronicle.generations
    scores = [generation.score for generation in generations if generation.score]
    first, last = (scores[0], scores[-1]) if scores else (None, None)
    levels = Counter(printable(g.sandbox, 40) for g in generations if g.sandbox)
    tokens = total([generation.tokens for generation in generations])
    return [
        {
            "name": "Before the first",
            "value": percent(first.before, first.tasks) if first else NONE,
            "remark": f"{first.before:g} of {first.tasks}" if first else "",
        },
        {
            "name": "With the newest",
            "value": percent(last.after, last.tasks) if last else NONE,
            "remark": f"{last.after:g} of {last.tasks}" if last else "",
        },
        {
            "name": "Fixed, broken",
            "value": f"{number(total([g.fixed_count for g in generations]))}, "
            f"{number(total([g.broken_count for g in generations]))}",
            "remark": "hidden tasks",
        },
        {
            "name": "Isolation",
            "value": ", ".join(levels) or NONE,
            "remark": "weak" if WEAK in levels else "",
            "words": "yes",
        },
        {
            "name": "Sealed test split",
            "value": str(chronicle.test_reads),
            "remark": "read" if chronicle.test_reads == 1 else "reads",
        }
        if tokens is None
        else {"name": "Tokens", "value": thousands(tokens), "remark": "for proofs"},
    ]


def describe_point(generation: ReportedGeneration) -> str:
    """What the chart says of a generation when it is pointed at."""
    parts = [f"Generation {generation.generation}: {score_line(generation.score)}"]
    if generation.noise_band is not None:
        parts.append(f"noise band ±{generation.noise_band:g} tasks")
    parts += [printable(repair.title, 80) for repair in generation.repairs[:3]]
    return ", ".join(parts)


def describe_generation(generation: ReportedGeneration, diff_lines: int) -> dict[str, Any]:
    score = generation.score
    change = score.after - score.before if score else 0.0
    repairs = []
    for repair in generation.repairs:
        repairs.append(describe_repair(repair, min(MOST_LINES, max(diff_lines, 0))))
        diff_lines -= sum(len(hunk.lines) for hunk in repair.hunks)
    return {
        "number": generation.generation,
        "branch": generation.branch,
        "commit": generation.commit[:10],
        "date": show_day(generation.when),
        "parent": f"generation {generation.parent}" if generation.parent else "",
        "status": generation.status,
        "score": score_line(score),
        "share": percent(score.after, score.tasks) if score else NONE,
        "change": f"{change:+g}".replace("-", "−") if score else "",
        "flips": flips_line(generation),
        "noise": NONE if generation.noise_band is None else f"±{generation.noise_band:g}",
        "p_value": number(generation.p_value, ".2g"),
        "trials": number(generation.trials),
        "activated": printable(generation.activated, 20) or NONE,
        "accommodation": printable(generation.accommodation, 20) or NONE,
        "sandbox": printable(generation.sandbox, 40) or NONE,
        "weak": generation.sandbox == WEAK,
        "calls": number(generation.model_calls, ",.0f"),
        "tokens": number(generation.tokens, ",.0f"),
        "seconds": seconds(generation.wall_s),
        "per_episode": per_episode(generation.tokens_before, generation.tokens_after),
        "titles": [printable(repair.title, 160) for repair in generation.repairs],
        "repairs": repairs,
    }


def describe_repair(repair: ReportedRepair, lines: int) -> dict[str, Any]:
    """A repair with at most so many lines of its diff."""
    hunks: list[dict[str, Any]] = []
    for hunk in repair.hunks:
        kept = hunk.lines[:lines]
        lines -= len(kept)
        if kept:
            hunks.append(
                describe_hunk(hunk, kept, first=not hunks or hunks[-1]["file"] != hunk.file)
            )
    hidden = sum(len(hunk.lines) for hunk in repair.hunks) - sum(len(h["lines"]) for h in hunks)
    whole = printable(repair.diagnosis, lines=True)
    facts = {
        "Commit": repair.commit[:10],
        "Pattern": repair.pattern,
        "Attribution": repair.attribution,
        "Layer": repair.layer,
        "Origin": repair.origin,
        "Predicted fixes": ", ".join(repair.predicted_fixes),
    }
    return {
        "title": printable(repair.title, 200),
        "commit": repair.commit[:10],
        "diagnosis": printable(whole, LONGEST_DIAGNOSIS, lines=True).strip("\n"),
        "facts": [(name, printable(value, 300)) for name, value in facts.items() if value],
        "hunks": hunks,
        "hidden": f"{count(hidden, 'more line')}: git show {repair.commit[:10]}" if hidden else "",
        "missing": repair.missing,
    }


def describe_hunk(hunk: ExplainedHunk, lines: Sequence[str], *, first: bool) -> dict[str, Any]:
    kinds = {"+": "added", "-": "removed"}
    return {
        "file": printable(hunk.file, 200),
        "first": first,
        "header": printable(hunk.header, 200),
        "reasons": [printable(reason, 600) for reason in hunk.reasons[:MOST_REASONS]],
        "lines": [
            (kinds.get(line[:1], "same"), printable(line, 2000, lines=True)) for line in lines
        ],
    }


def describe_rejection(item: ReportedRejection) -> dict[str, str]:
    return {
        "title": printable(item.title, 200),
        "pattern": printable(item.pattern, 200),
        "origin": printable(item.origin, 80),
        "reason": printable(item.reason, 1000),
        "kind": printable(item.kind, 20),
        "date": show_day(item.when),
        "base": printable(item.base, 40),
    }


def flips_matrix(generations: Sequence[ReportedGeneration]) -> Matrix:
    """Hidden tasks × generations: which were fixed (+) and which broken (−); most flips first."""
    cells: dict[str, dict[int, Markup]] = {}
    kinds = (("fixed", "+"), ("broken", "−"))
    for generation in generations:
        for kind, sign in kinds:
            for task in getattr(generation, kind) or ():
                cells.setdefault(task, {})[generation.generation] = Markup(
                    '<td class="{0}" title="{0}">{1}</td>'
                ).format(kind, sign)
    order = sorted(cells, key=lambda task: (-len(cells[task]), min(cells[task]), task))
    return lay_out(cells, order, [(g.generation, str(g.generation)) for g in generations], "task")


def patterns_matrix(chronicle: Chronicle) -> Matrix:
    """Patterns × generations: on how many train tasks each was seen, and where it was answered."""
    cells: dict[str, dict[int, Markup]] = {}
    for sighting in chronicle.sightings:
        kind = "answered" if sighting.answered else "seen"
        where = sighting.generation or 0
        cells.setdefault(sighting.pattern, {})[where] = Markup(
            '<td class="{0}" title="{0}">{1:,}</td>'
        ).format(kind, sighting.tasks)
    columns = [(g.generation, str(g.generation)) for g in chronicle.generations]
    order = sorted(cells, key=lambda pattern: (-len(cells[pattern]), max(cells[pattern]), pattern))
    return lay_out(cells, order, [*columns, (0, "next")], "pattern")


def lay_out(
    cells: Mapping[str, Mapping[int, Markup]],
    order: Sequence[str],
    columns: Sequence[tuple[int, str]],
    noun: str,
) -> Matrix:
    """The newest columns that hold anything, and the first rows; in words what is left out."""
    used = {key for row in cells.values() for key in row}
    every = [column for column in columns if column[0] in used]
    kept = every[-MOST_COLUMNS:]
    keys = [key for key, _ in kept]
    rows = [name for name in order if any(key in cells[name] for key in keys)]
    empty = Markup("<td></td>")
    parts = [
        count(number, what)
        for number, what in (
            (len(every) - len(kept), "older generation"),
            (len(cells) - min(len(rows), MOST_ROWS), f"more {noun}"),
        )
        if number
    ]
    return Matrix(
        [label for _, label in kept],
        [
            (
                printable(name, 120),
                Markup("").join(cells[name].get(key, empty) for key in keys),
            )
            for name in rows[:MOST_ROWS]
        ],
        " and ".join(parts),
    )
