"""What a panel is given beside its pattern, and what comes out of it: values, all of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

from bot.diagnose.panel.answers import Analysis, Objection, Role
from bot.records import ModificationSpec


@dataclass(frozen=True)
class Trouble:
    """Why a spec was not taken, in words for the Engineer."""

    text: str


@dataclass(frozen=True)
class Earlier:
    """An earlier rejected spec: the class of its rejection, and train-side words about it.

    Never what happened on the select split.
    """

    pattern: str
    kind: str
    words: str


@dataclass(frozen=True)
class Tools:
    """What other rooms do for a panel. The functions are called one at a time, in a thread.

    `apply` gives the candidate's tree, or why there is none; that a spec changes nothing, and
    paths that may not be edited, are such reasons. `run_tests` runs the harness's own tests on a
    tree, in the sandbox, and gives what fails. `find_leak` names a train task's id or expected
    answer in what a spec brings; it knows no hidden task, because its words reach a role.
    A killed run goes on only if the three say the same of the same spec again.
    """

    files: Sequence[str]  # paths of the base revision that edits may touch
    operations: str  # the reference of edit operations, as text
    apply: Callable[[ModificationSpec], str | Trouble]
    run_tests: Callable[[str], Trouble | None]
    find_leak: Callable[[ModificationSpec], str | None]
    earlier: Sequence[Earlier] = ()


@dataclass(frozen=True)
class PanelSettings:
    rounds: int = 2
    attempts: int = 3  # of one role in one round: its answer, and corrections after errors
    prompt_tokens: int = 16_000  # of one question, as `room` estimates them
    failing: int = 4  # episodes shown that fail with the pattern
    passing: int = 4  # episodes shown that pass and reach the same code
    parallel: int = 8  # panels at a time
    run: str = ""  # stands before the pattern in labels, e.g. the generation


@dataclass(frozen=True)
class Exchange:
    """An objection, and what was answered; empty where nothing was."""

    round: int
    objection: Objection
    answer: str = ""


@dataclass(frozen=True)
class Words:
    """What the roles said: the newest analysis, every objection, and what was not done."""

    analysis: Analysis | None = None
    exchanges: tuple[Exchange, ...] = ()
    alternatives: tuple[str, ...] = ()
    body: str = ""
    rounds: int = 0

    def with_answers(self, round: int, answers: Sequence[str]) -> Words:
        """The answers to the objections of a round, in their order; blank ones change nothing."""
        left = iter(answers)
        exchanges = [
            replace(e, answer=next(left, "").strip() or e.answer) if e.round == round else e
            for e in self.exchanges
        ]
        return replace(self, exchanges=tuple(exchanges))

    def explain(self) -> str:
        """Paragraphs for the body of a commit: the cause, the repair, what was said against it."""
        paragraphs = [self.body]
        if self.analysis is not None:
            paragraphs.append(f"Cause: {self.analysis.cause}")
            if self.analysis.other_side.strip():
                paragraphs.append(f"Against it: {self.analysis.other_side}")
        for one in self.exchanges:
            said = f"Objection ({one.objection.kind}): {one.objection.words}"
            paragraphs.append(f"{said} Answer: {one.answer}" if one.answer else said)
        if self.alternatives:
            paragraphs.append("Not done: " + "; ".join(self.alternatives))
        return "\n\n".join(text.strip() for text in paragraphs if text.strip())


@dataclass(frozen=True)
class Proposed:
    """The roles agree: `tree` is what the spec makes of the base, and passes the tests."""

    pattern: str
    spec: ModificationSpec
    tree: str
    words: Words = field(default_factory=Words)


@dataclass(frozen=True)
class ModelsFault:
    """The roles agree that no change of the harness is due."""

    pattern: str
    reasons: str
    words: Words = field(default_factory=Words)


RejectionKind = Literal[
    "evidence",  # what a role cites does not exist or does not show what it claims
    "form",  # a role's answer breaks another rule of its role
    "leak",  # the edit holds task ids or expected answers
    "does_not_apply",
    "tests_fail",
    "no_edit",  # the Engineer has none
    "moderator",
    "no_agreement",  # the limit of rounds
]


@dataclass(frozen=True)
class Rejected:
    """Nothing comes of the panel, for a reason that lies in what the roles said."""

    pattern: str
    kind: RejectionKind
    reasons: str
    words: Words = field(default_factory=Words)


@dataclass(frozen=True)
class PanelFailed:
    """A role gave no answer: `kind` is the client's word, `reason` its sentence."""

    pattern: str
    kind: str
    role: Role
    round: int
    reason: str
    words: Words = field(default_factory=Words)


PanelResult = Proposed | ModelsFault | Rejected | PanelFailed
