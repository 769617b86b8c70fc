"""`ecdysis report`: the generations of this repository as a page, Markdown, JSON or CSV."""

from __future__ import annotations

import gc
import json
from pathlib import Path
from typing import TYPE_CHECKING

import click

from bot.commands.options import json_option, repo_option
from bot.commands.whole_file import open_output
from bot.errors import NothingFound, UsageError

if TYPE_CHECKING:
    from bot.publish.report.chronicle import Chronicle

PAGE = "ecdysis-report.html"


@click.command("report")
@repo_option
@click.option(
    "-o",
    "--output",
    metavar="FILE",
    type=click.Path(path_type=Path, allow_dash=True),
    help=f"Write to this file, - is standard output.  [default: {PAGE} for the page, else -]",
)
@click.option(
    "-n", "--max-count", "most", type=click.IntRange(min=1), metavar="N", help="Show at most N."
)
@click.option("--markdown", is_flag=True, help="For a job summary: table and sparkline.")
@click.option("--csv", "as_csv", is_flag=True, help="One row of figures for each generation.")
@json_option
def command(
    repo: Path, output: Path | None, most: int | None, markdown: bool, as_csv: bool, as_json: bool
) -> None:
    """Write one HTML page about the generations of this repository.

    Score by generation with its noise band, flipped tasks, failure patterns, cost, isolation,
    the repairs with the reasons of every hunk, and what was rejected. The page is one file that
    loads nothing: it can be mailed, kept as a build's artifact, and printed.

    Everything comes from the repository's commits, notes and refs; what a clone lacks,
    `ecdysis fetch` brings. Exit code 1: there are no generations yet, nothing is written.
    """
    from bot.commands.report_history import read_chronicle
    from bot.display import say
    from bot.git.repository import Repository

    if markdown + as_csv + as_json > 1:
        raise UsageError("Choose one of --markdown, --csv and --json.", "Without them: a page.")
    page = not (markdown or as_csv or as_json)
    target = output if output is not None else Path(PAGE if page else "-")
    gc.disable()  # thousands of small objects, all of which are needed until the end
    try:
        chronicle = read_chronicle(Repository.open(repo), most)
        if not chronicle.generations:
            raise NothingFound("There are no generations yet.", "Make one: ecdysis evolve")
        text = write(chronicle, markdown=markdown, as_csv=as_csv, as_json=as_json)
    finally:
        gc.enable()
    with open_output(None if str(target) == "-" else target) as file:
        file.write(text.encode("utf-8", "backslashreplace"))
    if str(target) != "-":
        say(f"Written: {target}")


def write(chronicle: Chronicle, *, markdown: bool, as_csv: bool, as_json: bool) -> str:
    """The report in the form that is asked for, a page by default."""
    if markdown:
        from bot.publish.report.markdown import write_markdown

        return write_markdown(chronicle)
    if as_csv:
        from bot.publish.report.table import write_csv

        return write_csv(chronicle)
    if as_json:
        return json.dumps(chronicle.as_record()) + "\n"
    from bot.publish.report.page import write_page

    return write_page(chronicle)
