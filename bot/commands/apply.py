"""`ecdysis apply`: a modification spec as a syntax-tree edit of the work tree."""

from __future__ import annotations

import json
import sys
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import click

from bot.commands.options import json_option, repo_option
from bot.errors import InputError, RepositoryError, UsageError

if TYPE_CHECKING:
    from bot.edit.apply import Applied
    from bot.git.repository import Repository
    from bot.records import ModificationSpec


@click.command("apply")
@click.argument("spec_file", metavar="SPEC", type=click.Path(path_type=Path, allow_dash=True))
@repo_option
@click.option("--check", is_flag=True, help="Say what would change; write nothing.")
@click.option(
    "--onto", metavar="REV", help="Commit the result on top of REV; leave the work tree alone."
)
@click.option(
    "--branch",
    metavar="NAME",
    help="With --onto: the new branch.  [default: ecdysis/applied-DIGEST]",
)
@json_option
def command(
    spec_file: Path,
    repo: Path,
    check: bool,
    onto: str | None,
    branch: str | None,
    as_json: bool,
) -> None:
    """Apply the modification spec SPEC (a JSON file, - is standard input).

    All of its edits or none; only files that the table declares editable are touched. Applying
    a spec twice changes nothing the second time. In the work tree, files with uncommitted
    changes are refused. With --onto, the spec is applied to that revision and committed on a
    new branch: work tree, index and HEAD stay as they are.
    """
    from bot.commands.revision import load_table
    from bot.edit.apply import Applied, apply_spec
    from bot.edit.refusal import Refusal
    from bot.edit.work_tree import read_inside
    from bot.git.repository import Repository

    if branch is not None and onto is None:
        raise UsageError("--branch goes with --onto.", "Name the revision: --onto HEAD.")
    repository = Repository.open(repo)
    if onto is None and repository.state().bare:
        raise RepositoryError("A bare repository has no work tree.", "Use --onto REV.")
    base = repository.resolve_commit(onto or "HEAD")
    table = load_table(repository, base)
    spec = read_spec(spec_file)
    if onto is None and not check:
        refuse_dirty(repository, spec)
    result = apply_spec(
        spec,
        (lambda path: repository.read_file(base, path))
        if onto is not None
        else (lambda path: read_inside(repository.root, path)),
        editable=table.editable,
        protected=[*table.protected, *table.splits.paths().values()],
        python=table.python or sys.executable,
    )
    if isinstance(result, Refusal):
        if as_json:
            click.echo(json.dumps({"files": [], "changed": [], "refusal": asdict(result)}))
        where = f"edit {result.edit + 1}: " if result.edit >= 0 else ""
        raise InputError(
            f"Refused ({result.kind}), {where}{result.message}", "Nothing was changed."
        )
    assert isinstance(result, Applied)
    target = None
    if result.files and not check:
        target = write(repository, spec, result, base if onto is not None else None, branch)
    show(result, check, target, as_json)


def read_spec(spec_file: Path) -> ModificationSpec:
    """The spec in a file, or on standard input. Raises InputError."""
    from pydantic import ValidationError

    from bot.records import ModificationSpec

    try:
        text = sys.stdin.read() if str(spec_file) == "-" else spec_file.read_text(encoding="utf-8")
        spec = ModificationSpec.model_validate_json(text)
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{spec_file} cannot be read: {error}.", "Check the path.") from None
    except ValidationError as error:
        first = error.errors()[0]
        key = ".".join(str(part) for part in first["loc"]) or "the file"
        raise InputError(
            f"{spec_file}: {key}: {first['msg']}.",
            "`ecdysis schema spec` prints what a spec holds.",
        ) from None
    return spec


def refuse_dirty(repository: Repository, spec: ModificationSpec) -> None:
    """Raise RepositoryError where the spec would touch a file with uncommitted changes."""
    touched = sorted({edit.file for edit in spec.edits} & set(repository.uncommitted()))
    if touched:
        raise RepositoryError(
            f"{touched[0]} has uncommitted changes.", "Commit or stash them, then apply the spec."
        )


def write(
    repository: Repository,
    spec: ModificationSpec,
    result: Applied,
    base: str | None,
    branch: str | None,
) -> str | None:
    """Write the files to the work tree; or, with `base`, a commit: then the branch's name."""
    from bot.edit.work_tree import write_all
    from bot.lineage.message import spec_digest, write_spec_message

    if base is None:
        write_all(repository.root, result.files)
        return None
    name = branch or f"ecdysis/applied-{spec_digest(spec).removeprefix('sha256:')[:10]}"
    tree = repository.write_tree(base, dict(result.files))
    commit = repository.commit_tree(tree, [base], write_spec_message(spec))
    repository.update_ref(f"refs/heads/{name}", commit, None)
    return name


def show(result: Applied, check: bool, branch: str | None, as_json: bool) -> None:
    from bot.display import count

    files = sorted(result.files)
    if as_json:
        click.echo(json.dumps({"files": files, "changed": result.changed, "branch": branch}))
    elif not files:
        click.echo("Nothing to change: what the spec asks for is there already.")
    else:
        verb = "would change" if check else "changed"
        click.echo(f"{count(len(files), 'file')} {verb}: {', '.join(files)}")
        following = f"git show {branch}" if branch else "git diff"
        click.echo(f"Next: {'the same command without --check' if check else following}")
