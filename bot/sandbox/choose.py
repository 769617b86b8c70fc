"""Which level is in force: the strongest that holds on this machine, or the one asked for."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache

from bot.errors import SandboxUnavailable
from bot.sandbox.bubblewrap import Bubblewrap, find_programs
from bot.sandbox.interface import Sandbox
from bot.sandbox.landlock import OLDEST_ABI, Landlock, kernel_abi
from bot.sandbox.levels import BUBBLEWRAP, LANDLOCK, LEVELS, LIMITS, Level
from bot.sandbox.limits import ResourceLimits
from bot.sandbox.probe import find_problem


@dataclass(frozen=True)
class Tried:
    """A level as it was found here: how to make a sandbox of it, or why it cannot be had."""

    level: Level
    make: Callable[[], Sandbox] | None
    problem: str = ""


@cache
def try_level(name: str) -> Tried:
    """Probe a level; the answer is kept as long as this process lives."""
    level = LEVELS[name]
    problem = "this system has nothing for it"
    for make in _ways(level):
        problem = "" if level is LIMITS else find_problem(make())
        if not problem:
            return Tried(level, make)
    return Tried(level, None, problem)


def choose_sandbox(demand: str = "auto") -> Sandbox:
    """A new sandbox of the level `demand`, or with "auto" of the strongest that holds here.

    Raises SandboxUnavailable where the demanded level does not hold; and in CI, where nobody
    watches, for "auto" when only the weakest is left.
    """
    if demand != "auto":
        tried = try_level(demand)
        if tried.make is None:
            raise SandboxUnavailable(
                f"The sandbox {demand} was asked for, but does not hold here: {tried.problem}.",
                tried.level.remedy,
            )
        return tried.make()
    for name in LEVELS:
        tried = try_level(name)
        if tried.make is not None and not (tried.level is LIMITS and in_ci()):
            return tried.make()
    raise SandboxUnavailable(
        "This is a CI job, and code that a model wrote could do here whatever the job may: no "
        f"sandbox but {LIMITS.name} holds ({reasons()}).",
        f"{BUBBLEWRAP.remedy} Or accept it by name: --sandbox {LIMITS.name}, or "
        f'sandbox = "{LIMITS.name}" in [tool.ecdysis].',
    )


def in_ci() -> bool:
    """Whether this runs as a job of continuous integration."""
    return os.environ.get("CI", "").lower() not in ("", "0", "false")


def reasons() -> str:
    """Why the levels that do not hold here do not, one after another."""
    tried = [try_level(name) for name in LEVELS]
    return "; ".join(f"{one.level.name}: {one.problem}" for one in tried if one.problem)


def _ways(level: Level) -> Iterator[Callable[[], Sandbox]]:
    """Ways to have a level, to be tried in this order."""
    if level is BUBBLEWRAP:
        for program in find_programs():
            yield lambda program=program: Bubblewrap(program)  # type: ignore[misc]
    elif level is LANDLOCK:
        if kernel_abi() >= OLDEST_ABI:
            yield lambda: Landlock(kernel_abi())
            yield lambda: Landlock(kernel_abi(), guarded=False)
    else:
        yield ResourceLimits
