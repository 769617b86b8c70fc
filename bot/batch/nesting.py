"""How deep JSON may nest: what comes later walks and writes records recursively."""

from __future__ import annotations

from typing import Any

DEEPEST = 200
TOO_DEEP = f"nested more than {DEEPEST} levels deep"


def is_too_deep(value: Any, levels: int = DEEPEST) -> bool:
    """Whether lists and objects stand in one another more than `levels` deep; no recursion."""
    level = _containers([value])
    for _ in range(levels):
        if not level:
            return False
        level = [inner for outer in level for inner in _containers(outer)]
    return bool(level)


def _containers(outer: Any) -> list[Any]:
    inside = outer.values() if isinstance(outer, dict) else outer
    return [inner for inner in inside if isinstance(inner, dict | list)]
