"""The method: one generation after another, from a batch of failures to a proven commit.

Read `evolve` and `make_generation` top to bottom; the rooms do the work, and where one room needs
another's (the gate runs tasks, the catalog reads code) the function is handed over here.

A run can be killed at any moment. What it decides follows from the episodes in its journal, so
the same command decides the same again without running them twice; and a generation appears in
git in one transaction, at its end.
"""

from __future__ import annotations

from typing import NamedTuple

from bot.batch.digest import digest_of
from bot.diagnose.catalog import NotApplicable, Situation
from bot.diagnose.prose import explain
from bot.display import count
from bot.edit.refusal import Refusal
from bot.gate.leakage import all_text, find_leak
from bot.gate.paired_test import compare
from bot.gate.screening import screen
from bot.hidden import compare_hidden
from bot.lineage.generations import Generation, generation_at, record_generation
from bot.lineage.message import GenerationFigures, RepairMessage
from bot.lineage.watchlist import add_to_watchlist
from bot.recall import recall_accepted
from bot.records import ModificationSpec
from bot.situations import diagnose_train, promoted, proposals, situation_of
from bot.visible import known_text
from bot.workshop import (
    Accepted,
    Change,
    Decision,
    Proposal,
    Report,
    Results,
    Workshop,
    arm,
    flatten,
)

MOST_REPAIRS = 2
"""Of one generation: it is reviewed as one pull request, and the next batch sees its effect."""


def evolve(shop: Workshop, base: str, *, generations: int | None) -> Report:
    """Make generations on top of the commit `base` until one brings nothing, or `generations`.

    Those that an interrupted run had made count, and are in the report.
    """
    recall_accepted(shop)
    while generations is None or len(shop.report.accepted) < generations:
        comparisons = len(shop.errors.used)
        accepted = make_generation(shop, base)
        if accepted is not None:
            shop.report.accepted.append(accepted)
            base = accepted.generation.commit
            shop.journal.reach(base, shop.errors.used)
        elif len(shop.errors.used) == comparisons:
            break  # else: without what was rejected, or with what was undecidable, others may help
    for undecided_one in shop.undecided:
        change = undecided_one.change
        shop.reject(change.tree, change.spec, undecided_one.reason, "hidden")
    return shop.report


def make_generation(shop: Workshop, base: str) -> Accepted | None:
    """One generation: batch, patterns, specs, edits, gate, commit. None: nothing was accepted."""
    tree = shop.repository.tree_of(base)

    # 1 what happened
    before = shop.run_train(tree)
    episodes = flatten(before)
    # 2 what keeps going wrong
    shop.report.left = []
    diagnosis = diagnose_train(shop, episodes)
    number = generation_at(shop.repository, base)
    add_to_watchlist(shop.repository, diagnosis, digest_of(episodes), generation=number)
    # 3 why, and 4 the change: each spec on top of those before it
    carried = shop.carry(tree)
    changes = list(carried)
    if changes:
        titles = " + ".join(change.spec.title for change in changes)
        shop.tell(f"Undecided so far, tried again with what comes: {titles}")
        before = shop.run_train(changes[-1].tree)
    seen = shop.tried[tree] | {change.spec.origin for change in changes}

    def latest() -> str:
        return changes[-1].tree if changes else tree

    situations = [
        situation_of(shop, pattern, episodes, lambda path: shop.read_open(latest(), path))
        for pattern in promoted(shop, diagnosis)
    ]
    heard = shop.consult(latest(), number, situations) if shop.consult else None
    for situation in situations:
        pattern, refusals = situation.pattern, []
        for proposal in proposals(situation, heard):
            spec = proposal.answer
            if isinstance(spec, NotApplicable):
                refusals.append(f"{proposal.by}: {spec.reason}")
                continue
            if spec.origin in seen:
                continue
            if len(changes) - len(carried) == MOST_REPAIRS:
                refusals.append(f"{proposal.by}: a generation holds {MOST_REPAIRS} new repairs.")
                continue
            on = latest()
            seen.add(spec.origin)
            # 5 does it help: cheap checks, then the train split, then (below) the hidden split
            change = try_change(shop, tree, on, before, spec, situation, proposal)
            if change is None:
                refusals.append(f"{proposal.by}: what it proposed was rejected.")
                shop.tried[on].add(spec.origin)
            else:
                changes.append(change)
                before = shop.run_train(change.tree)
        if not any(c.pattern.key == pattern.key for c in changes):
            why = " ".join(refusals) or "What answers it was tried before."
            shop.report.leave(pattern, why)
    if len(changes) == len(carried):
        shop.tell("No candidate is left for the hidden split.")
        return None
    decision = gate(shop, tree, changes)
    if decision is None:
        return None
    # 6 where it lives
    shop.settle_undecided(decision)
    generation = commit(shop, base, decision)
    repairs = count(len(decision.kept), "repair")
    shop.tell(f"Accepted: {generation.branch}, {repairs}. {decision.verdict.reason}")
    return Accepted(generation, decision.kept, decision.verdict)


