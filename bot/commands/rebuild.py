"""`ecdysis rebuild GENERATION`: make its trees again from what is recorded, without network."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import click

from bot.commands.options import json_option, repo_option
from bot.errors import NothingFound

if TYPE_CHECKING:
    from bot.git.repository import Repository
    from bot.lineage.generations import Repair
    from bot.records import Edit


@dataclass(frozen=True)
class Rebuilt:
    """A repair made again: `tree` is what its spec gave, `problem` why it is not the commit's."""

    commit: str
    title: str
    source: str
    tree: str | None
    problem: str = ""


@click.command("rebuild")
@click.argument("name", metavar="GENERATION")
@repo_option
@json_option
def command(name: str, repo: Path, as_json: bool) -> None:
    """Make the trees of GENERATION again from notes and transcript, and compare them bit by bit.

    A repair of a panel is read from the transcript: the Engineer's last answer gives the edits.
    One of the catalog is read from the note. The edits are applied to the repair's parent, and the
    tree that comes out must be that of the commit. No model is asked and nothing is written but
    git objects.

    Exit code 1: a tree differs, or what is recorded is not in this clone.
    """
    from bot.git.repository import Repository
    from bot.lineage.generations import find_generation

    repository = Repository.open(repo)
    generation = find_generation(repository, name)
    made = [rebuild(repository, repair) for repair in generation.repairs]
    if as_json:
        repairs = [vars(one) for one in made]
        click.echo(json.dumps({"format_version": 1, "repairs": repairs}))
    else:
        from bot.display import printable

        for one in made:
            state = "differs" if one.problem else "the same tree"
            click.echo(f"{one.commit[:10]}  {state}  {printable(one.title, 72)}  [{one.source}]")
            if one.problem:
                click.echo(f"            {printable(one.problem, 400)}")
    if any(one.problem for one in made):
        raise NothingFound(
            f"Generation {generation.number} cannot be made again from what is here.",
            "`ecdysis fetch` gets notes and transcripts from a remote.",
        )


def rebuild(repository: Repository, repair: Repair) -> Rebuilt:
    """One repair from its record."""
    from bot.commands.apply import edit_rules
    from bot.edit.apply import apply_spec
    from bot.edit.reading import read_commit
    from bot.edit.refusal import Refusal
    from bot.lineage.evidence import read_note, read_transcript, stored_spec

    title, commit = repair.message.title, repair.commit

    def failed(source: str, problem: str) -> Rebuilt:
        return Rebuilt(commit, title, source, None, problem)

    note = read_note(repository, commit)
    if note is None:
        return failed("nothing", "Its note is not in this clone.")
    spec, source = stored_spec(note), "note"
    if spec is None:
        return failed(source, "Its note does not hold the spec that it names.")
    if spec.origin.startswith("panel:"):
        source = "transcript"
        text = read_transcript(repository, commit)
        if text is None:
            return failed(source, "Its transcript is not in this clone.")
        edits = edits_from(text)
        if edits is None:
            return failed(source, "No answer of an Engineer is in its transcript.")
        spec = spec.model_copy(update={"edits": edits})
    parent = repository.git("rev-parse", f"{commit}^").strip()
    rules = edit_rules(repository, parent)
    applied = apply_spec(
        spec,
        read_commit(repository, parent),
        editable=rules.editable,
        protected=rules.protected,
        python=rules.python,
        allow=rules.allow,
    )
    if isinstance(applied, Refusal):
        return failed(source, f"It does not apply any more: {applied.message}")
    tree = repository.write_tree(parent, dict(applied.files))
    expected = repository.tree_of(commit)
    problem = "" if tree == expected else f"The tree is {tree}, that of the commit {expected}."
    return Rebuilt(commit, title, source, tree, problem)


def edits_from(transcript: str) -> list[Edit] | None:
    """The edits of the Engineer's last answer that could be read; None without one."""
    from bot.diagnose.panel.answers import Proposal
    from bot.diagnose.panel.trial import edits_of
    from bot.llm.answers import read_answer
    from bot.llm.transcript import Transcript

    for record in reversed(Transcript.from_text(transcript).records):
        if record.label.split("/")[2:3] == ["engineer"]:
            answer = read_answer(record.said(), Proposal)
            if isinstance(answer, Proposal):
                return edits_of(answer)
    return None
