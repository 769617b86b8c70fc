"""What an interrupted run had accepted, read back from the lineage: a run goes on where it was."""

from __future__ import annotations

import re
from fractions import Fraction

from pydantic import ValidationError

from bot.git.repository import Repository
from bot.lineage.evidence import read_note, stored_spec
from bot.lineage.generations import Generation, generation_ending_at
from bot.records import Pattern, Verdict
from bot.workshop import Accepted, Change, Workshop

_SCORE = re.compile(r"([\d.]+)/(\d+) -> ([\d.]+)/(\d+)")


def recall_accepted(shop: Workshop) -> None:
    """Put the generations from the journal's start to its base into the report."""
    report, commit = shop.report, shop.journal.base
    while commit != shop.journal.start:
        generation = generation_ending_at(shop.repository, commit)
        accepted = _read(shop.repository, generation) if generation else None
        if accepted is None or accepted.generation.base is None:
            break
        report.accepted.insert(0, accepted)
        score = _SCORE.fullmatch(accepted.generation.figures.get("Score", ""))
        if score is not None:
            before, tasks, after, _ = score.groups()
            report.seed_select = Fraction(before) / max(int(tasks), 1)
            if report.evolved_select is None:
                report.evolved_select = Fraction(after) / max(int(tasks), 1)
        commit = accepted.generation.base


def _read(repository: Repository, generation: Generation) -> Accepted | None:
    """A generation with its specs and its verdict; None where its notes do not hold them."""
    changes, verdict = [], None
    for repair in generation.repairs:
        note = read_note(repository, repair.commit) or {}
        spec = stored_spec(note)
        try:
            pattern = Pattern.model_validate(note.get("pattern"))
            verdict = Verdict.model_validate(note.get("verdict"))
        except ValidationError:
            return None
        if spec is None:
            return None
        changes.append(Change(spec, pattern, repair.tree, repair.message.body))
    return None if verdict is None else Accepted(generation, changes, verdict)
