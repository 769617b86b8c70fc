"""A generation out of the evaluating job, and into the publishing one, without trust."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from bot.errors import InputError, RepositoryError

if TYPE_CHECKING:
    from bot.git.repository import Repository
    from bot.lineage.generations import Generation
    from bot.records import ModificationSpec


def export_generation(repository: Repository, generation: Generation, folder: Path) -> Path:
    """Write the record and a bundle of the commits; the record's path.

    Raises RepositoryError where notes or history are missing in this clone.
    """
    from bot.commands.log import as_number
    from bot.commands.pr_facts import read_pattern, read_verdict, split_body
    from bot.lineage.evidence import read_note, stored_spec
    from bot.publish.artifact import BUNDLE, Artifact, StatedRepair, write_artifact

    repairs, verdict = [], None
    for repair in generation.repairs:
        note = read_note(repository, repair.commit) or {}
        spec, pattern, verdict = stored_spec(note), read_pattern(note), read_verdict(note)
        if spec is None or pattern is None or verdict is None or generation.base is None:
            raise RepositoryError(
                f"The notes of generation {generation.number} are not in this clone, or it was "
                "not measured.",
                "`ecdysis fetch` gets the notes; `ecdysis evolve` makes a measured generation.",
            )
        # Objections and what was not done are part of what the reviewer is told.
        explanation, objections, not_done = split_body(repair.message.body)
        parts = [explanation, *(f"Objection {text}" for text in objections)]
        parts += [f"Not done: {'; '.join(not_done)}"] if not_done else []
        stated = StatedRepair(
            spec=spec,
            pattern=pattern,
            explanation="\n\n".join(parts),
            tree=repository.tree_of(repair.commit),
        )
        repairs.append(stated)
    assert verdict is not None
    before, _, after = generation.figures.get("Score", "").partition(" -> ")
    artifact = Artifact(
        generation=generation.number,
        base=str(generation.base),
        repairs=repairs,
        verdict=verdict,
        sandbox=generation.figures.get("Sandbox", "unknown"),
        before=as_number(before.partition("/")[0]),
        after=as_number(after.partition("/")[0]),
    )
    path = write_artifact(artifact, folder)
    bundle = (folder / BUNDLE).absolute()
    repository.git(
        *("bundle", "create", "--quiet", str(bundle), generation.ref, f"^{generation.base}")
    )
    return path


def import_generation(repository: Repository, folder: Path) -> Generation:
    """The generation that an evaluating job states, made again here; nothing of it is run.

    Only the base's own table says what may be edited, and the base must be a commit that this
    clone's refs reach already. Where the same trees are a generation here, it is that one.
    Raises InputError where anything is not as it was stated.
    """
    from bot.commands.apply import edit_rules
    from bot.edit.apply import apply_spec
    from bot.edit.reading import read_commit
    from bot.edit.refusal import Refusal
    from bot.lineage.generations import list_generations, record_generation
    from bot.lineage.message import GenerationFigures, RepairMessage
    from bot.publish.artifact import check_trees, read_artifact

    artifact = read_artifact(folder)
    base = known_base(repository, artifact.base)
    rules = edit_rules(repository, base)

    def apply(tree: str, spec: ModificationSpec) -> str:
        applied = apply_spec(spec, read_commit(repository, tree), **rules._asdict())
        if isinstance(applied, Refusal):
            raise InputError(
                f"An edit that was handed over is refused ({applied.kind}): {applied.message}",
                "Nothing is published.",
            )
        return repository.write_tree(tree, dict(applied.files))

    trees = check_trees(artifact, repository.tree_of(base), apply)
    check_bundle(repository, folder, base, trees)
    known = list_generations(repository)
    for generation in known:
        same = [repository.tree_of(commit) for commit in generation.commits] == trees
        if same and generation.base == base:
            return generation
    taken = {generation.number for generation in known}
    return record_generation(
        repository,
        base_commit=base,
        repairs=[
            (tree, RepairMessage(stated.spec, stated.pattern, stated.explanation))
            for tree, stated in zip(trees, artifact.repairs, strict=True)
        ],
        figures=GenerationFigures(
            artifact.verdict, artifact.sandbox, artifact.before, artifact.after
        ),
        number=None if artifact.generation in taken else artifact.generation,
    )


def known_base(repository: Repository, oid: str) -> str:
    """The base, if a ref or HEAD of this clone reaches it: nothing that was handed over does."""
    try:
        base = repository.resolve_commit(oid)
        by_ref = repository.git(
            "for-each-ref", "--count=1", "--format=%(refname)", "--contains", base
        )
        by_head = repository.git("rev-list", "--max-count=1", base, "--not", "HEAD") == ""
    except RepositoryError:
        by_ref, by_head = "", False
    if not by_ref and not by_head:
        raise InputError(
            f"The base {oid[:12]} is no commit of this clone's branches.",
            "Fetch the branch that was evaluated, with its history, then run the command again.",
        )
    return base


def check_bundle(repository: Repository, folder: Path, base: str, trees: list[str]) -> None:
    """InputError where there is a bundle and its commits are not the stated repairs on the base.

    Its objects are checked as they are read; no ref is made of them and no commit is kept.
    """
    from bot.git.names import check_oid
    from bot.publish.artifact import BUNDLE, LARGEST_BUNDLE, check_plain

    path = (folder / BUNDLE).absolute()
    if not path.is_symlink() and not path.exists():
        return
    check_plain(path, LARGEST_BUNDLE)
    wrong = InputError(
        f"{BUNDLE} does not hold the stated repairs on the base.", "Nothing is published."
    )
    try:
        heads = repository.git("bundle", "list-heads", str(path)).splitlines()
        if len(heads) != 1:
            raise wrong
        head, _, name = heads[0].partition(" ")
        repository.git(
            *("-c", "fetch.fsckObjects=true", "fetch", "--quiet", "--no-tags", "--refmap="),
            *("--no-write-fetch-head", "--no-recurse-submodules", "--no-auto-maintenance"),
            *(str(path), name),
        )
        found: list[str] = []
        oid = check_oid(head)
        while oid != base and len(found) <= len(trees):
            commit = repository.read_commits([oid]).get(oid)
            if commit is None or len(commit.parents) != 1:
                raise wrong
            found.append(commit.tree)
            oid = commit.parents[0]
    except RepositoryError:
        raise wrong from None
    if oid != base or found[::-1] != trees:
        raise wrong
