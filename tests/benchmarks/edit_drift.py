"""How often a spec made on one revision is re-applied on another that it conflicts with.

A spec is applied to a base; the base has drifted meanwhile. Counted are the cases that
`git cherry-pick` refuses (`conflicts`), of those the ones for which a correct application is known
(`applicable`), of those the ones that the bot re-applies correctly (`reapplied`) or with another
outcome than the correct one (`wrong`); the rest it refuses. Generated drift of small programs: the
drift of the edited program is the correct application, and an outcome is correct that behaves
like it in every call of the program's check. `share` is reapplied / applicable.

    python -m tests.benchmarks.edit_drift [--smoke] [--show] [--json]
"""

from __future__ import annotations

import argparse
import json
import os
import random
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from bot.edit.apply import Applied, apply_spec
from bot.edit.moving import reapply_spec
from bot.edit.refusal import Refusal
from bot.records import ModificationSpec
from tests.helpers.drift.cases import Case, drift_cases
from tests.helpers.drift.merges import Merges
from tests.helpers.drift.program import (
    DriftSpec,
    Files,
    behaviour,
    program_files,
    program_names,
    program_specs,
)

COMBINED = 8
# Every so many merges are made by `git cherry-pick` itself too.
COMPARED = 20
SMOKE_PROGRAMS, SMOKE_CASES = 3, 15
Reader = Callable[[str], bytes | None]


@dataclass(frozen=True)
class Outcome:
    """Of one case that conflicts: "reapplied", "wrong", "refused", or "inapplicable": refused too,
    with no correct application known. `why` is for people."""

    what: str
    kinds: tuple[str, ...]
    case: str
    why: str = ""


def reapply(
    spec: ModificationSpec, read_base: Reader, read_onto: Reader, onto_paths: Iterable[str]
) -> Applied | Refusal:
    """The spec on a base that it was not made on: the one place that chooses how."""
    result = reapply_spec(
        spec,
        read_base,
        read_onto,
        editable=["**"],
        protected=["check.py"],
        python=sys.executable,
        files=onto_paths,
    )
    return result if isinstance(result, Refusal) else result.applied


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--smoke", action="store_true", help="a small size, in seconds")
    parser.add_argument("--show", action="store_true", help="each case that is not re-applied")
    parser.add_argument("--json", action="store_true")
    asked = parser.parse_args()
    started = time.perf_counter()
    names = program_names()[:SMOKE_PROGRAMS] if asked.smoke else program_names()
    with ProcessPoolExecutor(os.cpu_count()) as pool:
        measure = partial(measure_program, most=SMOKE_CASES if asked.smoke else None)
        outcomes = [outcome for found in pool.map(measure, names) for outcome in found]
    figures = summary(outcomes) | {"seconds": round(time.perf_counter() - started, 1)}
    if asked.show:
        for outcome in outcomes:
            if outcome.what != "reapplied":
                print(outcome.what, "+".join(outcome.kinds), outcome.case, outcome.why, sep=" | ")
    if asked.json:
        print(json.dumps(figures))
    else:
        for name, value in figures.items():
            print(f"{name:12} {value}")


def summary(outcomes: list[Outcome]) -> dict[str, Any]:
    """The figures of all cases, and by kind of drift; a case of several kinds counts for each."""
    every = Counter(outcome.what for outcome in outcomes)
    by_kind: dict[str, Counter[str]] = {}
    for outcome in outcomes:
        kinds = outcome.kinds if len(outcome.kinds) == 1 else (*outcome.kinds, "combined")
        for kind in kinds:
            by_kind.setdefault(kind, Counter())[outcome.what] += 1
    return {
        **_counts(every),
        "by_kind": {kind: _counts(by_kind[kind]) for kind in sorted(by_kind)},
    }


def _counts(of: Mapping[str, int]) -> dict[str, Any]:
    total = sum(of.values())
    applicable = total - of.get("inapplicable", 0)
    reapplied = of.get("reapplied", 0)
    return {
        "conflicts": total,
        "applicable": applicable,
        "reapplied": reapplied,
        "wrong": of.get("wrong", 0),
        "share": round(reapplied / applicable, 3) if applicable else None,
    }


def measure_program(name: str, most: int | None) -> list[Outcome]:
    """The outcomes of one program's cases that conflict; at most so many, sampled."""
    chance = random.Random(name)
    base = program_files(name)
    conflicts: list[Case] = []
    with tempfile.TemporaryDirectory() as folder:
        merges = Merges(Path(folder), base)
        for number, spec in enumerate(program_specs(name)):
            if most is not None and number > 2:
                break
            edited = apply_to_base(spec, base)
            change = merges.commit(edited)
            for case in drift_cases(spec, base, edited, COMBINED, chance):
                onto = merges.commit(case.onto)
                conflict = merges.conflict(change, onto)
                if chance.randrange(COMPARED) == 0:
                    assert conflict == merges.cherry_pick_conflicts(change, onto), case
                if conflict:
                    conflicts.append(case)
    if most is not None:
        conflicts = chance.sample(conflicts, min(most, len(conflicts)))
    return [outcome_of(case, base) for case in conflicts]


def apply_to_base(spec: DriftSpec, base: Files) -> Files:
    read = reader(base)
    applied = apply_spec(spec.spec, read, editable=["**"], protected=[], python=sys.executable)
    assert isinstance(applied, Applied), f"{spec.program}: {spec.name}: {applied}"
    return base | {path: content.decode() for path, content in applied.files.items()}


def outcome_of(case: Case, base: Files) -> Outcome:
    name = f"{case.spec.program}: {case.spec.name}"
    result = reapply(case.spec.spec, reader(base), reader(case.onto), case.onto)
    if isinstance(result, Refusal):
        what = "refused" if case.applicable else "inapplicable"
        return Outcome(what, case.kinds, name, f"{result.kind}: {result.message}")
    files = case.onto | {path: content.decode() for path, content in result.files.items()}
    right = behaviour(files) == case.wanted
    return Outcome("reapplied" if right else "wrong", case.kinds, name)


def reader(files: Files) -> Reader:
    return lambda path: files[path].encode() if path in files else None


if __name__ == "__main__":
    main()
