"""How often the gate accepts what does not help, and how often it finds what does.

Runs of `evolve` are simulated with the gate's own code: `decide` on the hidden tasks, one candidate
after another, each at the level that `ErrorBudget` gives. Only the tasks' results are made up. A
run's result is what harness and task come to, flipped by chance: `noise` is the chance of a flip,
so two runs of one harness differ in 2·noise·(1 - noise) of the tasks.

No candidate of the first kind has a positive mean effect, whatever the noise:
  nothing   changes nothing
  trades    fixes a task as likely as it breaks one
  kept      the same trade is tried again and again: luck with the tasks stays
  thin      makes most tasks a little better and ruins a few, in sum nothing
  worse     breaks twice what it fixes
  repairs   trades, each after a real repair, whose level is handed on
A false accept is a run in which one of the first 1, 5 or 20 of them is accepted. Candidates of the
second kind fix a share of the tasks; the exact sign-flip test of all tasks at the same level is
what their power is compared with.

Figures:
  false_accept_max   largest 99 % lower confidence bound (Clopper-Pearson) of the false-accept rate
  power_100          smallest power at 100 tasks, 20 points and a noise of at most 10 %
  power_gap          by how many points the gate's power falls short of the exact test's at most
  drawn_max          as false_accept_max, where each task draws its effect from those of `thin`: the
                     candidate is as good as nothing for all tasks there could be, but the hidden
                     ones may have escaped ruin. With several trials the gate speaks of the hidden
                     tasks, and this shows how far that carries; the sealed split is there to tell.

    python -m tests.benchmarks.gate_error [--runs N] [--seed N] [--smoke] [--json]
"""

from __future__ import annotations

import argparse
import json
import math
import os
import random
import sys
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import accumulate, product
from typing import Any

from bot.gate.error_budget import ErrorBudget
from bot.gate.paired_test import Arm, sign_flip_p_value
from bot.gate.verdict import decide

RUNS, AT_ONCE = 2000, 250
LOOKS = 6
CANDIDATES = (1, 5, 20)
CONFIDENCE = 0.99
LARGEST = 1000
NAMES = [f"t{number}" for number in range(LARGEST)]

Effect = tuple[float, float]
"""Chance that a task is passed before and after, without noise."""
Row = tuple[bool, ...]
Ran = tuple[Row, Row, Row]
"""Of one task: the trials of the control, of the candidate, and of the control once more."""

FAILS, PASSES, FIXED, BROKEN = (0.0, 0.0), (1.0, 1.0), (0.0, 1.0), (1.0, 0.0)


@dataclass(frozen=True)
class World:
    """What a candidate does: effect → its share of the tasks.

    `exact`: exactly that share, in a random order; else each task draws its effect. `kept`: all
    candidates of a run have the same effect on the same tasks.
    """

    name: str
    shares: tuple[tuple[Effect, float], ...]
    exact: bool = False
    kept: bool = False

    def effects(self, chance: random.Random, tasks: int) -> list[Effect]:
        """One for each task, in the order in which they are run."""
        kinds, weights = zip(*self.shares, strict=True)
        if not self.exact:
            return chance.choices(kinds, weights, k=tasks)
        ends = [round(end * tasks) for end in accumulate(weights, initial=0.0)]
        dealt = [
            kind for kind, a, b in zip(kinds, ends, ends[1:], strict=False) for _ in range(b - a)
        ]
        chance.shuffle(dealt)
        return dealt


def repair(share: float) -> World:
    rest = (1 - share) / 2
    return World("repair", ((FIXED, share), (FAILS, rest), (PASSES, rest)), exact=True)


def thin(ruined: float, *, exact: bool = True) -> World:
    better = (0.0, ruined / (1 - ruined))
    return World("thin", ((BROKEN, ruined), (better, 1 - ruined)), exact=exact)


TRADES = ((FIXED, 0.25), (BROKEN, 0.25), (FAILS, 0.25), (PASSES, 0.25))
NOTHING = World("nothing", ((FAILS, 0.5), (PASSES, 0.5)))
TRADE = World("trades", TRADES)
KEPT = World("kept", TRADES, kept=True)
WORSE = World("worse", ((FIXED, 0.1), (BROKEN, 0.2), (FAILS, 0.35), (PASSES, 0.35)))
REPAIRS = World("repairs", TRADES)


