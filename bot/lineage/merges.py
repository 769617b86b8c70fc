"""Which repairs have reached a revision: by merge, rebase, cherry-pick or squash.

Ancestry alone says nothing after a squash merge, so the first witness is the digest of the spec:
it stands in the message of every repair, and git and the forges copy it into the messages of
squash, rebase and cherry-pick commits. Where a person wrote another message, content is the
witness: a commit with the generation's tree, or a revision that has each file as the generation
left it. `git revert` and `ecdysis revert` take repairs out again.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

from bot.git.repository import Repository
from bot.lineage.generations import Generation
from bot.lineage.message import SPEC_LINE

How = Literal["commit", "message", "tree", "files"]
MOST_COMPARED = 50
"""Of generations without another witness, the newest: their files are compared one by one."""
A_WEEK = 7 * 86_400
_WITHOUT = re.compile(r"^[ *>]*Ecdysis-Reverts: (sha256:[0-9a-f]{64})\b", re.MULTILINE)
_REVERT = re.compile(r"^This reverts commit ([0-9a-f]{40,64})", re.MULTILINE)


@dataclass(frozen=True)
class Merge:
    """`commit` is the one that brought a repair in; `how` says by what it was recognised."""

    commit: str
    how: How


@dataclass
class _Seen:
    """What the messages of a history have brought in so far: digest → commit."""

    present: dict[str, str] = field(default_factory=dict)
    reverted: set[str] = field(default_factory=set)
    # Commit → the digests it brought in and those it took out, so that a revert turns it round.
    effects: dict[str, tuple[set[str], set[str]]] = field(default_factory=dict)

    def read(self, commit: str, message: str) -> None:
        """Enter one commit; they come oldest first."""
        added, removed = set(SPEC_LINE.findall(message)), set(_WITHOUT.findall(message))
        for target in _REVERT.findall(message):
            gone, back = self.effects.get(target, (set(), set()))
            added, removed = added | back, removed | gone
        self.effects[commit] = added, removed
        for digest in added:
            self.present.setdefault(digest, commit)
        for digest in removed:
            if self.present.pop(digest, None):
                self.reverted.add(digest)
        self.reverted -= added


@dataclass(frozen=True)
class Merges:
    """Repair (its commit) → how it reached the revision; `reverted` are those taken out again."""

    reached: dict[str, Merge]
    reverted: set[str]

    def status(self, generation: Generation) -> str:
        """`merged`, `partly merged`, `reverted` or, where nothing was merged, `accepted`."""
        reached = sum(commit in self.reached for commit in generation.commits)
        if reached:
            return "merged" if reached == len(generation.commits) else "partly merged"
        gone = any(commit in self.reverted for commit in generation.commits)
        return "reverted" if gone else "accepted"


def find_merges(
    repository: Repository, generations: Sequence[Generation], rev: str = "HEAD"
) -> Merges:
    """What of the generations is in the revision `rev`; nothing, where there is no such one."""
    repairs = [repair for generation in generations for repair in generation.repairs]
    tip = repository.find_commit(rev) if repairs else None
    if tip is None:
        return Merges({}, set())
    # Nothing can have been merged before it was made; clocks may disagree.
    since = f"--since=@{max(0, min(repair.when for repair in repairs) - A_WEEK)}"
    seen = _read_messages(repository, tip, since)
    reached: dict[str, Merge] = {}
    reverted: set[str] = set()
    for generation in generations if seen.present or seen.reverted else ():
        if generation.figures.get("Reverts", "") in seen.present:
            continue  # the same repairs without one of them: what it is about is not there
        for repair in generation.repairs:
            digest = repair.message.trailers.get("Spec", "")
            if digest in seen.present:
                commit = seen.present[digest]
                reached[repair.commit] = Merge(commit, _how(repair.commit, commit))
            elif digest in seen.reverted:
                reverted.add(repair.commit)
    open_ones = [
        generation
        for generation in generations
        if reached.keys().isdisjoint(generation.commits) and reverted.isdisjoint(generation.commits)
    ]
    if open_ones:
        _compare_trees(repository, tip, since, open_ones, reached)
        left = [g for g in open_ones if g.commit not in reached][-MOST_COMPARED:]
        _compare_files(repository, tip, generations, left, reached)
    return Merges(reached, reverted)


def _how(repair: str, commit: str) -> How:
    return "commit" if repair == commit else "message"


def _read_messages(repository: Repository, tip: str, since: str) -> _Seen:
    """What the messages of the history of `tip` say of specs."""
    output = repository.git(
        *("rev-list", "--reverse", "--no-commit-header", "--format=%H%n%B%x00", since),
        *("--extended-regexp", "--grep=Ecdysis-(Spec|Reverts): sha256:"),
        *("--grep=^This reverts commit [0-9a-f]{40}", tip),
    )
    seen = _Seen()
    for entry in output.split("\0"):
        commit, _, message = entry.strip("\n").partition("\n")
        if commit:
            seen.read(commit, message)
    return seen


def _compare_trees(
    repository: Repository,
    tip: str,
    since: str,
    generations: Sequence[Generation],
    reached: dict[str, Merge],
) -> None:
    """Enter the generations whose tree a commit has, and what they stand on, as it is in it."""
    by_commit = {generation.commit: generation for generation in generations}
    trees: dict[str, list[tuple[int, str]]] = {}
    listing = repository.git("rev-list", "--no-commit-header", "--format=%T %ct %H", since, tip)
    for line in listing.splitlines():
        tree, when, commit = line.split(" ")
        trees.setdefault(tree, []).append((int(when), commit))
    for generation in reversed(generations):
        found: Generation | None = generation
        last = generation.repairs[-1]
        # What is older than the generation had that tree before.
        commit = min((at for at in trees.get(last.tree, ()) if at[0] >= last.when), default=("",))[
            -1
        ]
        while commit and found is not None and found.commit not in reached:
            for repair in found.repairs:
                reached[repair.commit] = Merge(commit, "tree")
            found = by_commit.get(found.base or "")


def _compare_files(
    repository: Repository,
    tip: str,
    every: Sequence[Generation],
    generations: Sequence[Generation],
    reached: dict[str, Merge],
) -> None:
    """Enter those of `generations` of which `tip` has every changed file as they left it."""
    trees = {g.commit: g.repairs[-1].tree for g in every}
    bases = {g.base for g in generations if g.base and g.base not in trees}
    trees |= {oid: commit.tree for oid, commit in repository.read_commits(bases).items()}
    pairs = {
        (trees[g.base], g.repairs[-1].tree): g for g in generations if g.base and g.base in trees
    }
    if not pairs:
        return
    files = {entry.path: (entry.mode, entry.oid) for entry in repository.list_files(tip)}
    for pair, changes in repository.changed_files(pairs).items():
        if changes and all(files.get(path) == now for path, now in changes.items()):
            for repair in pairs[pair].repairs:
                reached[repair.commit] = Merge(tip, "files")
