"""`ecdysis apply`: a modification spec as a syntax-tree edit of the work tree."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import click

from bot.commands.options import json_option, repo_option
from bot.commands.whole_file import open_output
from bot.errors import InputError, RepositoryError, UsageError

if TYPE_CHECKING:
    from bot.edit.moving import Reapplied
    from bot.edit.refusal import Refusal
    from bot.git.repository import Repository
    from bot.records import ModificationSpec


class EditRules(NamedTuple):
    """What the table says of edits: globs, the interpreter that judges syntax, allowed dangers."""

    editable: Sequence[str]
    protected: Sequence[str]
    python: str
    allow: Sequence[str]


@click.command("apply")
@click.argument("spec_file", metavar="SPEC", type=click.Path(path_type=Path, allow_dash=True))
@repo_option
@click.option("--check", is_flag=True, help="Say what would change; write nothing.")
@click.option(
    "--onto", metavar="REV", help="Commit the result on top of REV; leave the work tree alone."
)
@click.option(
    "--base",
    metavar="REV",
    help="With --onto: the revision that SPEC was written for.  [default: HEAD]",
)
@click.option(
    "--branch",
    metavar="NAME",
    help="With --onto: the new branch.  [default: ecdysis/applied-DIGEST]",
)
@click.option(
    "--undo",
    "undo_file",
    metavar="FILE",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Write the spec that undoes this one to FILE; refused where an edit has no inverse.",
)
@json_option
def command(
    spec_file: Path,
    repo: Path,
    check: bool,
    onto: str | None,
    base: str | None,
    branch: str | None,
    undo_file: Path | None,
    as_json: bool,
) -> None:
    """Apply the modification spec SPEC (a JSON file, - is standard input).

    All of its edits or none; only files that the table declares editable are touched. Applying
    a spec twice changes nothing the second time. In the work tree, files with uncommitted
    changes are refused. With --onto, the spec is applied to that revision and committed on a
    new branch: work tree, index and HEAD stay as they are. Where that revision differs from the
    one that the spec was written for, targets, statements and names are followed to where they
    have gone; what cannot be followed with certainty is refused.

    --undo FILE keeps a spec that, applied to the result, gives the old bytes back; with --check
    it is only said whether there is one.
    """
    from bot.edit.apply import apply_spec
    from bot.edit.moving import Reapplied
    from bot.edit.reading import read_commit, read_work_tree
    from bot.edit.refusal import Refusal
    from bot.edit.undoing import undo_spec
    from bot.git.repository import Repository

    for option, given in (("--branch", branch), ("--base", base)):
        if given is not None and onto is None:
            raise UsageError(f"{option} goes with --onto.", "Name the revision: --onto HEAD.")
    repository = Repository.open(repo)
    if onto is None and repository.state().bare:
        raise RepositoryError("A bare repository has no work tree.", "Use --onto REV.")
    target_commit = repository.resolve_commit(onto or "HEAD")
    rules = edit_rules(repository, target_commit)
    spec = read_spec(spec_file)
    if onto is None and not check:
        refuse_dirty(repository, spec)
    if onto is None:
        read = read_work_tree(repository.root)
        applied = apply_spec(spec, read, **rules._asdict())
        result = applied if isinstance(applied, Refusal) else Reapplied(spec, applied)
    else:
        read = read_commit(repository, target_commit)
        made_on = repository.resolve_commit(base or "HEAD")
        result = reapply_on(repository, spec, made_on, target_commit, rules)
    if isinstance(result, Refusal):
        raise refused(result, as_json)
    if undo_file is not None:
        undoing = undo_spec(result.spec, result.applied, read, **rules._asdict())
        if isinstance(undoing, Refusal):
            raise refused(undoing, as_json)
        if not check:
            # Before the change, so that there is none that cannot be undone.
            with open_output(undo_file) as output:
                output.write(undoing.model_dump_json(indent=2).encode() + b"\n")
    written = None
    if result.applied.files and not check:
        place = target_commit if onto is not None else None
        written = write(repository, result, place, branch)
    show(result, spec, check, written, as_json)


def read_spec(spec_file: Path) -> ModificationSpec:
    """The spec in a file, or on standard input. Raises InputError."""
    from pydantic import ValidationError

    from bot.records import ModificationSpec

    shown = "Standard input" if str(spec_file) == "-" else str(spec_file)
    try:
        text = sys.stdin.read() if str(spec_file) == "-" else spec_file.read_text(encoding="utf-8")
        spec = ModificationSpec.model_validate_json(text)
    except (OSError, UnicodeDecodeError) as error:
        why = (error.strerror or error) if isinstance(error, OSError) else "it is not UTF-8"
        raise InputError(f"{shown} cannot be read: {why}.", "Check the path.") from None
    except ValidationError as error:
        first = error.errors()[0]
        key = ".".join(str(part) for part in first["loc"]) or "the file"
        raise InputError(
            f"{shown}: {key}: {first['msg']}.",
            "`ecdysis schema spec` prints what a spec holds.",
        ) from None
    return spec


def refused(refusal: Refusal, as_json: bool) -> InputError:
    """The error that says why; as JSON, it is printed, too."""
    if as_json:
        click.echo(json.dumps({"files": [], "changed": [], "refusal": asdict(refusal)}))
    where = f"edit {refusal.edit + 1}: " if refusal.edit >= 0 else ""
    return InputError(f"Refused ({refusal.kind}), {where}{refusal.message}", "Nothing was changed.")


def refuse_dirty(repository: Repository, spec: ModificationSpec) -> None:
    """Raise RepositoryError where the spec would touch a file with uncommitted changes."""
    touched = sorted({edit.file for edit in spec.edits} & set(repository.uncommitted()))
    if touched:
        raise RepositoryError(
            f"{touched[0]} has uncommitted changes.", "Commit or stash them, then apply the spec."
        )


def edit_rules(repository: Repository, rev: str) -> EditRules:
    """What the table of a revision says of edits. Raises InputError where there is none."""
    from bot.commands.revision import load_table

    table = load_table(repository, rev)
    python = table.python or sys.executable
    return EditRules(table.editable, table.never_edited(), python, table.allow)


def reapply_on(
    repository: Repository, spec: ModificationSpec, made_on: str, onto: str, rules: EditRules
) -> Reapplied | Refusal:
    """Apply a spec that was written for one commit to another one."""
    from bot.edit.moving import reapply_spec
    from bot.edit.reading import read_commit

    before, now = repository.tree_of(made_on), repository.tree_of(onto)
    return reapply_spec(
        spec,
        read_commit(repository, before),
        read_commit(repository, now),
        **rules._asdict(),
        moved=repository.renames(before, now),
        files=[entry.path for entry in repository.list_files(now)],
    )


def write(
    repository: Repository,
    result: Reapplied,
    onto: str | None,
    branch: str | None,
) -> str | None:
    """Write the files to the work tree; or, with `onto`, a commit: then the branch's name."""
    from bot.edit.work_tree import write_all
    from bot.lineage.message import spec_digest, write_spec_message

    spec, files = result.spec, result.applied.files
    if onto is None:
        write_all(repository.root, files)
        return None
    name = branch or f"ecdysis/applied-{spec_digest(spec).removeprefix('sha256:')[:10]}"
    tree = repository.write_tree(onto, dict(files))
    commit = repository.commit_tree(tree, [onto], write_spec_message(spec))
    repository.update_ref(f"refs/heads/{name}", commit, None)
    return name


def show(
    result: Reapplied, spec: ModificationSpec, check: bool, branch: str | None, as_json: bool
) -> None:
    from bot.display import count

    files = sorted(result.applied.files)
    reworded = result.spec != spec
    if as_json:
        answer = {"files": files, "changed": result.applied.changed, "branch": branch}
        # The spec in the words of the new base, so that it can be kept.
        again = result.spec.model_dump(mode="json") if reworded else None
        click.echo(json.dumps(answer | {"reworded": again}))
    elif not files:
        click.echo("Nothing to change: what the spec asks for is there already.")
    else:
        verb = "would change" if check else "changed"
        click.echo(f"{count(len(files), 'file')} {verb}: {', '.join(files)}")
        if reworded:
            click.echo("The code has moved since the spec was written; its places were followed.")
        following = f"git show {branch}" if branch else "git diff"
        click.echo(f"Next: {'the same command without --check' if check else following}")
