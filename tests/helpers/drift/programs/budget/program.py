"""What calls cost, and when to stop paying."""

from collections import defaultdict
from decimal import Decimal, getcontext

getcontext().prec = 12

PRICES = {"small": ("0.2", "0.8"), "large": ("3", "15")}
PER = 1_000_000
SOFT = Decimal("0.8")
HARD = Decimal("1")


def price(model, asked, answered):
    if model not in PRICES:
        return Decimal(0)
    per_asked, per_answered = PRICES[model]
    cost = Decimal(per_asked) * asked
    cost += Decimal(per_answered) * answered
    return cost / PER


def estimate(model, asked, answered):
    if model not in PRICES:
        return Decimal(1)
    per_asked, per_answered = PRICES[model]
    cost = Decimal(per_asked) * asked
    cost += Decimal(per_answered) * answered * 2
    return cost / PER


class Ledger:
    def __init__(self, limit):
        self.limit = Decimal(limit)
        self.entries = []
        self.reserved = Decimal(0)

    @property
    def spent(self):
        return sum((entry[1] for entry in self.entries), Decimal(0))

    def pay(self, model, asked, answered):
        cost = price(model, asked, answered)
        self.entries.append((model, cost))
        if self.spent > self.limit * HARD:
            raise OverflowError(f"over {self.limit}")
        if self.spent > self.limit * SOFT:
            return "warn"
        return "ok"

    def reserve(self, model, asked, answered):
        cost = estimate(model, asked, answered)
        self.reserved += cost
        if self.reserved > self.limit * HARD:
            raise OverflowError(f"over {self.limit}")
        if self.reserved > self.limit * SOFT:
            return "warn"
        return "ok"

    def by_model(self):
        sums = defaultdict(Decimal)
        for model, cost in self.entries:
            sums[model] += cost
        return {model: str(cost) for model, cost in sorted(sums.items())}

    def largest(self):
        sums = defaultdict(Decimal)
        for model, cost in self.entries:
            sums[model] = max(sums[model], cost)
        return {model: str(cost) for model, cost in sorted(sums.items())}

    def report(self, digits=4):
        share = self.spent / self.limit if self.limit else Decimal(0)
        shown = round(self.spent, digits)
        return f"{shown} of {self.limit} ({share:.0%})"

    def forecast(self, steps, done):
        share = Decimal(done) / steps if steps else Decimal(0)
        if not share:
            return "unknown"
        shown = round(self.spent / share, 4)
        return f"{shown} of {self.limit}"


def simulate(limit, calls):
    ledger = Ledger(limit)
    states = []
    for model, asked, answered in calls:
        try:
            state = ledger.pay(model, asked, answered)
        except OverflowError as error:
            states.append(f"stop: {error}")
            break
        states.append(state)
    forecast = ledger.forecast(len(calls), len(states))
    return states, ledger.by_model(), ledger.largest(), ledger.report(), forecast


def rehearse(limit, calls):
    ledger = Ledger(limit)
    states = []
    for model, asked, answered in calls:
        try:
            state = ledger.reserve(model, asked, answered)
        except OverflowError as error:
            states.append(f"stop: {error}")
            break
        states.append(state)
    return states, ledger.by_model(), str(ledger.reserved), ledger.report(2)
