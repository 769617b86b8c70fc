"""`ecdysis show`: one generation with its diagnosis, its trailers and its diff."""

from __future__ import annotations

import json
import os
import sys
import textwrap
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from bot.commands.log import describe_generation, find_missing
from bot.commands.options import json_option, repo_option
from bot.commands.repair_diff import diff_of, explain
from bot.display import printable

if TYPE_CHECKING:
    from bot.edit.hunks import Hunk
    from bot.git.repository import Repository
    from bot.lineage.generations import Generation, Repair

LONGEST_DIFF = 5000


@click.command("show")
@click.argument("name", metavar="GENERATION")
@repo_option
@click.option("--diff", "with_diff", is_flag=True, help="Show what each repair changes, and why.")
@click.option("--transcript", is_flag=True, help="Show what the panel behind each repair said.")
@json_option
def command(name: str, repo: Path, with_diff: bool, transcript: bool, as_json: bool) -> None:
    """Show one GENERATION: what kept failing, why, and what its repairs do about it.

    GENERATION is 3, gen-0003 or the name of its branch. Everything comes from git.
    """
    from bot.git.repository import Repository
    from bot.lineage.generations import find_generation

    repository = Repository.open(repo)
    generation = find_generation(repository, name)
    if as_json:
        click.echo(json.dumps(describe(repository, generation, with_diff, transcript)))
        return
    for line in write(repository, generation, with_diff, transcript):
        click.echo(line)


def write(
    repository: Repository, generation: Generation, with_diff: bool, with_transcript: bool = False
) -> list[str]:
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
            diff = diff_of(repository, generation, repair.commit)
            hunks = explain(repository, generation, repair, diff)
            lines += ["", *paint_diff(diff, hunks, paint)]
        if with_transcript:
            lines += ["", *transcript_lines(repository, repair, paint)]
    lines += [f"Note: {sentence}" for sentence in find_missing([generation])]
    return lines


def transcript_lines(repository: Repository, repair: Repair, paint: Paint) -> list[str]:
    """Who said what, round by round, without the questions; one sentence where nobody did."""
    from bot.lineage.evidence import read_transcript
    from bot.llm.transcript import Transcript

    text = read_transcript(repository, repair.commit)
    if text is None:
        origin = repair.message.trailers.get("Origin", "")
        if not origin.startswith("panel:"):
            return ["    No panel was asked: the repair is the catalog's."]
        return ["    The transcript is not in this clone: ecdysis fetch"]
    lines = []
    for record in Transcript.from_text(text).records:
        _, number, role, *attempt = record.label.split("/")
        spent = record.usage
        lines += [
            paint.strong(f"    {role}, round {number}")
            + f"  {'/'.join(attempt)}  {printable(record.model, 60)}, "
            f"{spent.prompt_tokens or 0} + {spent.completion_tokens or 0} tokens, "
            f"{record.seconds:.1f} s, {record.outcome}"
        ]
        lines += [f"      {line}".rstrip() for line in readable(record.answer)]
        lines.append("")
    return lines


def readable(answer: str) -> list[str]:
    """A role's answer as `name: value` lines; as it is where it is no JSON object."""
    try:
        value = json.loads(answer)
    except ValueError:
        value = answer
    rows: list[str] = []

    def put(name: str, inner: Any, indent: str) -> None:
        if isinstance(inner, dict):
            rows.extend([f"{indent}{name}"] if name else [])
            for key, part in inner.items():
                put(f"{key}:", part, indent + ("  " if name else ""))
        elif isinstance(inner, list):
            rows.append(f"{indent}{name}{'' if inner else ' none'}")
            for part in inner:
                put("-", part, f"{indent}  ")
        else:
            said = printable(str(inner), lines=True).split("\n")
            if len(said) == 1:
                width = max(100 - len(indent), 40)
                rows.extend(
                    textwrap.wrap(
                        f"{name} {said[0]}",
                        width + len(indent),
                        initial_indent=indent,
                        subsequent_indent=f"{indent}    ",
                    )
                )
            else:
                rows.append(f"{indent}{name}")
                rows.extend(f"{indent}    {line}" for line in said)

    put("", value, "")
    return rows


def describe(
    repository: Repository, generation: Generation, with_diff: bool, with_transcript: bool = False
) -> dict[str, Any]:
    """What `--json` prints: the generation as `log --json` has it, with bodies, specs, diffs."""
    from bot.lineage.evidence import read_note, read_transcript

    described = describe_generation(generation)
    for item, repair in zip(described["repairs"], generation.repairs, strict=True):
        note = read_note(repository, repair.commit) or {}
        item["diagnosis"] = repair.message.body
        item["trailers"] = repair.message.trailers
        item["spec_record"] = note.get("spec")
        item["verdict"] = note.get("verdict")
        if with_transcript:
            text = read_transcript(repository, repair.commit)
            item["transcript"] = text and [json.loads(line) for line in text.splitlines()]
        if with_diff:
            diff = diff_of(repository, generation, repair.commit)
            item["diff"] = "\n".join(diff)
            item["hunks"] = [
                {"file": hunk.file, "header": hunk.header, "edits": hunk.edits, "why": why}
                for hunk, why in explain(repository, generation, repair, diff)
            ]
    return {"format_version": 1, **described, "missing": find_missing([generation])}


def wrap(reason: str) -> list[str]:
    """A reason as comment lines of at most 96 columns."""
    return textwrap.wrap(reason, 96, initial_indent="# ", subsequent_indent="#   ") or []


def paint_diff(lines: list[str], hunks: list[tuple[Hunk, list[str]]], paint: Paint) -> list[str]:
    """The diff for a terminal, the reasons before each hunk.

    No control characters; colours where they are wanted; at most `LONGEST_DIFF` lines of it.
    """
    painted: list[str] = []
    whys = iter(hunks)
    for number, line in enumerate(lines):
        if number == LONGEST_DIFF:
            painted.append(f"... {len(lines) - number} more lines: --json has them all")
            break
        if line.startswith("@@"):
            for reason in next(whys, (None, []))[1]:
                painted += [paint.reason(text) for text in wrap(printable(reason, 1000))]
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

    def reason(self, text: str) -> str:
        return self._style(text, fg="magenta")

    def added(self, text: str) -> str:
        return self._style(text, fg="green")

    def removed(self, text: str) -> str:
        return self._style(text, fg="red")
