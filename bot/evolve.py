"""The method: one generation after another, from a batch of failures to a proven commit.

Read `evolve` and `make_generation` top to bottom; the rooms do the work, and where one room needs
another's (the gate runs tasks, the catalog reads code) the function is handed over here.

A run can be killed at any moment. What it decides follows from the episodes in its journal, so
the same command decides the same again without running them twice; and a generation appears in
git in one transaction, at its end.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

from bot.batch.digest import digest_of
from bot.cluster.diagnosis import diagnose
from bot.cluster.events import failure_events, pattern_key
from bot.diagnose.catalog import NotApplicable, Situation, propose
from bot.diagnose.prose import explain
from bot.display import count
from bot.edit.refusal import Refusal
from bot.gate.leakage import find_leak
from bot.gate.paired_test import Comparison, compare, noise_band, sign_flip_p_value
from bot.gate.screening import screen
from bot.gate.sequential import SequentialTest, looks
from bot.gate.verdict import judge
from bot.lineage.generations import Generation, generation_at, record_generation
from bot.lineage.ledger import append_test_read
from bot.lineage.message import GenerationFigures, RepairMessage
from bot.lineage.watchlist import add_to_watchlist
from bot.records import Diagnosis, Episode, Expected, Inference, ModificationSpec, Pattern, Verdict
from bot.workshop import (
    Accepted,
    Change,
    Decision,
    Report,
    Results,
    Workshop,
    arm,
    expectation,
    flatten,
    mean_tokens,
)

MOST_REPAIRS = 2
"""Of one generation: it is reviewed as one pull request, and the next batch sees its effect."""


def evolve(shop: Workshop, base: str, *, generations: int | None) -> Report:
    """Make generations on top of the commit `base` until one brings nothing, or `generations`."""
    made = 0
    while generations is None or made < generations:
        comparisons = len(shop.errors.used)
        accepted = make_generation(shop, base)
        if accepted is not None:
            shop.report.accepted.append(accepted)
            base = accepted.generation.commit
            shop.journal.reach(base, shop.errors.used)
            made += 1
        elif len(shop.errors.used) == comparisons:
            break  # else: without what was rejected, or with what was undecidable, others may help
    for undecided_one in shop.undecided:
        change = undecided_one.change
        shop.reject(change.tree, change.spec, undecided_one.reason)
    return shop.report


def make_generation(shop: Workshop, base: str) -> Accepted | None:
    """One generation: batch, patterns, specs, edits, gate, commit. None: nothing was accepted."""
    tree = shop.repository.tree_of(base)
    train = shop.splits["train"]
    expected = {task.task_id: expectation(task) for task in train}

    # 1 what happened
    before = shop.run_train(tree)
    episodes = flatten(before)
    # 2 what keeps going wrong
    shop.report.left = []
    diagnosis = diagnose(episodes, expected=expected)
    tell_diagnosis(shop, diagnosis)
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

    for pattern in promoted(shop, diagnosis):
        situation = Situation(
            pattern=pattern,
            episodes=episodes,
            showing=[e for e in episodes if e.outcome == "fail" and places(e, pattern, expected)],
            table=shop.table,
            read=lambda path: shop.repository.read_file(latest(), path),
            tasks={task.task_id: task for task in train},
            at=partial(places, pattern=pattern, expected=expected),
        )
        refusals = []
        for name, proposal in propose(situation):
            if isinstance(proposal, NotApplicable):
                refusals.append(f"{name}: {proposal.reason}")
                continue
            if proposal.origin in seen or len(changes) - len(carried) == MOST_REPAIRS:
                continue
            on = latest()
            seen.add(proposal.origin)
            # 5 does it help: cheap checks, then the train split, then (below) the hidden split
            change = try_change(shop, tree, on, before, proposal, situation)
            if change is None:
                shop.tried[on].add(proposal.origin)
            else:
                changes.append(change)
                before = shop.run_train(change.tree)
        if not any(c.pattern.key == pattern.key for c in changes):
            why = " ".join(refusals) or "What answers it was tried for other patterns."
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


def read_test_split(shop: Workshop) -> None:
    """The sealed split, once: seed against evolved, interleaved, with every read counted."""
    trees = shop.repository.tree_of(shop.journal.start), shop.repository.tree_of(shop.journal.base)
    reads = append_test_read(shop.repository, trees=trees, tasks=len(shop.splits["test"]))
    shop.tell(f"Reading the sealed test split ({count(reads, 'read')} so far)")
    control, changed = shop.run(
        "test", shop.splits["test"], [(trees[0], 0), (trees[1], 0)], what="sealed tasks"
    )
    shop.report.test = compare(arm(control), arm(changed))
    shop.report.test_p_value = sign_flip_p_value(list(shop.report.test.differences.values()))


def promoted(shop: Workshop, diagnosis: Diagnosis) -> list[Pattern]:
    """The patterns to work on; the others are reported as left, with the reason."""
    chosen = []
    for pattern in diagnosis.patterns:
        if pattern.promotion in ("repair", "trial"):
            chosen.append(pattern)
        elif pattern.failed_episodes:
            reasons = "; ".join(pattern.attribution.reasons[:2])
            shop.report.leave(pattern, f"Not promoted ({pattern.promotion}): {reasons}.")
    return chosen


def try_change(
    shop: Workshop,
    base_tree: str,
    tree: str,
    before: Results,
    spec: ModificationSpec,
    situation: Situation,
) -> Change | None:
    """The spec on top of `tree`, if it passes every check up to the train split."""
    refusal = None
    candidate = shop.apply(tree, spec)
    if isinstance(candidate, Refusal):
        refusal = f"It cannot be applied: {candidate.message}"
    elif candidate == tree:
        refusal = "It changes nothing: what it asks for is there already."
    else:
        refusal = static_checks(shop, base_tree, candidate, spec)
    if refusal is None:
        assert isinstance(candidate, str)
        after = shop.run_train(candidate)
        comparison = compare(arm(before), arm(after))
        refusal = screen(comparison)
        if refusal is None:
            shop.tell(
                f"Kept for the gate: {spec.title} "
                f"(train: {len(comparison.fixed)} fixed, {len(comparison.broken)} broken)"
            )
            return Change(
                spec,
                situation.pattern,
                candidate,
                explain(situation.pattern, spec, len(situation.episodes)),
                [t for t in comparison.fixed if t in spec.predicted_fixes],
            )
    shop.reject(candidate if isinstance(candidate, str) else tree, spec, refusal)
    return None


def static_checks(
    shop: Workshop, base_tree: str, candidate: str, spec: ModificationSpec
) -> str | None:
    """Leakage, imports, the harness's own tests: one sentence that refuses, or None."""
    splits = shop.table.splits.paths().values()
    known = "\n".join(
        content.decode("utf-8", "replace")
        for path, content in shop.repository.read_files(base_tree).items()
        if path not in splits
    )
    leak = find_leak(spec, [*shop.splits["train"], *shop.splits["select"]], known)
    if leak:
        return leak
    broken = shop.runner.check_imports(candidate, [edit.file for edit in spec.edits])
    if broken:
        return f"It does not import: {broken}"
    tests = shop.runner.run_tests(candidate)
    if tests is not None and (tests.timed_out or tests.code != 0):
        return "The harness's own tests fail on it."
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
            shop.reject(candidate, stack[0].spec, verdict.reason)
            shop.tried[tree].add(stack[0].spec.origin)
        return None
    half = len(stack) // 2
    return gate(shop, tree, stack[:half]) or gate(shop, tree, stack[half:])


