"""What an evaluating job hands to the publishing job: one folder, and nothing in it is trusted.

The job that runs candidates holds no token; the one that holds a token runs no candidate. So
`generation.json` is validated, every edit is applied again to the base as this clone has it, and
the trees must be those that were stated. Messages are written anew: no commit of the other job is
published, only what it says in words, and those are foreign text.
"""

from __future__ import annotations

import json
import os
import stat
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, FiniteFloat, StringConstraints, ValidationError

from bot.display import printable
from bot.errors import InputError
from bot.records import ModificationSpec, Pattern, Verdict

RECORD = "generation.json"
BUNDLE = "generation.bundle"
LARGEST_RECORD = 8 << 20
LARGEST_BUNDLE = 64 << 20
MOST_REPAIRS = 50
MOST_EDITS = 200
Oid = Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{40}(?:[0-9a-f]{24})?$")]


class Closed(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class StatedRepair(Closed):
    """One repair: what it is, and the tree that it is said to give on top of those before it."""

    spec: ModificationSpec
    pattern: Pattern
    explanation: str = Field(max_length=20_000)
    tree: Oid


class Artifact(Closed):
    """A generation as the evaluating job states it. `before` and `after` are hidden tasks passed.

    `base` is the commit that it stands on, which the publishing job's clone must hold already.
    """

    format_version: Literal[1] = 1
    generation: int = Field(ge=1, le=999_999)
    base: Oid
    repairs: list[StatedRepair] = Field(min_length=1, max_length=MOST_REPAIRS)
    verdict: Verdict
    sandbox: str = Field(pattern=r"^[a-z][a-z-]{0,39}$")
    before: FiniteFloat | None = None
    after: FiniteFloat | None = None


def write_artifact(artifact: Artifact, folder: Path) -> Path:
    """Write the record into `folder`, made if missing; its path."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / RECORD
    path.write_text(artifact.model_dump_json(indent=1) + "\n", encoding="utf-8")
    return path


def read_artifact(folder: Path) -> Artifact:
    """The record in a folder. InputError: missing, too large, a link, or not what it must be."""
    content = read_plain(folder / RECORD, LARGEST_RECORD)
    try:
        # By the standard parser first: it refuses depth and duplicates nothing of what is kept.
        artifact = Artifact.model_validate(json.loads(content))
    except (ValidationError, ValueError, RecursionError) as error:
        raise InputError(
            f"{RECORD} is not a generation: {_first(error)}.",
            "Let the evaluating job write it: ecdysis pr GENERATION --export FOLDER",
        ) from None
    edits = sum(len(repair.spec.edits) for repair in artifact.repairs)
    if edits > MOST_EDITS:
        raise InputError(f"{RECORD} holds {edits} edits.", f"At most {MOST_EDITS} are published.")
    if artifact.verdict.decision != "accept":
        raise InputError(
            f"The gate's decision in {RECORD} is {artifact.verdict.decision}.",
            "Only accepted generations are published.",
        )
    return artifact


def _first(error: Exception) -> str:
    if isinstance(error, ValidationError):
        first = error.errors()[0]
        where = ".".join(str(part) for part in first["loc"]) or "the record"
        return printable(f"{where}: {first['msg']}", 200)
    if isinstance(error, RecursionError):
        return "it is nested too deep"
    return printable(str(error), 200)


def check_plain(path: Path, most: int) -> None:
    """InputError where `path` is no regular file of at most `most` bytes; links are none."""
    try:
        found = path.lstat()
    except OSError:
        raise InputError(
            f"There is no {path.name} in {path.parent}.", "Check the folder."
        ) from None
    if not stat.S_ISREG(found.st_mode):
        raise InputError(f"{path.name} is not a plain file.", "Links are not followed here.")
    if found.st_size > most:
        raise InputError(f"{path.name} is larger than {most >> 20} MiB.", "Make it smaller.")


def read_plain(path: Path, most: int) -> bytes:
    """The bytes of a plain file of at most `most` bytes."""
    check_plain(path, most)
    with os.fdopen(os.open(path, os.O_RDONLY | os.O_NOFOLLOW), "rb") as file:
        return file.read(most)


def check_trees(
    artifact: Artifact, base_tree: str, apply: Callable[[str, ModificationSpec], str]
) -> list[str]:
    """Every tree that the repairs give, made again from the base.

    `apply` gives the tree that a spec makes of another, and raises InputError where it is refused.
    InputError: a tree is not the one that was stated.
    """
    trees, tree = [], base_tree
    for number, repair in enumerate(artifact.repairs, 1):
        tree = apply(tree, repair.spec)
        if tree != repair.tree:
            raise InputError(
                f"Repair {number} gives the tree {tree[:12]} here, not {repair.tree[:12]}, which "
                "was stated.",
                "The evaluating job measured something else; nothing is published.",
            )
        trees.append(tree)
    return trees
