"""`ecdysis apply`: a modification spec as a syntax-tree edit of the work tree."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import click

from bot.commands.options import json_option, repo_option
from bot.errors import InputError, RepositoryError


@click.command("apply")
@click.argument("spec_file", metavar="SPEC", type=click.Path(path_type=Path, allow_dash=True))
@repo_option
@click.option("--check", is_flag=True, help="Say what would change; write nothing.")
@json_option
def command(spec_file: Path, repo: Path, check: bool, as_json: bool) -> None:
    """Apply the modification spec SPEC (a JSON file, - is standard input) to the work tree.

    All of its edits or none. Files with uncommitted changes are refused; only files that the
    table declares editable are touched. Applying a spec twice changes nothing the second time.
    """
    from pydantic import ValidationError

    from bot.commands.revision import load_table
    from bot.display import count
    from bot.edit.apply import apply_spec
    from bot.edit.refusal import Refusal
    from bot.edit.work_tree import read_inside, write_all
    from bot.git.repository import Repository
    from bot.records import ModificationSpec

    repository = Repository.open(repo)
    if repository.state().bare:
        raise RepositoryError("A bare repository has no work tree.", "Apply the spec in a clone.")
    table = load_table(repository, "HEAD")
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
    dirty = set(repository.uncommitted())
    touched = sorted({edit.file for edit in spec.edits} & dirty)
    if touched and not check:
        raise RepositoryError(
            f"{touched[0]} has uncommitted changes.", "Commit or stash them, then apply the spec."
        )
    result = apply_spec(
        spec,
        lambda path: read_inside(repository.root, path),
        editable=table.editable,
        protected=[*table.protected, *table.splits.paths().values()],
        python=sys.executable,
    )
    if isinstance(result, Refusal):
        where = f"edit {result.edit + 1}: " if result.edit >= 0 else ""
        raise InputError(
            f"Refused ({result.kind}), {where}{result.message}", "Nothing was changed."
        )
    if not check:
        write_all(repository.root, result.files)
    if as_json:
        click.echo(json.dumps({"files": sorted(result.files), "changed": result.changed}))
    elif not result.files:
        click.echo("Nothing to change: what the spec asks for is there already.")
    else:
        verb = "would change" if check else "changed"
        click.echo(f"{count(len(result.files), 'file')} {verb}: {', '.join(sorted(result.files))}")
        click.echo("Next: git diff" if not check else "Next: the same command without --check")
