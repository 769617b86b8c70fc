"""What `evolve` and `gate` open before they work, and close afterwards."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from bot.errors import Interrupted, UsageError

if TYPE_CHECKING:
    from bot.config import HarnessTable, ModelTable
    from bot.git.repository import Repository
    from bot.llm.budget import BudgetMeter
    from bot.workshop import Workshop


@dataclass
class Bench:
    """A workshop with what it spends. `models` of its runners: the harness's, then the others."""

    shop: Workshop
    budget: BudgetMeter
    began: float = field(default_factory=time.monotonic)

    @property
    def cost(self) -> dict[str, Any]:
        """`model_calls`, `tokens` and `wall_s` so far."""
        return {
            "model_calls": self.budget.model_calls,
            "tokens": self.budget.tokens,
            "wall_s": round(time.monotonic() - self.began, 1),
        }


@contextmanager
def open_bench(
    repository: Repository,
    table: HarnessTable,
    base: str,
    *,
    journal: str = "evolve",
    isolation: str | None = None,
    others: Sequence[ModelTable] = (),
    settings: dict[str, Any] | None = None,
) -> Iterator[Bench]:
    """Endpoints, sandbox, runners and a journal of this name for work on the commit `base`.

    `others` are further models; `settings` tell this run from others beside the table. Ctrl-C
    becomes Interrupted, which says what is kept; the journal stays then, and when the budget is
    spent.
    """
    from bot.batch.run import Runner
    from bot.batch.tasks import load_splits
    from bot.commands.isolation import open_sandbox
    from bot.display import count, say
    from bot.lineage.generations import generation_ending_at
    from bot.lineage.journal import open_journal
    from bot.llm.budget import BudgetMeter
    from bot.llm.endpoint import open_endpoint
    from bot.workshop import Workshop

    tree = repository.tree_of(base)
    splits = load_splits(repository, tree, table)
    budget = BudgetMeter(table.budget, table.model)
    sandbox = open_sandbox(isolation, table)
    generation = generation_ending_at(repository, base)
    with ExitStack() as stack:
        runners, endpoints = [], []
        for model in (table.model, *others):
            budget.require_price(model)
            endpoints.append(stack.enter_context(open_endpoint(model)))
            runner = Runner(
                repository, table, base=tree, endpoint=endpoints[-1], budget=budget, sandbox=sandbox
            )
            runners.append(stack.enter_context(runner))
        kept = stack.enter_context(
            open_journal(
                repository.git_dir,
                base=base,
                below=generation.base if generation else None,
                settings={
                    "table": table.model_dump(mode="json"),
                    "endpoint": endpoints[0].settings,
                    **(settings or {}),
                },
                name=journal,
            )
        )
        if kept.resumed:
            say("Going on with the run that was interrupted here.")
        shop = Workshop(repository, table, runners[0], splits, kept, say, runners[1:])
        shop.errors.used = list(kept.used)
        try:
            yield Bench(shop, budget)
        except KeyboardInterrupt:
            made = count(len(shop.report.accepted), "generation")
            raise Interrupted(
                f"Interrupted: {made} committed, the episodes so far are kept.",
                "The same command goes on from there.",
            ) from None


def other_model(table: HarnessTable, name: str) -> ModelTable:
    """The model `name`: one of `other_models`, or another one of the harness's own endpoint."""
    from bot.config import EMBEDDED

    for model in table.other_models:
        if model.name == name:
            return model
    if table.model.base_url == EMBEDDED or name == table.model.name:
        known = ", ".join(model.name for model in table.other_models) or "none"
        raise UsageError(
            f"{name} is not another model that this table knows (it names: {known}).",
            "Add it as [[tool.ecdysis.other_models]].",
        )
    return table.model.model_copy(update={"name": name})
