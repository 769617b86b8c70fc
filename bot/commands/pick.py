"""`ecdysis pick`: a generation's repairs for another harness, by their specs."""

from __future__ import annotations

from pathlib import Path

import click

from bot.commands.options import json_option, repo_option

GATE = "not run on this harness"
"""The trailer `Ecdysis-Gate` of what was picked: nothing was measured there."""


@click.command("pick")
@click.argument("name", metavar="GENERATION")
@repo_option
@click.option(
    "--onto", metavar="BRANCH", required=True, help="The other harness: a branch or a revision."
)
@click.option(
    "--branch", metavar="NAME", help="The new branch.  [default: ecdysis/gen-NNNN-picked-onto-REV]"
)
@click.option("--check", is_flag=True, help="Say what would apply; write nothing.")
@json_option
def command(
    name: str, repo: Path, onto: str, branch: str | None, check: bool, as_json: bool
) -> None:
    """Apply the repairs of GENERATION to another harness: one commit each, on a new branch.

    The specs are applied, not the text of the diff: functions, statements and names are looked
    for where the other harness has them, under the rules of its own table. What cannot be found
    with certainty is named and left out. The commits carry `Ecdysis-Gate: not run on this
    harness`, since nothing was proven there; BRANCH itself, the work tree, the index and HEAD
    stay as they are.

    Exit code 1: no repair applies.
    """
    from bot.commands.rebase import move, refuse_nothing, show
    from bot.git.repository import Repository
    from bot.lineage.generations import find_generation

    repository = Repository.open(repo)
    generation = find_generation(repository, name)
    base = repository.resolve_commit(onto)
    target = branch or f"{generation.branch}-picked-onto-{base[:10]}"
    more = {"Gate": GATE}
    moved = move(repository, generation, base, target, "Picked-From", check=check, more=more)
    after = f"Not proven on that harness. Next: ecdysis run --rev {target}"
    show(moved, generation, target, base, check, as_json, after)
    refuse_nothing(moved, generation, onto)
