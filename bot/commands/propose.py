"""`ecdysis propose FILE...`: drafts of repairs from trajectories, without running the harness."""

from __future__ import annotations

import json
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from bot.commands.batch_files import Reading, batch_options
from bot.commands.options import json_option, repo_option
from bot.errors import NothingFound, UsageError

if TYPE_CHECKING:
    from bot.config import HarnessTable
    from bot.drafting import Consult, Drafts
    from bot.git.repository import Repository
    from bot.records import Episode


@click.command("propose")
@click.argument(
    "files", metavar="FILE...", nargs=-1, required=True, type=click.Path(path_type=Path)
)
@repo_option
@click.option("--rev", default="HEAD", show_default=True, help="The harness that was run.")
@click.option("--panel", "with_panel", is_flag=True, help="Ask the panel instead of the catalog.")
@click.option("--check", is_flag=True, help="Say what would be drafted; commit nothing.")
@batch_options
@json_option
def command(
    files: tuple[Path, ...],
    repo: Path,
    rev: str,
    with_panel: bool,
    check: bool,
    reading: Reading,
    as_json: bool,
) -> None:
    """Draft repairs from trajectories, where the harness cannot be run here.

    FILE is what `ecdysis diagnose` reads. Patterns that recur are given to the catalog (or the
    panel), and what is proposed is checked as far as that goes without running anything: it
    applies to editable files only, compiles, brings no dangers and no values of tasks. The drafts
    go to a branch ecdysis/draft-..., one commit each, marked `Ecdysis-Verification: unverified
    draft`. Whether they help only `ecdysis evolve` or `ecdysis gate` can say, where it runs.

    Exit code 1: nothing could be drafted; the reasons are printed.
    """
    from bot.commands.diagnose import tell_left_out, tell_read
    from bot.commands.revision import load_table
    from bot.display import Progress
    from bot.drafting import commit_drafts, draft, make_apply
    from bot.git.repository import Repository

    repository = Repository.open(repo)
    commit = repository.resolve_commit(rev)
    table = load_table(repository, commit)
    batch = reading.open(files)
    with Progress("episodes read") as progress:
        batch.on_record = progress.advance
        episodes = list(batch.episodes())
    tell_left_out(batch)
    if not as_json:
        tell_read(batch)
    tree = repository.tree_of(commit)
    apply = make_apply(repository, table, table.python or sys.executable)
    with tempfile.TemporaryDirectory(prefix="ecdysis-") as folder:
        consult = (
            panel_consult(repository, table, tree, episodes, Path(folder)) if with_panel else None
        )
        drafts = draft(repository, table, tree, episodes, apply=apply, consult=consult)
    branch = None
    if drafts.made and not check:
        branch, _ = commit_drafts(repository, commit, drafts.made)
    if as_json:
        click.echo(json.dumps(as_record(drafts, branch)))
    else:
        click.echo(write_text(drafts, branch, commit))
    if not drafts.made:
        raise NothingFound("Nothing could be drafted.", "The reasons are above.")


def panel_consult(
    repository: Repository,
    table: HarnessTable,
    tree: str,
    episodes: list[Episode],
    folder: Path,
) -> Consult:
    """The panel of the table, for drafts: no tests can be run. UsageError without one."""
    from bot.display import say
    from bot.drafting import batch_tasks, make_apply
    from bot.llm.budget import BudgetMeter
    from bot.panels import Ground, Panels

    if table.panel is None:
        raise UsageError(
            "The table names no model for the panel.",
            "Add [tool.ecdysis.panel] with base_url, name and api_key_env.",
        )
    ground = Ground(
        repository,
        table,
        list(batch_tasks(episodes).values()),
        folder / "transcript.jsonl",
        say,
        make_apply(repository, table, table.python or sys.executable),
        lambda _: None,
    )
    panels = Panels(ground, table.panel, BudgetMeter(table.budget, table.panel))
    return lambda situations: panels.propose(tree, 0, situations)


def as_record(drafts: Drafts, branch: str | None) -> dict[str, Any]:
    """What `--json` prints: `branch`, `drafts` and `left`, each with its pattern."""
    return {
        "format_version": 1,
        "verification": "unverified draft",
        "episodes": drafts.diagnosis.episodes,
        "failed": drafts.diagnosis.failed,
        "branch": branch,
        "drafts": [
            {
                "title": one.spec.title,
                "pattern": one.pattern.key,
                "origin": one.spec.origin,
                "tree": one.tree,
                "spec": one.spec.model_dump(mode="json"),
            }
            for one in drafts.made
        ],
        "left": [{"pattern": key, "reason": reason} for key, reason in drafts.left.items()],
    }


def write_text(drafts: Drafts, branch: str | None, commit: str) -> str:
    """The same for people."""
    from bot.display import count, printable

    found = drafts.diagnosis
    lines = [f"{found.failed} of {count(found.episodes, 'episode')} failed"]
    if drafts.made:
        lines.append("Drafted, and not verified: nothing was run")
    for one in drafts.made:
        lines.append(f"  + {printable(one.spec.title, 100)}  [{one.spec.origin}]")
        lines.append(
            f"      {count(one.pattern.distinct_tasks, 'task')}: {printable(one.pattern.key, 90)}"
        )
    if drafts.left:
        lines.append("Left alone")
    for key, reason in drafts.left.items():
        lines += [f"  . {printable(key, 90)}", f"      {printable(reason, 400)}"]
    if branch is not None:
        lines.append(f"On the branch {branch}. Next, where the harness runs:")
        lines.append(f"  ecdysis gate {commit[:10]} {branch}")
    return "\n".join(lines)
