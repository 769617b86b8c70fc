"""`ecdysis evolve`: make generations of the harness in this repository."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from bot.commands.options import json_option, repo_option, sandbox_option
from bot.errors import BudgetSpent, NothingFound, UsageError

if TYPE_CHECKING:
    from bot.config import HarnessTable
    from bot.diagnose.panel.estimate import Estimate
    from bot.git.repository import Repository
    from bot.records import Pattern
    from bot.workshop import Report, Workshop


@click.command("evolve")
@repo_option
@click.option(
    "--from",
    "base",
    metavar="REV",
    help="Start from this revision.  [default: the newest generation, else HEAD]",
)
@click.option(
    "--generations",
    type=click.IntRange(min=1),
    default=1,
    show_default=True,
    help="Make at most so many.",
)
@click.option("--until-done", is_flag=True, help="Go on until a generation brings nothing more.")
@click.option("--test", is_flag=True, help="At the end, read the sealed test split once.")
@click.option(
    "--panel",
    "with_panel",
    is_flag=True,
    help="Let four roles of a language model find the repairs, as [tool.ecdysis.panel] says, "
    "instead of the catalog.",
)
@click.option(
    "--dry-run",
    is_flag=True,
    help="Run the train split, say what would be worked on and what the panel would cost, stop.",
)
@click.option(
    "--transfer",
    metavar="MODEL",
    help="At the end, compare seed and evolved harness on another model: one of other_models, "
    "or another model of the same endpoint.",
)
@sandbox_option
@json_option
def command(
    repo: Path,
    base: str | None,
    generations: int,
    until_done: bool,
    test: bool,
    with_panel: bool,
    dry_run: bool,
    transfer: str | None,
    isolation: str | None,
    as_json: bool,
) -> None:
    """Diagnose a batch of train tasks, repair the harness, prove it, commit it.

    Runs the train split on the harness, aggregates the failures across tasks, lets the catalog
    propose syntax-tree edits, compares the changed harness with the unchanged one on the hidden
    select split, and commits what is proven to a new branch ecdysis/gen-NNNN, one commit a
    repair, with the diagnosis as its message. Your work tree, index and HEAD are not touched.

    Exit code 1: nothing was accepted; the reasons are printed.
    """
    if dry_run:
        plan = plan_evolution(repo, base=base, with_panel=with_panel, isolation=isolation)
        click.echo(json.dumps(plan.as_json) if as_json else plan.text)
        return
    report = run_evolution(
        repo,
        base=base,
        with_panel=with_panel,
        generations=None if until_done else generations,
        test=test,
        transfer=transfer,
        isolation=isolation,
    )
    if as_json:
        click.echo(json.dumps(report.as_json))
    else:
        click.echo(report.text)
    report.check()


class EvolutionSummary:
    """A finished run: its report, and what it cost."""

    def __init__(
        self, report: Report, cost: dict[str, Any], sandbox: str, stopped: BudgetSpent | None
    ) -> None:
        self.report, self.cost, self.sandbox, self.stopped = report, cost, sandbox, stopped

    def check(self) -> None:
        """Raise what the command ends with: the budget is spent, or nothing was accepted."""
        if self.stopped is not None:
            raise self.stopped
        if not self.report.accepted:
            raise NothingFound("No repair was accepted.", "The reasons are above.")

    @property
    def as_json(self) -> dict[str, Any]:
        """What `--json` prints: `generations`, `repairs`, `rejected`, `left`, and the figures."""
        report = self.report
        test = report.test
        return {
            "format_version": 1,
            "generations": len(report.accepted),
            "repairs": [
                {
                    "generation": accepted.generation.number,
                    "commit": oid,
                    "title": change.spec.title,
                    "pattern": change.pattern.key,
                    "origin": change.spec.origin,
                    "predicted_fixes": change.spec.predicted_fixes,
                    "observed_fixes": change.observed_fixes,
                }
                for accepted in report.accepted
                for oid, change in zip(accepted.generation.commits, accepted.changes, strict=True)
            ],
            "rejected": [vars(rejection) for rejection in report.rejected],
            "left": [vars(left) for left in report.left],
            "select": {
                "seed": _rate(report.seed_select),
                "evolved": _rate(report.evolved_select),
            },
            "test": None
            if test is None
            else {
                "seed": _rate(test.scores[0] / max(test.tasks, 1)),
                "evolved": _rate(test.scores[1] / max(test.tasks, 1)),
                "flips": {"fixed": test.fixed, "broken": test.broken},
                "p_value": report.test_p_value,
                "reads": report.test_reads,
            },
            "transfer": None
            if report.transfer is None
            else report.transfer.model_dump(mode="json"),
            "noise_band": report.noise,
            **self.cost,
            "sandbox": self.sandbox,
        }

    @property
    def text(self) -> str:
        from bot.commands.evolution_text import write_summary

        return write_summary(self.report, self.cost, self.sandbox)


def _rate(value: Fraction | None) -> float | None:
    return None if value is None else round(float(value), 4)


def run_evolution(
    repo: Path,
    *,
    base: str | None = None,
    generations: int | None = 1,
    test: bool = False,
    transfer: str | None = None,
    with_panel: bool = False,
    isolation: str | None = None,
    method: Callable[[Workshop, str], object] | None = None,
    journal: str | None = None,
) -> EvolutionSummary:
    """Open what a run needs, run it, close it; the budget and the endpoint live this long.

    `method` gets the workshop and the commit `base`; without it, generations are made.
    """
    from bot.commands.bench import open_bench, other_model
    from bot.evolve import evolve
    from bot.hidden import measure_transfer, read_test_split
    from bot.lineage.ledger import refuse_scheduled_read

    if test:
        refuse_scheduled_read()
    repository, commit, table = starting_point(repo, base, with_panel)
    if test and table.splits.test is None:
        raise UsageError(
            "The table names no sealed test split.",
            "Add test to [tool.ecdysis.splits], or leave --test out.",
        )
    others = list(table.other_models)
    if transfer is not None and transfer not in [model.name for model in others]:
        others.append(other_model(table, transfer))
    with open_bench(
        repository,
        table,
        commit,
        journal=journal or journal_name(with_panel),
        isolation=isolation,
        others=others,
    ) as bench:
        shop, stopped = bench.shop, None
        to = next((other for other in shop.others if other.model == transfer), None)
        shop.others = shop.others[: len(table.other_models)]  # these have a veto
        if with_panel and table.panel is not None:
            from bot.panels import Ground, Panels

            shop.consult = Panels(Ground.of(shop), table.panel, bench.budget).propose
        try:
            (method or partial(evolve, generations=generations))(shop, commit)
            if shop.journal.base != shop.journal.start:
                if to is not None:
                    measure_transfer(shop, to)
                if test:
                    read_test_split(shop)
            shop.journal.close()
        except BudgetSpent as spent:
            stopped = spent  # the journal stays: the same command goes on
        return EvolutionSummary(shop.report, bench.cost, shop.runner.sandbox.level, stopped)


def journal_name(with_panel: bool) -> str:
    """Panel and catalog try different specs: neither goes on with the levels of the other."""
    return "evolve-panel" if with_panel else "evolve"


def starting_point(
    repo: Path, base: str | None, with_panel: bool
) -> tuple[Repository, str, HarnessTable]:
    """The repository, the commit to start from, and its table. UsageError without a panel's."""
    from bot.commands.revision import load_table
    from bot.git.repository import Repository
    from bot.lineage.generations import newest_generation

    repository = Repository.open(repo)
    newest = newest_generation(repository)
    commit = repository.resolve_commit(base or (newest.commit if newest else "HEAD"))
    table = load_table(repository, commit)
    if with_panel and table.panel is None:
        raise UsageError(
            "The table names no model for the panel.",
            "Add [tool.ecdysis.panel] with base_url, name and api_key_env.",
        )
    return repository, commit, table


