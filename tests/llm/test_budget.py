import threading

import pytest

from bot.config import Budget, ModelTable
from bot.errors import BudgetSpent, InputError
from bot.llm.budget import BudgetMeter
from bot.records import Usage

PRICES = ModelTable(usd_per_million_prompt=2.0, usd_per_million_completion=10.0)


def meter(**caps: float) -> BudgetMeter:
    return BudgetMeter(Budget.model_validate(caps), PRICES)


def test_each_cap_is_named_when_it_is_reached() -> None:
    calls = meter(model_calls=1)
    calls.begin_call()
    with pytest.raises(BudgetSpent, match="model_calls = 1 of 1"):
        calls.begin_call()
    assert calls.model_calls == 1
    tokens = meter(tokens=10)
    tokens.add(Usage(prompt_tokens=6, completion_tokens=4), PRICES)
    with pytest.raises(BudgetSpent, match="tokens = 10 of 10"):
        tokens.check()
    money = meter(usd=0.01)
    money.add(Usage(prompt_tokens=1000, completion_tokens=800), PRICES)
    assert money.usd == pytest.approx(0.002 + 0.008)
    with pytest.raises(BudgetSpent, match=r"usd = 0\.01 of 0\.01"):
        money.check()
    with pytest.raises(BudgetSpent, match="wall_s"):
        meter(wall_s=0).check()


def test_a_reservation_holds_what_a_call_may_cost_until_it_is_settled() -> None:
    tokens = meter(tokens=1000)
    model = ModelTable(usd_per_million_prompt=2.0, usd_per_million_completion=10.0)
    first = tokens.reserve(model, 300, 200)
    second = tokens.reserve(model, 300, 200)
    with pytest.raises(BudgetSpent, match="tokens = 1000 of 1000"):
        tokens.reserve(model, 1, 1)
    tokens.settle(first, Usage(prompt_tokens=250, completion_tokens=50))
    assert (tokens.tokens, tokens.usd) == (300, pytest.approx(0.001))
    with pytest.raises(BudgetSpent, match="tokens = 800 of 1000 and the next call may need 201"):
        tokens.reserve(model, 1, 200)
    third = tokens.reserve(model, 100, 100)
    tokens.settle(second, Usage())
    tokens.settle(third, Usage())
    assert (tokens.model_calls, tokens.tokens) == (3, 300)
    tokens.reserve(model, 300, 400)


def test_a_reservation_in_dollars_is_at_the_prices_of_its_own_model() -> None:
    money = meter(usd=0.01)
    dear = ModelTable(usd_per_million_prompt=10.0, usd_per_million_completion=100.0)
    held = money.reserve(dear, 100, 80)
    with pytest.raises(
        BudgetSpent, match=r"usd = 0\.009 of 0\.01 and the next call may need 0\.002"
    ):
        money.reserve(dear, 0, 20)
    usage = Usage(prompt_tokens=100, completion_tokens=10, cached_tokens=100)
    money.settle(held, usage)
    assert money.usd == pytest.approx(0.001 + 0.001)
    cheap = dear.model_copy(update={"usd_per_million_cached": 1.0})
    money.settle(money.reserve(cheap, 100, 10), usage)
    assert money.usd == pytest.approx(0.002 + 0.0001 + 0.001)
    assert (money.cached_tokens, money.tokens) == (200, 220)


def test_a_cap_in_dollars_without_a_price_is_refused() -> None:
    unknown = ModelTable(base_url="https://models.example/v1", name="m")
    with pytest.raises(InputError, match=r"budget\.usd is set, but nobody knows what m costs"):
        BudgetMeter(Budget(usd=1.0), unknown)
    BudgetMeter(Budget(tokens=1), unknown)
    free = unknown.model_copy(
        update={"usd_per_million_prompt": 0.0, "usd_per_million_completion": 0.0}
    )
    assert BudgetMeter(Budget(usd=1.0), free).usd == 0.0
    assert BudgetMeter(Budget(usd=1.0), ModelTable()).usd == 0.0  # embedded


def test_time_left() -> None:
    assert meter().wall_left() is None
    left = meter(wall_s=60).wall_left()
    assert left is not None
    assert 55 < left <= 60
    assert meter(wall_s=0).wall_left() == 0.0


def test_no_cap_is_no_cap_and_missing_usage_counts_nothing() -> None:
    free = meter()
    free.add(Usage(), PRICES)
    free.begin_call()
    assert (free.model_calls, free.tokens, free.usd) == (1, 0, 0.0)


def test_the_cap_holds_between_threads() -> None:
    shared, admitted = meter(model_calls=50), []

    def work() -> None:
        for _ in range(20):
            try:
                shared.begin_call()
                admitted.append(1)
            except BudgetSpent:
                return

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(admitted) == shared.model_calls == 50


def test_each_model_costs_what_it_costs() -> None:
    money = meter(usd=1.0)
    dear = ModelTable(usd_per_million_prompt=200.0, usd_per_million_completion=0.0)
    money.add(Usage(prompt_tokens=1000), PRICES)
    money.add(Usage(prompt_tokens=1000), dear)
    assert money.usd == pytest.approx(0.002 + 0.2)