@dataclass(frozen=True)
class Cell:
    world: World
    noise: float
    tasks: int
    trials: int
    candidates: int = max(CANDIDATES)

    @property
    def label(self) -> dict[str, Any]:
        return {
            "world": self.world.name,
            "noise": self.noise,
            "tasks": self.tasks,
            "trials": self.trials,
        }


@dataclass(frozen=True)
class Work:
    """Some runs of a cell, of a seed of their own."""

    cell: Cell
    runs: int
    seed: str


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--runs", type=int, default=RUNS, metavar="N", help="of each cell")
    parser.add_argument("--seed", type=int, default=0, metavar="N")
    parser.add_argument("--smoke", action="store_true", help="few small cells, in seconds")
    parser.add_argument("--json", action="store_true")
    asked = parser.parse_args()
    figures = measure(400 if asked.smoke else asked.runs, asked.seed, smoke=asked.smoke)
    if asked.json:
        print(json.dumps(figures))
    else:
        for name, value in figures.items():
            for line in value if isinstance(value, list) else [value]:
                print(f"{name:18} {line}")


def measure(runs: int, seed: int, *, smoke: bool) -> dict[str, Any]:
    started = time.perf_counter()
    useless, helping, drawn = null_cells(smoke), power_cells(smoke), drawn_cells(smoke)
    with ProcessPoolExecutor(os.cpu_count()) as pool:
        firsts = pool.map(false_accepts, split(useless, runs, seed))
        found = pool.map(power, split(helping, runs, seed))
        beyond = pool.map(false_accepts, split(drawn, runs, seed))
        nulls = [null_figures(cell, gather(firsts, runs)) for cell in told(useless, started)]
        powers = [power_figures(cell, gather(found, runs)) for cell in told(helping, started)]
        others = [null_figures(cell, gather(beyond, runs)) for cell in told(drawn, started)]
    hundred = [
        one["power"]
        for one in powers
        if one["tasks"] == 100 and one["points"] == 20 and one["noise"] <= 0.1
    ]
    return {
        "false_accept_max": highest(nulls),
        "power_100": min(hundred),
        "power_gap": max(one["gap"] for one in powers),
        "drawn_max": highest(others),
        "runs": runs,
        "candidates": CANDIDATES,
        "level": round(ErrorBudget().level(), 4),
        "null": nulls,
        "power": powers,
        "drawn": others,
        "seconds": round(time.perf_counter() - started, 1),
    }


def null_cells(smoke: bool) -> list[Cell]:
    """Costly ones first, so that the processors end together."""
    if smoke:
        return [
            Cell(TRADE, 0.1, 30, 1),
            Cell(NOTHING, 0.4, 100, 1, 5),
            Cell(thin(0.1), 0.0, 20, 5, 5),
        ]
    cells = [
        Cell(TRADE, 0.1, 1000, 1, 5),
        Cell(NOTHING, 0.4, 1000, 1, 5),
        Cell(TRADE, 0.2, 1000, 5, 1),
        Cell(TRADE, 0.1, 300, 1),
        Cell(NOTHING, 0.4, 300, 1),
        Cell(thin(0.1), 0.0, 300, 5, 5),
    ]
    for tasks in (100, 30, 10):
        cells += [
            *(Cell(TRADE, noise, tasks, 1) for noise in (0, 0.05, 0.1, 0.2, 0.4)),
            *(Cell(NOTHING, noise, tasks, 1) for noise in (0.05, 0.1, 0.2, 0.4)),
            *(Cell(KEPT, noise, tasks, 1) for noise in (0, 0.1)),
            Cell(REPAIRS, 0.1, tasks, 1),
            Cell(WORSE, 0.4, tasks, 1),
            Cell(TRADE, 0.1, tasks, 3),
            Cell(TRADE, 0.2, tasks, 5),
            *(Cell(TRADE, noise, tasks, 5, 5) for noise in (0, 0.05, 0.4)),
            *(Cell(NOTHING, 0.1, tasks, trials, 5) for trials in (2, 3, 4, 5)),
            *(Cell(NOTHING, 0.4, tasks, trials, 5) for trials in (2, 5)),
            *(Cell(thin(0.1), noise, tasks, n, 5) for noise in (0, 0.1) for n in (2, 3, 5)),
            Cell(KEPT, 0.1, tasks, 3, 5),
            Cell(REPAIRS, 0.1, tasks, 3, 5),
        ]
    return cells


