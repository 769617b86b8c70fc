import threading

import pytest

from bot.config import Budget, ModelTable
from bot.errors import BudgetSpent
from bot.llm.budget import BudgetMeter
from bot.records import Usage


def meter(**caps: float) -> BudgetMeter:
    prices = ModelTable(usd_per_million_prompt=2.0, usd_per_million_completion=10.0)
    return BudgetMeter(Budget.model_validate(caps), prices)


def test_each_cap_is_named_when_it_is_reached() -> None:
    calls = meter(model_calls=1)
    calls.begin_call()
    with pytest.raises(BudgetSpent, match="model_calls = 1 of 1"):
        calls.begin_call()
    assert calls.model_calls == 1
    tokens = meter(tokens=10)
    tokens.add(Usage(prompt_tokens=6, completion_tokens=4))
    with pytest.raises(BudgetSpent, match="tokens = 10 of 10"):
        tokens.check()
    money = meter(usd=0.01)
    money.add(Usage(prompt_tokens=1000, completion_tokens=800))
    assert money.usd == pytest.approx(0.002 + 0.008)
    with pytest.raises(BudgetSpent, match=r"usd = 0\.01 of 0\.01"):
        money.check()
    with pytest.raises(BudgetSpent, match="wall_s"):
        meter(wall_s=0).check()


def test_no_cap_is_no_cap_and_missing_usage_counts_nothing() -> None:
    free = meter()
    free.add(Usage())
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
