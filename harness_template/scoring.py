"""`python -m scoring TASK EPISODE`: is the answer right, and is the desk as it should be.

The harness has no part in this: the answer is compared with the task's, and the database that the
desk kept with a fresh one, row by row.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
from pathlib import Path
from typing import Any

from desk import database


def score(task: dict[str, Any], episode: dict[str, Any], state: Path) -> dict[str, Any]:
    """Score 1 where everything that the task asks for holds, else 0."""
    expected = task["expected"]
    breakdown = {"world": float(changes(state / database.FILE) == wanted_changes(expected))}
    if "answer" in expected:
        given = str(episode.get("answer") or "")
        breakdown["answer"] = float(plain(given) == plain(expected["answer"]))
    passed = all(breakdown.values())
    return {
        "score": float(passed),
        "outcome": "pass" if passed else "fail",
        "score_breakdown": breakdown,
    }


def plain(answer: str) -> str:
    """An answer without case, space around it and a final full stop."""
    return answer.strip().rstrip(".").lower()


def wanted_changes(expected: dict[str, Any]) -> dict[str, str]:
    """Order → status that the task asks for."""
    return dict.fromkeys(expected.get("cancelled", []), "cancelled")


def changes(path: Path) -> dict[str, str]:
    """Order → new status where that is all that differs; anything else under its row's name."""
    with tempfile.TemporaryDirectory() as folder:
        fresh = Path(folder) / database.FILE
        database.create(fresh)
        before, after = database.rows(fresh), database.rows(path)
    found = {}
    for table, rows in before.items():
        for key in rows.keys() | after[table].keys():
            old, new = rows.get(key), after[table].get(key)
            if old == new:
                continue
            if table == "orders" and old and new and (old[0], *old[2:]) == (new[0], *new[2:]):
                found[key] = new[1]
            else:
                found[f"{table} {key}"] = "changed"
    return found


if __name__ == "__main__":
    task_file, episode_file = sys.argv[1:3]
    print(
        json.dumps(
            score(
                json.loads(Path(task_file).read_text(encoding="utf-8")),
                json.loads(Path(episode_file).read_text(encoding="utf-8")),
                Path(os.environ["ECDYSIS_STATE"]),
            )
        )
    )
