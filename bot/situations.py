"""What to work on, and what is proposed for it: from a train batch to proposals."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial

from bot.cluster.diagnosis import diagnose
from bot.cluster.events import failure_events, pattern_key
from bot.config import HarnessTable
from bot.diagnose.catalog import Situation, propose
from bot.display import count
from bot.records import Diagnosis, Episode, Expected, Pattern, Task
from bot.workshop import Proposal, Workshop, expectation, flatten


def find_situations(shop: Workshop, tree: str) -> list[Situation]:
    """What a generation on `tree` would work on: the promoted patterns of its train split."""
    episodes = flatten(shop.run_train(tree))
    return [
        situation_of(shop, pattern, episodes, partial(shop.read_open, tree))
        for pattern in promoted(shop, diagnose_train(shop, episodes))
    ]


def diagnose_train(shop: Workshop, episodes: list[Episode]) -> Diagnosis:
    """The patterns of a train batch; they are told."""
    diagnosis = diagnose(episodes, expected=train_expectations(shop))
    tell_diagnosis(shop, diagnosis)
    return diagnosis


def tell_diagnosis(shop: Workshop, diagnosis: Diagnosis) -> None:
    shop.tell(
        f"{diagnosis.failed} of {diagnosis.episodes} train episodes fail "
        f"({diagnosis.invalid} invalid, {diagnosis.unexplained} unexplained)"
    )
    for pattern in diagnosis.patterns[:5]:
        shop.tell(
            f"  {count(pattern.distinct_tasks, 'task')}: {pattern.key} "
            f"[{pattern.attribution.label} {pattern.attribution.probability:.2f}, "
            f"{pattern.promotion}]"
        )


def train_expectations(shop: Workshop) -> dict[str, Expected]:
    return {task.task_id: expectation(task) for task in shop.splits["train"]}


def situation_of(
    shop: Workshop,
    pattern: Pattern,
    episodes: list[Episode],
    read: Callable[[str], bytes | None],
) -> Situation:
    """A pattern of the train split with all that who looks for its repair may see."""
    tasks = {task.task_id: task for task in shop.splits["train"]}
    return make_situation(
        pattern, episodes, train_expectations(shop), table=shop.table, tasks=tasks, read=read
    )


def make_situation(
    pattern: Pattern,
    episodes: Sequence[Episode],
    expected: Mapping[str, Expected],
    *,
    table: HarnessTable,
    tasks: Mapping[str, Task],
    read: Callable[[str], bytes | None],
) -> Situation:
    """A pattern of a batch with the failed episodes that show it."""
    return Situation(
        pattern=pattern,
        episodes=episodes,
        showing=[e for e in episodes if e.outcome == "fail" and places(e, pattern, expected)],
        table=table,
        read=read,
        tasks=tasks,
        at=partial(places, pattern=pattern, expected=expected),
    )


def proposals(situation: Situation, heard: Mapping[str, Proposal] | None) -> Iterator[Proposal]:
    """What the catalog proposes for a pattern, or what its panel said, where panels were asked."""
    if heard is None:
        for name, answer in propose(situation):
            yield Proposal(name, answer)
    elif situation.pattern.key in heard:
        yield heard[situation.pattern.key]


def promoted(shop: Workshop, diagnosis: Diagnosis) -> list[Pattern]:
    """The patterns to work on; the others are reported as left, with the reason."""
    chosen = []
    for pattern in diagnosis.patterns:
        if pattern.promotion in ("repair", "trial"):
            chosen.append(pattern)
        elif pattern.failed_episodes:
            reasons = "; ".join(pattern.attribution.reasons[:2])
            shop.report.leave(pattern, f"Not promoted ({pattern.promotion}): {reasons}.")
    return chosen


def places(episode: Episode, pattern: Pattern, expected: Mapping[str, Expected]) -> set[int]:
    """The steps of an episode at which events of the pattern are."""
    events = failure_events(episode, expected.get(episode.task_id))
    return {event.step for event in events if pattern_key(event) == pattern.key}
