"""`ecdysis run`: run and score a harness revision on a split."""

from __future__ import annotations

import json
import shutil
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

import click

from bot.commands.options import json_option, repo_option, sandbox_option
from bot.errors import EndpointError, Interrupted, UsageError

if TYPE_CHECKING:
    from bot.git.repository import Repository
    from bot.records import Episode, Task


@click.command("run")
@repo_option
@click.option("--rev", default="HEAD", show_default=True, help="The harness revision to run.")
@click.option(
    "--split",
    type=click.Choice(["train", "select", "test"]),
    default="train",
    show_default=True,
    help="Reading `test` is counted: it is sealed.",
)
@click.option("--task", "only", multiple=True, metavar="ID", help="Only this task (repeatable).")
@click.option(
    "--trials", type=click.IntRange(1, 100), help="Episodes a task.  [default: the table's]"
)
@click.option(
    "--parallel", type=click.IntRange(1, 256), help="Episodes at once.  [default: model.slots]"
)
@click.option("--out", type=click.Path(path_type=Path), help="Also copy the episodes to this file.")
@click.option("--fresh", is_flag=True, help="Run everything anew instead of going on.")
@sandbox_option
@json_option
def command(
    repo: Path,
    rev: str,
    split: str,
    only: tuple[str, ...],
    trials: int | None,
    parallel: int | None,
    out: Path | None,
    fresh: bool,
    isolation: str | None,
    as_json: bool,
) -> None:
    """Run every task of a split on a harness revision, and score it.

    Each task runs in a throwaway copy of the revision, in a sandbox of its own; the scorer of that
    revision decides afterwards. Episodes are kept as they end: the same command
    goes on where it was stopped, and runs `invalid` episodes (endpoint, scorer or environment
    failed) again.
    """
    from bot.batch.record import CallRecord, run_file
    from bot.batch.run import Job, Runner
    from bot.batch.store import EpisodeStore
    from bot.batch.tasks import load_splits
    from bot.commands.isolation import open_sandbox
    from bot.commands.revision import load_table
    from bot.display import Progress, count, say
    from bot.git.repository import Repository
    from bot.llm.budget import BudgetMeter
    from bot.llm.endpoint import open_endpoint

    repository = Repository.open(repo)
    commit = repository.resolve_commit(rev)
    tree = repository.tree_of(commit)
    table = load_table(repository, commit)
    sandbox = open_sandbox(isolation, table)
    splits = load_splits(repository, tree, table)
    if split not in splits:
        raise UsageError(f"The table has no {split} split.", "Name one in [tool.ecdysis.splits].")
    tasks = choose_tasks(
        splits[split]
        if split != "test"
        else splits.open_test(lambda: enter_test_read(repository, tree, splits.sizes["test"])),
        only,
    )
    if rev == "HEAD" and (dirty := repository.uncommitted()):
        left_out = count(len(dirty), "uncommitted file")
        say(f"Running {commit[:12]}; {left_out} of the work tree not included.")
    budget = BudgetMeter(table.budget, table.model)
    number = trials or table.trials
    with open_endpoint(table.model) as endpoint:
        path = run_file(
            repository.git_dir, tree=tree, table=table, tasks=tasks, settings=endpoint.settings
        )
        if fresh:
            path.unlink(missing_ok=True)
        jobs = [Job(tree, task, trial) for trial in range(number) for task in tasks]
        wanted = {(job.task.task_id, job.trial) for job in jobs}
        done: dict[tuple[str, int], Episode] = {}
        with (
            EpisodeStore(path) as store,
            CallRecord(path.with_name("calls.jsonl")) as calls,
            Runner(
                repository,
                table,
                base=tree,
                endpoint=endpoint,
                budget=budget,
                sandbox=sandbox,
                parallel=parallel,
                on_calls=calls.add,
            ) as runner,
            Progress("episodes", len(jobs)) as progress,
        ):
            for episode in store.valid_episodes():
                if (episode.task_id, episode.trial) in wanted:
                    done[episode.task_id, episode.trial] = episode
            if done:
                say(f"Going on: {count(len(done), 'episode')} of this run are there already.")
            progress.update(len(done))
            missing = [job for job in jobs if (job.task.task_id, job.trial) not in done]
            try:
                for job, episode in runner.run(missing):
                    store.append(episode)
                    done[job.task.task_id, job.trial] = episode
                    outcomes = Counter(e.outcome for e in done.values())
                    progress.advance(note=f"({outcomes['pass']} passed)")
            except KeyboardInterrupt:
                total = count(len(jobs), "episode")
                raise Interrupted(
                    f"Interrupted: {len(done)} of {total} are kept in {path}.",
                    "The same command goes on from there.",
                ) from None
    if out is not None:
        shutil.copyfile(path, out)
    summary = summarise(done.values(), tasks)
    summary |= {"tree": tree, "split": split, "path": str(path), "budget": budget.summary()}
    summary["sandbox"] = sandbox.level
    if as_json:
        click.echo(json.dumps({"format_version": 1, **summary}))
    else:
        click.echo(write_summary(summary))
    if done and summary["invalid"] == len(done):
        first = next(iter(done.values()))
        raise EndpointError(
            f"Every episode is invalid: {first.error}", "Mend this, then run the command again."
        )


