"""Where the episodes of `ecdysis run` are kept: in the git folder, one file for each question."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from bot.config import HarnessTable
from bot.records import Task


def run_file(
    git_dir: Path,
    *,
    tree: str,
    table: HarnessTable,
    tasks: Sequence[Task],
    settings: dict[str, Any],
) -> Path:
    """`<git>/ecdysis/runs/<key>/episodes.jsonl`; the key names all that the episodes depend on.

    A run that is started again with the same harness, tasks, model and limits goes on; anything
    else begins a new file.
    """
    question = {
        "tree": tree,
        "tasks": [task.model_dump(mode="json") for task in tasks],
        "settings": settings,
        "table": table.model_dump(mode="json", exclude={"trials", "budget", "splits"}),
    }
    digest = hashlib.sha256(json.dumps(question, sort_keys=True).encode()).hexdigest()
    return git_dir / "ecdysis" / "runs" / digest[:20] / "episodes.jsonl"
