"""What a person reads at the end of `evolve` and `demo`."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Any

from bot.display import count, printable, show_seconds

if TYPE_CHECKING:
    from bot.workshop import Report


def write_summary(report: Report, cost: dict[str, Any], sandbox: str) -> str:
    """Repairs, rejections with their reasons, what was left alone, figures, cost, what to type."""
    lines: list[str] = []
    for accepted in report.accepted:
        lines.append(f"Generation {accepted.generation.number} on {accepted.generation.branch}")
        for change in accepted.changes:
            lines.append(f"  + {printable(change.spec.title)}  [{change.spec.origin}]")
        lines.append(f"    {accepted.verdict.reason}")
    if not report.accepted:
        lines.append("No repair was accepted.")
    if report.rejected:
        lines += ["", "Rejected by the gate"]
        for rejection in report.rejected:
            lines.append(f"  - {printable(rejection.title)}: {printable(rejection.reason)}")
    if report.left:
        lines += ["", "Left alone"]
        for left in report.left:
            lines.append(f"  . {printable(left.pattern, 90)} ({left.label})")
            lines.append(f"      {printable(left.reason, 240)}")
    lines.append("")
    if report.seed_select is not None and report.evolved_select is not None:
        lines.append(
            f"Hidden select split, as far as it was run: {_percent(report.seed_select)} -> "
            f"{_percent(report.evolved_select)}, noise band {report.noise or 0:g} tasks"
        )
    if report.transfer is not None:
        other = report.transfer
        lines.append(
            f"With {printable(other.model)}, seed against evolved: {other.before:g}/{other.tasks} "
            f"-> {other.after:g}/{other.tasks}, {len(other.fixed)} fixed, "
            f"{len(other.broken)} broken"
        )
    if report.test is not None:
        lines += _test_lines(report)
    lines.append(
        f"Cost: {count(cost['model_calls'], 'model call')}, {cost['tokens']:,} tokens, "
        f"{show_seconds(cost['wall_s'])}; isolation: {sandbox}"
    )
    return "\n".join(lines)


def _test_lines(report: Report) -> list[str]:
    test = report.test
    assert test is not None
    seed, evolved = test.scores
    return [
        f"Sealed test split, seed against evolved: {float(seed):g}/{test.tasks} -> "
        f"{float(evolved):g}/{test.tasks} "
        f"({_percent(seed / max(test.tasks, 1))} -> {_percent(evolved / max(test.tasks, 1))}), "
        f"p = {report.test_p_value:.2g}, {count(report.test_reads or 0, 'read')} so far",
        f"  fixed ({len(test.fixed)}): {' '.join(test.fixed) or 'none'}",
        f"  broken ({len(test.broken)}): {' '.join(test.broken) or 'none'}",
    ]


def _percent(value: Fraction) -> str:
    return f"{100 * float(value):.0f} %"
