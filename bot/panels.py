"""The panel at work on a harness: what other rooms do for it, and what comes of its talks.

`evolve.py` asks for proposals, from here or from the catalog; they look the same there.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from bot.config import HarnessTable, PanelTable, PathGlobs
from bot.diagnose.catalog import NotApplicable, Situation
from bot.diagnose.panel.briefing import slug
from bot.diagnose.panel.estimate import Estimate, estimate
from bot.diagnose.panel.interface import (
    Earlier,
    ModelsFault,
    PanelFailed,
    PanelResult,
    PanelSettings,
    Proposed,
    Rejected,
    Tools,
    Trouble,
)
from bot.diagnose.panel.run import run_panels
from bot.display import Progress, count
from bot.edit.reference import describe_operations
from bot.edit.refusal import Refusal
from bot.gate.leakage import all_text, find_leak
from bot.git.repository import Repository
from bot.lineage.rejected import list_rejected
from bot.llm.answers import Ask, Failed, T, Turn
from bot.llm.budget import BudgetMeter
from bot.llm.client import open_client
from bot.llm.transcript import Transcript, replaying
from bot.records import ModificationSpec, Task
from bot.visible import known_text
from bot.workshop import Proposal, Workshop

LONGEST_OUTPUT = 4000  # characters of what the harness's tests print
HIDDEN = "It did not prove itself on tasks that the panel cannot see."


@dataclass(frozen=True)
class Ground:
    """What panels stand on: the harness, what can be done with it here, and the train tasks.

    `apply` makes a tree of a tree and a spec; `run_tests` runs the harness's own tests on a tree,
    and finds no trouble where it cannot be run. `transcript` is the file that keeps every call.
    """

    repository: Repository
    table: HarnessTable
    tasks: Sequence[Task]
    transcript: Path
    tell: Callable[[str], None]
    apply: Callable[[str, ModificationSpec], str | Refusal]
    run_tests: Callable[[str], Trouble | None]

    @classmethod
    def of(cls, shop: Workshop) -> Ground:
        """The ground of an evolution."""

        def run_tests(candidate: str) -> Trouble | None:
            done = shop.runner.run_tests(candidate)
            if done is None or (done.code == 0 and not done.timed_out):
                return None
            said = (done.stdout + done.stderr).decode("utf-8", "replace")
            return Trouble("They take too long." if done.timed_out else said[-LONGEST_OUTPUT:])

        return cls(
            shop.repository,
            shop.table,
            shop.splits["train"],
            shop.journal.folder / "transcript.jsonl",
            shop.tell,
            shop.apply,
            run_tests,
        )


@dataclass
class Panels:
    """The panels of one run. A pattern is talked over once on each tree."""

    ground: Ground
    table: PanelTable
    meter: BudgetMeter
    done: set[tuple[str, str]] = field(default_factory=set)

    def propose(
        self, tree: str, number: int, situations: Sequence[Situation]
    ) -> dict[str, Proposal]:
        """Pattern key → what its panel makes of it; the panels work side by side."""
        new = [s for s in situations if (tree, s.pattern.key) not in self.done]
        if not new:
            return {}
        self.done |= {(tree, situation.pattern.key) for situation in new}
        settings = self.settings(f"g{number}")
        tools = make_tools(self.ground, tree, [s.pattern.key for s in new])
        before = self.meter.model_calls
        with Transcript.open(self.ground.transcript) as transcript:
            results = asyncio.run(self._talk(transcript, new, tools, settings))
        self.ground.tell(
            f"{count(len(new), 'panel')} asked {count(self.meter.model_calls - before, 'question')}"
        )
        return {r.pattern: as_proposal(r, transcript, f"g{number}") for r in results}

    def settings(self, run: str) -> PanelSettings:
        """What the table says of the talks; `run` stands in their labels."""
        return PanelSettings(
            rounds=self.table.rounds, prompt_tokens=self.table.context_tokens, run=run
        )

    async def _talk(
        self,
        transcript: Transcript,
        situations: Sequence[Situation],
        tools: Tools,
        settings: PanelSettings,
    ) -> list[PanelResult]:
        most = 4 * settings.rounds * len(situations)
        async with open_client(self.table, self.meter, transcript) as client:
            with Progress("panel questions", most) as progress:
                ask = _counted(replaying(transcript, client), progress)
                return await run_panels(situations, tools, ask, settings)


def _counted(ask: Ask, progress: Progress) -> Ask:
    async def counted(label: str, turns: Sequence[Turn], answer: type[T]) -> T | Failed:
        said = await ask(label, turns, answer)
        progress.advance(note=f"({label.split('/')[-2]})")
        return said

    return counted


def as_proposal(result: PanelResult, transcript: Transcript, run: str) -> Proposal:
    """What a panel's result means for the method, with its own part of the transcript."""
    if isinstance(result, Proposed):
        named = slug(result.pattern, run) + "/"
        own = [record for record in transcript.records if record.label.startswith(named)]
        return Proposal("panel", result.spec, result.words.explain(), Transcript(own).to_text())
    if isinstance(result, ModelsFault):
        why = f"The panel holds the model responsible: {result.reasons}"
    elif isinstance(result, Rejected):
        why = f"The panel found no repair ({result.kind}): {result.reasons}"
    else:
        assert isinstance(result, PanelFailed)
        why = f"The {result.role} gave no answer ({result.kind}): {result.reason}"
    return Proposal("panel", NotApplicable(why), result.words.explain())


