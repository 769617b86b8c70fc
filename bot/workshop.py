"""The bench that the method works at: repository, runner, tasks, journal, and what was found.

`evolve.py` is the method; here is what each of its steps uses.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from hashlib import sha256

from bot.batch.run import Job, Runner
from bot.batch.store import EpisodeStore
from bot.batch.tasks import Splits
from bot.config import HarnessTable
from bot.diagnose.catalog import NotApplicable, Situation
from bot.display import Progress
from bot.edit.apply import apply_spec
from bot.edit.reading import read_commit
from bot.edit.refusal import Refusal
from bot.gate.error_budget import ErrorBudget
from bot.gate.paired_test import Comparison
from bot.git.repository import Repository
from bot.lineage.generations import Generation
from bot.lineage.journal import Journal
from bot.lineage.rejected import record_rejected
from bot.observation import Observation
from bot.records import (
    Episode,
    Expected,
    Inference,
    ModificationSpec,
    OtherModel,
    Pattern,
    Task,
    Verdict,
)
from bot.visible import read_open

Results = dict[str, list[Episode]]
"""Task id → its episodes, one a trial."""


@dataclass(frozen=True)
class Proposal:
    """A spec, or why there is none; `words` are what was said for and against it."""

    by: str
    answer: ModificationSpec | NotApplicable
    words: str = ""
    transcript: str = ""


@dataclass(frozen=True)
class Change:
    """A spec that applied: the tree it gave, and what the train split says of it."""

    spec: ModificationSpec
    pattern: Pattern
    tree: str
    explanation: str
    transcript: str = ""
    observed_fixes: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class Rejection:
    title: str
    pattern: str
    reason: str


@dataclass(frozen=True)
class Left:
    """A pattern that nothing was done about, and why."""

    pattern: str
    label: str
    reason: str


@dataclass(frozen=True)
class Accepted:
    generation: Generation
    changes: list[Change]
    verdict: Verdict


@dataclass(frozen=True)
class Decision:
    """What the gate says of a stack of changes: those it kept, and the comparison behind it."""

    kept: list[Change]
    verdict: Verdict
    comparison: Comparison


@dataclass(frozen=True)
class Undecided:
    """A repair for which the hidden tasks were too few, what was said of it."""

    change: Change
    reason: str


@dataclass
class Report:
    """What an `evolve` run did; `commands/evolve.py` prints it."""

    accepted: list[Accepted] = field(default_factory=list)
    rejected: list[Rejection] = field(default_factory=list)
    left: list[Left] = field(default_factory=list)  # of the newest batch
    seed_select: Fraction | None = None
    evolved_select: Fraction | None = None
    noise: float | None = None  # of the newest comparison
    test: Comparison | None = None
    test_p_value: float | None = None
    transfer: OtherModel | None = None  # seed against evolved on another model
    test_reads: int | None = None  # of the sealed split so far, this one included

    def leave(self, pattern: Pattern, reason: str) -> None:
        self.left.append(Left(pattern.key, pattern.attribution.label, reason))


@dataclass
class Workshop:
    """What every step needs: the repository, the runner, the tasks, the journal."""

    repository: Repository
    table: HarnessTable
    runner: Runner
    splits: Splits
    journal: Journal
    tell: Callable[[str], None]
    others: Sequence[Runner] = ()  # one for each other model
    # Asks a panel instead of the catalog; the tree, the generation's number, the situations.
    consult: Callable[[str, int, Sequence[Situation]], Mapping[str, Proposal]] | None = None
    errors: ErrorBudget = field(default_factory=ErrorBudget)
    report: Report = field(default_factory=Report)
    # Hidden task → gain of a second run of the unchanged harness over the first, in trials.
    noise: dict[str, int] = field(default_factory=dict)
    # Repairs that the hidden tasks were too few for: tried again together with later ones.
    undecided: list[Undecided] = field(default_factory=list)
    # Tree → origins of the specs that were tried on it and are not to be tried there again.
    tried: dict[str, set[str]] = field(default_factory=lambda: defaultdict(set))

    def __post_init__(self) -> None:
        train = self.splits["train"]
        self.observation = Observation(self.repository, self.runner, self.table, train)

    def hidden_tasks(self) -> list[Task]:
        """The select split in an order of its own: a part of it is like the whole."""
        return sorted(
            self.splits["select"], key=lambda task: sha256(task.task_id.encode()).digest()
        )

    def run(
        self,
        name: str,
        tasks: Sequence[Task],
        arms: Sequence[tuple[str, int]],
        *,
        what: str,
        runner: Runner | None = None,
    ) -> list[Results]:
        """Every task on every arm; an arm is (tree, first trial number). Interleaved.

        Episodes are journalled as they end, under `name`: a repeated call runs only what is
        missing. An invalid episode is run once more. `what` is shown meanwhile; `runner` is for
        another model than the harness's.
        """
        runner = runner or self.runner
        trials = self.table.trials
        jobs = [
            Job(tree, task, first + trial)
            for trial in range(trials)
            for turn, task in enumerate(tasks)
            # Each arm goes first equally often: the server's cache favours whoever comes second.
            for tree, first in (arms if turn % 2 == 0 else list(reversed(arms)))
        ]
        done: dict[tuple[str, str, int], Episode] = {}
        with (
            EpisodeStore(self.journal.folder / f"{name}.jsonl") as store,
            Progress(what, len(jobs)) as progress,
        ):
            for episode in store.valid_episodes():
                done[episode.harness, episode.task_id, episode.trial] = episode
            for _ in range(2):
                missing = [job for job in jobs if not _is_valid(done.get(job.key))]
                progress.update(len(jobs) - len(missing))
                for job, episode in runner.run(missing):
                    store.append(episode)
                    done[job.key] = episode
                    passed = sum(done[j.key].outcome == "pass" for j in jobs if j.key in done)
                    progress.advance(note=f"({passed} passed)")
        return [
            {
                task.task_id: [done[tree, task.task_id, first + trial] for trial in range(trials)]
                for task in tasks
            }
            for tree, first in arms
        ]

    def run_train(self, tree: str) -> Results:
        """The train split on one tree; each tree is run once in an `evolve` run."""
        (results,) = self.run(
            f"train-{tree[:16]}", self.splits["train"], [(tree, 0)], what="train tasks"
        )
        return results

    def read_open(self, tree: str, path: str) -> bytes | None:
        """A file of `tree` for who looks for a repair; None for the hidden and sealed tasks."""
        return read_open(self.repository, self.table, tree, path)

    def apply(self, tree: str, spec: ModificationSpec) -> str | Refusal:
        """The tree that the spec makes of `tree`; no file of the user's is touched."""
        applied = apply_spec(
            spec,
            read_commit(self.repository, tree),
            editable=self.table.editable,
            protected=self.table.never_edited(),
            python=str(self.runner.python),
            allow=self.table.allow,
        )
        if isinstance(applied, Refusal):
            return applied
        return self.repository.write_tree(tree, dict(applied.files))

    def restack(self, tree: str, changes: Sequence[Change]) -> list[Change] | None:
        """The changes on top of `tree`, one on another; None where one does not apply alone."""
        stacked: list[Change] = []
        for change in changes:
            result = self.apply(tree, change.spec)
            if isinstance(result, Refusal):
                self.reject(
                    tree, change.spec, f"It does not apply alone: {result.message}", "apply"
                )
                return None
            if result != tree:
                tree = result
                stacked.append(replace(change, tree=tree))
        return stacked or None

    def carry(self, tree: str) -> list[Change]:
        """The undecided repairs that still apply, stacked on `tree`; the others are rejected."""
        carried: list[Undecided] = []
        for undecided in self.undecided:
            stack = self.restack(tree, [*(u.change for u in carried), undecided.change])
            if stack is not None and len(stack) == len(carried) + 1:
                carried.append(replace(undecided, change=stack[-1]))
        self.undecided = carried
        return [undecided.change for undecided in carried]

    def leave_undecided(self, changes: Sequence[Change], reason: str) -> None:
        """The hidden tasks are too few for these: kept to be tried with later ones."""
        known = {undecided.change.spec.origin: undecided for undecided in self.undecided}
        known |= {change.spec.origin: Undecided(change, reason) for change in changes}
        self.undecided = list(known.values())

    def are_undecided(self, changes: Sequence[Change]) -> bool:
        """Whether all of these were found undecidable before."""
        known = {undecided.change.spec.origin for undecided in self.undecided}
        return all(change.spec.origin in known for change in changes)

    def settle_undecided(self, decision: Decision) -> None:
        """What a decision accepts is undecided no more."""
        kept = {change.spec.origin for change in decision.kept}
        self.undecided = [u for u in self.undecided if u.change.spec.origin not in kept]

    def reject(self, tree: str, spec: ModificationSpec, reason: str, kind: str) -> None:
        """A rejected candidate is kept, with its spec and reason, so that it is not forgotten.

        `kind` says which check refused it: `apply`, `static`, `train` or `hidden`.
        """
        self.tell(f"Rejected: {spec.title}. {reason}")
        self.report.rejected.append(Rejection(spec.title, spec.pattern, reason))
        base = self.journal.base
        record_rejected(
            self.repository, tree=tree, spec=spec, reason=reason, base_commit=base, kind=kind
        )


