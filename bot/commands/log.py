"""`ecdysis log`: the generations of this repository, newest first, from git alone."""

from __future__ import annotations

import gc
import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from bot.commands.options import json_option, repo_option
from bot.errors import NothingFound

if TYPE_CHECKING:
    from bot.git.objects import CommitRecord
    from bot.git.repository import Repository
    from bot.lineage.generations import Generation
    from bot.lineage.merges import Merges
    from bot.lineage.rejected import RejectedCandidate

FETCH = "ecdysis fetch"


@dataclass(frozen=True)
class History:
    """What `log` shows: generations newest first, what they stand on, what was merged into HEAD.

    `rejected` are the candidates that are not older than the generations, newest first.
    """

    generations: Sequence[Generation]
    parents: dict[int, int | CommitRecord]
    merges: Merges
    rejected: Sequence[RejectedCandidate]
    test_reads: int


@click.command("log")
@repo_option
@click.option(
    "-n", "--max-count", "most", type=click.IntRange(min=1), metavar="N", help="Show at most N."
)
@json_option
def command(repo: Path, most: int | None, as_json: bool) -> None:
    """List the generations, newest first: their repairs, their figures, their commits.

    The marks on the left lead from each generation (*) to the one it stands on, and at last to
    the commit where it began (o); rejected candidates (x) stand above what they were tried on.
    A generation is `merged` when its repairs are in HEAD, also by a squash, a rebase or a
    cherry-pick; `reverted` when they were there; else `accepted`.

    Everything comes from the repository's commits and refs; nothing else is needed.
    Exit code 1: there are no generations yet.
    """
    from bot.commands.log_text import write_log
    from bot.git.repository import Repository

    gc.disable()  # thousands of small objects, all of which are needed until the end
    try:
        history = read_history(Repository.open(repo), most)
        text = json.dumps(describe_log(history)) if as_json else "\n".join(write_log(history))
    finally:
        gc.enable()
    if text:
        click.echo(text)
    if not history.generations:
        raise NothingFound("There are no generations yet.", "Make one: ecdysis evolve")


def generation_lines(folder: Path) -> list[str]:
    """What `ecdysis log` prints for the repository that holds `folder`; empty without any."""
    from bot.commands.log_text import write_log
    from bot.git.repository import Repository

    return write_log(read_history(Repository.open(folder)))


def read_history(repository: Repository, most: int | None = None) -> History:
    """Everything that `log` shows, of the newest `most` generations."""
    from bot.lineage.generations import GENERATION_PLACES, find_parents
    from bot.lineage.ledger import LEDGER_REF, count_test_reads
    from bot.lineage.merges import find_merges
    from bot.lineage.rejected import REJECTED_PREFIX, list_rejected
    from bot.lineage.summaries import list_summaries

    refs = repository.refs(*GENERATION_PLACES, REJECTED_PREFIX, LEDGER_REF)
    every = list_summaries(repository, refs)
    kept = every[-most:] if most else every
    found = list_rejected(repository, refs)
    rejected = sorted(found, key=lambda item: item.when, reverse=True)
    if len(kept) < len(every):
        rejected = [item for item in rejected if item.when >= kept[0].repairs[-1].when]
    return History(
        kept[::-1],
        find_parents(repository, every),
        find_merges(repository, kept),
        rejected,
        count_test_reads(repository) if LEDGER_REF in refs else 0,
    )


def find_missing(generations: Sequence[Generation]) -> list[str]:
    """What this clone does not hold, in sentences that say how to get it."""
    found = []
    if any(not generation.ref.startswith("refs/ecdysis/") for generation in generations):
        found.append(
            "some generations are known here from their branches alone; "
            f"their refs and notes come with: {FETCH}"
        )
    cut = [str(generation.number) for generation in generations if generation.base is None]
    if cut:
        found.append(
            f"the history ends inside generation {', '.join(cut)} (a shallow clone); "
            "the rest comes with: git fetch --unshallow"
        )
    return found


def describe_log(history: History) -> dict[str, Any]:
    """What `--json` prints: `generations[]` and `rejected[]`, newest first, and what is missing.

    To each generation as `show` has it come `parent` (a number, null where it stands on another
    commit), `status`, and for each repair `merged`: the commit by which it reached HEAD and how
    that was seen, by the `commit` itself, a `message`, a `tree` or the `files`.
    """
    generations = []
    for generation in history.generations:
        parent = history.parents.get(generation.number)
        described = describe_generation(generation) | {
            "parent": parent if isinstance(parent, int) else None,
            "status": history.merges.status(generation),
        }
        for item in described["repairs"]:
            merge = history.merges.reached.get(item["commit"])
            item["merged"] = {"commit": merge.commit, "how": merge.how} if merge else None
        generations.append(described)
    return {
        "format_version": 1,
        "generations": generations,
        "rejected": [
            {
                "ref": item.ref,
                "commit": item.commit,
                "base": item.base or None,
                "title": item.title,
                "pattern": item.pattern,
                "origin": item.origin,
                "reason": item.reason,
                "spec": item.digest,
            }
            for item in history.rejected
        ],
        "test_reads": history.test_reads,
        "missing": find_missing(history.generations),
    }


def describe_generation(generation: Generation) -> dict[str, Any]:
    """One generation as JSON: its figures as numbers, its repairs in order of commit."""
    figures = generation.figures
    return {
        "generation": generation.number,
        "branch": generation.branch,
        "ref": generation.ref,
        "commit": generation.commit,
        "base": generation.base,
        "score": figures.get("Score"),
        "fixed": as_number(figures.get("Fixed")),
        "broken": as_number(figures.get("Broken")),
        "noise_band": as_number(figures.get("Noise-Band")),
        "p_value": as_number(figures.get("P-Value")),
        "trials": as_number(figures.get("Trials")),
        "sandbox": figures.get("Sandbox"),
        "repairs": [
            {
                "commit": repair.commit,
                "title": repair.message.title,
                "pattern": repair.message.trailers.get("Pattern"),
                "attribution": repair.message.trailers.get("Attribution"),
                "layer": repair.message.trailers.get("Layer"),
                "origin": repair.message.trailers.get("Origin"),
                "tasks": as_number(repair.message.trailers.get("Tasks")),
                "predicted_fixes": split_list(repair.message.trailers.get("Predicted-Fixes")),
                "spec": repair.message.trailers.get("Spec"),
            }
            for repair in generation.repairs
        ],
    }


def as_number(text: str | None) -> int | float | None:
    """The number that a trailer holds; None for anything else: trailers can be edited."""
    try:
        value = float(text or "")
    except ValueError:
        return None
    if value != value or value in (float("inf"), float("-inf")):
        return None
    return int(value) if value.is_integer() else value


def split_list(text: str | None) -> list[str]:
    """The items of a trailer that lists task ids."""
    return [item.strip() for item in (text or "").split(",") if item.strip()]
