"""Hard caps of one command, counted where the calls are made."""

from __future__ import annotations

import threading
import time

from bot.config import Budget, ModelTable
from bot.display import show_seconds
from bot.errors import BudgetSpent
from bot.records import Usage


class BudgetMeter:
    """Counts calls, tokens, dollars and seconds of one command; safe between threads."""

    def __init__(self, budget: Budget, model: ModelTable) -> None:
        self._budget, self._model = budget, model
        self._lock = threading.Lock()
        self._started = time.monotonic()
        self.model_calls = 0
        self.prompt_tokens = 0
        self.completion_tokens = 0

    @property
    def tokens(self) -> int:
        return self.prompt_tokens + self.completion_tokens

    @property
    def usd(self) -> float:
        return (
            self.prompt_tokens * self._model.usd_per_million_prompt
            + self.completion_tokens * self._model.usd_per_million_completion
        ) / 1e6

    @property
    def wall_s(self) -> float:
        return time.monotonic() - self._started

    def check(self) -> None:
        """Raise BudgetSpent once a cap is reached; the calls in flight may still end."""
        for name, cap, spent in (
            ("model_calls", self._budget.model_calls, self.model_calls),
            ("tokens", self._budget.tokens, self.tokens),
            ("usd", self._budget.usd, self.usd),
            ("wall_s", self._budget.wall_s, self.wall_s),
        ):
            if cap is not None and spent >= cap:
                raise BudgetSpent(
                    f"The budget is spent: {name} = {spent:g} of {cap:g} ({self.summary()}).",
                    "What was done is kept; raise the cap in [tool.ecdysis.budget] to go on.",
                )

    def begin_call(self) -> None:
        """Check the caps and count one call, in one step. Raises BudgetSpent."""
        with self._lock:
            self.check()
            self.model_calls += 1

    def add(self, usage: Usage) -> None:
        """Count the tokens of an answered call; an answer without usage counts none."""
        with self._lock:
            self.prompt_tokens += usage.prompt_tokens or 0
            self.completion_tokens += usage.completion_tokens or 0

    def summary(self) -> str:
        money = f", ${self.usd:.4f}" if self.usd else ""
        return (
            f"{self.model_calls} model calls, {self.tokens} tokens{money}, "
            f"{show_seconds(self.wall_s)}"
        )
