"""What a report shows of a repository, as plain values: whoever has the history fills them in."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from bot.records import FORMAT_VERSION


@dataclass(frozen=True)
class Score:
    """Tasks passed of `tasks` hidden ones, by the harness before a generation and by it."""

    before: float
    after: float
    tasks: int


@dataclass(frozen=True)
class ExplainedHunk:
    """A hunk of a repair's diff, and why it is there: one sentence for each edit behind it."""

    file: str
    header: str
    lines: Sequence[str]
    reasons: Sequence[str]


@dataclass(frozen=True)
class ReportedRepair:
    """One commit; `missing` says in a sentence why its diff is not there."""

    commit: str
    title: str
    diagnosis: str
    pattern: str
    attribution: str
    layer: str
    origin: str
    tasks: int | None
    predicted_fixes: Sequence[str]
    hunks: Sequence[ExplainedHunk] = ()
    missing: str = ""


@dataclass(frozen=True)
class ReportedGeneration:
    """One generation with its figures; what was not recorded is None.

    `parent` is the generation that it stands on. `fixed` and `broken` name hidden tasks, and are
    None where only their number is known. `activated` is the share of its edits that ran,
    `accommodation` of those that serve only the tasks they were derived from, as `4/5`. The
    tokens `before` and `after` are those of an episode, on average.
    """

    generation: int
    branch: str
    commit: str
    when: int
    parent: int | None
    status: str
    score: Score | None
    fixed: Sequence[str] | None
    broken: Sequence[str] | None
    fixed_count: int | None
    broken_count: int | None
    noise_band: float | None
    p_value: float | None
    trials: int | None
    sandbox: str
    activated: str
    accommodation: str
    model_calls: int | None
    tokens: int | None
    wall_s: float | None
    tokens_before: float | None
    tokens_after: float | None
    repairs: Sequence[ReportedRepair]


@dataclass(frozen=True)
class ReportedRejection:
    """A candidate that was not accepted; `base` is the generation or commit it was tried on."""

    title: str
    pattern: str
    origin: str
    reason: str
    kind: str
    when: int
    base: str


@dataclass(frozen=True)
class Sighting:
    """A pattern in a train batch.

    `generation` is the one that was made from the batch, None where none was made yet;
    `answered`: it holds a repair of this pattern.
    """

    pattern: str
    generation: int | None
    tasks: int
    answered: bool


@dataclass(frozen=True)
class Chronicle:
    """Everything a report shows; generations oldest first, rejected candidates newest first."""

    repository: str
    generations: Sequence[ReportedGeneration]
    rejected: Sequence[ReportedRejection]
    sightings: Sequence[Sighting]
    test_reads: int = 0
    missing: Sequence[str] = field(default_factory=list)

    @property
    def repairs(self) -> int:
        return sum(len(generation.repairs) for generation in self.generations)

    def as_record(self) -> dict[str, Any]:
        """What `--json` prints."""
        return {"format_version": FORMAT_VERSION, **asdict(self)}
