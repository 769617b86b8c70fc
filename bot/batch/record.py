"""What `ecdysis run` keeps: episodes and model calls, in the git folder, for each question."""

from __future__ import annotations

import hashlib
import json
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from bot.batch.run import Job
from bot.config import HarnessTable
from bot.llm.proxy import Call
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


class CallRecord:
    """A JSONL file of every model call: which episode made it, the request, the answer.

    Append-only; the key is in no request. Use as a context manager; safe between threads.
    """

    def __init__(self, path: Path) -> None:
        self._path, self._lock = path, threading.Lock()

    def __enter__(self) -> CallRecord:
        self._path.parent.mkdir(parents=True, exist_ok=True)
        self._file = self._path.open("ab")
        return self

    def __exit__(self, *exc: object) -> None:
        self._file.close()

    def add(self, job: Job, calls: Sequence[Call]) -> None:
        # Not orjson: what harness and endpoint sent may hold integers of any size, and half
        # characters.
        lines = "".join(
            json.dumps(
                {
                    "task_id": job.task.task_id,
                    "trial": job.trial,
                    "harness": job.tree,
                    "request_digest": call.request_digest,
                    "request": call.request,
                    "response": call.response,
                    "status": call.status,
                    "error": call.error,
                    "wall_s": round(call.wall_s, 4),
                }
            )
            + "\n"
            for call in calls
        )
        with self._lock:
            self._file.write(lines.encode("ascii"))
            self._file.flush()
