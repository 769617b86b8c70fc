"""`ecdysis prune`: old evidence out of the repository."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import TYPE_CHECKING

import click

from bot.commands.options import json_option, repo_option

if TYPE_CHECKING:
    from bot.lineage.pruning import Pruning

A_DAY = 86_400


@click.command("prune")
@repo_option
@click.option(
    "--days",
    type=click.IntRange(min=0),
    default=90,
    show_default=True,
    metavar="D",
    help="Only what is older than D days.",
)
@click.option(
    "--keep",
    type=click.IntRange(min=0),
    default=20,
    show_default=True,
    metavar="N",
    help="The newest N rejected candidates, and the evidence of the newest N generations, stay.",
)
@click.option("--dry-run", "dry", is_flag=True, help="Say what would go; remove nothing.")
@json_option
def command(repo: Path, days: int, keep: int, dry: bool, as_json: bool) -> None:
    """Remove old evidence: rejected candidates, quotes in the notes, journals of old runs.

    Never an accepted commit: generations, their branches, their specs and their verdicts stay,
    and so do the watch list and the ledger of the sealed test split. What was rejected and is
    removed here may be tried again by a later `evolve`. The history of the notes starts afresh;
    a clone that fetches them keeps what it has.
    """
    from bot.git.repository import Repository
    from bot.lineage.pruning import plan_pruning, prune

    repository = Repository.open(repo)
    plan = plan_pruning(repository, before=time.time() - days * A_DAY, keep=keep)
    if plan and not dry:
        prune(repository, plan)
    if as_json:
        click.echo(json.dumps(describe(plan, dry)))
    else:
        click.echo("\n".join(write(plan, dry, days)))


def write(plan: Pruning, dry: bool, days: int) -> list[str]:
    """The lines for a person."""
    from bot.display import count, printable

    if not plan:
        return [f"Nothing to remove: no evidence beyond the newest is older than {days} days."]
    verb = "would go" if dry else "removed"
    lines = [f"{verb}: rejected candidate: {printable(r.title, 72)}" for r in plan.rejected]
    emptied = sum(content is not None for content in plan.notes.values())
    if emptied:
        lines.append(f"{verb}: the quotes in {count(emptied, 'note')}")
    if len(plan.notes) > emptied:
        gone = count(len(plan.notes) - emptied, "note")
        lines.append(f"{verb}: {gone} of commits that nothing names any more")
    if plan.journals:
        lines.append(f"{verb}: {count(len(plan.journals), 'journal')} of old runs")
    following = "the same command without --dry-run" if dry else "git gc"
    return [*lines, f"{plan.bytes:,} bytes in all. Next: {following}"]


def describe(plan: Pruning, dry: bool) -> dict[str, object]:
    """What `--json` prints."""
    return {
        "format_version": 1,
        "dry_run": dry,
        "rejected": [item.ref for item in plan.rejected],
        "notes_emptied": sum(content is not None for content in plan.notes.values()),
        "notes_removed": sum(content is None for content in plan.notes.values()),
        "journals": [str(folder) for folder in plan.journals],
        "bytes": plan.bytes,
    }
