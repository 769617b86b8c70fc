"""Specs, patterns and verdicts for tests of the lineage and of the commands that show it."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from bot.git.repository import Repository
from bot.lineage.generations import Generation, record_generation
from bot.lineage.message import GenerationFigures, RepairMessage
from bot.records import (
    Attribution,
    Contrast,
    Edit,
    Evidence,
    ModificationSpec,
    Pattern,
    Verdict,
)


def make_spec(title: str = "Tell the model which fields exist", **more: Any) -> ModificationSpec:
    values: dict[str, Any] = {
        "title": title,
        "pattern": "tool_error/lookup_order/unknown-field",
        "layer": "environment-contract",
        "hypothesis": "The prompt does not name the fields.",
        "predicted_fixes": ["task-0031", "task-0044"],
        "origin": "catalog:worked-examples",
        "edits": [Edit(op="insert_code", file="harness/prompt.py", code="FIELDS = 1")],
    }
    return ModificationSpec(**{**values, **more})


def make_pattern(*quotes: str, **more: Any) -> Pattern:
    values: dict[str, Any] = {
        "key": "tool_error/lookup_order/unknown-field",
        "kind": "tool_error",
        "component": "lookup_order",
        "template": "error: unknown field",
        "layer": "environment-contract",
        "distinct_tasks": 12,
        "failed_episodes": 17,
        "passed_episodes": 0,
        "failed_events": 17,
        "passed_events": 0,
        "contrast": Contrast(p_value=0.01),
        "attribution": Attribution(label="undetermined", probability=0.55, reasons=["One model."]),
        "promotion": "trial",
        "evidence": [
            Evidence(task_id=f"task-{31 + number:04d}", trial=0, step=2, quote=quote)
            for number, quote in enumerate(quotes or ("lookup_order(3201, destination)",))
        ],
    }
    return Pattern(**{**values, **more})


def make_message(title: str = "Tell the model which fields exist") -> RepairMessage:
    return RepairMessage(
        make_spec(title),
        make_pattern(),
        "17 of 36 train episodes over 12 distinct tasks failed.\n\nCause: nobody told it.",
    )


def make_figures(**more: Any) -> GenerationFigures:
    verdict = Verdict(
        decision="accept",
        reason="Better on the hidden tasks.",
        fixed=[f"task-{n}" for n in range(10)],
        noise_band=1.0,
        p_value=0.000976,
        tasks=24,
        trials=1,
    )
    values = {"sandbox": "bubblewrap", "before": Fraction(11), "after": Fraction(21)}
    return GenerationFigures(verdict, **{**values, **more})


def add_generation(
    repository: Repository, base: str = "HEAD", titles: tuple[str, ...] = ("Repair it",)
) -> Generation:
    """A generation on top of `base` whose repairs each change a file of their own."""
    tree, repairs = repository.tree_of(base), []
    for title in titles:
        name = "".join(c if c.isalnum() else "-" for c in title)[:40]
        tree = repository.write_tree(tree, {f"repairs/{name}.py": f"{title!r}\n".encode()})
        repairs.append((tree, make_message(title)))
    return record_generation(repository, base_commit=base, repairs=repairs, figures=make_figures())
