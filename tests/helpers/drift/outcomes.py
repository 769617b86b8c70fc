"""What became of the cases that conflict, counted."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

# Where no correct application is known, a refusal is "inapplicable", and an application, if
# nothing else can judge it, "unjudged".
What = Literal["reapplied", "wrong", "refused", "inapplicable", "unjudged"]


@dataclass(frozen=True)
class Outcome:
    """Of one case; `kinds` of drift, `ops` of the edits; `why` is for people."""

    what: What
    kinds: tuple[str, ...]
    ops: tuple[str, ...]
    case: str
    why: str = ""


def summary(outcomes: Sequence[Outcome]) -> dict[str, Any]:
    """The figures of all cases, by kind of drift and by operation.

    A case of several kinds counts for each, and as "combined"; one of several operations too.
    """
    by_kind: dict[str, list[Outcome]] = {}
    by_op: dict[str, list[Outcome]] = {}
    for outcome in outcomes:
        several = ("combined",) if len(outcome.kinds) > 1 else ()
        for kind in (*outcome.kinds, *several):
            by_kind.setdefault(kind, []).append(outcome)
        for op in dict.fromkeys(outcome.ops):
            by_op.setdefault(op, []).append(outcome)
    return {
        **counts(outcomes),
        "by_kind": {kind: counts(by_kind[kind]) for kind in sorted(by_kind)},
        "by_op": {op: counts(by_op[op]) for op in sorted(by_op)},
    }


def counts(outcomes: Sequence[Outcome]) -> dict[str, Any]:
    found: Mapping[str, int] = Counter(outcome.what for outcome in outcomes)
    applicable = len(outcomes) - found["inapplicable"] - found["unjudged"]
    share = round(found["reapplied"] / applicable, 3) if applicable else None
    return {
        "conflicts": len(outcomes),
        "applicable": applicable,
        "reapplied": found["reapplied"],
        "wrong": found["wrong"],
        "unjudged": found["unjudged"],
        "share": share,
    }
