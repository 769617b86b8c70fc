"""`ecdysis gate A B`: decide whether a change of the harness helps."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from bot.commands.options import json_option, repo_option, sandbox_option
from bot.errors import NothingFound

if TYPE_CHECKING:
    from bot.records import Verdict
    from bot.revisions import Gated


@click.command("gate")
@click.argument("before", metavar="A")
@click.argument("after", metavar="B")
@repo_option
@sandbox_option
@json_option
def command(before: str, after: str, repo: Path, isolation: str | None, as_json: bool) -> None:
    """Decide whether harness revision B is better than A, as for a candidate of the bot.

    Checks the difference (does it compile, bring dangers, hold answers of tasks), imports it, runs
    its tests and the train split, and compares both revisions on the hidden select split by an
    exact test at 5 %. Other models and limits on cost have their veto. Table, tasks, scorer and
    environment are those of A; nothing is committed.

    Each comparison on the same hidden tasks has its own 5 %: among twenty useless changes one is
    accepted by chance.

    Exit code 1: B is not proven to be better; the reason is printed.
    """
    from bot.commands.bench import open_bench
    from bot.commands.revision import load_table
    from bot.git.repository import Repository
    from bot.records import Cost
    from bot.revisions import gate_revisions

    repository = Repository.open(repo)
    a, b = repository.resolve_commit(before), repository.resolve_commit(after)
    trees = repository.tree_of(a), repository.tree_of(b)
    table = load_table(repository, a)
    with open_bench(
        repository,
        table,
        a,
        journal="gate",
        isolation=isolation,
        others=table.other_models,
        settings={"against": trees[1]},
    ) as bench:
        gated = gate_revisions(bench.shop, *trees)
        bench.shop.journal.close()
        gated.verdict.cost = Cost(**bench.cost)
        sandbox = bench.shop.runner.sandbox.level
    if as_json:
        click.echo(json.dumps(as_record(gated, a, b, sandbox)))
    else:
        click.echo(write_text(gated, (before, a), (after, b), sandbox))
    if gated.verdict.decision != "accept":
        raise NothingFound(f"{after} is not proven to be better than {before}.", "See above.")


def as_record(gated: Gated, a: str, b: str, sandbox: str) -> dict[str, Any]:
    """The verdict's fields, and `before`, `after`, `train`, `notes`, `sandbox`."""
    train = gated.train
    return {
        **gated.verdict.model_dump(mode="json"),
        "before": a,
        "after": b,
        "train": None
        if train is None
        else {
            "tasks": train.tasks,
            "before": float(train.scores[0]),
            "after": float(train.scores[1]),
            "fixed": train.fixed,
            "broken": train.broken,
        },
        "notes": gated.notes,
        "sandbox": sandbox,
    }


def write_text(gated: Gated, a: tuple[str, str], b: tuple[str, str], sandbox: str) -> str:
    """The same for people."""
    from bot.display import count, printable, show_seconds

    verdict, train = gated.verdict, gated.train
    lines = [f"{a[0]} ({a[1][:12]}) -> {b[0]} ({b[1][:12]})"]
    lines += [f"Note: {printable(note, 400)}" for note in gated.notes]
    if train is not None:
        before, after = train.scores
        lines.append(
            f"Train split: {float(before):g}/{train.tasks} -> {float(after):g}/{train.tasks}, "
            f"{len(train.fixed)} fixed, {len(train.broken)} broken"
        )
    lines += list(_details(verdict))
    cost = verdict.cost
    lines.append(
        f"Cost: {count(cost.model_calls, 'model call')}, {cost.tokens:,} tokens, "
        f"{show_seconds(cost.wall_s)}; isolation: {sandbox}"
    )
    lines.append(f"{verdict.decision}: {printable(verdict.reason, 1000)}")
    return "\n".join(lines)


def _details(verdict: Verdict) -> list[str]:
    lines = []
    if verdict.tasks:
        lines.append(f"  fixed ({len(verdict.fixed)}): {' '.join(verdict.fixed) or 'none'}")
        lines.append(f"  broken ({len(verdict.broken)}): {' '.join(verdict.broken) or 'none'}")
    spent = verdict.inference
    for what in ("tokens", "calls", "seconds"):
        before, after = getattr(spent, f"{what}_before"), getattr(spent, f"{what}_after")
        if before and after is not None:
            lines.append(f"  {what} an episode: {before:g} -> {after:g} (x {after / before:.2f})")
    for other in verdict.other_models:
        lines.append(
            f"  {other.model}: {other.before:g}/{other.tasks} -> {other.after:g}/{other.tasks}, "
            f"{len(other.fixed)} fixed, {len(other.broken)} broken"
        )
    return lines
