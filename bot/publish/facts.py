"""What a pull request tells: plain values, gathered by who may look at git and at the lineage."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from bot.records import ModificationSpec, Pattern, Verdict

ISOLATED = ("bubblewrap", "landlock")
"""Levels at which a harness cannot reach outside its own copy."""


@dataclass(frozen=True)
class Place:
    """A line of a diff as a review comment names it; `side` is RIGHT for what is new."""

    path: str
    line: int
    side: str = "RIGHT"


@dataclass(frozen=True)
class HunkFacts:
    """One hunk of a repair: its diff, and a sentence for each edit behind it.

    `place` is where a comment on it stands in the diff of the whole generation; None where a
    later repair rewrote it.
    """

    file: str
    header: str
    lines: Sequence[str]
    reasons: Sequence[str]
    place: Place | None = None


@dataclass(frozen=True)
class Alternative:
    """Another spec for the same pattern, and why it was rejected."""

    title: str
    origin: str
    reason: str


@dataclass(frozen=True)
class RepairFacts:
    """One commit of the generation. `spec` and `pattern` are None in a clone without notes."""

    commit: str
    title: str
    explanation: str
    trailers: dict[str, str]
    spec: ModificationSpec | None = None
    pattern: Pattern | None = None
    hunks: Sequence[HunkFacts] = ()
    objections: Sequence[str] = ()
    alternatives: Sequence[Alternative] = ()

    @property
    def key(self) -> str:
        """The pattern that it answers."""
        return self.pattern.key if self.pattern else self.trailers.get("Pattern", "unknown")


@dataclass(frozen=True)
class GenerationFacts:
    """One generation, ready to be written down. `base`, `commit`, `tree` are object names.

    `target` is the branch that the pull request is for; `stacked_on` the number of the pull
    request whose branch that is.
    """

    number: int
    branch: str
    base: str
    commit: str
    tree: str
    target: str
    repairs: Sequence[RepairFacts]
    figures: dict[str, str]
    verdict: Verdict | None = None
    stacked_on: int | None = None
    quotes: bool = True
    reported_by: str | None = None
    notes: Sequence[str] = field(default_factory=list)

    @property
    def sandbox(self) -> str:
        return self.figures.get("Sandbox", "unknown")


def weaknesses(facts: GenerationFacts) -> list[str]:
    """Why the evidence is weak, in sentences; any of them makes the pull request a draft."""
    found = []
    if facts.sandbox not in ISOLATED:
        found.append(
            f"The episodes ran at the isolation level {facts.sandbox}, which does not keep a "
            "harness from what lies outside its own copy."
        )
    verdict = facts.verdict
    if verdict is None and "Score" not in facts.figures:
        found.append("There are no figures for exactly these repairs.")
    if verdict is not None:
        if verdict.decision != "accept":
            found.append(f"The gate's decision is {verdict.decision}.")
        if verdict.activated and not all(verdict.activated):
            found.append("Some edited lines never ran in any episode.")
        of = verdict.accommodation
        if of is not None and of.edits and len(of.narrow) == of.edits:
            found.append("Every edit serves only the tasks that it was derived from.")
        if of is not None and of.shrunk:
            found.append("The edits take away something that the harness could do.")
        if "self-reported" in verdict.reason:
            found.append("The world's state is what the harness itself reported.")
    p_value = as_float(facts.figures.get("P-Value"))
    if p_value is not None and p_value > 0.05:
        found.append(f"The probability of such a gain by chance is {p_value:g}, above 0.05.")
    net = net_gain(facts)
    band = as_float(facts.figures.get("Noise-Band"))
    if net is not None and band is not None and net <= band:
        found.append(f"The net gain of {net:+g} lies inside the noise band of {band:g}.")
    if any(repair.spec is None for repair in facts.repairs):
        found.append("A repair's spec is not known here, so it cannot be applied again.")
    return found


def net_gain(facts: GenerationFacts) -> float | None:
    """Fixed minus broken hidden tasks; None where it is not known."""
    fixed, broken = (as_float(facts.figures.get(name)) for name in ("Fixed", "Broken"))
    return None if fixed is None or broken is None else fixed - broken


def as_float(text: str | None) -> float | None:
    """The number that a trailer holds; None for anything else: trailers can be edited."""
    try:
        value = float(text or "")
    except ValueError:
        return None
    return value if abs(value) < float("inf") else None


LABEL = "ecdysis"
WEAK = "ecdysis: weak evidence"
LABELS = {
    LABEL: ("5b8c5a", "A generation of the harness, made by the Ecdysis bot"),
    WEAK: ("d4a72c", "Isolation or evidence is weak: read the first lines"),
    "ecdysis: undetermined": ("bfbfbf", "Harness or model: the batch could not tell"),
    "ecdysis: environment-contract": ("c5def5", "What the model is told about the world"),
    "ecdysis: procedural-skill": ("c5def5", "How a task is to be done"),
    "ecdysis: action-realization": ("c5def5", "How what the model means becomes an action"),
    "ecdysis: trajectory-regulation": ("c5def5", "How a run goes on, stops or starts again"),
}
"""Label → colour and description."""


def choose_labels(facts: GenerationFacts) -> list[str]:
    """The labels of a generation, all of them keys of `LABELS`."""
    wanted = [LABEL, *([WEAK] if weaknesses(facts) else [])]
    for repair in facts.repairs:
        wanted.append(f"ecdysis: {repair.trailers.get('Layer', '')}")
        wanted.append(f"ecdysis: {repair.trailers.get('Attribution', '').partition(' ')[0]}")
    return [name for name in dict.fromkeys(wanted) if name in LABELS]
