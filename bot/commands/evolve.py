"""`ecdysis evolve`: make generations of the harness in this repository."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from contextlib import ExitStack
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from bot.commands.options import json_option, repo_option, sandbox_option
from bot.errors import BudgetSpent, Interrupted, NothingFound

if TYPE_CHECKING:
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
@sandbox_option
@json_option
def command(
    repo: Path,
    base: str | None,
    generations: int,
    until_done: bool,
    test: bool,
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
    report = run_evolution(
        repo,
        base=base,
        generations=None if until_done else generations,
        test=test,
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
            },
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
    isolation: str | None = None,
    method: Callable[[Workshop, str], object] | None = None,
    journal_name: str = "evolve",
) -> EvolutionSummary:
    """Open what a run needs, run it, close it; the budget and the endpoint live this long.

    `method` gets the workshop and the commit `base`; without it, generations are made.
    """
    from bot.batch.run import Runner
    from bot.batch.tasks import load_splits
    from bot.commands.isolation import open_sandbox
    from bot.commands.revision import load_table
    from bot.display import count, say
    from bot.evolve import evolve, read_test_split
    from bot.git.repository import Repository
    from bot.lineage.generations import newest_generation
    from bot.lineage.journal import open_journal
    from bot.llm.budget import BudgetMeter
    from bot.llm.endpoint import open_endpoint
    from bot.workshop import Workshop

    repository = Repository.open(repo)
    newest = newest_generation(repository)
    commit = repository.resolve_commit(base or (newest.commit if newest else "HEAD"))
    table = load_table(repository, commit)
    splits = load_splits(repository, repository.tree_of(commit), table)
    budget = BudgetMeter(table.budget, table.model)
    sandbox = open_sandbox(isolation, table)
    began = time.monotonic()
    with ExitStack() as stack:
        endpoint = stack.enter_context(open_endpoint(table.model))
        runner = stack.enter_context(
            Runner(
                repository,
                table,
                base=repository.tree_of(commit),
                endpoint=endpoint,
                budget=budget,
                sandbox=sandbox,
            )
        )
        journal = stack.enter_context(
            open_journal(
                repository.git_dir,
                base=commit,
                parents=repository.git("rev-list", "--max-count=50", commit).split()[1:],
                settings={"table": table.model_dump(mode="json"), "endpoint": endpoint.settings},
                name=journal_name,
            )
        )
        if journal.resumed:
            say("Going on with the run that was interrupted here.")
        shop = Workshop(repository, table, runner, splits, journal, say)
        shop.errors.used = list(journal.used)
        stopped = None
        try:
            (method or partial(evolve, generations=generations))(shop, commit)
            if test and journal.base != journal.start and "test" in splits:
                read_test_split(shop)
            journal.close()
        except BudgetSpent as spent:
            stopped = spent  # the journal stays: with a higher cap the same command goes on
        except KeyboardInterrupt:
            made = count(len(shop.report.accepted), "generation")
            raise Interrupted(
                f"Interrupted: {made} committed, the episodes so far are kept.",
                "The same command goes on from there.",
            ) from None
    cost = {
        "model_calls": budget.model_calls,
        "tokens": budget.tokens,
        "wall_s": round(time.monotonic() - began, 1),
    }
    return EvolutionSummary(shop.report, cost, sandbox.level, stopped)
