"""The watch list: what patterns that were not promoted have shown so far, kept for later batches.

`refs/ecdysis/watchlist` names a commit whose tree holds one small JSON file for each pattern and
batch: a contribution. Contributions are only ever added and are summed on reading, so two lists
merge by the union of their files and a batch that is added twice counts once. Where two files
of one name differ (the same batch, read by another version), the one with the smaller oid is
kept: every clone chooses the same.
"""

from __future__ import annotations

import hashlib
import json
import random
import re
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from pydantic import Field, ValidationError

from bot.display import count
from bot.git.objects import REGULAR
from bot.git.repository import RefMoved, Repository
from bot.lineage.evidence import harmless
from bot.lineage.message import canonical_json
from bot.records import Diagnosis, Evidence, Label, Layer, Pattern, Record

WATCHLIST_REF = "refs/ecdysis/watchlist"
ATTEMPTS = 100
EVIDENCE_KEPT = 5
MOST_OF_A_BATCH = 200
"""A batch of chance failures must not fill the repository; the most recurrent come first."""
_PATH = re.compile(r"[0-9a-f]{2}/[0-9a-f]{62}/[0-9a-f]{64}\.json")


class Contribution(Record):
    """What one batch says of one pattern: the content of one file."""

    batch: str
    generation: int | None = None
    source: str = ""
    key: str
    kind: str
    component: str
    template: str
    layer: Layer
    label: Label
    probability: float = Field(ge=0, le=1)
    tasks: list[str]
    models: list[str]
    failed_episodes: int
    passed_episodes: int
    evidence: list[Evidence]

    @property
    def path(self) -> str:
        """Its place in the tree: digest of the key, then digest of the batch."""
        key, batch = _digest(self.key), _digest(self.batch)
        return f"{key[:2]}/{key[2:]}/{batch}.json"


@dataclass(frozen=True)
class WatchEntry:
    """One watched pattern: its contributions, in a fixed order; figures are sums over them."""

    contributions: tuple[Contribution, ...]

    @property
    def key(self) -> str:
        return self.contributions[0].key

    @property
    def tasks(self) -> set[tuple[str, str]]:
        """(source, task id) of every task that shows it."""
        return {(part.source, task) for part in self.contributions for task in part.tasks}

    @property
    def models(self) -> list[str]:
        return sorted({model for part in self.contributions for model in part.models})

    @property
    def generations(self) -> list[int]:
        return sorted({p.generation for p in self.contributions if p.generation is not None})

    @property
    def failed_episodes(self) -> int:
        return sum(part.failed_episodes for part in self.contributions)

    @property
    def evidence(self) -> list[Evidence]:
        return [item for part in self.contributions for item in part.evidence]


@dataclass(frozen=True)
class Watchlist:
    """Entries, those of most tasks first; `unreadable` are paths that hold no contribution."""

    entries: list[WatchEntry]
    unreadable: list[str]


@dataclass(frozen=True)
class Addition:
    """Keys of one batch: with a new contribution, with one that was known, and one too many."""

    new: list[str]
    known: list[str]
    left_out: list[str]


def add_to_watchlist(
    repository: Repository, diagnosis: Diagnosis, batch_id: str, *, generation: int | None = None
) -> Addition:
    """Enter the patterns that a batch leaves watched, and what it says of those on the list.

    `batch_id` is the same for the same episodes; `generation` is the one whose harness ran, 0
    for the seed. Runs and machines that add at once lose nothing: the ref moves by
    compare-and-swap, and whoever comes second adds to what the first one wrote.
    """
    parts = [_contribution(p, diagnosis, batch_id, generation) for p in diagnosis.patterns]
    watched = {part.path for part, p in zip(parts, diagnosis.patterns, strict=True) if _waits(p)}
    blobs: dict[str, str] = {}
    for attempt in range(ATTEMPTS):
        old = repository.refs(WATCHLIST_REF).get(WATCHLIST_REF)
        kept = _files(repository, old)
        folders = {path.rpartition("/")[0] for path in kept}
        wanted = [p for p in parts if p.path in watched or p.path.rpartition("/")[0] in folders]
        chosen = wanted[:MOST_OF_A_BATCH]
        for part in chosen:
            if part.path not in blobs:
                content = canonical_json(part.model_dump(mode="json"))
                blobs[part.path] = repository.write_blob(content + b"\n")
        known = [part.key for part in chosen if part.path in kept]
        addition = Addition(
            new=[part.key for part in chosen if part.path not in kept],
            known=known,
            left_out=[part.key for part in wanted[MOST_OF_A_BATCH:]],
        )
        additional = _additional(kept, {part.path: blobs[part.path] for part in chosen})
        if not additional:
            return addition
        message = f"Watch {count(len(addition.new), 'pattern')} of a batch"
        try:
            _move(repository, old, [old] if old else [], additional, message)
        except RefMoved:
            if attempt == ATTEMPTS - 1:
                raise
            time.sleep(random.uniform(0, 0.05))
            continue
        return addition
    raise AssertionError("unreachable")


