"""`ecdysis revert`: a generation without one of its repairs, proven again."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import click

from bot.commands.options import json_option, repo_option, sandbox_option
from bot.display import printable
from bot.errors import NothingFound, RepositoryError, UsageError

if TYPE_CHECKING:
    from bot.git.repository import Repository
    from bot.lineage.generations import Generation, Repair
    from bot.workshop import Change, Workshop


@dataclass(frozen=True)
class Reverting:
    """A generation, the repair that is taken out, and the others again on what it stands on."""

    generation: Generation
    repair: Repair
    base: str
    rest: Sequence[Change]

    @property
    def digest(self) -> str:
        """The digest of the spec that is taken out."""
        return self.repair.message.trailers.get("Spec", "")


@click.command("revert")
@click.argument("name", metavar="REPAIR")
@repo_option
@click.option("--dry-run", "dry", is_flag=True, help="Show the diff; run and write nothing.")
@sandbox_option
@json_option
def command(name: str, repo: Path, dry: bool, isolation: str | None, as_json: bool) -> None:
    """Take REPAIR, a commit of a generation, out of it; prove what is left; make a generation.

    The other repairs are applied again, by their specs, to what the generation stands on. The
    result is a new candidate: the harness's tests and the hidden select split decide on it as in
    `evolve`, and only what is proven is committed, to a branch of the next number. The old
    generation, what was built on it, the work tree, the index and HEAD stay as they are; later
    generations come along with `ecdysis rebase`.

    Exit code 1: what is left was not accepted; the reason is printed.
    """
    from bot.git.repository import Repository

    repository = Repository.open(repo)
    reverting = plan(repository, name)
    if dry:
        show(repository, reverting, as_json)
        return
    from bot.commands.evolve import run_evolution

    summary = run_evolution(
        repo,
        base=reverting.base,
        isolation=isolation,
        method=lambda shop, base: prove(shop, base, reverting),
        journal=f"revert-{reverting.repair.commit[:16]}",
    )
    click.echo(json.dumps(summary.as_json) if as_json else summary.text)
    summary.check()


def plan(repository: Repository, name: str) -> Reverting:
    """The generation without the repair. Raises where there is none, or the rest cannot stand."""
    from bot.lineage.generations import list_generations

    commit = repository.resolve_commit(name)
    generations = list_generations(repository)
    holding = [generation for generation in generations if commit in generation.commits]
    if not holding:
        raise UsageError(
            f"{printable(name, 80)} is no repair of a generation.",
            "`ecdysis show GENERATION` names their commits.",
        )
    generation = holding[0]
    repair = generation.repairs[generation.commits.index(commit)]
    if generation.base is None:
        raise RepositoryError(
            f"What generation {generation.number} stands on is not in this clone.",
            "Get it: git fetch --unshallow",
        )
    if len(generation.repairs) == 1:
        raise UsageError(
            f"It is the only repair of generation {generation.number}: without it nothing is left.",
            f"Go on from what it stands on: ecdysis evolve --from {generation.base[:10]}",
        )
    rest = apply_rest(repository, generation, repair)
    reverting = Reverting(generation, repair, generation.base, rest)
    for other in generations:
        if other.base == generation.base and other.figures.get("Reverts") == reverting.digest:
            raise NothingFound(
                f"Generation {other.number} is generation {generation.number} without it.",
                f"Look at it: ecdysis show {other.number} --diff",
            )
    return reverting


def apply_rest(repository: Repository, generation: Generation, without: Repair) -> list[Change]:
    """The other repairs, one on another, on what the generation stands on."""
    from bot.commands.apply import edit_rules, reapply_on
    from bot.edit.refusal import Refusal
    from bot.lineage.evidence import read_note, stored_spec
    from bot.records import Pattern
    from bot.workshop import Change

    assert generation.base is not None
    rules = edit_rules(repository, generation.base)
    tree = repository.tree_of(generation.base)
    rest: list[Change] = []
    parents = [generation.base, *generation.commits]
    for repair, parent in zip(generation.repairs, parents, strict=False):
        if repair == without:
            continue
        note = read_note(repository, repair.commit) or {}
        spec = stored_spec(note)
        if spec is None:
            raise RepositoryError(
                f"The spec of {repair.commit[:10]} is not in this clone.", "Get it: ecdysis fetch"
            )
        result = reapply_on(repository, spec, parent, tree, rules)
        if isinstance(result, Refusal):
            raise NothingFound(
                f"{printable(repair.message.title, 72)!r} cannot stand without it "
                f"({result.kind}): {printable(result.message, 300)}",
                f"Take that one out first: ecdysis revert {repair.commit[:10]}",
            )
        if not result.applied.files:
            continue
        tree = repository.write_tree(tree, dict(result.applied.files))
        pattern = Pattern.model_validate(note.get("pattern"))
        rest.append(Change(result.spec, pattern, tree, explanation_of(repair)))
    if not rest:
        raise NothingFound(
            "Without it, the other repairs change nothing.",
            f"Go on from what they stand on: ecdysis evolve --from {generation.base[:10]}",
        )
    return rest


def explanation_of(repair: Repair) -> str:
    """The prose of a repair's message, without the lines of evidence, which are written anew."""
    prose, _, last = repair.message.body.rpartition("\n\n")
    return prose if last.startswith("  ") else repair.message.body


