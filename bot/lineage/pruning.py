"""What of the evidence is old enough to go: rejected candidates, notes, journals.

Refs of generations and their branches are never moved, so an accepted commit cannot be lost; its
note keeps the spec and the verdict, without which it could not be moved or reverted any more, and
loses the quotes. Notes of commits that no ref reaches go as a whole.
"""

from __future__ import annotations

import json
import shutil
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bot.git.repository import RefChange, Repository
from bot.lineage.evidence import NOTES_REF, note_bytes
from bot.lineage.generations import list_generations
from bot.lineage.journal import hold_journals, list_journals
from bot.lineage.rejected import RejectedCandidate, list_rejected


@dataclass(frozen=True)
class Pruning:
    """What goes. `notes`: path in the notes' tree → what is kept of it, None where nothing is.

    `bytes` is what its objects and files take on disk; git frees the objects at its next `gc`.
    """

    rejected: Sequence[RejectedCandidate]
    notes: Mapping[str, bytes | None]
    notes_tip: str | None
    journals: Sequence[Path]
    bytes: int

    def __bool__(self) -> bool:
        return bool(self.rejected or self.notes or self.journals)


def plan_pruning(repository: Repository, *, before: float, keep: int) -> Pruning:
    """What is older than `before` (seconds since 1970) and not among the newest `keep` of its kind.

    Nothing is written.
    """
    by_age = sorted(list_rejected(repository), key=lambda item: item.when, reverse=True)
    rejected = [item for item in by_age[keep:] if item.when < before]
    tip = repository.refs(NOTES_REF).get(NOTES_REF)
    notes = _old_notes(repository, tip, before, keep) if tip else {}
    journals = list_journals(repository.git_dir, before)
    size = sum(journals.values()) + _objects_size(repository, rejected, notes, tip)
    return Pruning(rejected, notes, tip, list(journals), size)


def _old_notes(
    repository: Repository, tip: str, before: float, keep: int
) -> dict[str, bytes | None]:
    """Path → what is left of each note that has something to lose."""
    generations = list_generations(repository)
    accepted = {oid for generation in generations for oid in generation.commits}
    newest = {oid for generation in generations[-keep:] for oid in generation.commits}
    newest = newest if keep else set()
    contents = repository.read_files(tip)
    commits = repository.read_commits(oid for oid in map(_commit, contents) if oid)
    unreachable = _unreachable(repository, commits.keys() - accepted)
    changed: dict[str, bytes | None] = {}
    for path, content in contents.items():
        commit = commits.get(_commit(path))
        if commit is None or commit.when >= before or commit.oid in newest:
            continue  # a commit that is not in this clone may be an accepted one elsewhere
        if commit.oid in unreachable:
            changed[path] = None
            continue
        kept = _without_quotes(content)
        if kept is not None and len(kept) < len(content):
            changed[path] = kept
    return changed


def _commit(path: str) -> str:
    """The commit that a note at this path is about; empty where it is about none."""
    oid = path.replace("/", "")
    return oid if len(oid) in (40, 64) and not set(oid) - set("0123456789abcdef") else ""


def _without_quotes(content: bytes) -> bytes | None:
    """The note without its evidence; None where it is no note of the bot."""
    try:
        note: Any = json.loads(content)
    except ValueError:
        return None
    pattern = note.get("pattern") if isinstance(note, dict) else None
    if not isinstance(pattern, dict):
        return None
    return note_bytes({**note, "pattern": {**pattern, "evidence": []}})


def _unreachable(repository: Repository, commits: set[str]) -> set[str]:
    """Those of the commits that no ref and no reflog reaches."""
    if not commits:
        return set()
    lines = "".join(f"{oid}\n" for oid in sorted(commits))
    output = repository.git(
        *("rev-list", "--stdin", "--not", "--all", "--reflog"), input=lines.encode()
    )
    return commits & set(output.split())


def _objects_size(
    repository: Repository,
    rejected: Sequence[RejectedCandidate],
    notes: Mapping[str, bytes | None],
    tip: str | None,
) -> int:
    """Bytes on disk of the objects that only these hold, less what takes their place."""
    refs = repository.refs("refs/")
    head = repository.find_commit("HEAD")
    gone = {item.ref for item in rejected} | ({NOTES_REF} if notes else set())
    kept = [oid for ref, oid in refs.items() if ref not in gone] + ([head] if head else [])
    sizes = repository.disk_sizes([refs[ref] for ref in gone if ref in refs], kept)
    if notes and tip:
        for entry in repository.list_files(tip):
            if entry.path not in notes:
                sizes.pop(entry.oid, None)
    written = sum(len(zlib.compress(content)) for content in notes.values() if content)
    return max(0, sum(sizes.values()) - written)


def prune(repository: Repository, plan: Pruning) -> None:
    """Do it: the refs in one transaction, then the folders.

    RefMoved when one of them has moved since: then nothing is removed. RepositoryError while an
    `evolve` is at work.
    """
    with hold_journals(repository.git_dir):
        changes: list[RefChange] = [(item.ref, None, item.commit) for item in plan.rejected]
        if plan.notes and plan.notes_tip:
            entries = {
                path: None if content is None else ("100644", repository.write_blob(content))
                for path, content in plan.notes.items()
            }
            tree = repository.graft(plan.notes_tip, entries)
            # Without a parent: the history of the notes holds what is to go.
            commit = repository.commit_tree(tree, [], "Notes pruned by the Ecdysis bot")
            changes.append((NOTES_REF, commit, plan.notes_tip))
        if changes:
            repository.update_refs(changes)
        for folder in plan.journals:
            shutil.rmtree(folder, ignore_errors=True)
