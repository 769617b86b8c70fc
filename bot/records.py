"""The records that pass between the rooms; the same fields are what `--json` prints.

Unknown fields are kept and passed on. Every record carries `format_version` (1).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Annotated, Any, Literal, TypeVar

from pydantic import BaseModel, ConfigDict, Field, FiniteFloat

FORMAT_VERSION: Literal[1] = 1

Outcome = Literal["pass", "fail", "invalid"]
Layer = Literal[
    "environment-contract", "procedural-skill", "action-realization", "trajectory-regulation"
]
Label = Literal["harness", "model", "task", "undetermined"]
Promotion = Literal["repair", "trial", "watch", "none"]
Decision = Literal["accept", "reject", "undecidable"]


class Part(BaseModel):
    """A piece of a record; unknown fields are kept."""

    model_config = ConfigDict(extra="allow")


PartType = TypeVar("PartType", bound=Part)
_put = object.__setattr__


class Record(Part):
    """A top-level record, as written to files and printed by `--json`."""

    format_version: Literal[1] = FORMAT_VERSION


def built(kind: type[PartType], values: dict[str, Any], **extra: Any) -> PartType:
    """A record part from the values of *all* its fields, which the caller knows to be right.

    As `model_construct`, in a third of the time: readers build millions of steps.
    """
    part = kind.__new__(kind)
    _put(part, "__dict__", values)
    _put(part, "__pydantic_fields_set__", _names(kind))
    _put(part, "__pydantic_extra__", extra)
    _put(part, "__pydantic_private__", None)
    return part


@cache
def _names(kind: type[Part]) -> set[str]:
    return set(kind.model_fields)


# --- tasks and episodes -------------------------------------------------------------------


class Task(Record):
    """One task of a split. `expected` and `check` never reach the harness."""

    task_id: str = Field(min_length=1)
    input: dict[str, Any]
    expected: Any = None
    check: Any = None
    tags: list[str] = Field(default_factory=list)

    def without_expected(self) -> dict[str, Any]:
        """The task as the harness may see it: a JSON object without `expected` and `check`."""
        return self.model_dump(exclude={"expected", "check"})


class Usage(Part):
    """Tokens of one model call, or sums over an episode (then with `model_calls`)."""

    model_calls: int | None = None
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    cached_tokens: int | None = None


class StepBase(Part):
    index: int = 0


class ModelStep(StepBase):
    """One answer of the model. `request_digest` names the canonical request."""

    kind: Literal["model"] = "model"
    content: str | None = None
    request_digest: str | None = None
    finish_reason: str | None = None
    usage: Usage | None = None


class ToolStep(StepBase):
    """One tool call and what it gave back."""

    kind: Literal["tool"] = "tool"
    name: str
    arguments: dict[str, Any] = Field(default_factory=dict)
    result: Any = None
    error: bool = False


class HarnessStep(StepBase):
    """Something the harness reports of itself: an exception, an unparsed action, a limit.

    `frames` are `file:function:line`, outermost first.
    """

    kind: Literal["harness"] = "harness"
    event: str
    type: str | None = None
    message: str | None = None
    frames: list[str] = Field(default_factory=list)


class UserStep(StepBase):
    """What a (simulated) user said."""

    kind: Literal["user"] = "user"
    content: str | None = None


Step = Annotated[ModelStep | ToolStep | HarnessStep | UserStep, Field(discriminator="kind")]


class Action(Part):
    """A tool call that a task expects."""

    name: str
    arguments: dict[str, Any] = Field(default_factory=dict)


class Expected(Part):
    """What a record says the right episode would have done; None where it does not say."""

    actions: list[Action] | None = None
    outputs: list[str] = Field(default_factory=list)
    answer: str | None = None


class Ran(Part):
    """Which lines that were watched ran in an episode: file → line numbers, from 1.

    `lines` ran in functions, `imported` in modules and class bodies; of the watched lines,
    `runnable` can run in functions and `importable` at import, as far as their files were
    loaded. `opened` are files that are no code. `blind`: a Python process was started that could
    not be watched; `other`: a program that is not Python.
    """

    lines: dict[str, list[int]] = Field(default_factory=dict)
    imported: dict[str, list[int]] = Field(default_factory=dict)
    runnable: dict[str, list[int]] = Field(default_factory=dict)
    importable: dict[str, list[int]] = Field(default_factory=dict)
    opened: list[str] = Field(default_factory=list)
    blind: bool = False
    other: bool = False


class Episode(Record):
    """One run of one task by one model on one harness revision.

    The harness writes everything but `score`, `outcome` and `score_breakdown`, which only
    the scorer sets. `expected` is present only where a foreign record carried it, `ran` where
    lines were watched.
    """

    source: str = ""
    task_id: str = Field(min_length=1)
    trial: int = 0
    model: str = ""
    harness: str = ""
    steps: list[Step] = Field(default_factory=list)
    answer: str | None = None
    end_reason: str | None = None
    error: str | None = None
    score: FiniteFloat | None = None
    outcome: Outcome
    score_breakdown: dict[str, Any] = Field(default_factory=dict)
    wall_s: float | None = None
    usage: Usage = Field(default_factory=Usage)
    expected: Expected | None = None
    ran: Ran | None = None


# --- failure analysis ---------------------------------------------------------------------


QUOTE = 300
"""The most characters of what an event or a piece of evidence quotes."""


@dataclass(slots=True)
class FailureEvent:
    """One located, normalised symptom in an episode. `step` is the index of a step that exists.

    `said` is what shows it: text, a result, or a call. Batches hold millions of events, of which
    few are quoted: only `quote` makes text of it.
    """

    kind: str
    component: str
    template: str
    step: int
    said: object

    @property
    def quote(self) -> str:
        said = self.said
        if isinstance(said, ToolStep):
            said = f"{said.name} {said.arguments}"
        return str(said)[:QUOTE]


class Evidence(Part):
    task_id: str
    trial: int
    step: int
    quote: str


class Contrast(Part):
    """How the pattern's presence goes with failing: one-sided exact p, or `"unavailable"`."""

    p_value: float | Literal["unavailable"]


