"""`ecdysis init`: a table for a harness, its workflow, or the starter harness as a repository."""

from __future__ import annotations

import shutil
import tomllib
from pathlib import Path

import click

from bot.commands.options import repo_option
from bot.errors import InputError, NothingFound, RepositoryError, UsageError


@click.command("init")
@repo_option
@click.option(
    "--template",
    "template",
    type=click.Path(path_type=Path),
    metavar="DIR",
    help="Copy the starter harness to DIR (new or empty) and commit it there.",
)
@click.option(
    "--workflow",
    is_flag=True,
    help="Write .github/workflows/ecdysis.yml, which evolves the harness on GitHub.",
)
@click.option(
    "--action",
    metavar="OWNER/NAME@COMMIT",
    help="The bot's repository and the commit of it that the workflow runs.  "
    "[default: what was installed]",
)
@click.option("--yes", is_flag=True, help="Write the proposed table without asking.")
def command(
    repo: Path, template: Path | None, workflow: bool, action: str | None, yes: bool
) -> None:
    """Get a harness ready for the bot.

    In a repository that holds a harness, reads the code (nothing is run), proposes the
    [tool.ecdysis] table with the seams that it finds, and adds it to pyproject.toml (or writes
    ecdysis.toml) when you agree. It commits nothing.

    `--template DIR` makes a repository in DIR from the starter harness instead: a small agent
    with its environment, its scorer, its tasks, and a table that is filled in.

    `--workflow` writes a workflow of two jobs for GitHub: one evaluates and may write nothing, one
    publishes and runs no harness code.
    """
    if workflow:
        add_workflow(repo, action)
        return
    if template is not None:
        copy_template(template)
        click.echo(f"A harness, committed in {template}. Next:")
        click.echo(f"  cd {template}")
        click.echo("  ecdysis doctor")
        click.echo("  ecdysis run --split train")
        return
    add_table(repo, yes)


def add_table(repo: Path, yes: bool) -> None:
    """Propose a table for the harness in the work tree, and write it if the person agrees."""
    from bot.commands.propose_table import propose_table, write_table
    from bot.git.repository import Repository

    repository = Repository.open(repo)
    if repository.state().bare:
        raise RepositoryError("A bare repository has no work tree.", "Run init in a clone.")
    tree = repository.tree_of("HEAD")
    project, own = repository.root / "pyproject.toml", repository.root / "ecdysis.toml"
    for path in (own, project):
        if path.is_file() and (path == own or _has_table(path)):
            raise UsageError(
                f"{path.name} holds a table already.", "Check it with `ecdysis doctor`."
            )
    files = repository.read_files(tree)
    proposal = propose_table(repository.root.name, files)
    target = project if project.is_file() else own
    text = write_table(proposal, "tool.ecdysis" if target == project else "")
    click.echo(text)
    if not proposal.seams:
        click.echo("No seam was recognised: name them by hand for the catalog to act.", err=True)
    if not yes and not click.confirm(f"Add this to {target.name}?", err=True):
        raise NothingFound("Nothing was written.", "Copy what you want of it by hand.")
    old = target.read_text(encoding="utf-8") if target.is_file() else ""
    target.write_text(f"{old.rstrip()}\n\n{text}" if old else text, encoding="utf-8")
    click.echo(f"Added to {target.name}. Next:")
    if proposal.open:
        click.echo(f"  fill in {', '.join(proposal.open)}")
        click.echo("    (records: `ecdysis schema task`, `ecdysis schema episode`; the README's")
        click.echo('    "Your own harness" has an adapter and a scorer to copy)')
    click.echo(f"  git add {target.name} && git commit")
    click.echo("  ecdysis doctor")
    click.echo("  ecdysis init --workflow   (on GitHub: once a week, by pull request)")


def add_workflow(repo: Path, action: str | None) -> None:
    """Write the workflow into the work tree; nothing that is there is overwritten."""
    from bot.commands.revision import load_table
    from bot.commands.workflow import WORKFLOW, installed_action, key_names, write_workflow
    from bot.git.repository import Repository

    repository = Repository.open(repo)
    if repository.state().bare:
        raise RepositoryError("A bare repository has no work tree.", "Run init in a clone.")
    path = repository.root / WORKFLOW
    if path.exists() or path.is_symlink():
        raise UsageError(f"{WORKFLOW} exists already.", "Move it away to have it written anew.")
    chosen = action or installed_action()
    if chosen is None:
        raise UsageError(
            "This installation does not say which commit of the bot it is.",
            "Name it: ecdysis init --workflow --action OWNER/NAME@COMMIT",
        )
    table = load_table(repository, "HEAD")
    text = write_workflow(table, chosen)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    click.echo(f"Written: {WORKFLOW}. Next:")
    for name in key_names(table):
        click.echo(f"  gh secret set {name}")
    click.echo("  in the repository's settings, under Actions, General, Workflow permissions:")
    click.echo("    allow GitHub Actions to create pull requests")
    click.echo(f"  git add {WORKFLOW} && git commit && git push")


def _has_table(path: Path) -> bool:
    try:
        document = tomllib.loads(path.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise InputError(f"{path} is not valid TOML: {error}.", "Mend the file.") from None
    tool = document.get("tool")
    return isinstance(tool, dict) and "ecdysis" in tool


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
