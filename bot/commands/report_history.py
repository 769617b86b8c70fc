"""The history of a repository as the report shows it, from commits, notes and refs."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from bot.commands.log import as_number, find_missing, read_history, split_list
from bot.commands.repair_diff import explain, parent_of, unified_diffs
from bot.publish.report.chronicle import (
    Chronicle,
    ExplainedHunk,
    ReportedGeneration,
    ReportedRejection,
    ReportedRepair,
    Score,
    Sighting,
)

if TYPE_CHECKING:
    from bot.commands.log import History
    from bot.git.repository import Repository
    from bot.lineage.generations import Generation, Repair
    from bot.lineage.rejected import RejectedCandidate
    from bot.records import Verdict

TRACED = 2
"""Of the newest generations, edits of one file are told apart: each costs a process."""
_SCORE = re.compile(r"([0-9]{1,9}(?:\.[0-9]{1,9})?)/([0-9]{1,9})")


def read_chronicle(repository: Repository, most: int | None = None) -> Chronicle:
    """Everything that a report shows, of the newest `most` generations."""
    from bot.lineage.evidence import read_notes

    history = read_history(repository, most)
    generations = history.generations[::-1]
    notes = read_notes(repository) if generations else {}
    diffs = read_diffs(repository, generations)
    traced = {generation.number for generation in generations[-TRACED:]}
    reported = [
        report_generation(
            history,
            generation,
            notes.get(generation.commit, {}),
            [
                report_repair(
                    repository, generation, repair, notes, diffs, generation.number in traced
                )
                for repair in generation.repairs
            ],
        )
        for generation in generations
    ]
    return Chronicle(
        repository=repository.root.name,
        generations=reported,
        rejected=report_rejected(history),
        sightings=find_sightings(repository, reported) if reported else [],
        test_reads=history.test_reads,
        missing=find_missing(history.generations),
    )


def read_diffs(repository: Repository, generations: Iterable[Generation]) -> dict[str, list[str]]:
    """Repair (its commit) → the lines of its diff, for those whose parent is in this clone."""
    pairs = {}
    for generation in generations:
        for commit in generation.commits:
            parent = parent_of(generation, commit)
            if parent is not None:
                pairs[commit] = parent
    there = repository.read_commits(pairs.values())
    return unified_diffs(repository, {c: p for c, p in pairs.items() if p in there})


def report_generation(
    history: History,
    generation: Generation,
    note: Mapping[str, Any],
    repairs: Sequence[ReportedRepair],
) -> ReportedGeneration:
    figures, verdict = generation.figures, read_verdict(note)
    parent = history.parents.get(generation.number)
    cost, inference = (verdict.cost, verdict.inference) if verdict else (None, None)
    trials = as_number(figures.get("Trials"))
    return ReportedGeneration(
        generation=generation.number,
        branch=generation.branch,
        commit=generation.commit,
        when=generation.repairs[-1].when,
        parent=parent if isinstance(parent, int) else None,
        status=history.merges.status(generation),
        score=read_score(figures.get("Score", "")),
        fixed=verdict.fixed if verdict else None,
        broken=verdict.broken if verdict else None,
        fixed_count=whole(figures.get("Fixed")),
        broken_count=whole(figures.get("Broken")),
        noise_band=as_number(figures.get("Noise-Band")),
        p_value=as_number(figures.get("P-Value")),
        trials=trials if isinstance(trials, int) else None,
        sandbox=figures.get("Sandbox", ""),
        activated=figures.get("Activated", ""),
        accommodation=figures.get("Accommodation", ""),
        # A cost of nothing is one that was not measured.
        model_calls=(cost.model_calls or None) if cost else None,
        tokens=(cost.tokens or None) if cost else None,
        wall_s=(cost.wall_s or None) if cost else None,
        tokens_before=inference.tokens_before if inference else None,
        tokens_after=inference.tokens_after if inference else None,
        repairs=repairs,
    )


def whole(text: str | None) -> int | None:
    value = as_number(text)
    return value if isinstance(value, int) else None


def read_score(text: str) -> Score | None:
    """`11/24 -> 21/24`; None for anything else: trailers can be edited."""
    before, _, after = text.partition(" -> ")
    sides = _SCORE.fullmatch(before), _SCORE.fullmatch(after)
    if sides[0] is None or sides[1] is None or sides[0][2] != sides[1][2]:
        return None
    score = Score(float(sides[0][1]), float(sides[1][1]), int(sides[0][2]))
    return score if 0 < score.tasks >= max(score.before, score.after) else None


def read_verdict(note: Mapping[str, Any]) -> Verdict | None:
    """The verdict in a note, if it is one."""
    from bot.records import Verdict

    try:
        return Verdict.model_validate(note.get("verdict"))
    except ValueError:
        return None


def report_repair(
    repository: Repository,
    generation: Generation,
    repair: Repair,
    notes: Mapping[str, Mapping[str, Any]],
    diffs: Mapping[str, list[str]],
    traced: bool,
) -> ReportedRepair:
    message, trailers = repair.message, repair.message.trailers
    diff = diffs.get(repair.commit)
    note = notes.get(repair.commit, {})
    explained = explain(repository, generation, repair, diff or [], note=note, traced=traced)
    return ReportedRepair(
        commit=repair.commit,
        title=message.title,
        diagnosis=message.body,
        pattern=trailers.get("Pattern", ""),
        attribution=trailers.get("Attribution", ""),
        layer=trailers.get("Layer", ""),
        origin=trailers.get("Origin", ""),
        tasks=whole(trailers.get("Tasks")),
        predicted_fixes=split_list(trailers.get("Predicted-Fixes")),
        hunks=[ExplainedHunk(hunk.file, hunk.header, hunk.lines, why) for hunk, why in explained],
        missing=""
        if diff is not None
        else "The commit below this repair is not in this clone: git fetch --unshallow",
    )


def report_rejected(history: History) -> list[ReportedRejection]:
    numbers = {commit: g.number for g in history.generations for commit in g.commits}

    def tried_on(item: RejectedCandidate) -> str:
        if item.base in numbers:
            return f"generation {numbers[item.base]}"
        return item.base[:10]

    return [
        ReportedRejection(
            item.title, item.pattern, item.origin, item.reason, item.kind, item.when, tried_on(item)
        )
        for item in history.rejected
    ]


def find_sightings(
    repository: Repository, generations: Sequence[ReportedGeneration]
) -> list[Sighting]:
    """What the train batches showed: the patterns that were answered, and those on the watch list.

    A batch that ran on generation 2 belongs to the first generation that stands on it.
    """
    from bot.lineage.watchlist import read_watchlist

    found = [
        Sighting(repair.pattern, generation.generation, repair.tasks, True)
        for generation in generations
        for repair in generation.repairs
        if repair.pattern and repair.tasks is not None
    ]
    answered = {(sighting.pattern, sighting.generation) for sighting in found}
    child: dict[int, int] = {}
    for generation in generations:
        child.setdefault(generation.parent or 0, generation.generation)
    watched: dict[tuple[str, int | None], set[str]] = defaultdict(set)
    for entry in read_watchlist(repository).entries:
        for part in entry.contributions:
            if part.generation is not None:
                watched[part.key, child.get(part.generation)].update(part.tasks)
    found += [
        Sighting(pattern, number, len(tasks), False)
        for (pattern, number), tasks in watched.items()
        if (pattern, number) not in answered
    ]
    return found