class Attribution(Part):
    label: Label
    probability: float = Field(ge=0, le=1)
    reasons: list[str]


class Pattern(Part):
    """Failure events with the same key, across tasks.

    `tasks` and `models` are those whose failed episodes show it (a very long list of tasks is
    cut). They pass between the rooms only; the names that are printed are fixed.
    """

    key: str
    kind: str
    component: str
    template: str
    layer: Layer
    distinct_tasks: int
    failed_episodes: int
    passed_episodes: int
    failed_events: int
    passed_events: int
    contrast: Contrast
    attribution: Attribution
    promotion: Promotion
    evidence: list[Evidence]
    tasks: list[str] = Field(default_factory=list, exclude=True)
    models: list[str] = Field(default_factory=list, exclude=True)


class Diagnosis(Record):
    """What keeps going wrong in a batch: the answer of `ecdysis diagnose`.

    `unexplained` failed episodes have no event that counts. `residual` counts those in no pattern
    of two or more tasks by the reason: `no_steps`, `no_event`, `one_task_only`, `not_followed`.
    """

    episodes: int
    failed: int
    invalid: int
    unexplained: int
    residual: dict[str, int] = Field(default_factory=dict)
    sources: list[str]
    models: list[str]
    patterns: list[Pattern]


# --- modification spec and verdict --------------------------------------------------------


class Edit(Part):
    """One typed edit. Which of the optional fields an `op` needs is said by `edit/`."""

    op: str
    file: str
    target: str = ""
    code: str = ""
    anchor: str = ""
    why: str = ""


class ModificationSpec(Record):
    """Edits, and what they are meant to do."""

    title: str = Field(min_length=1)
    pattern: str
    layer: Layer
    hypothesis: str
    predicted_fixes: list[str] = Field(default_factory=list)
    risk_tasks: list[str] = Field(default_factory=list)
    applicability: str = ""
    origin: str
    edits: list[Edit] = Field(min_length=1)


class Inference(Part):
    """What an episode costs on average, with the control and with the candidate."""

    tokens_before: float | None = None
    tokens_after: float | None = None
    calls_before: float | None = None
    calls_after: float | None = None
    seconds_before: float | None = None
    seconds_after: float | None = None


class OtherModel(Part):
    """Control against candidate with another model: tasks passed, and which flipped.

    `p_value` is that of a loss as large as this by chance; a gain has none.
    """

    model: str
    tasks: int
    before: float
    after: float
    fixed: list[str] = Field(default_factory=list)
    broken: list[str] = Field(default_factory=list)
    p_value: float | None = None


class Accommodation(Part):
    """Which edits serve only the tasks that they were derived from.

    `acted` says for each edit on how many of `other_tasks`, from which it was not derived, it
    acted. `narrow` are the positions of edits, from 0, that acted on none of them, or that hold
    values of tasks. `ratio` is the narrow ones' share of all edits. `shrunk` says what the
    edits take away from what the harness could do, `flags` what in them looks like a task.
    """

    edits: int = 0
    other_tasks: int = 0
    acted: list[int] = Field(default_factory=list)
    narrow: list[int] = Field(default_factory=list)
    ratio: float | None = None
    shrunk: list[str] = Field(default_factory=list)
    flags: list[str] = Field(default_factory=list)


class Cost(Part):
    model_calls: int = 0
    tokens: int = 0
    wall_s: float = 0.0


class Verdict(Record):
    """What the gate says of a candidate. A rejection is a value, not an exception."""

    decision: Decision
    reason: str
    fixed: list[str] = Field(default_factory=list)
    broken: list[str] = Field(default_factory=list)
    noise_band: float | None = None
    p_value: float | None = None
    tasks: int = 0
    trials: int = 0
    activated: list[bool] = Field(default_factory=list)
    accommodation: Accommodation | None = None
    reused: int = 0
    rerun: int = 0
    diverged: int = 0
    cost: Cost = Field(default_factory=Cost)
    inference: Inference = Field(default_factory=Inference)
    other_models: list[OtherModel] = Field(default_factory=list)
    needed_tasks: int | None = None


RECORD_TYPES: dict[str, type[Record]] = {
    "episode": Episode,
    "task": Task,
    "spec": ModificationSpec,
    "verdict": Verdict,
    "diagnosis": Diagnosis,
}
"""What `ecdysis schema NAME` can print."""