def try_change(
    shop: Workshop,
    base_tree: str,
    tree: str,
    before: Results,
    spec: ModificationSpec,
    situation: Situation,
    proposal: Proposal,
) -> Change | None:
    """The spec on top of `tree`, if it passes every check up to the train split."""
    refusal, kind = None, "apply"
    candidate = shop.apply(tree, spec)
    if isinstance(candidate, Refusal):
        refusal = f"It cannot be applied: {candidate.message}"
    elif candidate == tree:
        refusal = "It changes nothing: what it asks for is there already."
    else:
        objection = static_checks(shop, base_tree, candidate, spec)
        if objection is not None:
            refusal, kind = objection
    if refusal is None:
        assert isinstance(candidate, str)
        shop.observation.watch(tree, candidate, [(spec, situation.pattern)])
        after = shop.run_train(candidate)
        comparison = compare(arm(before), arm(after), shop.table.trials)
        refusal = shop.observation.refuse(candidate, flatten(after)) or screen(comparison)
        kind = "train"
        if refusal is None:
            shop.tell(
                f"Kept for the gate: {spec.title} "
                f"(train: {len(comparison.fixed)} fixed, {len(comparison.broken)} broken)"
            )
            diagnosis = explain(situation.pattern, spec, len(situation.episodes))
            return Change(
                spec,
                situation.pattern,
                candidate,
                f"{diagnosis}\n\n{proposal.words}".strip(),
                proposal.transcript,
                [t for t in comparison.fixed if t in spec.predicted_fixes],
            )
    shop.reject(candidate if isinstance(candidate, str) else tree, spec, refusal, kind)
    return None


class Objection(NamedTuple):
    """One sentence that refuses a candidate, and the class of the rejection, as `reject` has it."""

    reason: str
    kind: str


def static_checks(
    shop: Workshop, base_tree: str, candidate: str, spec: ModificationSpec
) -> Objection | None:
    """What needs no task, for the candidate of a spec."""
    files = [edit.file for edit in spec.edits]
    return check_code(shop, base_tree, candidate, files, all_text(spec))


def check_code(
    shop: Workshop, base_tree: str, candidate: str, files: list[str], added: str
) -> Objection | None:
    """Leakage, imports, the harness's own tests.

    `files` are those that differ, `added` is the code that they bring. That it holds something of
    a hidden task is not for who proposes the next spec: they could guess until they are refused.
    """
    known = known_text(shop.repository, shop.table, base_tree)
    leak = find_leak(added, shop.splits["train"], [], known)
    if leak:
        return Objection(leak, "static")
    leak = find_leak(added, [], shop.splits["select"], known)
    if leak:
        return Objection(leak, "hidden")
    broken = shop.runner.check_imports(candidate, files)
    if broken:
        # A script that only runs with arguments could not be imported before either.
        there = shop.repository.read_files(base_tree, files)
        check = [
            f for f in files if f not in there or not shop.runner.check_imports(base_tree, [f])
        ]
        broken = shop.runner.check_imports(candidate, check)
    if broken:
        return Objection(f"It does not import: {broken}", "static")
    tests = shop.runner.run_tests(candidate)
    if tests is not None and (tests.timed_out or tests.code != 0):
        return Objection("The harness's own tests fail on it.", "static")
    return None


def gate(shop: Workshop, tree: str, changes: list[Change]) -> Decision | None:
    """The hidden split decides. All changes together first; halves of them where that fails."""
    stack = shop.restack(tree, changes)
    if stack is None:
        return None
    if shop.are_undecided(stack):
        return None  # so much was known of them already
    candidate = stack[-1].tree
    shop.tell(f"Hidden tasks decide on: {' + '.join(c.spec.title for c in stack)}")
    shop.observation.watch(tree, candidate, [(c.spec, c.pattern) for c in stack])
    verdict, comparison = compare_hidden(shop, tree, candidate)
    if verdict.decision == "accept":
        return Decision(stack, verdict, comparison)
    shop.tell(verdict.reason)
    if verdict.decision == "undecidable" and not verdict.broken:
        shop.leave_undecided(stack, verdict.reason)  # a part of it shows no more than the whole
        return None
    if len(stack) == 1:
        if verdict.decision == "undecidable":
            shop.leave_undecided(stack, verdict.reason)
        else:
            shop.reject(candidate, stack[0].spec, verdict.reason, "hidden")
            shop.tried[tree].add(stack[0].spec.origin)
        return None
    half = len(stack) // 2
    return gate(shop, tree, stack[:half]) or gate(shop, tree, stack[half:])


def commit(shop: Workshop, base: str, decision: Decision, reverts: str = "") -> Generation:
    """One commit per repair; the last one carries the generation's figures."""
    messages = [
        (
            change.tree,
            RepairMessage(change.spec, change.pattern, change.explanation, change.transcript),
        )
        for change in decision.kept
    ]
    before, after = decision.comparison.scores
    figures = GenerationFigures(
        decision.verdict, shop.runner.sandbox.level, before=before, after=after, reverts=reverts
    )
    return record_generation(shop.repository, base_commit=base, repairs=messages, figures=figures)