@dataclass(frozen=True)
class Plan:
    """What a run would work on. `panel` is the estimate, None where the catalog would work."""

    patterns: list[Pattern]
    panel: Estimate | None
    usd: float | None

    @property
    def as_json(self) -> dict[str, Any]:
        """`patterns` (key, label, probability, tasks) and `panel` (calls, tokens, `usd`)."""
        return {
            "format_version": 1,
            "patterns": [
                {
                    "key": pattern.key,
                    "label": pattern.attribution.label,
                    "probability": pattern.attribution.probability,
                    "tasks": pattern.distinct_tasks,
                }
                for pattern in self.patterns
            ],
            "panel": None if self.panel is None else {**vars(self.panel), "usd": self.usd},
        }

    @property
    def text(self) -> str:
        from bot.display import count, printable

        lines = ["Would be worked on:"] if self.patterns else ["No pattern is promoted."]
        for pattern in self.patterns:
            lines.append(
                f"  {count(pattern.distinct_tasks, 'task')}: {printable(pattern.key, 90)} "
                f"[{pattern.attribution.label} {pattern.attribution.probability:.2f}]"
            )
        if self.panel is not None and self.patterns:
            cost = self.panel
            money = "" if self.usd is None else f", about ${self.usd:.4f}"
            lines.append(
                f"{count(cost.panels, 'panel')}: about {cost.calls} to at most {cost.most_calls} "
                f"questions; one round takes {cost.prompt_tokens:,} prompt tokens, of which "
                f"{cost.cached_tokens:,} were sent before, and {cost.completion_tokens:,} tokens "
                f"of answers{money}"
            )
        lines.append("Next: the same command without --dry-run.")
        return "\n".join(lines)


def plan_evolution(
    repo: Path, *, base: str | None, with_panel: bool, isolation: str | None
) -> Plan:
    """Run the train split, and say what an evolution would work on; the episodes are kept."""
    from bot.commands.bench import open_bench
    from bot.situations import find_situations

    repository, commit, table = starting_point(repo, base, with_panel)
    name = journal_name(with_panel)
    with open_bench(repository, table, commit, journal=name, isolation=isolation) as bench:
        tree = repository.tree_of(commit)
        situations = find_situations(bench.shop, tree)
        patterns = [situation.pattern for situation in situations]
        if not with_panel or table.panel is None:
            return Plan(patterns, None, None)
        from bot.panels import Ground, Panels, expect, expected_usd

        cost = expect(Panels(Ground.of(bench.shop), table.panel, bench.budget), tree, situations)
        return Plan(patterns, cost, expected_usd(table.panel, cost))
