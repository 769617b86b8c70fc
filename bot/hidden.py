"""Comparisons on tasks that nobody who looks for a repair may see: select, transfer, test."""

from __future__ import annotations

from hashlib import sha256

from bot.batch.run import Runner
from bot.display import count
from bot.gate.paired_test import Arm, Comparison, compare, sign_flip_p_value
from bot.gate.verdict import decide
from bot.gate.vetoes import compare_other_model, veto_for_growth, veto_for_other_models
from bot.lineage.ledger import append_test_read
from bot.records import OtherModel, Verdict
from bot.workshop import Results, Workshop, arm, flatten, measure_inference


def compare_hidden(
    shop: Workshop, tree: str, candidate: str, *, level: float | None = None
) -> tuple[Verdict, Comparison]:
    """Control against candidate on the select split, both fresh and interleaved.

    `level` is that of a comparison that stands for itself; without it the run's error budget
    gives one. What is proven to help can still be vetoed by its cost or by another model. Where a
    task is run for the first time the control runs twice: what differs between its two runs is
    the noise.
    """
    tasks, trials = shop.hidden_tasks(), shop.table.trials
    name = f"select-{len(shop.errors.used) + 1}"
    control: Results = {}
    changed: Results = {}

    def run(start: int, end: int) -> tuple[Arm, Arm]:
        part = tasks[start:end]
        arms = [(tree, 0), (candidate, 0)]
        if any(task.task_id not in shop.noise for task in part):
            arms.append((tree, trials))
        what = f"hidden tasks to {end} of {len(tasks)}"
        now, then, *again = shop.run(name, part, arms, what=what)
        for repeated in again:
            twice = compare(arm(now), arm(repeated), trials)
            shop.noise |= {t: gain for t, gain in twice.gains.items() if t not in twice.spoilt}
        control.update(now)
        changed.update(then)
        return arm(now), arm(then)

    verdict, comparison = decide(
        run,
        tasks=len(tasks),
        trials=trials,
        level=level or shop.errors.level(),
        most_looks=shop.table.gate.looks,
        noise=shop.noise,
    )
    verdict.inference = measure_inference(control, changed)
    if verdict.decision == "accept":
        veto = veto_for_growth(verdict.inference, shop.table.gate.most_growth)
        if veto is None:
            verdict.other_models = [
                compare_with(shop, other, (tree, candidate), f"{name}-{number}")
                for number, other in enumerate(shop.others, 1)  # two may have one name
            ]
            veto = veto_for_other_models(verdict.other_models)
        if veto is not None:
            verdict.decision, verdict.reason = "reject", veto
    shop.errors.settle(verdict.decision == "accept")
    shop.report.noise = verdict.noise_band
    before, after = (score / max(comparison.tasks, 1) for score in comparison.scores)
    if shop.report.seed_select is None:
        shop.report.seed_select = shop.report.evolved_select = before
    if verdict.decision == "accept":
        shop.report.evolved_select = after
    if shop.runner.state_self_reported:
        verdict.reason = (
            f"{verdict.reason.removesuffix('.')}; the state is self-reported, no environment "
            "process kept it."
        )
    shop.observation.fill(verdict, candidate, flatten(control), flatten(changed))
    return verdict, comparison


def compare_with(shop: Workshop, other: Runner, trees: tuple[str, str], name: str) -> OtherModel:
    """Both trees on all hidden tasks with another model; `name` is of this comparison alone."""
    tasks, arms = shop.hidden_tasks(), [(trees[0], 0), (trees[1], 0)]
    what = f"hidden tasks with {other.model}"
    label = f"{name}-{sha256(other.model.encode()).hexdigest()[:12]}"
    control, changed = shop.run(label, tasks, arms, what=what, runner=other)
    return compare_other_model(other.model, compare(arm(control), arm(changed), shop.table.trials))


def measure_transfer(shop: Workshop, other: Runner) -> None:
    """Seed against evolved on the hidden tasks with another model."""
    trees = shop.repository.tree_of(shop.journal.start), shop.repository.tree_of(shop.journal.base)
    shop.report.transfer = compare_with(shop, other, trees, "transfer")


def read_test_split(shop: Workshop) -> None:
    """The sealed split, once: seed against evolved, interleaved, with every read counted."""
    trees = shop.repository.tree_of(shop.journal.start), shop.repository.tree_of(shop.journal.base)

    def enter_read() -> None:
        size = shop.splits.sizes["test"]
        shop.report.test_reads = append_test_read(shop.repository, trees=trees, tasks=size)
        reads = count(shop.report.test_reads, "read")
        shop.tell(f"Reading the sealed test split ({reads} so far)")

    tasks = shop.splits.open_test(enter_read)
    arms = [(trees[0], 0), (trees[1], 0)]
    control, changed = shop.run("test", tasks, arms, what="sealed tasks")
    shop.report.test = compare(arm(control), arm(changed), shop.table.trials)
    shop.report.test_p_value = sign_flip_p_value(shop.report.test.gains.values())