def choose_tasks(tasks: list[Task], only: tuple[str, ...]) -> list[Task]:
    """The tasks named by --task, or all. UsageError for an id that the split does not have."""
    unknown = set(only) - {task.task_id for task in tasks}
    if unknown:
        raise UsageError(
            f"The split has no task {sorted(unknown)[0]!r}.", f"It begins with {tasks[0].task_id}."
        )
    return [task for task in tasks if not only or task.task_id in only]


def summarise(episodes: Iterable[Episode], tasks: list[Task]) -> dict[str, object]:
    """Counts of outcomes in all and by tag, and the reasons why episodes were invalid."""
    tags = {task.task_id: task.tags for task in tasks}
    total: Counter[str] = Counter()
    by_tag: dict[str, Counter[str]] = {}
    invalid: Counter[str] = Counter()
    for episode in episodes:
        total[episode.outcome] += 1
        for tag in tags.get(episode.task_id, []):
            by_tag.setdefault(tag, Counter())[episode.outcome] += 1
        if episode.outcome == "invalid":
            invalid[episode.error or "no reason"] += 1
    judged = total["pass"] + total["fail"]
    return {
        "episodes": sum(total.values()),
        "passed": total["pass"],
        "failed": total["fail"],
        "invalid": total["invalid"],
        "rate": round(total["pass"] / judged, 4) if judged else None,
        "tags": {
            tag: {"passed": c["pass"], "failed": c["fail"], "invalid": c["invalid"]}
            for tag, c in sorted(by_tag.items())
        },
        "invalid_reasons": dict(invalid.most_common(5)),
    }


def enter_test_read(repository: Repository, tree: str, tasks: int) -> None:
    """Put a read of the sealed split on record, and say how many there are."""
    from bot.display import say
    from bot.lineage.ledger import append_test_read

    reads = append_test_read(repository, trees=(tree,), tasks=tasks, purpose="run")
    say(f"The test split is sealed: this is read {reads}.")


def write_summary(summary: dict[str, object]) -> str:
    """The summary for people."""
    from bot.display import printable

    rate = summary["rate"]
    shown = f" ({float(str(rate)):.0%})" if rate is not None else ""
    lines = [
        f"{summary['split']}: {summary['passed']} of {summary['episodes']} passed{shown}, "
        f"{summary['failed']} failed, {summary['invalid']} invalid"
    ]
    tags, reasons = summary["tags"], summary["invalid_reasons"]
    assert isinstance(tags, dict)
    assert isinstance(reasons, dict)
    for tag, counts in tags.items():
        judged = counts["passed"] + counts["failed"]
        lines.append(f"  {printable(tag, 24):<24} {counts['passed']:>4} / {judged}")
    lines += [f"  invalid x{number}: {printable(why, 200)}" for why, number in reasons.items()]
    lines += [
        f"Cost: {summary['budget']}; isolation: {summary['sandbox']}",
        f"Episodes: {summary['path']}",
        f"Next: ecdysis diagnose {summary['path']}",
    ]
    return "\n".join(lines)
