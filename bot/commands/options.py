"""Options that several commands share."""

from __future__ import annotations

from pathlib import Path

import click

repo_option = click.option(
    "-C",
    "--repo",
    "repo",
    type=click.Path(path_type=Path),
    default=Path(),
    show_default="the current folder",
    help="Work on the repository that holds this folder.",
)

sandbox_option = click.option(
    "--sandbox",
    "isolation",
    type=click.Choice(["auto", "bubblewrap", "landlock", "limits"]),
    help="How foreign code is isolated; auto takes the strongest that holds here.  "
    "[default: the table's]",
)

json_option = click.option(
    "--json", "as_json", is_flag=True, help="Print one JSON object on standard output."
)
