"""The benchmark's own figures where they can be reckoned by hand."""

import random
from dataclasses import replace

import pytest

from tests.benchmarks.gate_error import (
    BROKEN,
    FIXED,
    NOTHING,
    TRADE,
    WORSE,
    Cell,
    Work,
    drawn_cells,
    false_accepts,
    lower_bound,
    null_cells,
    null_figures,
    outcomes,
    power,
    power_cells,
    power_figures,
    repair,
    run_tasks,
    thin,
)


def test_lower_bound_is_that_of_clopper_and_pearson() -> None:
    assert lower_bound(0, 100) == 0
    # All of 10: rate^10 = 0.01. One of 10: 1 - (1 - rate)^10 = 0.01.
    assert lower_bound(10, 10) == pytest.approx(0.01 ** (1 / 10), abs=1e-9)
    assert lower_bound(1, 10) == pytest.approx(1 - 0.99 ** (1 / 10), abs=1e-9)
    # 2 of 3: 3 rate^2 (1 - rate) + rate^3 = 0.01
    assert lower_bound(2, 3) == pytest.approx(0.05890, abs=1e-5)


def test_results_of_a_task_have_their_chances() -> None:
    """Fixed, at a noise of 1/10 and one trial: passed by the candidate 9 times of 10."""
    rows, weights = outcomes(FIXED, 0.1, 1)
    chances = {
        row: weight - before
        for row, weight, before in zip(rows, weights, [0.0, *weights], strict=False)
    }
    assert chances[(False,), (True,), (False,)] == pytest.approx(0.9**3)
    assert chances[(True,), (False,), (True,)] == pytest.approx(0.1**3)
    assert weights[-1] == pytest.approx(1)
    assert outcomes(BROKEN, 0, 2)[0] == [((True, True), (False, False), (True, True))]


def mean(cell: Cell) -> float:
    return sum(share * (after - before) for (before, after), share in cell.world.shares)


def test_every_world_has_the_mean_effect_that_it_claims() -> None:
    useless = [*null_cells(smoke=False), *drawn_cells(smoke=False)]
    assert max(map(mean, useless)) < 1e-12
    for cell in useless:
        assert sum(share for _, share in cell.world.shares) == pytest.approx(1)
        if cell.world.exact:  # of the tasks at hand too
            effects = cell.world.effects(random.Random(1), cell.tasks)
            assert len(effects) == cell.tasks
            assert sum(after - before for before, after in effects) < 1e-9
    for cell in power_cells(smoke=False):
        effects = cell.world.effects(random.Random(1), cell.tasks)
        assert effects.count(FIXED) == round(mean(cell) * cell.tasks)


def test_noise_is_the_chance_of_a_flip() -> None:
    cell = Cell(NOTHING, 0.1, 1000, 1)
    ran = run_tasks(cell, [(1.0, 1.0)] * 1000, random.Random(3))
    # Two runs differ with chance 2 * 0.1 * 0.9; 0.18 +- 4 standard errors.
    assert sum(now != again for now, _, again in ran) / 1000 == pytest.approx(0.18, abs=0.05)
    assert sum(now == (True,) for now, _, _ in ran) / 1000 == pytest.approx(0.9, abs=0.04)


def test_worlds_whose_outcome_is_certain() -> None:
    calm = Cell(NOTHING, 0, 20, 1)
    assert false_accepts(Work(calm, 5, "a")) == [None] * 5
    assert false_accepts(Work(replace(calm, world=thin(0.5), trials=2), 5, "a")) == [None] * 5
    # Without noise 8 of 40 fixed and none broken is p = 1/256.
    assert power(Work(Cell(repair(0.2), 0, 40, 1), 5, "a")) == [(True, True)] * 5


def test_a_seed_gives_one_result() -> None:
    work = Work(Cell(TRADE, 0.2, 30, 1), 40, "a")
    assert false_accepts(work) == false_accepts(work)
    noisy = Work(Cell(repair(0.2), 0.3, 30, 1), 40, "a")
    assert power(noisy) == power(noisy)
    assert power(noisy) != power(replace(noisy, seed="b"))


def test_figures_count_runs() -> None:
    cell = Cell(WORSE, 0.4, 10, 1)
    figures = null_figures(cell, [None, 0, 4, 5, 19, None, None, None, None, None])
    assert figures["candidates"] == [1, 5, 20]
    assert figures["false_accepts"] == [0.1, 0.2, 0.4]
    assert figures["at_least"] == [round(lower_bound(count, 10), 4) for count in (1, 2, 4)]
    assert null_figures(replace(cell, candidates=5), [None])["candidates"] == [1, 5]
    helped = power_figures(
        Cell(repair(0.2), 0.1, 100, 1), [(True, True), (False, True), (False, False), (True, True)]
    )
    assert (helped["points"], helped["power"], helped["exact_test"]) == (20, 0.5, 0.75)
    assert helped["gap"] == 25