def expectation(task: Task) -> Expected:
    """What a native task expects, as far as failure analysis can use it."""
    expected = task.expected if isinstance(task.expected, dict) else {}
    answer = expected.get("answer")
    if isinstance(answer, float):
        answer = f"{answer:g}"
    return Expected(actions=expected.get("actions"), answer=None if answer is None else str(answer))


def flatten(results: Results) -> list[Episode]:
    return [episode for episodes in results.values() for episode in episodes]


def measure_inference(control: Results, changed: Results) -> Inference:
    """What an episode costs in each arm, on average over its valid episodes."""
    before, after = _mean_costs(control), _mean_costs(changed)
    return Inference(
        tokens_before=before["tokens"],
        tokens_after=after["tokens"],
        calls_before=before["calls"],
        calls_after=after["calls"],
        seconds_before=before["seconds"],
        seconds_after=after["seconds"],
    )


def _mean_costs(results: Results) -> dict[str, float | None]:
    valid = [episode for episode in flatten(results) if episode.outcome != "invalid"]
    if not valid:
        return dict.fromkeys(("tokens", "calls", "seconds"))
    sums = {
        "tokens": sum(
            (e.usage.prompt_tokens or 0) + (e.usage.completion_tokens or 0) for e in valid
        ),
        "calls": sum(e.usage.model_calls or 0 for e in valid),
        "seconds": sum(e.wall_s or 0.0 for e in valid),
    }
    return {name: round(total / len(valid), 2) for name, total in sums.items()}


def arm(results: Results) -> dict[str, list[bool | None]]:
    """Task id → did its trials pass; None for an invalid one."""
    return {
        task: [None if e.outcome == "invalid" else e.outcome == "pass" for e in episodes]
        for task, episodes in results.items()
    }


def _is_valid(episode: Episode | None) -> bool:
    return episode is not None and episode.outcome != "invalid"
