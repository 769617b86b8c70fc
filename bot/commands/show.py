"""`ecdysis show`: one generation with its diagnosis, its trailers and its diff."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from bot.commands.log import describe_generation, find_missing
from bot.commands.options import json_option, repo_option
from bot.display import printable

if TYPE_CHECKING:
    from bot.git.repository import Repository
    from bot.lineage.generations import Generation

LONGEST_DIFF = 5000


@click.command("show")
@click.argument("name", metavar="GENERATION")
@repo_option
@click.option("--diff", "with_diff", is_flag=True, help="Show what each repair changes.")
@json_option
def command(name: str, repo: Path, with_diff: bool, as_json: bool) -> None:
    """Show one GENERATION: what kept failing, why, and what its repairs do about it.

    GENERATION is 3, gen-0003 or the name of its branch. Everything comes from git.
    """
    from bot.git.repository import Repository
    from bot.lineage.generations import find_generation

    repository = Repository.open(repo)
    generation = find_generation(repository, name)
    if as_json:
        click.echo(json.dumps(describe(repository, generation, with_diff)))
        return
    for line in write(repository, generation, with_diff):
        click.echo(line)


def write(repository: Repository, generation: Generation, with_diff: bool) -> list[str]:
    """The lines for a person."""
    paint = Paint()
    lines = [
        paint.strong(f"Generation {generation.number}")
        + f", branch {generation.branch}, on top of {(generation.base or 'unknown')[:10]}",
    ]
    for repair in generation.repairs:
        message = repair.message
        lines += [
            "",
            paint.commit(f"commit {repair.commit}"),
            "",
            "    " + paint.strong(printable(message.title)),
            "",
        ]
        lines += [
            f"    {printable(line, lines=True)}".rstrip() for line in message.body.split("\n")
        ]
        lines.append("")
        for key, value in message.trailers.items():
            lines.append(f"    {printable(key, 40)}: {printable(value)}")
        if with_diff:
            lines.append("")
            lines += paint_diff(diff_of(repository, generation, repair.commit), paint)
    lines += [f"Note: {sentence}" for sentence in find_missing([generation])]
    return lines


def describe(repository: Repository, generation: Generation, with_diff: bool) -> dict[str, Any]:
    """What `--json` prints: the generation as `log --json` has it, with bodies, specs, diffs."""
    from bot.lineage.evidence import read_note

    described = describe_generation(generation)
    for item, repair in zip(described["repairs"], generation.repairs, strict=True):
        note = read_note(repository, repair.commit) or {}
        item["diagnosis"] = repair.message.body
        item["trailers"] = repair.message.trailers
        item["spec_record"] = note.get("spec")
        item["verdict"] = note.get("verdict")
        if with_diff:
            item["diff"] = "\n".join(diff_of(repository, generation, repair.commit))
    return {"format_version": 1, **described, "missing": find_missing([generation])}


def diff_of(repository: Repository, generation: Generation, commit: str) -> list[str]:
    """The lines of a repair's diff; one sentence where its parent is not in this clone."""
    place = generation.commits.index(commit)
    parent = generation.commits[place - 1] if place else generation.base
    if parent is None or parent not in repository.read_commits([parent]):
        return ["The commit below this repair is not in this clone: git fetch --unshallow"]
    text = repository.git(
        *("diff-tree", "-r", "-p", "-M", "--no-color", "--no-ext-diff", "--no-textconv"),
        *("--end-of-options", parent, commit),
    )
    lines = text.split("\n")
    if len(lines) > LONGEST_DIFF:
        left_out = len(lines) - LONGEST_DIFF
        lines = [*lines[:LONGEST_DIFF], f"... {left_out} more lines: git diff {parent} {commit}"]
    return lines


def paint_diff(lines: list[str], paint: Paint) -> list[str]:
    """The diff for a terminal: no control characters, colours where they are wanted."""
    painted = []
    for line in lines:
        text = printable(line, lines=True)
        if line.startswith(("diff --git", "---", "+++", "index ", "new file", "deleted file")):
            text = paint.strong(text)
        elif line.startswith("@@"):
            text = paint.place(text)
        elif line.startswith("+"):
            text = paint.added(text)
        elif line.startswith("-"):
            text = paint.removed(text)
        painted.append(text)
    return painted


class Paint:
    """Colours, if standard output is a terminal and `NO_COLOR` is not set."""

    def __init__(self) -> None:
        self.on = sys.stdout.isatty() and not os.environ.get("NO_COLOR")

    def _style(self, text: str, **how: Any) -> str:
        return click.style(text, **how) if self.on else text

    def strong(self, text: str) -> str:
        return self._style(text, bold=True)

    def commit(self, text: str) -> str:
        return self._style(text, fg="yellow")

    def place(self, text: str) -> str:
        return self._style(text, fg="cyan")

    def added(self, text: str) -> str:
        return self._style(text, fg="green")

    def removed(self, text: str) -> str:
        return self._style(text, fg="red")
