"""Repairs from trajectories alone: as far as one comes without running the harness.

What comes out is applied, compiles and holds nothing of the tasks; whether it helps nobody knows.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from bot.cluster.diagnosis import diagnose
from bot.config import HarnessTable
from bot.diagnose.catalog import NotApplicable, Situation
from bot.diagnose.prose import explain
from bot.edit.apply import apply_spec
from bot.edit.reading import read_commit
from bot.edit.refusal import Refusal
from bot.gate.leakage import all_text, find_leak
from bot.git.repository import Repository
from bot.lineage.evidence import DRAFT, TRANSCRIPTS_REF, add_notes, draft_note
from bot.lineage.message import PREFIX, RepairMessage
from bot.records import Diagnosis, Episode, Expected, ModificationSpec, Pattern, Task
from bot.situations import make_situation, proposals
from bot.visible import known_text, read_open
from bot.workshop import Proposal

WARNING = "Unverified draft: made from trajectories alone, nothing was run."


@dataclass(frozen=True)
class Draft:
    """A repair that was applied on top of those before it, and never run."""

    spec: ModificationSpec
    pattern: Pattern
    tree: str
    message: RepairMessage


@dataclass
class Drafts:
    """What was drafted, and why nothing was for the other patterns (key → sentence)."""

    diagnosis: Diagnosis
    made: list[Draft] = field(default_factory=list)
    left: dict[str, str] = field(default_factory=dict)


Consult = Callable[[Sequence[Situation]], Mapping[str, Proposal]]


def draft(
    repository: Repository,
    table: HarnessTable,
    tree: str,
    episodes: Sequence[Episode],
    *,
    apply: Callable[[str, ModificationSpec], str | Refusal],
    consult: Consult | None = None,
) -> Drafts:
    """A repair for each promoted pattern that one is found for, each on top of those before it."""
    expected = {e.task_id: e.expected for e in episodes if e.expected is not None}
    tasks = batch_tasks(episodes)
    drafts = Drafts(diagnose(episodes, expected=expected))
    on = [tree]
    known = known_text(repository, table, tree)
    situations = [
        make_situation(
            pattern,
            episodes,
            expected,
            table=table,
            tasks=tasks,
            read=lambda path: read_open(repository, table, on[-1], path),
        )
        for pattern in drafts.diagnosis.patterns
        if pattern.promotion in ("repair", "trial")
    ]
    heard = consult(situations) if consult and situations else ({} if consult else None)
    seen: set[str] = set()
    for situation in situations:
        pattern, why = situation.pattern, list[str]()
        for proposal in proposals(situation, heard):
            spec = proposal.answer
            if isinstance(spec, NotApplicable):
                why.append(f"{proposal.by}: {spec.reason}")
                continue
            if spec.origin in seen:
                why.append(f"{proposal.by}: drafted for another pattern already.")
                continue
            leak = find_leak(all_text(spec), tasks.values(), [], known)
            result = apply(on[-1], spec)
            if leak is not None:
                why.append(f"{proposal.by}: {leak}")
            elif isinstance(result, Refusal):
                why.append(f"{proposal.by}: it cannot be applied: {result.message}")
            elif result == on[-1]:
                why.append(f"{proposal.by}: it changes nothing.")
            else:
                seen.add(spec.origin)
                on.append(result)
                message = _message(spec, pattern, episodes, proposal)
                drafts.made.append(Draft(spec, pattern, result, message))
                break
        else:
            drafts.left[pattern.key] = " ".join(why) or "Nobody had a proposal."
    return drafts


def batch_tasks(episodes: Sequence[Episode]) -> dict[str, Task]:
    """The tasks of a batch, as far as its episodes tell: ids, and what was expected."""
    tasks: dict[str, Task] = {}
    for episode in episodes:
        expected = episode.expected or Expected()
        if episode.task_id not in tasks or tasks[episode.task_id].expected is None:
            answer = None if expected.answer is None else {"answer": expected.answer}
            tasks[episode.task_id] = Task(task_id=episode.task_id, input={}, expected=answer)
    return tasks


def make_apply(
    repository: Repository, table: HarnessTable, python: str
) -> Callable[[str, ModificationSpec], str | Refusal]:
    """Applies a spec to a tree by the rules of the table."""

    def apply(tree: str, spec: ModificationSpec) -> str | Refusal:
        applied = apply_spec(
            spec,
            read_commit(repository, tree),
            editable=table.editable,
            protected=table.never_edited(),
            python=python,
            allow=table.allow,
        )
        if isinstance(applied, Refusal):
            return applied
        return repository.write_tree(tree, dict(applied.files))

    return apply


def commit_drafts(repository: Repository, base: str, drafts: Sequence[Draft]) -> tuple[str, str]:
    """One commit a draft on top of the commit `base`; the new branch and its tip.

    The branch is named by its content, so the same drafts are committed once.
    """
    tip, notes, said = base, dict[str, bytes](), dict[str, bytes]()
    for one in drafts:
        text = one.message.write(None, [(f"{PREFIX}Verification", DRAFT)])
        tip = repository.commit_tree(one.tree, [tip], text)
        notes[tip] = draft_note(one.spec, one.pattern)
        if one.message.transcript:
            said[tip] = one.message.transcript.encode()
    branch = f"ecdysis/draft-{drafts[-1].tree[:10]}"
    ref = f"refs/heads/{branch}"
    changes = [(ref, tip, repository.refs(ref).get(ref)), add_notes(repository, notes)]
    if said:
        changes.append(add_notes(repository, said, TRANSCRIPTS_REF))
    repository.update_refs(changes)
    return branch, tip


def _message(
    spec: ModificationSpec, pattern: Pattern, episodes: Sequence[Episode], proposal: Proposal
) -> RepairMessage:
    words = [WARNING, explain(pattern, spec, len(episodes)), proposal.words]
    text = "\n\n".join(part for part in words if part)
    return RepairMessage(spec, pattern, text, proposal.transcript)
