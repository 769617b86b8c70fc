"""`ecdysis init`: the starter harness, as a repository of its own."""

from __future__ import annotations

import shutil
from pathlib import Path

import click

from bot.errors import InputError, UsageError


@click.command("init")
@click.option(
    "--template",
    "template",
    type=click.Path(path_type=Path),
    metavar="DIR",
    help="Copy the starter harness to DIR (new or empty) and commit it there.",
)
def command(template: Path | None) -> None:
    """Start a harness that the bot can evolve.

    `ecdysis init --template DIR` makes a git repository in DIR from the starter harness: a small
    agent with its environment, its scorer and its tasks, and a filled-in [tool.ecdysis] table.
    """
    if template is None:
        raise UsageError(
            "Say where the starter harness shall go.", "Type `ecdysis init --template DIR`."
        )
    copy_template(template)
    click.echo(f"A harness, committed in {template}. Next:")
    click.echo(f"  cd {template}")
    click.echo("  ecdysis doctor")
    click.echo("  ecdysis run --split train")


def template_folder() -> Path:
    """Where the starter harness lies: in the installed package, or in a checkout beside it."""
    package = Path(__file__).resolve().parents[1]
    for folder in (package / "_template", package.parent / "harness_template"):
        if (folder / "pyproject.toml").is_file():
            return folder
    raise InputError(
        "The starter harness is missing from this installation.", "Install ecdysis-bot again."
    )


def copy_template(destination: Path) -> str:
    """The starter harness as a git repository in `destination`; its first commit's oid.

    Raises InputError when `destination` holds anything. What was copied is removed again if
    the copy does not get to its end.
    """
    from bot.git.repository import init_repository

    if destination.exists() and (not destination.is_dir() or any(destination.iterdir())):
        raise InputError(
            f"{destination} exists and is not an empty folder.", "Choose another folder."
        )
    existed = destination.exists()
    try:
        shutil.copytree(
            template_folder(),
            destination,
            ignore=shutil.ignore_patterns("__pycache__", "*.pyc", ".git"),
            dirs_exist_ok=True,
        )
        repository = init_repository(destination)
        return repository.commit_all("Start from the ecdysis starter harness")
    except OSError as error:
        raise InputError(
            f"Cannot write to {destination}: {error.strerror}.", "Choose another folder."
        ) from None
    except BaseException:
        if not existed:
            shutil.rmtree(destination, ignore_errors=True)
        raise