def prove(shop: Workshop, base: str, reverting: Reverting) -> None:
    """The gate on what is left: as in `evolve`, but all of it or nothing."""
    from bot.evolve import commit, static_checks
    from bot.hidden import compare_hidden
    from bot.workshop import Accepted, Decision, Rejection

    rest, tree = list(reverting.rest), shop.repository.tree_of(base)
    title = f"Generation {reverting.generation.number} without: {reverting.repair.message.title}"
    for change in rest:
        refusal = static_checks(shop, tree, change.tree, change.spec)
        if refusal is not None:
            shop.report.rejected.append(Rejection(title, change.spec.pattern, refusal.reason))
            return
    shop.tell(f"Hidden tasks decide on: {' + '.join(change.spec.title for change in rest)}")
    shop.observation.watch(tree, rest[-1].tree, [(c.spec, c.pattern) for c in rest])
    verdict, comparison = compare_hidden(shop, tree, rest[-1].tree)
    if verdict.decision != "accept":
        shop.report.rejected.append(Rejection(title, rest[-1].spec.pattern, verdict.reason))
        return
    decision = Decision(rest, verdict, comparison)
    generation = commit(shop, base, decision, reverting.digest)
    shop.report.accepted.append(Accepted(generation, rest, verdict))


def show(repository: Repository, reverting: Reverting, as_json: bool) -> None:
    """What would be proven: what stays, and the diff from the generation to the candidate."""
    from bot.commands.repair_diff import unified_diff
    from bot.commands.show import Paint, paint_diff

    generation, repair = reverting.generation, reverting.repair
    old, new = generation.repairs[-1].tree, reverting.rest[-1].tree
    diff = unified_diff(repository, old, new)
    if as_json:
        kept = [change.spec.title for change in reverting.rest]
        answer = {
            "format_version": 1,
            "generation": generation.number,
            "base": reverting.base,
            "reverts": {
                "commit": repair.commit,
                "title": repair.message.title,
                "spec": reverting.digest,
            },
            "kept": kept,
            "tree": new,
            "diff": "\n".join(diff),
        }
        click.echo(json.dumps(answer))
        return
    lines = [
        f"Generation {generation.number} on {reverting.base[:10]}, not yet proven",
        f"- {printable(repair.message.title, 72)}",
        *(f"  {printable(change.spec.title, 72)}" for change in reverting.rest),
        "",
        *paint_diff(diff, [], Paint()),
        "Next: the same command without --dry-run; it runs the hidden tasks.",
    ]
    click.echo("\n".join(lines))
