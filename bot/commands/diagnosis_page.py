"""A diagnosis as one self-contained HTML page."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from typing import Any

from bot.cluster.excerpts import Excerpt, Excerpts, ExcerptStep
from bot.display import count, printable
from bot.publish.report.sheet import render_sheet
from bot.publish.report.wording import percent
from bot.records import Diagnosis, Pattern

MOST_PATTERNS = 100
OPENED = 3
MOST_NAMES = 20


def write_page(diagnosis: Diagnosis, excerpts: Excerpts, files: Sequence[str]) -> str:
    """The whole page. `excerpts` saw the same batch; `files` are the names it was read from."""
    passed = diagnosis.episodes - diagnosis.failed - diagnosis.invalid
    shown = diagnosis.patterns[:MOST_PATTERNS]
    hidden = len(diagnosis.patterns) - len(shown)
    return render_sheet(
        "bot.commands.pages",
        "diagnosis",
        {
            "sources": _name_all(diagnosis.sources),
            "models": _name_all(diagnosis.models),
            "several_models": len(diagnosis.models) > 1,
            "episodes": _describe_episodes(diagnosis, passed),
            "outlook": _outlook(diagnosis.patterns),
            "patterns": [
                _describe_pattern(rank, pattern, excerpts.of(pattern.key), diagnosis.failed, passed)
                for rank, pattern in enumerate(shown, 1)
            ],
            "scale": _scale(shown, diagnosis.failed, passed),
            "hidden": f"{count(hidden, 'more pattern')}" if hidden else "",
            "opened": OPENED,
            "files": ", ".join(files) or "-",
        },
    )


def _name_all(names: Sequence[str]) -> str:
    return ", ".join(printable(name, 80) for name in names[:MOST_NAMES]) or "-"


def _describe_episodes(diagnosis: Diagnosis, passed: int) -> dict[str, Any]:
    total = max(diagnosis.episodes, 1)
    parts, start = [], 0.0
    for name, number in (("fail", diagnosis.failed), ("pass", passed), ("none", diagnosis.invalid)):
        width = round(100 * number / total, 3)
        parts.append({"name": name, "start": round(start, 3), "width": width})
        start += width
    return {
        "total": f"{diagnosis.episodes:,}",
        "failed": f"{diagnosis.failed:,}",
        "failed_share": percent(diagnosis.failed, diagnosis.episodes),
        "passed": f"{passed:,}",
        "passed_share": percent(passed, diagnosis.episodes),
        "invalid": f"{diagnosis.invalid:,}",
        "unexplained": f"{diagnosis.unexplained:,}",
        "bar": parts,
        "label": f"{diagnosis.failed} failed, {passed} passed, {diagnosis.invalid} invalid",
    }


def _outlook(patterns: Sequence[Pattern]) -> str:
    """In words what becomes of the patterns: `38 patterns: 15 to try, 23 to watch.`."""
    numbers = Counter[str](pattern.promotion for pattern in patterns)
    words = {"repair": "to repair", "trial": "to try", "watch": "to watch", "none": "set aside"}
    parts = [f"{numbers[name]} {word}" for name, word in words.items() if numbers[name]]
    return f"{count(len(patterns), 'pattern')}: {', '.join(parts)}."


def _describe_pattern(
    rank: int, pattern: Pattern, excerpts: Sequence[Excerpt], failed: int, passed: int
) -> dict[str, Any]:
    attribution, p_value = pattern.attribution, pattern.contrast.p_value
    return {
        "rank": rank,
        "key": printable(pattern.key, 300),
        "kind": printable(pattern.kind.replace("_", " "), 60),
        "component": printable(pattern.component, 100),
        "message": printable(pattern.template, 200) or "(no message)",
        "layer": pattern.layer,
        "tasks": f"{pattern.distinct_tasks:,}",
        "tasks_counted": count(pattern.distinct_tasks, "task"),
        "failing": _share("fail", pattern.failed_episodes, failed),
        "passing": _share("pass", pattern.passed_episodes, passed),
        "p_value": "–" if isinstance(p_value, str) else f"{p_value:.2g}",
        "contrast": _contrast_in_words(p_value),
        "label": attribution.label,
        "probability": f"{attribution.probability:.2f}",
        "meter": [{"name": "meter", "start": 0, "width": round(100 * attribution.probability, 1)}],
        "reasons": [printable(reason, 300) for reason in attribution.reasons],
        "promotion": pattern.promotion,
        "examples": _describe_examples(pattern, excerpts),
    }


def _share(name: str, number: int, total: int) -> dict[str, Any]:
    share = percent(number, total)
    kind = {"fail": "failing", "pass": "passing"}[name]
    return {
        "name": name,
        "start": 0,
        "width": round(100 * number / total, 2) if total else 0,
        "percent": share,
        "counted": f"{number:,} of {total:,}" + (f" ({share})" if total else ""),
        "label": f"{number} of {total} {kind} episodes",
    }


def _scale(patterns: Sequence[Pattern], failed: int, passed: int) -> int:
    """The percentage at which the table's bars end: the largest share, up to the next ten."""
    shares = [pattern.failed_episodes / max(failed, 1) for pattern in patterns]
    shares += [pattern.passed_episodes / max(passed, 1) for pattern in patterns]
    return min(100, max(10, 10 * math.ceil(10 * max(shares, default=1.0))))


def _contrast_in_words(p_value: float | str) -> str:
    if isinstance(p_value, str):
        return "No episode that reaches this place passes, so there is nothing to contrast with."
    strength = (
        "it goes with failing"
        if p_value <= 0.05
        else "chance alone could bring this pattern together with failing"
    )
    return f"p = {p_value:.2g}: {strength}."


def _describe_examples(pattern: Pattern, excerpts: Sequence[Excerpt]) -> list[dict[str, Any]]:
    """The examples with their steps; the bare evidence where none could be kept."""
    if not excerpts:
        return [
            {"place": _place(e.task_id, e.trial, e.step), "quote": e.quote, "steps": []}
            for e in pattern.evidence
        ]
    return [
        {
            "place": _place(excerpt.task_id, excerpt.trial, excerpt.step),
            "quote": printable(excerpt.quote, 300) or "(empty)",
            "earlier": f"{count(excerpt.earlier, 'earlier step')}" if excerpt.earlier else "",
            "later": f"{count(excerpt.later, 'later step')}" if excerpt.later else "",
            "steps": [_describe_step(step, excerpt.step) for step in excerpt.steps],
        }
        for excerpt in excerpts
    ]


def _place(task_id: str, trial: int, step: int) -> str:
    return f"task {printable(task_id, 80)}, trial {trial}, step {step}"


def _describe_step(step: ExcerptStep, cited: int) -> dict[str, Any]:
    return {
        "index": step.index,
        "kind": step.kind,
        "head": printable(step.head),
        "text": step.text.strip("\n"),
        "error": step.error,
        "cited": step.index == cited,
        "cut": f"… {step.cut:,} more characters" if step.cut else "",
    }