def make_tools(ground: Ground, tree: str, patterns: Sequence[str]) -> Tools:
    """What the rooms do for panels on `tree`: apply, test, look for leaks."""
    table, repository = ground.table, ground.repository
    editable, kept = PathGlobs(table.editable), PathGlobs(table.never_edited())
    files = [entry.path for entry in repository.list_files(tree)]
    known = known_text(repository, table, tree)

    def apply(spec: ModificationSpec) -> str | Trouble:
        candidate = ground.apply(tree, spec)
        if isinstance(candidate, Refusal):
            return Trouble(candidate.message)
        return Trouble("It changes nothing.") if candidate == tree else candidate

    return Tools(
        files=[path for path in files if editable.match(path) and not kept.match(path)],
        operations=describe_operations(),
        apply=apply,
        run_tests=ground.run_tests,
        find_leak=lambda spec: find_leak(all_text(spec), ground.tasks, [], known),
        earlier=earlier_rejections(repository, patterns),
    )


def earlier_rejections(repository: Repository, patterns: Sequence[str]) -> list[Earlier]:
    """What was rejected before for these patterns: its class, and words about train tasks alone."""
    return [
        Earlier(
            rejected.pattern,
            rejected.kind,
            HIDDEN if rejected.kind == "hidden" else f"{rejected.title}: {rejected.reason}",
        )
        for rejected in list_rejected(repository)
        if rejected.pattern in patterns and rejected.kind
    ]


def expected_usd(table: PanelTable, cost: Estimate) -> float | None:
    """What the estimate costs if all roles have the shared model's prices; None: not known."""
    prompt, completion = table.usd_per_million_prompt, table.usd_per_million_completion
    if prompt is None or completion is None:
        return None
    cached = table.usd_per_million_cached
    fresh = cost.prompt_tokens - cost.cached_tokens
    spent = fresh * prompt + cost.cached_tokens * (prompt if cached is None else cached)
    return (spent + cost.completion_tokens * completion) / 1e6


def expect(panels: Panels, tree: str, situations: Sequence[Situation]) -> Estimate:
    """What panels over these patterns would cost; nothing is asked."""
    tools = make_tools(panels.ground, tree, [s.pattern.key for s in situations])
    return estimate(situations, tools, panels.settings("g0"))
