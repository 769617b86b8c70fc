"""The bot's refs and notes from a remote: brought together, never overwritten."""

from __future__ import annotations

from dataclasses import dataclass

from bot.errors import RepositoryError
from bot.git.names import check_oid, check_ref_name
from bot.git.repository import RefChange, Repository
from bot.lineage.evidence import NOTES_REF, TRANSCRIPTS_REF
from bot.lineage.watchlist import WATCHLIST_REF, merge_watchlist


@dataclass(frozen=True)
class Fetched:
    """`there`: the remote has refs of the bot. `moved`: refs that are new or moved here.

    `left`: refs that went another way here and are as they were; `gained`: contributions that are
    new on the watch list.
    """

    there: bool
    moved: list[str]
    left: list[str]
    gained: int


def fetch(repository: Repository, remote: str) -> Fetched:
    """Bring the refs of `remote`, which must be the name of one; all of them move, or none.

    A ref moves only forward. Notes and watch list that grew on both sides are united.
    """
    theirs = list_remote(repository, remote)
    here = repository.refs("refs/ecdysis/", NOTES_REF, TRANSCRIPTS_REF)
    news = {ref: oid for ref, oid in theirs.items() if here.get(ref) != oid}
    if not news:
        return Fetched(bool(theirs), [], [], 0)
    names = "".join(f"{ref}\n" for ref in news).encode()
    repository.git(
        *("fetch", "--no-tags", "--quiet", "--no-write-fetch-head", "--stdin", "--", remote),
        input=names,
    )
    gained, moved = 0, []
    if WATCHLIST_REF in news:
        gained = merge_watchlist(repository, news.pop(WATCHLIST_REF))
        if repository.refs(WATCHLIST_REF).get(WATCHLIST_REF) != here.get(WATCHLIST_REF):
            moved.append(WATCHLIST_REF)
    changes: list[RefChange] = []
    left = []
    for ref, oid in news.items():
        old = here.get(ref)
        if old is None or repository.descends(oid, old):
            changes.append((ref, oid, old))
        elif ref in (NOTES_REF, TRANSCRIPTS_REF) and not repository.descends(old, oid):
            changes.append((ref, unite_notes(repository, old, oid), old))
        elif not repository.descends(old, oid):
            left.append(ref)
    if changes:
        repository.update_refs(changes)
    return Fetched(True, [ref for ref, _, _ in changes] + moved, left, gained)


def list_remote(repository: Repository, remote: str) -> dict[str, str]:
    """Ref → oid of the bot's refs there; names that the bot would not write are left out."""
    listing = repository.git(
        "ls-remote", "--", remote, "refs/ecdysis/*", NOTES_REF, TRANSCRIPTS_REF
    )
    found = {}
    for line in listing.splitlines():
        oid, _, ref = line.partition("\t")
        try:
            found[check_ref_name(ref)] = check_oid(oid)
        except RepositoryError:
            continue
    return found


def unite_notes(repository: Repository, ours: str, theirs: str) -> str:
    """A commit with the notes of both; where both have one on a commit, ours."""
    kept = {entry.path for entry in repository.list_files(ours)}
    entries = {
        entry.path: (entry.mode, entry.oid)
        for entry in repository.list_files(theirs)
        if entry.path not in kept
    }
    tree = repository.graft(ours, entries)
    return repository.commit_tree(tree, [ours, theirs], "Unite the notes of two clones")
