"""`ecdysis log`: the generations of this repository, newest first, from git alone."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from bot.commands.options import json_option, repo_option
from bot.display import count, printable
from bot.errors import NothingFound

if TYPE_CHECKING:
    from bot.git.repository import Repository
    from bot.lineage.generations import Generation, Repair

FETCH = "ecdysis fetch"


@click.command("log")
@repo_option
@click.option(
    "-n", "--max-count", "most", type=click.IntRange(min=1), metavar="N", help="Show at most N."
)
@json_option
def command(repo: Path, most: int | None, as_json: bool) -> None:
    """List the generations, newest first: their repairs, their figures, their commits.

    Everything comes from the repository's commits and refs; nothing else is needed.
    Exit code 1: there are no generations yet.
    """
    from bot.git.repository import Repository

    repository = Repository.open(repo)
    generations = read_newest_first(repository)[:most]
    if as_json:
        click.echo(json.dumps(describe_log(repository, generations)))
    else:
        for line in write_log(repository, generations):
            click.echo(line)
    if not generations:
        raise NothingFound("There are no generations yet.", "Make one: ecdysis evolve")


def generation_lines(folder: Path) -> list[str]:
    """What `ecdysis log` prints for the repository that holds `folder`; empty without any."""
    from bot.git.repository import Repository

    repository = Repository.open(folder)
    return write_log(repository, read_newest_first(repository))


def read_newest_first(repository: Repository) -> list[Generation]:
    """Every generation, newest first."""
    from bot.lineage.generations import list_generations

    return list_generations(repository)[::-1]


def write_log(repository: Repository, generations: list[Generation]) -> list[str]:
    """The lines for a person: each generation's figures, then its repairs; what is missing."""
    from bot.lineage.ledger import count_test_reads

    lines: list[str] = []
    for generation in generations:
        when = day(generation.repairs[-1].when)
        head = f"gen-{generation.number:04d}  {generation.commit[:10]}  {when}"
        lines.append(f"{head}  {figures_line(generation)}")
        for repair in generation.repairs:
            lines.append(f"    {printable(repair.message.title, 72)}")
            pattern = printable(repair.message.trailers.get("Pattern", ""), 72)
            lines.append(f"        {pattern}  [{origin_of(repair)}]")
    reads = count_test_reads(repository) if generations else 0
    if reads:
        lines.append(f"The sealed test split was read {count(reads, 'time')}.")
    lines += [f"Note: {sentence}" for sentence in find_missing(generations)]
    return lines


def figures_line(generation: Generation) -> str:
    """`score 11/24 -> 21/24, 10 fixed, 0 broken, noise band 1, p = 0.001`; what is known of it."""
    figures = generation.figures
    parts = [
        (figures.get("Score"), "score {}"),
        (figures.get("Fixed"), "{} fixed"),
        (figures.get("Broken"), "{} broken"),
        (figures.get("Noise-Band"), "noise band {}"),
        (figures.get("P-Value"), "p = {}"),
    ]
    return ", ".join(form.format(printable(value, 40)) for value, form in parts if value)


def origin_of(repair: Repair) -> str:
    return printable(repair.message.trailers.get("Origin", "unknown origin"), 60)


def day(when: int) -> str:
    """Seconds since 1970 as a date, UTC."""
    try:
        return datetime.fromtimestamp(when, UTC).strftime("%Y-%m-%d")
    except (ValueError, OverflowError, OSError):
        return "no date"


def find_missing(generations: list[Generation]) -> list[str]:
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


def describe_log(repository: Repository, generations: list[Generation]) -> dict[str, Any]:
    """What `--json` prints: `generations[]`, newest first, `test_reads`, `missing[]`."""
    from bot.lineage.ledger import count_test_reads

    return {
        "format_version": 1,
        "generations": [describe_generation(generation) for generation in generations],
        "test_reads": count_test_reads(repository),
        "missing": find_missing(generations),
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
