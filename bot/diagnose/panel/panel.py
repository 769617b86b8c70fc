"""The talk of one panel.

A round: the Analyst finds the cause, the Engineer writes the edit, the Critic objects, the
Moderator decides. `narrow` starts another round at the Engineer or the Analyst. What is said is
checked as it is said; a role that errs is told, and may correct itself a limited number of times.

A panel is a function of its inputs and of the answers: the same answers give the same questions,
so a killed one goes on after the last recorded answer.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field, replace
from typing import TypeVar

from bot.diagnose.panel.answers import (
    Analysis,
    Answer,
    Critique,
    Proposal,
    Role,
    Ruling,
)
from bot.diagnose.panel.briefing import Briefing
from bot.diagnose.panel.checks import (
    Fault,
    check_analysis,
    check_critique,
    check_ruling,
    risk_tasks,
)
from bot.diagnose.panel.fence import clean
from bot.diagnose.panel.interface import (
    Exchange,
    ModelsFault,
    PanelFailed,
    PanelResult,
    PanelSettings,
    Proposed,
    Rejected,
    RejectionKind,
    Tools,
    Words,
)
from bot.diagnose.panel.prompt_files import prompt
from bot.diagnose.panel.room import Piece, choose, name_left_out, tokens
from bot.diagnose.panel.telling import tell
from bot.diagnose.panel.trial import OnTable, make_spec, try_spec
from bot.display import printable
from bot.llm.answers import Ask, Failed, Turn

A = TypeVar("A", bound=Answer)
BY_IMPORTANCE: tuple[Role, ...] = ("engineer", "analyst", "critic", "moderator")


@dataclass(frozen=True)
class Said(Piece):
    """An answer that was taken, as text."""

    role: Role


@dataclass
class Panel:
    """One panel at work: what is on the table, and what was said."""

    briefing: Briefing
    tools: Tools
    ask: Ask
    settings: PanelSettings
    bench: asyncio.Lock  # the tools work for one panel at a time
    round: int = 0
    said: list[Said] = field(default_factory=list)
    words: Words = field(default_factory=Words)
    analysis: Analysis | None = None
    on_table: OnTable | None = None
    critique: Critique | None = None
    ruled: str = ""  # the Moderator's newest reasons

    @property
    def pattern(self) -> str:
        return self.briefing.situation.pattern.key

    async def talk(self) -> PanelResult:
        for number in range(1, self.settings.rounds + 1):
            self.round = number
            self.words = replace(self.words, rounds=number)
            for turn in (self.analyse, self.engineer, self.criticise, self.moderate):
                ended = await turn()
                if ended is not None:
                    return ended
        reasons = f"No agreement after {self.settings.rounds} rounds: {self.ruled}"
        return Rejected(self.pattern, "no_agreement", reasons, self.words)

    async def analyse(self) -> PanelResult | None:
        if self.analysis is not None:
            return None  # the Moderator left it as it is
        heard = await self.hear("analyst", Analysis, self.weigh_analysis)
        if not isinstance(heard, Analysis):
            return heard
        self.analysis = heard
        self.words = replace(self.words, analysis=heard)
        return None

    async def engineer(self) -> PanelResult | None:
        self.on_table = None
        if self.analysis is None or self.analysis.fault == "model":
            return None
        heard = await self.hear("engineer", Proposal, self.try_edits)
        if not isinstance(heard, Proposal):
            return heard
        others = dict.fromkeys([*self.words.alternatives, *heard.alternatives])
        self.words = replace(
            self.words.with_answers(self.round - 1, heard.answers), alternatives=tuple(others)
        )
        return None

    async def criticise(self) -> PanelResult | None:
        heard = await self.hear("critic", Critique, self.weigh_critique)
        if not isinstance(heard, Critique):
            return heard
        self.critique = heard
        new = [Exchange(self.round, objection) for objection in heard.objections]
        self.words = replace(self.words, exchanges=(*self.words.exchanges, *new))
        return None

    async def moderate(self) -> PanelResult | None:
        heard = await self.hear("moderator", Ruling, self.weigh_ruling)
        if not isinstance(heard, Ruling):
            return heard
        self.ruled = heard.reasons
        self.words = self.words.with_answers(self.round, heard.answers)
        if heard.decision == "accept":
            return self.accept(heard)
        if heard.decision == "model":
            return ModelsFault(self.pattern, heard.reasons, self.words)
        if heard.decision == "reject":
            kind: RejectionKind = "moderator" if self.on_table or self.blames_model else "no_edit"
            return Rejected(self.pattern, kind, heard.reasons, self.words)
        if heard.revise == "analysis" or self.blames_model:
            self.analysis = None
        return None

    @property
    def blames_model(self) -> bool:
        return self.analysis is not None and self.analysis.fault == "model"

    def accept(self, ruling: Ruling) -> Proposed:
        assert self.on_table is not None  # the ruling was checked
        assert self.critique is not None
        spec = self.on_table.spec.model_copy(
            update={
                "title": printable(ruling.subject).strip(),
                "risk_tasks": risk_tasks(self.critique, self.briefing),
            }
        )
        words = replace(self.words, body=ruling.body)
        return Proposed(self.pattern, spec, self.on_table.tree, words)

    async def hear(
        self, role: Role, form: type[A], weigh: Callable[[A], Awaitable[Fault | None]]
    ) -> A | Rejected | PanelFailed:
        """A role's answer that holds, after as many corrections as the settings allow."""
        question = self.question(role)
        turns = question
        fault = Fault("form", "")
        for attempt in range(1, self.settings.attempts + 1):
            label = f"{self.briefing.slug}/{self.round}/{role}/{attempt}"
            answer = await self.ask(label, turns, form)
            if isinstance(answer, Failed):
                return PanelFailed(
                    self.pattern, answer.kind, role, self.round, answer.reason, self.words
                )
            found = await weigh(answer)
            if found is None:
                self.said.append(self.told(role, answer))
                return answer
            fault = found
            # Only the last attempt: the prompt does not grow with them.
            own = Turn("assistant", clean(answer.model_dump_json(), code=True))
            turns = [*question, own, self.correction(fault)]
        reasons = (
            f"The {role} did not get it right in {self.settings.attempts} attempts: {fault.text}"
        )
        return Rejected(self.pattern, fault.kind, reasons, self.words)

    def question(self, role: Role) -> list[Turn]:
        """What a role is asked: the harness, the pattern, what was said so far, the role."""
        task = prompt(role, **self.particulars(role))
        parts = [self.briefing.shared, self.briefing.own, self.talk_so_far(), task]
        return [
            Turn("system", prompt("system")),
            Turn("user", "\n\n".join(part for part in parts if part)),
        ]

    def particulars(self, role: Role) -> dict[str, object]:
        is_last = self.round == self.settings.rounds
        if role == "analyst":
            return {"tasks": self.briefing.evidence_tasks}
        if role == "engineer":
            return {"operations": self.tools.operations}
        if role == "moderator":
            return {
                "round": self.round,
                "rounds": self.settings.rounds,
                "last": " What is narrowed now is dropped." if is_last else "",
            }
        return {}

    def talk_so_far(self) -> str:
        """What was said, in its order; where there is no room for all, the newest of each role.

        The newest edits come before everything else: who judges them must see them.
        """
        if not self.said:
            return ""
        newest = {piece.role: piece for piece in self.said}
        first = [newest[role] for role in BY_IMPORTANCE if role in newest]
        pieces = list(dict.fromkeys([*first, *reversed(self.said)]))
        chosen, left_out = choose(pieces, self.briefing.talk_room)
        texts = [piece.text for piece in self.said if piece in chosen]
        return "\n\n".join(["# What the panel has said", *texts, name_left_out(left_out)]).strip()

    def told(self, role: Role, answer: Answer) -> Said:
        """An answer as the roles after it see it."""
        what = f"the {role} in round {self.round}"
        is_code = isinstance(answer, Proposal)
        text = self.briefing.fence.wrap(f"what {what} said", tell(answer), code=is_code)
        return Said(what, text, role)

    def correction(self, fault: Fault) -> Turn:
        what = self.briefing.fence.wrap("why it was not taken", fault.text, code=True)
        return Turn("user", prompt("correction", fault=what))

    async def weigh_analysis(self, analysis: Analysis) -> Fault | None:
        return check_analysis(analysis, self.briefing)

    async def weigh_critique(self, critique: Critique) -> Fault | None:
        return check_critique(critique, self.briefing)

    async def weigh_ruling(self, ruling: Ruling) -> Fault | None:
        return check_ruling(ruling, self.critique, self.on_table is not None)

    async def try_edits(self, proposal: Proposal) -> Fault | None:
        """Puts the edits on the table if they leak nothing, apply, and pass the tests."""
        needed = tokens(self.told("engineer", proposal).text) + 1
        if needed > self.briefing.talk_room:
            text = f"The answer has about {needed} tokens; there is room for "
            return Fault("form", f"{text}{self.briefing.talk_room}. Make a smaller edit.")
        if not proposal.edits:
            return None
        assert self.analysis is not None  # it is what the Engineer answers
        spec = make_spec(proposal, self.analysis, self.briefing)
        async with self.bench:
            tried = await asyncio.to_thread(try_spec, spec, self.tools)
        if isinstance(tried, Fault):
            return tried
        self.on_table = tried
        return None
