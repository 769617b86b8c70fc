"""Generations: accepted sets of repairs, one branch each, one commit per repair.

A generation is the ref `refs/ecdysis/generations/NNNN`; its branch `ecdysis/gen-NNNN` is for
people, who may add commits to it, rename it, merge or squash it. In a clone without these refs
the branches tell the same as long as they exist. Ancestry is never relied on.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from bot.errors import NothingFound, RepositoryError, UsageError
from bot.git.objects import CommitRecord
from bot.git.repository import RefChange, RefMoved, Repository
from bot.lineage.evidence import TRANSCRIPTS_REF, add_notes, write_note
from bot.lineage.message import (
    SPEC_LINE,
    GenerationFigures,
    ParsedMessage,
    RepairMessage,
    parse_message,
)

BRANCH_PREFIX = "refs/heads/ecdysis/gen-"
GENERATION_PREFIX = "refs/ecdysis/generations/"
GENERATION_PLACES = (GENERATION_PREFIX, "refs/heads/ecdysis/", "refs/remotes")
LONGEST_CHAIN = 200  # repairs of one generation
COMMITS_ON_TOP = 30  # of a person's, on a generation's branch
ATTEMPTS = 5
_NAME = re.compile(
    r"(?:(?:refs/heads/|refs/remotes/[^/]+/|[^/]+/)?ecdysis/)?(?:gen-)?0*([0-9]{1,6})"
)
_REF_NUMBER = re.compile(
    r"refs/(?:ecdysis/generations/|heads/ecdysis/gen-|remotes/[^/]+/ecdysis/gen-)([0-9]{1,6})"
)


class Repair(NamedTuple):
    """One commit of a generation, its message taken apart."""

    commit: str
    tree: str
    when: int
    message: ParsedMessage


@dataclass(frozen=True)
class Generation:
    """`ref` is where it was found; `repairs` are in the order in which they were committed.

    `base` is the commit the first repair stands on; None where a shallow clone ends before it.
    """

    number: int
    ref: str
    repairs: tuple[Repair, ...]
    base: str | None

    @property
    def commit(self) -> str:
        return self.repairs[-1].commit

    @property
    def commits(self) -> list[str]:
        return [repair.commit for repair in self.repairs]

    @property
    def branch(self) -> str:
        """The name of its branch, `ecdysis/gen-0003`, whether or not it still exists."""
        return branch_name(self.number)

    @property
    def figures(self) -> dict[str, str]:
        """The trailers of the last commit: `Score`, `Fixed`, `Broken`, `Noise-Band` and so on."""
        return self.repairs[-1].message.trailers


def branch_name(number: int) -> str:
    """`ecdysis/gen-0003`."""
    return f"ecdysis/gen-{number:04d}"


def parse_generation_name(name: str) -> int:
    """The number in `3`, `gen-0003` or the branch name. UsageError for anything else."""
    match = _NAME.fullmatch(name.strip())
    if not match or int(match.group(1)) == 0:
        raise UsageError(
            f"{name!r} does not name a generation.", "Write it as 3, gen-0003 or ecdysis/gen-0003."
        )
    return int(match.group(1))


# --- writing ------------------------------------------------------------------------------


def record_generation(
    repository: Repository,
    *,
    base_commit: str,
    repairs: Sequence[tuple[str, RepairMessage]],
    figures: GenerationFigures,
    number: int | None = None,
) -> Generation:
    """Commit each repair (its tree, its message) on top of `base_commit`, then name the last one.

    A repair whose tree is that of the commit before it is left out. The commits are written
    first; branch, ref and notes appear in one transaction, so a killed run leaves nothing
    half-accepted. With `number` None the next free one is taken, also when another run takes
    it meanwhile. Raises NothingFound when nothing changes, RepositoryError when a name is taken.
    """
    base_commit = repository.resolve_commit(base_commit)
    kept = _that_change(repository, base_commit, repairs)
    if not kept:
        raise NothingFound("The repairs change nothing.", "There is nothing to commit.")
    for attempt in range(ATTEMPTS):
        chosen = _free_number(repository, number)
        commits = _write_commits(repository, base_commit, kept, figures, chosen)
        notes = add_notes(
            repository,
            {oid: write_note(m, figures) for oid, (_, m) in zip(commits, kept, strict=True)},
        )
        changes: list[RefChange] = [
            (f"refs/heads/{branch_name(chosen)}", commits[-1], None),
            (f"{GENERATION_PREFIX}{chosen:04d}", commits[-1], None),
            notes,
        ]
        said = {
            oid: message.transcript.encode()
            for oid, (_, message) in zip(commits, kept, strict=True)
            if message.transcript
        }
        if said:
            changes.append(add_notes(repository, said, TRANSCRIPTS_REF))
        try:
            repository.update_refs(changes)
        except RefMoved:
            # Another run took the number or added a note: look again.
            if attempt == ATTEMPTS - 1:
                raise
            continue
        return read_generations(
            repository, {chosen: (f"{GENERATION_PREFIX}{chosen:04d}", commits[-1])}
        )[0]
    raise AssertionError("unreachable")


def next_number(repository: Repository) -> int:
    """One above every number that a ref of any kind uses, foreign branches included."""
    return _free_number(repository, None)


def _free_number(repository: Repository, wanted: int | None) -> int:
    if "refs/heads/ecdysis" in repository.refs("refs/heads/ecdysis"):
        raise RepositoryError(
            "A branch named ecdysis is in the way of branches like ecdysis/gen-0001.",
            "Rename it: git branch -m ecdysis my-ecdysis",
        )
    used = numbered_refs(repository)
    if wanted is None:
        return max(used, default=0) + 1
    if wanted in used:
        raise RepositoryError(
            f"{used[wanted][0]} exists already and is not overwritten.", "Choose another number."
        )
    return wanted


def _that_change(
    repository: Repository, base_commit: str, repairs: Sequence[tuple[str, RepairMessage]]
) -> list[tuple[str, RepairMessage]]:
    before = repository.tree_of(base_commit)
    kept = []
    for tree, message in repairs:
        if tree != before:
            kept.append((tree, message))
        before = tree
    return kept


def _write_commits(
    repository: Repository,
    base_commit: str,
    repairs: Sequence[tuple[str, RepairMessage]],
    figures: GenerationFigures,
    number: int,
) -> list[str]:
    commits: list[str] = []
    for tree, message in repairs:
        last = len(commits) == len(repairs) - 1
        text = message.write(number, figures.trailers(base_commit) if last else ())
        parent = commits[-1] if commits else base_commit
        commits.append(repository.commit_tree(tree, [parent], text))
    return commits


# --- reading ------------------------------------------------------------------------------


def list_generations(repository: Repository) -> list[Generation]:
    """Every generation that the refs show, oldest first."""
    return read_generations(repository, numbered_refs(repository))


def generation_ending_at(repository: Repository, commit: str) -> Generation | None:
    """The generation whose last commit this is; None where it is none."""
    tips = numbered_refs(repository)
    named = {number: tip for number, tip in tips.items() if tip[1] == commit}
    # Where only its branch is left, a person's commits may stand on top of it.
    found = read_generations(repository, named) or read_generations(repository, tips)
    return next((generation for generation in found if generation.commit == commit), None)


def generation_at(repository: Repository, commit: str) -> int:
    """The number of the generation whose last commit this is; 0 where it is none."""
    generation = generation_ending_at(repository, commit)
    return generation.number if generation else 0


def find_parents(
    repository: Repository, generations: Sequence[Generation]
) -> dict[int, int | CommitRecord]:
    """Number → the generation that each stands on, else the commit; none where that is missing.

    The base is the last commit of that generation; or, after a squash merge, a commit that has
    its tree or names one of its specs.
    """
    by_commit = {oid: g.number for g in generations for oid in g.commits}
    elsewhere = [g.base for g in generations if g.base and g.base not in by_commit]
    bases = repository.read_commits(elsewhere)
    by_tree: dict[str, int] = {}
    by_spec: dict[str, int] = {}
    parents: dict[int, int | CommitRecord] = {}
    for generation in generations:  # only an older one can be what it stands on
        if generation.base in by_commit:
            parents[generation.number] = by_commit[generation.base]
        elif generation.base in bases:
            base = bases[generation.base]
            named = [by_spec[spec] for spec in SPEC_LINE.findall(base.message) if spec in by_spec]
            number = by_tree.get(base.tree) or max(named, default=None)
            parents[generation.number] = base if number is None else number
        by_tree[generation.repairs[-1].tree] = generation.number
        for repair in generation.repairs:
            by_spec[repair.message.trailers.get("Spec", "")] = generation.number
    return parents


def newest_generation(repository: Repository) -> Generation | None:
    """The generation with the highest number; None where there is none."""
    tips = numbered_refs(repository)
    for number in sorted(tips, reverse=True):
        found = read_generations(repository, {number: tips[number]})
        if found:
            return found[0]
    return None


def find_generation(repository: Repository, name: str) -> Generation:
    """The generation that `name` means. UsageError: no such one; it lists those that exist."""
    number = parse_generation_name(name)
    tips = numbered_refs(repository)
    if number in tips:
        found = read_generations(repository, {number: tips[number]})
        if found:
            return found[0]
    existing = [generation.number for generation in list_generations(repository)]
    if not existing:
        raise NothingFound("There are no generations yet.", "Make one: ecdysis evolve")
    names = ", ".join(str(n) for n in existing[-20:])
    raise UsageError(f"There is no generation {number}.", f"These exist: {names}.")


def numbered_refs(
    repository: Repository, refs: Mapping[str, str] | None = None
) -> dict[int, tuple[str, str]]:
    """Number → (ref, oid): the generation's own ref, else its branch, else a remote's branch."""
    found: dict[int, tuple[str, str]] = {}
    listed = repository.refs(*GENERATION_PLACES) if refs is None else refs
    for ref in sorted(listed, reverse=True):  # the last one wins: the generation's own ref
        match = _REF_NUMBER.fullmatch(ref)
        if match:
            found[int(match.group(1))] = (ref, listed[ref])
    return found


def read_generations(repository: Repository, tips: dict[int, tuple[str, str]]) -> list[Generation]:
    """The generations at these tips, oldest first; tips that hold none are left out.

    All chains are followed at once, one batch of commits per step back, so thousands of
    generations take as many calls as the longest of them has commits.
    """
    chains: dict[int, list[Repair]] = {number: [] for number in tips}
    known: dict[str, tuple[Repair, str | None]] = {}  # commit → it, and what it stands on
    bases: dict[int, str | None] = dict.fromkeys(tips)
    frontier = {number: oid for number, (_, oid) in tips.items()}
    for step in range(LONGEST_CHAIN):
        if not frontier:
            break
        unknown = [oid for oid in frontier.values() if oid not in known]
        for oid, tree, parents, _, when, text in repository.each_commit(unknown):
            repair = Repair(oid, tree, when, parse_message(text))
            known[oid] = repair, parents[0] if parents else None
        following: dict[int, str] = {}
        for number, oid in frontier.items():
            if oid not in known:  # beyond the end of a shallow clone
                continue
            repair, below = known[oid]
            if repair.message.trailers.get("Generation") == str(number):
                chains[number].append(repair)
            elif chains[number]:
                bases[number] = oid
                continue
            elif step >= COMMITS_ON_TOP:
                continue
            if below is not None:
                following[number] = below
        frontier = following
    return [
        Generation(number, tips[number][0], tuple(reversed(chain)), bases[number])
        for number, chain in sorted(chains.items())
        if chain
    ]
