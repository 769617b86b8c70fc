"""The catalog: repair operators that need no model.

An operator answers a promoted failure pattern with a modification spec, or says in one sentence
why it does not apply. It knows a harness only through the table's seams, the tool contract and
the train episodes, and holds no name of any harness, task set or model.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

from bot.config import HarnessTable
from bot.diagnose.contract import Tool, load_contract
from bot.diagnose.seams import Seam, find_seam
from bot.records import Episode, ModificationSpec, Pattern, Task


@dataclass(frozen=True)
class NotApplicable:
    """Why an operator has nothing to propose; one sentence."""

    reason: str


@dataclass(frozen=True)
class Situation:
    """What an operator may look at: train episodes, code, contract. Nothing of select or test.

    Raises ValueError for an episode whose task is not among `tasks`: it is of another split.
    """

    pattern: Pattern
    episodes: Sequence[Episode]  # the whole train batch
    showing: Sequence[Episode]  # the failed episodes that show the pattern
    table: HarnessTable
    read: Callable[[str], bytes | None]  # a file of the base revision
    tasks: Mapping[str, Task]  # train tasks by id
    at: Callable[[Episode], set[int]]  # steps of an episode at which the pattern's events are

    def __post_init__(self) -> None:
        for episode in (*self.episodes, *self.showing):
            if episode.task_id not in self.tasks:
                raise ValueError(f"{episode.task_id} is not one of the train tasks.")

    def seam(self, name: str) -> Seam | None:
        return find_seam(name, self.table, self.read)

    @cached_property
    def tools(self) -> list[Tool]:
        """The tool contract; empty where the table names none."""
        return load_contract(self.table.contract, self.read) if self.table.contract else []

    def tool(self, name: str) -> Tool | None:
        return next((tool for tool in self.tools if tool.name == name), None)


class Operator(Protocol):
    """One module of `diagnose/operators/` offers one as `OPERATOR`."""

    name: str
    answers: tuple[str, ...]  # kinds of pattern
    seam: str  # the seam it edits

    def propose(self, situation: Situation) -> ModificationSpec | NotApplicable: ...


def operators() -> list[Operator]:
    """Every operator of the catalog, by the name of its module."""
    package = importlib.import_module("bot.diagnose.operators")
    modules = sorted(info.name for info in pkgutil.iter_modules(package.__path__))
    found = [
        getattr(importlib.import_module(f"bot.diagnose.operators.{name}"), "OPERATOR", None)
        for name in modules
    ]
    return [operator for operator in found if operator is not None]


def propose(situation: Situation) -> Iterator[tuple[str, ModificationSpec | NotApplicable]]:
    """What each operator that answers the pattern's kind says: (operator's name, its answer)."""
    for operator in operators():
        if situation.pattern.kind not in operator.answers:
            continue
        if situation.seam(operator.seam) is None:
            yield operator.name, NotApplicable(f"The table names no usable seam {operator.seam!r}.")
            continue
        yield operator.name, operator.propose(situation)
