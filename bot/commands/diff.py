"""`ecdysis diff`: two generations against each other, by their repairs and by their text."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from bot.commands.options import json_option, repo_option
from bot.display import count, printable
from bot.errors import UsageError

if TYPE_CHECKING:
    from bot.git.objects import CommitRecord
    from bot.git.repository import Repository
    from bot.lineage.generations import Generation, Repair
    from bot.records import Edit


@dataclass(frozen=True)
class Side:
    """One of the two: a generation's last commit, or any other (`generation` is None)."""

    name: str
    commit: str
    generation: Generation | None


@dataclass(frozen=True)
class Held:
    """A repair that one side holds; `edits` is None where its spec is not in this clone."""

    number: int
    repair: Repair
    edits: Sequence[Edit] | None


@dataclass(frozen=True)
class Difference:
    """What leads from `old` to `new`: repairs, lines added and deleted in each file, the diff."""

    old: Side
    new: Side
    added: Sequence[Held]
    removed: Sequence[Held]
    files: Mapping[str, tuple[int | None, int | None]]
    text: Sequence[str]


@click.command("diff")
@click.argument("first", metavar="A")
@click.argument("second", metavar="[B]", required=False)
@repo_option
@click.option("--summary", is_flag=True, help="Leave the unified diff out.")
@json_option
def command(first: str, second: str | None, repo: Path, summary: bool, as_json: bool) -> None:
    """Show what leads from A to B: repairs that came and went, with their edits, and the text.

    A and B are generations (3, gen-0003) or other revisions, HEAD say. With A alone, the
    generation A is compared with what it stands on. A repair counts as the same in both where
    its spec is the same, however it came there.
    """
    from bot.git.repository import Repository

    difference = compare(Repository.open(repo), first, second)
    if as_json:
        click.echo(json.dumps(describe(difference)))
    else:
        click.echo("\n".join(write(difference, with_diff=not summary)))


def compare(repository: Repository, first: str, second: str | None) -> Difference:
    """The difference between two sides. UsageError, RepositoryError: there is no such one."""
    from bot.commands.repair_diff import unified_diff
    from bot.lineage.generations import list_generations

    generations = list_generations(repository)
    old, new = find_side(repository, generations, first), None
    if second is not None:
        new = find_side(repository, generations, second)
    elif old.generation is None:
        raise UsageError(f"{first!r} is no generation.", "Name what to compare it with: A B.")
    elif old.generation.base is None:
        raise UsageError(
            f"What generation {old.generation.number} stands on is not in this clone.",
            "Get it: git fetch --unshallow",
        )
    else:
        old, new = Side(old.generation.base[:10], old.generation.base, None), old
    before, after = (repairs_in(repository, generations, side) for side in (old, new))
    return Difference(
        old,
        new,
        [held(repository, *after[spec]) for spec in after if spec not in before],
        [held(repository, *before[spec]) for spec in before if spec not in after],
        changed_lines(repository, old.commit, new.commit),
        unified_diff(repository, old.commit, new.commit),
    )


def find_side(repository: Repository, generations: Sequence[Generation], name: str) -> Side:
    """The generation that `name` means; else the commit."""
    from bot.lineage.generations import parse_generation_name

    try:
        number = parse_generation_name(name)
    except UsageError:
        return Side(name, repository.resolve_commit(name), None)
    for generation in generations:
        if generation.number == number:
            return Side(f"gen-{number:04d}", generation.commit, generation)
    commit = repository.find_commit(name)
    if commit is None:
        known = ", ".join(str(g.number) for g in generations[-20:]) or "none"
        raise UsageError(f"There is no generation {number}.", f"These exist: {known}.")
    return Side(name, commit, None)


def repairs_in(
    repository: Repository, generations: Sequence[Generation], side: Side
) -> dict[str, tuple[int, Repair]]:
    """Digest of the spec → (generation, repair) of what a side holds, oldest first.

    A generation holds its own and those of what it stands on; another commit what reached it.
    """
    from bot.lineage.generations import find_parents
    from bot.lineage.merges import find_merges

    chain: set[int] = set()
    below: str | None = side.commit
    if side.generation is not None:
        parents = find_parents(repository, generations)
        place: int | CommitRecord | None = side.generation.number
        while isinstance(place, int):
            chain.add(place)
            place = parents.get(place)
        below = place.oid if place else None
    reached = find_merges(repository, generations, below).reached if below else {}
    found = {}
    for generation in generations:
        for repair in generation.repairs:
            if generation.number in chain or repair.commit in reached:
                spec = repair.message.trailers.get("Spec", repair.commit)
                found[spec] = (generation.number, repair)
    return found


