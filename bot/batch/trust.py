"""Where results may be kept: what a fork's code had a hand in, no trusted run may read.

GitHub keeps the caches of pull requests apart by branch, but a machine of one's own has one cache
for all jobs, and a job on a fork's code fills it like any other.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any


def cache_for_this_run(cache: Path) -> Path:
    """`cache`, or a part of it for runs on a fork's code, which trusted runs never look into."""
    return cache / "forks" if is_fork_run() else cache


def is_fork_run() -> bool:
    """Whether this is a GitHub job on the code of a fork; also where that cannot be told."""
    event = os.environ.get("GITHUB_EVENT_NAME", "")
    if not (event.startswith("pull_request") or event == "workflow_run"):
        return False
    try:
        payload = json.loads(Path(os.environ["GITHUB_EVENT_PATH"]).read_text(encoding="utf-8"))
        if event == "workflow_run":
            ours, theirs = payload["repository"], payload["workflow_run"]["head_repository"]
        else:
            pull = payload["pull_request"]
            ours, theirs = pull["base"]["repo"], pull["head"]["repo"]
        return _name(ours) != _name(theirs)
    except (OSError, ValueError, KeyError, TypeError):
        return True  # a deleted fork has no name any more


def _name(repository: dict[str, Any]) -> str:
    return str(repository["full_name"])
