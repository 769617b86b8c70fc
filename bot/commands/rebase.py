"""`ecdysis rebase`: a generation on another base, by structure rather than by text."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from bot.commands.options import json_option, repo_option
from bot.errors import NothingFound

if TYPE_CHECKING:
    from bot.commands.apply import EditRules
    from bot.edit.moving import Reapplied
    from bot.edit.refusal import Refusal
    from bot.git.repository import Repository
    from bot.lineage.generations import Generation, Repair
    from bot.records import ModificationSpec


@dataclass(frozen=True)
class Moved:
    """What became of one repair. `status`: `moved`, `there` (nothing to change), `refused`."""

    repair: Repair
    status: str
    commit: str | None = None
    kind: str = ""
    reason: str = ""
    reworded: bool = False

    @property
    def title(self) -> str:
        return self.repair.message.title


@click.command("rebase")
@click.argument("name", metavar="GENERATION")
@repo_option
@click.option(
    "--onto", metavar="REV", default="HEAD", show_default=True, help="The new base revision."
)
@click.option(
    "--branch", metavar="NAME", help="The new branch.  [default: ecdysis/gen-NNNN-onto-REV]"
)
@click.option("--check", is_flag=True, help="Say what would move; write nothing.")
@json_option
def command(
    name: str, repo: Path, onto: str, branch: str | None, check: bool, as_json: bool
) -> None:
    """Move GENERATION onto another revision: one commit per repair, on a new branch.

    Each repair's spec is applied again by structure: targets, statements and names are followed
    to where they have gone, also where a textual merge conflicts. A repair that cannot be
    followed with certainty is named and left out. The generation itself, the work tree and HEAD
    stay as they are. Figures are not carried over: they were measured on the old base.

    Exit code 1: no repair could be moved.
    """
    from bot.git.repository import Repository
    from bot.lineage.generations import find_generation

    repository = Repository.open(repo)
    generation = find_generation(repository, name)
    base = repository.resolve_commit(onto)
    target = branch or f"{generation.branch}-onto-{base[:10]}"
    moved = move(repository, generation, base, target, "Rebased-From", check=check)
    after = f"Its figures were measured on the old base. Next: git log -p {base[:10]}..{target}"
    show(moved, generation, target, base, check, as_json, after)
    refuse_nothing(moved, generation, onto)


def move(
    repository: Repository,
    generation: Generation,
    base: str,
    branch: str,
    origin: str,
    *,
    check: bool,
    more: Mapping[str, str] | None = None,
) -> list[Moved]:
    """What becomes of each repair on the commit `base`; without `check`, they go to a new branch.

    The trailer `origin` of each new commit names the old one; `more` trailers follow.
    """
    from bot.lineage.evidence import add_notes

    moved, tip, notes = move_repairs(repository, generation, base, check, origin, more or {})
    if tip != base and not check:
        repository.update_refs([(f"refs/heads/{branch}", tip, None), add_notes(repository, notes)])
    return moved


def refuse_nothing(moved: list[Moved], generation: Generation, onto: str) -> None:
    """Raise NothingFound where every repair was refused."""
    if not any(item.status != "refused" for item in moved):
        raise NothingFound(
            f"No repair of generation {generation.number} applies to {onto}.",
            "Let it be found again there: ecdysis evolve",
        )


def move_repairs(
    repository: Repository,
    generation: Generation,
    base: str,
    check: bool,
    origin: str,
    more: Mapping[str, str],
) -> tuple[list[Moved], str, dict[str, bytes]]:
    """What became of each repair, the last commit written, and the notes of the new commits."""
    from bot.commands.apply import edit_rules
    from bot.edit.refusal import Refusal
    from bot.lineage.evidence import move_note, read_note, stored_spec
    from bot.lineage.message import write_moved_message

    rules = edit_rules(repository, base)
    moved: list[Moved] = []
    notes: dict[str, bytes] = {}
    tip = base
    tree = repository.tree_of(base)
    parents = [generation.base, *generation.commits]
    for repair, parent in zip(generation.repairs, parents, strict=False):
        note = read_note(repository, repair.commit) or {}
        spec = stored_spec(note)
        if spec is None or parent is None:
            missing = "its spec is not in this clone (`ecdysis fetch` gets the notes)"
            moved.append(Moved(repair, "refused", None, "no_spec", missing))
            continue
        result = reapply(repository, spec, parent, tree, rules)
        if isinstance(result, Refusal):
            moved.append(Moved(repair, "refused", None, result.kind, result.message))
            continue
        if not result.applied.files:
            moved.append(Moved(repair, "there"))
            continue
        reworded = result.spec != spec
        tree = repository.write_tree(tree, dict(result.applied.files))
        commit = None
        if not check:
            trailers = {origin: repair.commit, **more}
            message = write_moved_message(repair.message, result.spec, trailers)
            commit = tip = repository.commit_tree(tree, [tip], message)
            notes[commit] = move_note(note, result.spec, repair.commit)
        moved.append(Moved(repair, "moved", commit, reworded=reworded))
    return moved, tip, notes


def reapply(
    repository: Repository, spec: ModificationSpec, made_on: str, onto: str, rules: EditRules
) -> Reapplied | Refusal:
    """A spec that was made on one commit, for the tree `onto`, whose table may name other files."""
    from bot.commands.apply import edit_rules, reapply_on
    from bot.edit.apply import apply_spec
    from bot.edit.moving import Reapplied
    from bot.edit.reading import read_commit
    from bot.edit.refusal import Refusal

    theirs = edit_rules(repository, made_on).editable
    if theirs == rules.editable:
        return reapply_on(repository, spec, made_on, onto, rules)
    # To be followed, the spec must be understood where it was made.
    both = rules._replace(editable=[*rules.editable, *theirs])
    result = reapply_on(repository, spec, made_on, onto, both)
    if isinstance(result, Refusal):
        return result
    applied = apply_spec(result.spec, read_commit(repository, onto), **rules._asdict())
    return applied if isinstance(applied, Refusal) else Reapplied(result.spec, applied)


def show(
    moved: list[Moved],
    generation: Generation,
    branch: str,
    base: str,
    check: bool,
    as_json: bool,
    after: str,
) -> None:
    """Say what became of each repair; `after` is the last line where a branch was written."""
    written = not check and any(item.status == "moved" for item in moved)
    if as_json:
        click.echo(
            json.dumps(
                {
                    "format_version": 1,
                    "generation": generation.number,
                    "onto": base,
                    "branch": branch if written else None,
                    "repairs": [describe(item) for item in moved],
                }
            )
        )
        return
    from bot.display import printable

    for item in moved:
        title = printable(item.title, 100)
        if item.status == "moved":
            how = "would apply" if check else "moved"
            followed = ", its places and names followed" if item.reworded else ""
            click.echo(f"{how}: {title}{followed}")
        elif item.status == "there":
            click.echo(f"there already: {title}")
        else:
            click.echo(f"no longer applies: {title} ({item.kind}): {printable(item.reason, 300)}")
    if written:
        click.echo(after)
    elif check and any(item.status == "moved" for item in moved):
        click.echo("Next: the same command without --check")


def describe(item: Moved) -> dict[str, Any]:
    return {
        "from": item.repair.commit,
        "title": item.title,
        "status": item.status,
        "commit": item.commit,
        "reworded": item.reworded,
        "refusal": {"kind": item.kind, "message": item.reason} if item.reason else None,
    }
