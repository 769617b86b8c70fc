"""How often a spec made on one revision is re-applied on another that it conflicts with.

Counted are the cases that `git cherry-pick` refuses (`conflicts`), of those the ones for which a
correct application is known (`applicable`), of those the ones that the bot re-applies correctly
(`reapplied`), and those that it applies with another outcome (`wrong`); the rest it refuses.
`share` is reapplied / applicable, `unjudged` applications where no correct one is known.

`generated`: small programs drift by transformations that keep what they do; an outcome is correct
that behaves like the edited program in every call of the program's check. `packages`: packages of
PyPI in two versions; an outcome is correct that has the syntax tree that an edit by `ast` gives.
The wheels are kept in --cache; `skipped` names the packages that could not be had.

Programs and packages are measured side by side, one a processor, and said on standard error as
they end. Specs are applied in these processes: what the child processes of the edit room add are
limits, and seconds a case.

    python -m tests.benchmarks.edit_drift [--smoke] [--only PART] [--show] [--json]
"""

from __future__ import annotations

import argparse
import itertools
import json
import os
import random
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import Executor, ProcessPoolExecutor, as_completed
from functools import partial
from pathlib import Path
from typing import Any

from bot.edit.apply import Applied, apply_spec
from bot.edit.moving import reapply_spec
from bot.edit.refusal import Refusal
from bot.records import ModificationSpec
from tests.edit.in_process import in_process
from tests.helpers.drift.cases import Case, drift_cases
from tests.helpers.drift.merges import Merges
from tests.helpers.drift.outcomes import Outcome, What, counts, summary
from tests.helpers.drift.packages import (
    PAIRS,
    PackageEdit,
    package_edits,
    package_files,
    tree_of,
)
from tests.helpers.drift.program import (
    DriftSpec,
    Files,
    behaviour,
    program_files,
    program_names,
    program_specs,
)

COMBINED = 8
PACKAGE_EDITS = 60
# Every so many merges are made by `git cherry-pick` itself too.
COMPARED = 20
SMOKE_PROGRAMS, SMOKE_SPECS, SMOKE_CASES = 3, 3, 15
# Of each program and package, as it ends.
SAID = ("conflicts", "applicable", "reapplied", "wrong")
Reader = Callable[[str], bytes | None]


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
    parser.add_argument("--only", choices=["generated", "packages"], help="one part")
    parser.add_argument("--cache", type=Path, default=Path.home() / ".cache/ecdysis-drift")
    parser.add_argument("--show", action="store_true", help="each case that is not re-applied")
    parser.add_argument("--json", action="store_true")
    asked = parser.parse_args()
    started = time.perf_counter()
    generated: list[Outcome] = []
    packages: list[Outcome] = []
    skipped = [name for name, _, _ in PAIRS]
    with ProcessPoolExecutor(os.cpu_count()) as pool:
        if asked.only != "packages":
            generated = measure_programs(pool, asked.smoke)
        if asked.only != "generated" and not asked.smoke:
            packages, skipped = measure_packages(pool, asked.cache)
    figures = summary([*generated, *packages]) | {
        "generated": summary(generated),
        "packages": summary(packages) | {"skipped": skipped},
        "seconds": round(time.perf_counter() - started, 1),
    }
    if asked.show:
        for outcome in [*generated, *packages]:
            if outcome.what not in ("reapplied", "inapplicable"):
                print(outcome.what, "+".join(outcome.kinds), outcome.case, outcome.why, sep=" | ")
    if asked.json:
        print(json.dumps(figures))
    else:
        print_figures(figures)


def print_figures(figures: Mapping[str, Any], indent: str = "") -> None:
    for name, value in figures.items():
        if isinstance(value, dict) and "by_kind" not in value and "conflicts" in value:
            print(f"{indent}{name:20}", *(f"{key} {number}" for key, number in value.items()))
        elif isinstance(value, dict):
            print(f"{indent}{name}")
            print_figures(value, indent + "  ")
        else:
            print(f"{indent}{name:20} {value}")


def measure_programs(pool: Executor, smoke: bool) -> list[Outcome]:
    names = program_names()[:SMOKE_PROGRAMS] if smoke else program_names()
    found = measure_each(pool, partial(measure_program, smoke=smoke), names)
    return list(itertools.chain.from_iterable(found))


