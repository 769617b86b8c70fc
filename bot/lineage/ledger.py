"""The ledger of the sealed test split: every read of it is counted, and stays counted.

`refs/ecdysis/ledger` is a chain of commits, each with the whole `test-reads.jsonl`; the chain
makes a line that vanishes visible.
"""

from __future__ import annotations

import json
import os
import random
import time
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

from bot.errors import RepositoryError, UsageError
from bot.git.repository import RefMoved, Repository

LEDGER_REF = "refs/ecdysis/ledger"
LEDGER_FILE = "test-reads.jsonl"
ATTEMPTS = 20


def refuse_scheduled_read() -> None:
    """Raise UsageError in a scheduled run: a split that is read every night is not sealed."""
    if os.environ.get("GITHUB_EVENT_NAME") == "schedule":
        raise UsageError(
            "Scheduled runs do not read the sealed test split.",
            "Leave --test out of the schedule; start the workflow by hand to read it.",
        )


def append_test_read(
    repository: Repository, *, trees: Sequence[str], tasks: int, purpose: str = "evolve"
) -> int:
    """Enter one read of the test split, before it happens; how many there are now.

    `trees` are the harness revisions that run on it, `tasks` the number of tasks. Raises
    UsageError in a scheduled run.
    """
    refuse_scheduled_read()
    entry = {
        "format_version": 1,
        "time": datetime.now(UTC).isoformat(timespec="seconds"),
        "trees": list(trees),
        "tasks": tasks,
        "purpose": purpose,
    }
    line = json.dumps(entry, sort_keys=True).encode() + b"\n"
    for attempt in range(ATTEMPTS):
        old = repository.refs(LEDGER_REF).get(LEDGER_REF)
        content = (_content(repository, old) if old else b"") + line
        tree = repository.make_tree({LEDGER_FILE: ("100644", repository.write_blob(content))})
        new = repository.commit_tree(
            tree, [old] if old else [], f"The test split is read: {tasks} tasks, for {purpose}"
        )
        try:
            repository.update_ref(LEDGER_REF, new, old)
        except RefMoved:
            if attempt == ATTEMPTS - 1:
                raise
            time.sleep(random.uniform(0, 0.05 * (attempt + 1)))
            continue
        return content.count(b"\n")
    raise AssertionError("unreachable")


def count_test_reads(repository: Repository) -> int:
    """How often the test split was read, as far as this clone knows."""
    return len(list_test_reads(repository))


def list_test_reads(repository: Repository) -> list[dict[str, Any]]:
    """The entries of the ledger, oldest first; a line that is not JSON still counts."""
    tip = repository.refs(LEDGER_REF).get(LEDGER_REF)
    if tip is None:
        return []
    entries: list[dict[str, Any]] = []
    for line in _content(repository, tip).decode("utf-8", "replace").splitlines():
        try:
            entry = json.loads(line)
        except ValueError:
            entry = None
        entries.append(entry if isinstance(entry, dict) else {"unreadable": line[:200]})
    return entries


def _content(repository: Repository, commit: str) -> bytes:
    content = repository.read_file(commit, LEDGER_FILE)
    if content is None:
        raise RepositoryError(
            f"The ledger {LEDGER_REF} does not hold {LEDGER_FILE}: it was tampered with.",
            "Restore the ref from another clone.",
        )
    return content if content.endswith(b"\n") or not content else content + b"\n"
