"""A diagnosis for people: a table in 80 columns, and example steps."""

from __future__ import annotations

from bot.display import count, printable
from bot.records import Diagnosis, Pattern

WIDTH = 80


def write_diagnosis(diagnosis: Diagnosis, top: int) -> str:
    """The whole answer of `ecdysis diagnose`, without a last newline."""
    lines = [
        f"{count(diagnosis.episodes, 'episode')}: {diagnosis.failed} failed, "
        f"{diagnosis.invalid} invalid, {diagnosis.unexplained} failed without an explanation",
        f"source {', '.join(map(printable, diagnosis.sources)) or '-'}; "
        f"model {', '.join(map(printable, diagnosis.models)) or '-'}",
    ]
    if not diagnosis.patterns:
        return "\n".join([*lines, "", "No failure pattern."])
    lines += ["", f"{'':>3} {'tasks':>5} {'fail':>4} {'pass':>4} {'p':>7}  pattern", "-" * WIDTH]
    shown = diagnosis.patterns[:top]
    for rank, pattern in enumerate(shown, 1):
        lines.append(_row(rank, pattern))
        attribution = pattern.attribution
        lines.append(
            f"{'':28}{attribution.label} {attribution.probability:.2f} -> {pattern.promotion}"
        )
    hidden = len(diagnosis.patterns) - len(shown)
    if hidden:
        lines.append(f"... and {count(hidden, 'more pattern')} (--top {len(diagnosis.patterns)})")
    lines += ["", "tasks: distinct failed tasks; fail, pass: episodes that show it; p: contrast"]
    for rank, pattern in enumerate(shown[: min(top, 5)], 1):
        lines += ["", *_details(rank, pattern)]
    return "\n".join(lines)


def _row(rank: int, pattern: Pattern) -> str:
    p_value = pattern.contrast.p_value
    shown = "-" if isinstance(p_value, str) else f"{p_value:.2g}"
    name = f"{pattern.kind} {pattern.component}: {pattern.template}"
    row = (
        f"{rank:>3} {pattern.distinct_tasks:>5} {pattern.failed_episodes:>4} "
        f"{pattern.passed_episodes:>4} {shown:>7}  "
    )
    return row + printable(name, WIDTH - len(row))


def _details(rank: int, pattern: Pattern) -> list[str]:
    lines = [printable(f"{rank}. {pattern.key}", WIDTH)]
    lines += [
        "   " + printable(f"because {reason}", WIDTH - 3) for reason in pattern.attribution.reasons
    ]
    for evidence in pattern.evidence[:3]:
        where = f"task {evidence.task_id} trial {evidence.trial} step {evidence.step}: "
        where = f"   {printable(where, 57)} "
        lines.append(where + printable(evidence.quote or "(empty)", max(WIDTH - len(where), 24)))
    return lines
