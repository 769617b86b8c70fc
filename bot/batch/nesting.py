"""How deep JSON may nest: what comes later walks and writes records recursively."""

from __future__ import annotations

from typing import Any

DEEPEST = 200
TOO_DEEP = f"nested more than {DEEPEST} levels deep"


def is_too_deep(value: Any) -> bool:
    """Whether containers stand in one another more than `DEEPEST` levels; no recursion."""
    level = [value]
    for _ in range(DEEPEST + 1):
        level = (
            [
                inner
                for outer in level
                for inner in (outer.values() if isinstance(outer, dict) else outer)
                if isinstance(inner, dict | list)
            ]
            if level and isinstance(level[0], dict | list)
            else []
        )
        if not level:
            return False
    return True
