"""Random edits of real code, and how often one breaks a promise.

The files are this interpreter's standard library and installed packages, sampled; those that do
not parse, or declare another encoding than UTF-8, included: they must be refused. Of each file
some random edits (`tests.edit.random_edits`) are made. A violation is an edit that changes a byte
outside of its place, does not mean what it says, does not compile where the file did, changes
something when made again, is undone otherwise than to the original bytes, or takes over ten
seconds. `--show` prints them.

    python -m tests.benchmarks.edit_corpus [--files N] [--smoke] [--show] [--json]
"""

from __future__ import annotations

import argparse
import json
import os
import random
import resource
import sysconfig
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from tests.edit.random_edits import Trial, check, trials

FILES, EDITS = 2500, 4
LARGEST = 200_000
SLOWEST_S = 10.0


@dataclass
class Found:
    """Of one file."""

    made: Counter[str] = field(default_factory=Counter)
    refused: int = 0
    violations: list[str] = field(default_factory=list)
    slowest_s: float = 0.0
    rss_mb: int = 0


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--files", type=int, default=FILES, metavar="N")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--smoke", action="store_true", help="60 files")
    parser.add_argument("--show", action="store_true", help="each violation")
    parser.add_argument("--json", action="store_true")
    asked = parser.parse_args()
    started = time.perf_counter()
    files = corpus(60 if asked.smoke else asked.files, asked.seed)
    with ProcessPoolExecutor(os.cpu_count()) as pool:
        found = list(pool.map(partial(try_file, seed=asked.seed), files, chunksize=4))
    figures = summary(files, found) | {"seconds": round(time.perf_counter() - started, 1)}
    if asked.show:
        for violation in (text for one in found for text in one.violations):
            print(violation)
    if asked.json:
        print(json.dumps(figures))
    else:
        for name, value in figures.items():
            print(f"{name:12} {value}")


def corpus(count: int, seed: int) -> list[Path]:
    """Python files of the standard library and of installed packages, sampled."""
    paths = sysconfig.get_paths()
    roots = [Path(paths[name]) for name in ("stdlib", "purelib", "platlib")]
    files = {
        path
        for root in roots
        for path in root.rglob("*.py")
        if path.is_file() and path.stat().st_size < LARGEST
    }
    return random.Random(seed).sample(sorted(files), min(count, len(files)))


def try_file(path: Path, seed: int) -> Found:
    source, found = path.read_bytes(), Found()
    chance = random.Random(f"{seed} {path.name}")
    for trial in some_trials(source, chance):
        start = time.perf_counter()
        try:
            made = check(source, trial)
            found.made[trial.edit["op"]] += made
            found.refused += not made
        except Exception as error:
            found.violations.append(f"{path}: {trial.edit}: {type(error).__name__}: {error}"[:2000])
        took = time.perf_counter() - start
        found.slowest_s = max(found.slowest_s, took)
        if took > SLOWEST_S:
            found.violations.append(f"{path}: {trial.edit}: {took:.1f} s")
    found.rss_mb = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
    return found


def some_trials(source: bytes, chance: random.Random) -> Iterator[Trial]:
    try:
        every = list(trials(source, chance))
    except (SyntaxError, ValueError):
        every = [Trial({"op": "add_import", "code": "import probe_module"})]
    yield from chance.sample(every, min(EDITS, len(every)))


def summary(files: list[Path], found: list[Found]) -> dict[str, Any]:
    made: Counter[str] = Counter()
    for one in found:
        made.update(one.made)
    return {
        "files": len(files),
        "edits": sum(made.values()),
        "violations": sum(len(one.violations) for one in found),
        "refused": sum(one.refused for one in found),
        "by_operation": dict(sorted(made.items())),
        "slowest_s": round(max(one.slowest_s for one in found), 2),
        "peak_rss_mb": max(one.rss_mb for one in found),
    }


if __name__ == "__main__":
    main()