def drawn_cells(smoke: bool) -> list[Cell]:
    some = [(20, 5)] if smoke else [(20, 3), (20, 5), (40, 3), (40, 5), (100, 5)]
    return [Cell(thin(0.05, exact=False), 0, tasks, trials, 1) for tasks, trials in some]


def power_cells(smoke: bool) -> list[Cell]:
    if smoke:
        return [Cell(repair(0.2), noise, 100, 1) for noise in (0, 0.1)]
    noises = (0, 0.05, 0.1, 0.2, 0.4)
    few = [Cell(repair(0.05), noise, 1000, 1) for noise in (0.1, 0.2)]
    return few + [
        Cell(repair(share), noise, tasks, trials)
        for tasks, shares in ((300, (0.05, 0.1)), (100, (0.1, 0.2)), (30, (0.2, 0.4)), (10, (0.7,)))
        for share in shares
        for noise in noises
        for trials in (1, 3)
    ]


def split(cells: Sequence[Cell], runs: int, seed: int) -> Iterator[Work]:
    for cell in cells:
        for start in range(0, runs, AT_ONCE):
            yield Work(cell, min(AT_ONCE, runs - start), f"{seed} {cell} {start}")


def gather(results: Iterator[list[Any]], runs: int) -> list[Any]:
    """The results of all runs of the next cell."""
    return [one for _ in range(0, runs, AT_ONCE) for one in next(results)]


def told(cells: Sequence[Cell], started: float) -> Iterator[Cell]:
    for number, cell in enumerate(cells, 1):
        yield cell
        seconds = time.perf_counter() - started
        print(f"{seconds:4.0f} s  {number}/{len(cells)}  {cell.label}", file=sys.stderr)


# --- candidates that do not help ----------------------------------------------------------


def false_accepts(work: Work) -> list[int | None]:
    """Of each run: the number of the first useless candidate that is accepted, from 0."""
    chance = random.Random(work.seed)
    return [first_false_accept(work.cell, chance) for _ in range(work.runs)]


def first_false_accept(cell: Cell, chance: random.Random) -> int | None:
    budget, noise = ErrorBudget(), dict[str, int]()
    effects = cell.world.effects(chance, cell.tasks)
    between = replace(cell, world=repair(0.6)) if cell.world is REPAIRS else None
    for number in range(cell.candidates):
        if between is not None:
            gate(between, between.world.effects(chance, cell.tasks), budget, noise, chance)
        if not cell.world.kept:
            effects = cell.world.effects(chance, cell.tasks)
        if gate(cell, effects, budget, noise, chance):
            return number
    return None


def gate(
    cell: Cell,
    effects: Sequence[Effect],
    budget: ErrorBudget,
    noise: dict[str, int],
    chance: random.Random,
) -> bool:
    """Whether the next candidate of a run is accepted."""
    return is_accepted(cell, run_tasks(cell, effects, chance), budget, noise)


def is_accepted(cell: Cell, ran: Sequence[Ran], budget: ErrorBudget, noise: dict[str, int]) -> bool:
    def run(start: int, end: int) -> tuple[Arm, Arm]:
        names, part = NAMES[start:end], ran[start:end]
        for name, (now, _, again) in zip(names, part, strict=True):
            if name not in noise:
                noise[name] = sum(again) - sum(now)
        before, after, _ = zip(*part, strict=True)
        return dict(zip(names, before, strict=True)), dict(zip(names, after, strict=True))

    verdict, _ = decide(
        run,
        tasks=cell.tasks,
        trials=cell.trials,
        level=budget.level(),
        most_looks=LOOKS,
        noise=noise,
    )
    budget.settle(verdict.decision == "accept")
    return verdict.decision == "accept"


