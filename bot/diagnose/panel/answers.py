"""What each role answers: small, closed forms with tight lengths.

Every field is required and none is unknown, so that servers which enforce a schema can enforce
these. What a form cannot say (that a step exists, that a place is in the code) `checks` says.
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from bot.records import Layer

Role = Literal["analyst", "engineer", "critic", "moderator"]

Identifier = Annotated[str, Field(max_length=120)]
Place = Annotated[str, Field(max_length=160)]
Note = Annotated[str, Field(max_length=300)]
Words = Annotated[str, Field(min_length=1, max_length=600)]
Code = Annotated[str, Field(max_length=6000)]
LONGEST_SUBJECT = 72


class Answer(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Citation(Answer):
    """A step of a train episode, and words that stand in it."""

    task_id: Identifier
    trial: int = Field(ge=0)
    step: int = Field(ge=0)
    quote: Annotated[str, Field(min_length=1, max_length=200)]


class Analysis(Answer):
    """The Analyst: whose fault it is, why, and the steps that show it.

    `places` are `file` or `file:definition`; `other_side` says what speaks against the verdict.
    """

    fault: Literal["harness", "model"]
    cause: Words
    layer: Layer
    places: list[Place] = Field(max_length=6)
    evidence: list[Citation] = Field(min_length=1, max_length=6)
    other_side: Note


class Option(Answer):
    """A field of an operation beyond those that every edit has, such as `place`."""

    name: Annotated[str, Field(max_length=24, pattern="^[a-z_]+$")]
    value: Note


class ProposedEdit(Answer):
    """One typed edit, as the operations' reference describes it."""

    op: Annotated[str, Field(max_length=40)]
    file: Place
    target: Place
    anchor: Annotated[str, Field(max_length=1500)]
    code: Code
    options: list[Option] = Field(max_length=4)
    why: Note


class Proposal(Answer):
    """The Engineer: the edits, or none with the reason in `hypothesis`.

    `answers` go to the objections that are open, in their order.
    """

    hypothesis: Words
    applicability: Note
    edits: list[ProposedEdit] = Field(max_length=6)
    answers: list[Note] = Field(max_length=4)
    alternatives: list[Note] = Field(max_length=3)


class Objection(Answer):
    """One objection; a blocking one stands against accepting what is proposed."""

    kind: Literal["overfitting", "false-trigger", "harm", "wrong-cause", "unneeded"]
    words: Note
    blocking: bool
    evidence: list[Citation] = Field(max_length=2)


class Critique(Answer):
    """The Critic: objections, and the passing tasks that the edit may spoil."""

    objections: list[Objection] = Field(max_length=4)
    at_risk: list[Identifier] = Field(max_length=8)


class Ruling(Answer):
    """The Moderator: the decision, an answer to each objection, the words of the commit.

    `narrow` sends the work back, to the Analyst or the Engineer as `revise` says; `model` says
    that the harness is not at fault.
    """

    decision: Literal["accept", "narrow", "reject", "model"]
    reasons: Words
    answers: list[Note] = Field(max_length=4)
    revise: Literal["analysis", "edit"]
    subject: Annotated[str, Field(max_length=LONGEST_SUBJECT)]
    body: Annotated[str, Field(max_length=1500)]
