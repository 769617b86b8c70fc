"""`ecdysis demo`: a real model fails at the starter harness, and the harness gets repaired."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import click

from bot.commands.options import json_option, sandbox_option

if TYPE_CHECKING:
    from bot.commands.evolve import EvolutionSummary


@click.command("demo")
@click.argument("folder", metavar="[DIR]", default="ecdysis-demo", type=click.Path(path_type=Path))
@sandbox_option
@json_option
def command(folder: Path, isolation: str | None, as_json: bool) -> None:
    """Make a repository in DIR from the starter harness and evolve it until nothing more helps.

    The embedded model (98 MB, fetched once through pip) runs the train tasks and fails at many.
    The bot says what keeps going wrong, edits the harness's syntax tree, compares it with the
    unchanged harness on hidden tasks, and commits what is proven, generation after generation;
    in the end it compares the first harness with the last on sealed tasks. No key, and nothing
    canned: figures differ a little from run to run, as the model's answers do.

    Started again on the same DIR, it goes on from the newest generation. Exit code 1: nothing
    was accepted.
    """
    from bot.commands.evolve import run_evolution
    from bot.commands.init import copy_template
    from bot.commands.log import generation_lines
    from bot.display import say

    if (folder / ".git").exists():
        say(f"Going on with the harness in {folder}")
    else:
        copy_template(folder)
        say(f"A starter harness, committed in {folder}")
    summary = run_evolution(folder, generations=None, test=True, isolation=isolation)
    if as_json:
        click.echo(json.dumps(summary.as_json))
    else:
        click.echo(summary.text)
        click.echo("")
        for line in generation_lines(folder):
            click.echo(line)
        click.echo("")
        click.echo("Next:")
        for line in next_commands(folder, summary):
            click.echo(f"  {line}")
    summary.check()


def next_commands(folder: Path, summary: EvolutionSummary) -> list[str]:
    """Three things to type after the demo."""
    if not summary.report.accepted:
        return [f"cd {folder}", "ecdysis run --split train", "ecdysis log"]
    newest = summary.report.accepted[-1].generation
    return [
        f"cd {folder}",
        f"git log {newest.branch}",
        f"ecdysis show {newest.number} --diff",
    ]
