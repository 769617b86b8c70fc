"""Hard caps of one command, counted where the calls are made."""

from __future__ import annotations

import threading
import time
from dataclasses import dataclass, field

from bot.config import EMBEDDED, Budget, ModelTable
from bot.display import show_seconds
from bot.errors import BudgetSpent, InputError
from bot.records import Usage


@dataclass(frozen=True)
class Reservation:
    """What one call in flight may cost at most."""

    model: ModelTable = field(repr=False)
    tokens: int
    usd: float


class BudgetMeter:
    """Counts calls, tokens, dollars and seconds of one command; safe between threads.

    Raises InputError for a cap in dollars on a `model` whose price nobody knows.
    """

    def __init__(self, budget: Budget, model: ModelTable) -> None:
        self._budget = budget
        self._lock = threading.Lock()
        self._started = time.monotonic()
        self._held_tokens, self._held_usd = 0, 0.0
        self.model_calls = 0
        self.prompt_tokens = 0
        self.completion_tokens = 0
        self.cached_tokens = 0  # of the prompt tokens
        self.usd = 0.0
        self.require_price(model)

    def require_price(self, model: ModelTable) -> None:
        """Raise InputError where a cap in dollars could not be kept with `model`."""
        prices = (model.usd_per_million_prompt, model.usd_per_million_completion)
        if self._budget.usd is not None and model.base_url != EMBEDDED and None in prices:
            raise InputError(
                f"budget.usd is set, but nobody knows what {model.name} costs.",
                "Set its usd_per_million_prompt and usd_per_million_completion, or cap tokens.",
            )

    @property
    def tokens(self) -> int:
        return self.prompt_tokens + self.completion_tokens

    @property
    def wall_s(self) -> float:
        return time.monotonic() - self._started

    def wall_left(self) -> float | None:
        """Seconds until the cap on time; None without one."""
        return None if self._budget.wall_s is None else max(self._budget.wall_s - self.wall_s, 0.0)

    def check(self, tokens: int = 0, usd: float = 0.0) -> None:
        """Raise BudgetSpent once a cap is reached, or if `tokens` or `usd` more would pass it.

        The calls in flight may still end.
        """
        for name, cap, spent, more in (
            ("model_calls", self._budget.model_calls, self.model_calls, 0),
            ("tokens", self._budget.tokens, self.tokens + self._held_tokens, tokens),
            ("usd", self._budget.usd, self.usd + self._held_usd, usd),
            ("wall_s", self._budget.wall_s, self.wall_s, 0),
        ):
            if cap is None or (spent < cap and spent + more <= cap):
                continue
            need = f" and the next call may need {more:g}" if more else ""
            raise BudgetSpent(
                f"The budget is spent: {name} = {spent:g} of {cap:g}{need} ({self.summary()}).",
                "What was done is kept: the same command goes on from there, with the whole cap "
                "again. A higher one is set in [tool.ecdysis.budget].",
            )

    def begin_call(self) -> None:
        """Check the caps and count one call, in one step. Raises BudgetSpent."""
        with self._lock:
            self.check()
            self.model_calls += 1

    def reserve(self, model: ModelTable, prompt_tokens: int, most_tokens: int) -> Reservation:
        """Count one call and hold back what it may cost at most, in one step.

        `prompt_tokens` is an upper estimate, `most_tokens` what the answer may have. Raises
        BudgetSpent where less is left. Every reservation is settled.
        """
        usd = cost(model, Usage(prompt_tokens=prompt_tokens, completion_tokens=most_tokens))
        held = Reservation(model, prompt_tokens + most_tokens, usd)
        with self._lock:
            self.check(held.tokens, held.usd)
            self.model_calls += 1
            self._held_tokens += held.tokens
            self._held_usd += held.usd
        return held

    def settle(self, held: Reservation, usage: Usage) -> None:
        """Give back what `held` kept and count what the call did use."""
        with self._lock:
            self._held_tokens -= held.tokens
            # Sums of fractions leave a rest; with nothing in flight nothing is held.
            self._held_usd = self._held_usd - held.usd if self._held_tokens else 0.0
            self._count(held.model, usage)

    def add(self, usage: Usage, model: ModelTable) -> None:
        """Count the tokens of a call that `model` answered; one without usage counts none."""
        with self._lock:
            self._count(model, usage)

    def _count(self, model: ModelTable, usage: Usage) -> None:
        self.prompt_tokens += usage.prompt_tokens or 0
        self.completion_tokens += usage.completion_tokens or 0
        self.cached_tokens += usage.cached_tokens or 0
        self.usd += cost(model, usage)

    def summary(self) -> str:
        money = f", ${self.usd:.4f}" if self.usd else ""
        cached = f" ({self.cached_tokens} of them cached)" if self.cached_tokens else ""
        return (
            f"{self.model_calls} model calls, {self.tokens} tokens{cached}{money}, "
            f"{show_seconds(self.wall_s)}"
        )


def cost(model: ModelTable, usage: Usage) -> float:
    """Dollars; an unknown price counts as nothing."""
    fresh = model.usd_per_million_prompt or 0.0
    cached = fresh if model.usd_per_million_cached is None else model.usd_per_million_cached
    prompt = usage.prompt_tokens or 0
    reused = min(usage.cached_tokens or 0, prompt)
    written = (usage.completion_tokens or 0) * (model.usd_per_million_completion or 0.0)
    return ((prompt - reused) * fresh + reused * cached + written) / 1e6