def measure_each(
    pool: Executor, measure: Callable[[Any], list[Outcome]], things: Sequence[Any]
) -> list[list[Outcome]]:
    """The outcomes of each thing, in their order; each is said as it ends."""
    started = time.perf_counter()
    running = {pool.submit(measure, thing): thing for thing in things}
    for done, future in enumerate(as_completed(running), 1):
        if future.exception() is not None:
            # What waits is not begun: the fault is said now, not after all the rest.
            pool.shutdown(wait=False, cancel_futures=True)
        figures = counts(future.result())
        said = ", ".join(f"{figures[name]} {name}" for name in SAID)
        seconds = time.perf_counter() - started
        about = f"{done} of {len(things)}, {seconds:.0f} s: {running[future]}"
        print(f"{about}: {said}", file=sys.stderr, flush=True)
    return [future.result() for future in running]


@in_process()
def measure_program(name: str, *, smoke: bool) -> list[Outcome]:
    """The outcomes of one program's cases that conflict; a sample of them for `smoke`."""
    chance = random.Random(name)
    base = program_files(name)
    conflicts: list[Case] = []
    with tempfile.TemporaryDirectory() as folder:
        merges = Merges(Path(folder), base)
        for spec in program_specs(name)[: SMOKE_SPECS if smoke else None]:
            edited = apply_to_base(spec, base)
            change = merges.commit(edited)
            for case in drift_cases(spec, base, edited, COMBINED, chance):
                if conflicts_in(merges, change, merges.commit(case.onto), chance):
                    conflicts.append(case)
    if smoke:
        conflicts = chance.sample(conflicts, min(SMOKE_CASES, len(conflicts)))
    return [program_outcome(case, base) for case in conflicts]


def conflicts_in(merges: Merges, change: str, onto: str, chance: random.Random) -> bool:
    conflict = merges.conflict(change, onto)
    if chance.randrange(COMPARED) == 0:
        assert conflict == merges.cherry_pick_conflicts(change, onto)
    return conflict


def apply_to_base(spec: DriftSpec, base: Files) -> Files:
    read = reader(base)
    applied = apply_spec(spec.spec, read, editable=["**"], protected=[], python=sys.executable)
    assert isinstance(applied, Applied), f"{spec.program}: {spec.name}: {applied}"
    return base | texts(applied)


def program_outcome(case: Case, base: Files) -> Outcome:
    spec = case.spec.spec
    about = (case.kinds, tuple(e.op for e in spec.edits), f"{case.spec.program}: {spec.title}")
    result = reapply(spec, reader(base), reader(case.onto), case.onto)
    if isinstance(result, Refusal):
        what: What = "refused" if case.applicable else "inapplicable"
        return Outcome(what, *about, why=f"{result.kind}: {result.message}")
    right = behaviour(case.onto | texts(result)) == case.wanted
    return Outcome("reapplied" if right else "wrong", *about)


def measure_packages(pool: Executor, cache: Path) -> tuple[list[Outcome], list[str]]:
    """The outcomes, and the packages that could not be had."""
    found = measure_each(pool, partial(measure_package, cache=cache), PAIRS)
    skipped = [name for (name, _, _), outcomes in zip(PAIRS, found, strict=True) if not outcomes]
    return list(itertools.chain.from_iterable(found)), skipped


@in_process()
def measure_package(pair: tuple[str, str, str], *, cache: Path) -> list[Outcome]:
    name, older, newer = pair
    base, onto = package_files(name, older, cache), package_files(name, newer, cache)
    if base is None or onto is None:
        return []
    chance = random.Random(name)
    outcomes = []
    with tempfile.TemporaryDirectory() as folder:
        merges = Merges(Path(folder), base)
        drifted = merges.commit(onto)
        for edit in itertools.islice(package_edits(base, onto, chance), PACKAGE_EDITS):
            if conflicts_in(merges, merges.commit(edit.edited), drifted, chance):
                outcomes.append(package_outcome(name, edit, base, onto))
    return outcomes


def package_outcome(name: str, edit: PackageEdit, base: Files, onto: Files) -> Outcome:
    [only] = edit.spec.edits
    about = ((f"package {name}",), (only.op,), f"{only.file}: {only.target}: {only.anchor[:60]!r}")
    result = reapply(edit.spec, reader(base), reader(onto), onto)
    if isinstance(result, Refusal):
        what: What = "refused" if edit.wanted else "inapplicable"
        return Outcome(what, *about, why=f"{result.kind}: {result.message}")
    if edit.wanted is None:
        return Outcome("unjudged", *about)
    files = texts(result)
    right = list(files) == [edit.onto_file] and tree_of(*files.values()) == edit.wanted
    return Outcome("reapplied" if right else "wrong", *about)


def texts(applied: Applied) -> Files:
    return {path: content.decode() for path, content in applied.files.items()}


def reader(files: Files) -> Reader:
    return lambda path: files[path].encode() if path in files else None


if __name__ == "__main__":
    main()