def merge_watchlist(repository: Repository, theirs: str) -> int:
    """Unite the list at the commit `theirs` with the one here; how many contributions are new.

    The result has both as parents, so that it can be pushed without overwriting anything.
    """
    incoming = _files(repository, theirs)
    for attempt in range(ATTEMPTS):
        old = repository.refs(WATCHLIST_REF).get(WATCHLIST_REF)
        kept = _files(repository, old)
        additional = _additional(kept, incoming)
        try:
            if old is None or (
                repository.descends(theirs, old) and not _additional(incoming, kept)
            ):
                repository.update_ref(WATCHLIST_REF, theirs, old)
            elif additional or not repository.descends(old, theirs):
                _move(repository, old, [old, theirs], additional, "Unite two watch lists")
        except RefMoved:
            if attempt == ATTEMPTS - 1:
                raise
            time.sleep(random.uniform(0, 0.05))
            continue
        return sum(path not in kept for path in additional)
    raise AssertionError("unreachable")


def read_watchlist(repository: Repository) -> Watchlist:
    """The list as this clone knows it; empty where there is none."""
    tip = repository.refs(WATCHLIST_REF).get(WATCHLIST_REF)
    if tip is None:
        return Watchlist([], [])
    unreadable: list[str] = []
    parts: dict[str, list[Contribution]] = {}
    for path, content in sorted(repository.read_files(tip).items()):
        try:
            part = Contribution.model_validate(json.loads(content))
        except (ValueError, ValidationError, RecursionError):
            unreadable.append(path)
            continue
        # A copy under another name would count its batch twice.
        if part.path == path:
            parts.setdefault(part.key, []).append(part)
        else:
            unreadable.append(path)
    entries = [WatchEntry(tuple(of_key)) for of_key in parts.values()]
    entries.sort(key=lambda entry: (-len(entry.tasks), -entry.failed_episodes, entry.key))
    return Watchlist(entries, unreadable)


def _waits(pattern: Pattern) -> bool:
    return pattern.promotion == "watch"


def _contribution(
    pattern: Pattern, diagnosis: Diagnosis, batch_id: str, generation: int | None
) -> Contribution:
    fields = pattern.model_dump(
        include={"key", "kind", "component", "template", "layer"}
        | {"failed_episodes", "passed_episodes"}
    )
    texts = {
        "batch": batch_id,
        "source": ", ".join(diagnosis.sources),
        "tasks": pattern.tasks,
        "models": pattern.models,
        "evidence": [item.model_dump() for item in pattern.evidence[:EVIDENCE_KEPT]],
        "label": pattern.attribution.label,
    }
    probability = round(pattern.attribution.probability, 3)
    return Contribution.model_validate(
        {**harmless({**fields, **texts}), "probability": probability, "generation": generation}
    )


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "backslashreplace")).hexdigest()


def _files(repository: Repository, commit: str | None) -> dict[str, str]:
    """Path → oid of what can be a contribution, by its name."""
    if commit is None:
        return {}
    return {
        entry.path: entry.oid
        for entry in repository.list_files(commit)
        if entry.mode in REGULAR and _PATH.fullmatch(entry.path)
    }


def _additional(kept: Mapping[str, str], offered: Mapping[str, str]) -> dict[str, str]:
    """What of `offered` belongs into the union with `kept`: new paths, and smaller oids."""
    return {path: oid for path, oid in offered.items() if path not in kept or oid < kept[path]}


def _move(
    repository: Repository,
    old: str | None,
    parents: Sequence[str],
    additional: Mapping[str, str],
    message: str,
) -> None:
    entries = {path: ("100644", oid) for path, oid in additional.items()}
    tree = repository.graft(old, entries) if entries or not old else repository.tree_of(old)
    new = repository.commit_tree(tree, parents, message)
    repository.update_ref(WATCHLIST_REF, new, old)
