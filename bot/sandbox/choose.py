"""Which level is in force."""

from __future__ import annotations

from bot.sandbox.bubblewrap import Bubblewrap, find_programs
from bot.sandbox.interface import Sandbox
from bot.sandbox.limits import ResourceLimits


def choose_sandbox(demand: str = "auto") -> Sandbox:
    if demand in ("auto", "bubblewrap"):
        return Bubblewrap(find_programs()[0])
    return ResourceLimits()