def held(repository: Repository, number: int, repair: Repair) -> Held:
    from bot.lineage.evidence import read_note, stored_spec

    spec = stored_spec(read_note(repository, repair.commit) or {})
    return Held(number, repair, spec.edits if spec else None)


def changed_lines(
    repository: Repository, old: str, new: str
) -> dict[str, tuple[int | None, int | None]]:
    """Path → lines added and deleted; None for a binary file."""
    listing = repository.git(
        *("diff-tree", "-r", "-z", "--numstat", "--no-renames", "--no-ext-diff", "--no-textconv"),
        *("--end-of-options", old, new),
    )
    files = {}
    for line in listing.split("\0")[:-1]:
        added, deleted, path = line.split("\t", 2)
        files[path] = (
            int(added) if added.isdigit() else None,
            int(deleted) if deleted.isdigit() else None,
        )
    return files


def write(difference: Difference, *, with_diff: bool) -> list[str]:
    """The lines for a person."""
    from bot.commands.show import Paint, paint_diff

    paint = Paint()
    lines = [paint.strong(f"{difference.old.name} -> {difference.new.name}")]
    for mark, side in (("+", difference.added), ("-", difference.removed)):
        for item in side:
            title = printable(item.repair.message.title, 72)
            style = paint.added if mark == "+" else paint.removed
            lines.append(style(f"{mark} {title}") + f"  [gen-{item.number:04d}]")
            lines += [f"    {line}" for line in edit_lines(item)]
    if not difference.files:
        return [*lines, "The files are the same."]
    added = sum(more or 0 for more, _ in difference.files.values())
    deleted = sum(less or 0 for _, less in difference.files.values())
    files = count(len(difference.files), "file")
    lines.append(f"{files} changed, {count(added, 'line')} added, {deleted} deleted")
    for path, (more, less) in difference.files.items():
        lines.append(
            f"    {printable(path)}  " + ("binary" if more is None else f"+{more} -{less}")
        )
    return [*lines, "", *paint_diff(list(difference.text), [], paint)] if with_diff else lines


def edit_lines(item: Held) -> list[str]:
    """One line for each edit: where, what, why."""
    if item.edits is None:
        return ["its spec is not in this clone: ecdysis fetch"]
    found = []
    for edit in item.edits:
        target = f": {printable(edit.target, 60)}" if edit.target else ""
        why = f"  ({printable(edit.why, 96)})" if edit.why else ""
        found.append(f"{edit.op}  {printable(edit.file)}{target}{why}")
    return found


def describe(difference: Difference) -> dict[str, Any]:
    """What `--json` prints: `from`, `to`, `added[]`, `removed[]`, `files[]`, `diff`."""
    sides = {"from": difference.old, "to": difference.new}
    return {
        "format_version": 1,
        **{
            key: {
                "name": side.name,
                "commit": side.commit,
                "generation": side.generation.number if side.generation else None,
            }
            for key, side in sides.items()
        },
        "added": [describe_held(item) for item in difference.added],
        "removed": [describe_held(item) for item in difference.removed],
        "files": [
            {"path": path, "added": added, "deleted": deleted}
            for path, (added, deleted) in difference.files.items()
        ],
        "diff": "\n".join(difference.text),
    }


def describe_held(item: Held) -> dict[str, Any]:
    trailers = item.repair.message.trailers
    edits = None
    if item.edits is not None:
        fields = {"op", "file", "target", "why"}
        edits = [edit.model_dump(mode="json", include=fields) for edit in item.edits]
    return {
        "generation": item.number,
        "commit": item.repair.commit,
        "title": item.repair.message.title,
        "pattern": trailers.get("Pattern"),
        "spec": trailers.get("Spec"),
        "edits": edits,
    }