def run_tasks(cell: Cell, effects: Sequence[Effect], chance: random.Random) -> list[Ran]:
    """The results of all tasks."""
    results: dict[Effect, Iterator[Ran]] = {}
    for effect in set(effects):
        rows, weights = outcomes(effect, cell.noise, cell.trials)
        results[effect] = iter(chance.choices(rows, cum_weights=weights, k=effects.count(effect)))
    return [next(results[effect]) for effect in effects]


@lru_cache(maxsize=1000)
def outcomes(effect: Effect, noise: float, trials: int) -> tuple[list[Ran], list[float]]:
    """Every result that a task can have, with cumulative chances.

    Only how many trials pass is drawn, not which.
    """
    rows = [(True,) * passed + (False,) * (trials - passed) for passed in range(trials + 1)]
    before, after = (
        [binomial(n, trials, flipped(p, noise)) for n in range(trials + 1)] for p in effect
    )
    found = {
        (rows[a], rows[b], rows[c]): before[a] * after[b] * before[c]
        for a, b, c in product(range(trials + 1), repeat=3)
    }
    possible = {ran: p for ran, p in found.items() if p > 0}
    return list(possible), list(accumulate(possible.values()))


def flipped(passing: float, noise: float) -> float:
    return passing * (1 - noise) + (1 - passing) * noise


def binomial(successes: int, of: int, p: float) -> float:
    return math.comb(of, successes) * p**successes * (1 - p) ** (of - successes)


def null_figures(cell: Cell, firsts: Sequence[int | None]) -> dict[str, Any]:
    """`false_accepts`: share of the runs, and `at_least`: its bound, for each of `candidates`."""
    numbers = [number for number in CANDIDATES if number <= cell.candidates]
    counts = [sum(first is not None and first < number for first in firsts) for number in numbers]
    return {
        **cell.label,
        "candidates": numbers,
        "false_accepts": [round(count / len(firsts), 4) for count in counts],
        "at_least": [round(lower_bound(count, len(firsts)), 4) for count in counts],
    }


def highest(figures: Sequence[dict[str, Any]]) -> float:
    return max(low for one in figures for low in one["at_least"])


def lower_bound(count: int, of: int, confidence: float = CONFIDENCE) -> float:
    """Clopper-Pearson: the rate that gives `count` or more with a chance of 1 - confidence."""
    if count == 0:
        return 0.0
    low, high = 0.0, count / of
    for _ in range(50):
        rate = (low + high) / 2
        fewer = math.fsum(
            math.exp(
                math.lgamma(of + 1)
                - math.lgamma(k + 1)
                - math.lgamma(of - k + 1)
                + k * math.log(rate)
                + (of - k) * math.log1p(-rate)
            )
            for k in range(count)
        )
        low, high = (rate, high) if 1 - fewer < 1 - confidence else (low, rate)
    return low


# --- candidates that help -----------------------------------------------------------------


def power(work: Work) -> list[tuple[bool, bool]]:
    """Of each candidate: whether the gate accepts it, and whether the exact test would."""
    chance, cell = random.Random(work.seed), work.cell
    return [is_found(cell, chance) for _ in range(work.runs)]


def is_found(cell: Cell, chance: random.Random) -> tuple[bool, bool]:
    ran = run_tasks(cell, cell.world.effects(chance, cell.tasks), chance)
    exact = sign_flip_p_value(sum(after) - sum(before) for before, after, _ in ran)
    return is_accepted(cell, ran, ErrorBudget(), {}), exact <= ErrorBudget().level()


def power_figures(cell: Cell, found: Sequence[tuple[bool, bool]]) -> dict[str, Any]:
    by_gate, by_test = (sum(column) / len(found) for column in zip(*found, strict=True))
    return {
        **cell.label,
        "points": round(100 * cell.world.shares[0][1]),
        "power": round(by_gate, 4),
        "exact_test": round(by_test, 4),
        "gap": round(100 * (by_test - by_gate), 2),
    }


if __name__ == "__main__":
    main()