def compare_hidden(shop: Workshop, tree: str, candidate: str) -> tuple[Verdict, Comparison]:
    """Control against candidate on the select split, both fresh and interleaved.

    After each part of the tasks the test may stop: the candidate is proven, or does not help in
    the first half. In the first comparison the control runs twice: what differs between its
    two runs is the noise.
    """
    tasks, level = shop.hidden_tasks(), shop.errors.level()
    test = SequentialTest(level, len(tasks))
    name = f"select-{len(shop.errors.used) + 1}"
    is_first = not shop.noise
    control: Results = {}
    changed: Results = {}
    for seen in looks(len(tasks), shop.table.gate.looks):
        part = tasks[len(control) : seen]
        arms = [(tree, 0), (candidate, 0)]
        if is_first:
            arms.append((tree, shop.table.trials))
        what = f"hidden tasks to {seen} of {len(tasks)}"
        now, then, *again = shop.run(name, part, arms, what=what)
        shop.noise += [
            gain for run in again for gain in compare(arm(now), arm(run)).differences.values()
        ]
        control |= now
        changed |= then
        look = test.look(list(compare(arm(now), arm(then)).differences.values()), seen)
        pair = arm(control), arm(changed)
        comparison = compare(*pair)
        noise = noise_band(shop.noise, tasks=comparison.tasks)
        verdict = judge(comparison, p_value=look.p_value, level=look.level, noise=noise, arms=pair)
        no_use = seen * 2 >= len(tasks) and comparison.net <= 0
        if verdict.decision == "accept" or no_use:
            break
    if len(control) < len(tasks):
        verdict.reason = f"After {len(control)} of {len(tasks)} hidden tasks: {verdict.reason}"
    shop.errors.settle(verdict.decision == "accept")
    shop.report.noise = noise
    before, after = (score / max(comparison.tasks, 1) for score in comparison.scores)
    if shop.report.seed_select is None:
        shop.report.seed_select = shop.report.evolved_select = before
    if verdict.decision == "accept":
        shop.report.evolved_select = after
    if shop.runner.state_self_reported:
        verdict.reason += " The state is self-reported: no environment process kept it."
    verdict.inference = Inference(
        tokens_before=mean_tokens(control), tokens_after=mean_tokens(changed)
    )
    return verdict, comparison


def commit(shop: Workshop, base: str, decision: Decision, reverts: str = "") -> Generation:
    """One commit per repair; the last one carries the generation's figures."""
    messages = [
        (change.tree, RepairMessage(change.spec, change.pattern, change.explanation))
        for change in decision.kept
    ]
    before, after = decision.comparison.scores
    figures = GenerationFigures(
        decision.verdict, shop.runner.sandbox.level, before=before, after=after, reverts=reverts
    )
    return record_generation(shop.repository, base_commit=base, repairs=messages, figures=figures)


def tell_diagnosis(shop: Workshop, diagnosis: Diagnosis) -> None:
    shop.tell(
        f"{diagnosis.failed} of {diagnosis.episodes} train episodes fail "
        f"({diagnosis.invalid} invalid, {diagnosis.unexplained} unexplained)"
    )
    for pattern in diagnosis.patterns[:5]:
        shop.tell(
            f"  {count(pattern.distinct_tasks, 'task')}: {pattern.key} "
            f"[{pattern.attribution.label} {pattern.attribution.probability:.2f}, "
            f"{pattern.promotion}]"
        )


def places(episode: Episode, pattern: Pattern, expected: Mapping[str, Expected]) -> set[int]:
    """The steps of an episode at which events of the pattern are."""
    events = failure_events(episode, expected.get(episode.task_id))
    return {event.step for event in events if pattern_key(event) == pattern.key}
