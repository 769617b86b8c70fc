"""The report as Markdown for a job summary: a sparkline, a table, what was rejected.

Text that is not the bot's own stands in code spans, where nothing in it is a mention, a link,
an issue's number, HTML or the end of a table's cell; and it never begins a line.
"""

from __future__ import annotations

from collections.abc import Sequence

from bot.display import count, printable, scrub, show_day
from bot.publish.report.chronicle import Chronicle, ReportedGeneration, Score
from bot.publish.report.wording import (
    NONE,
    flips_line,
    number,
    per_episode,
    percent,
    score_line,
    total,
)

BARS = "▁▂▃▄▅▆▇█"
COLUMNS = (
    *("#", "Date", "Repairs", "Score", "Flips", "Noise", "p"),
    *("Tokens of an episode", "Isolation", "Status"),
)
MOST_BARS = 60
MOST_GENERATIONS = 50
MOST_REJECTED = 20


def write_markdown(chronicle: Chronicle) -> str:
    """The whole text, the newest generation first."""
    generations = chronicle.generations[::-1]
    shown = generations[:MOST_GENERATIONS]
    lines = [f"## Generations of {code(chronicle.repository, 80)}", "", *outline(chronicle)]
    lines += [
        "",
        f"| {' | '.join(COLUMNS)} |",
        "|--:|---|---|---|---|--:|--:|---|---|---|",
        *map(row, shown),
    ]
    if len(shown) < len(generations):
        lines += ["", f"{count(len(generations) - len(shown), 'older generation')} not shown."]
    if chronicle.rejected:
        lines += ["", "### Rejected", ""]
        for item in chronicle.rejected[:MOST_REJECTED]:
            lines.append(
                f"- {show_day(item.when)} {code(item.title, 120)}: {code(item.reason, 300)}"
            )
        more = len(chronicle.rejected) - MOST_REJECTED
        if more > 0:
            lines += ["", f"{count(more, 'older candidate')} not shown."]
    lines += [f"\nNot in this clone: {code(sentence, 300)}" for sentence in chronicle.missing]
    return "\n".join(lines) + "\n"


def outline(chronicle: Chronicle) -> list[str]:
    """The scores in one line, and the sums."""
    scores = [generation.score for generation in chronicle.generations if generation.score]
    lines = []
    if scores:
        first, last = scores[0], scores[-1]
        lines.append(
            f"{sparkline(scores)} hidden tasks passed: {percent(first.before, first.tasks)} before "
            f"the first, **{percent(last.after, last.tasks)}** with the newest generation."
        )
        lines.append("")
    sums = [count(chronicle.repairs, "repair"), f"{len(chronicle.rejected)} rejected"]
    tokens = total([generation.tokens for generation in chronicle.generations])
    if tokens is not None:
        sums.append(f"{number(tokens, ',.0f')} tokens for proofs")
    if chronicle.test_reads:
        sums.append(f"the sealed test split was read {count(chronicle.test_reads, 'time')}")
    made = count(len(chronicle.generations), "generation")
    return [*lines, f"{made}: {', '.join(sums)}."]


def sparkline(scores: Sequence[Score]) -> str:
    """One bar a generation after the one that it began from, `▁▄▇`; the scale is 0 to 100 %."""
    shares = [scores[0].before / scores[0].tasks, *(s.after / s.tasks for s in scores)]
    return "".join(BARS[round(share * (len(BARS) - 1))] for share in shares[-MOST_BARS:])


def row(generation: ReportedGeneration) -> str:
    titles = "<br>".join(code(repair.title, 100) for repair in generation.repairs)
    noise = NONE if generation.noise_band is None else f"±{generation.noise_band:g}"
    cells = [
        str(generation.generation),
        show_day(generation.when),
        titles,
        score_line(generation.score),
        flips_line(generation),
        noise,
        number(generation.p_value, ".2g"),
        per_episode(generation.tokens_before, generation.tokens_after),
        code(generation.sandbox, 40) if generation.sandbox else NONE,
        generation.status,
    ]
    return f"| {' | '.join(cells)} |"


def code(text: str, limit: int) -> str:
    """A code span of one line; look-alikes stand for what would end the cell or the span."""
    harmless = scrub(printable(text, limit)).replace("`", "ˋ").replace("|", "¦").strip()
    return f"`{harmless}`" if harmless else NONE
