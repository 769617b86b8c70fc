"""What the edits of a candidate do while it runs: activation and accommodation.

`evolve` says which specs made a candidate before its episodes are run; then what ran in them
becomes a refusal, or figures of the verdict. The rooms do the work: `edit/` says which lines are
whose, `batch/` watches them, `gate/` judges.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from bot.batch.run import Runner
from bot.config import HarnessTable
from bot.edit.hunks import Origins, trace_edits
from bot.edit.reading import read_commit
from bot.gate.accommodation import (
    EditEvidence,
    acting_lines,
    measure_accommodation,
    shrunk_actions,
)
from bot.gate.activation import (
    Activation,
    EditLines,
    find_activation,
    lines_of_edit,
    refuse_inactive,
)
from bot.gate.task_values import find_flags
from bot.git.repository import Repository
from bot.records import Edit, Episode, ModificationSpec, Pattern, Task, Verdict

Source = tuple[ModificationSpec, Pattern]


@dataclass(frozen=True)
class _Watched:
    """A candidate: the tree it was made of, its edits in order, and the lines of each."""

    base: str
    edits: Sequence[tuple[Edit, EditLines, EditEvidence]]


@dataclass
class Observation:
    """Candidates by tree. `train` are the tasks that specs may be derived from."""

    repository: Repository
    runner: Runner
    table: HarnessTable
    train: Sequence[Task]
    _watched: dict[str, _Watched] = field(default_factory=dict)
    # Edits (as JSON) that were proven active on the train split, and their episodes there.
    _proven: set[str] = field(default_factory=set)
    _episodes: dict[str, list[Episode]] = field(default_factory=dict)

    def watch(self, base: str, candidate: str, sources: Sequence[Source]) -> None:
        """From now on, episodes of `candidate`, made of `base` by the specs, say what ran.

        Those of `base` are watched alike, for what it costs: it may not tip a comparison.
        """
        edits = [edit for spec, _ in sources for edit in spec.edits]
        derived = [_derived_from(*source) for source in sources for _ in source[0].edits]
        whole = sources[0][0].model_copy(update={"edits": edits})
        origins = trace_edits(whole, read_commit(self.repository, base))
        files = {edit.file for edit in edits}
        before, after = (self.repository.read_files(tree, files) for tree in (base, candidate))
        known = self._known_text(base)
        watched = []
        for position, edit in enumerate(edits):
            lines = _lines_of(edit, position, origins, before, after)
            acting = {file: acting_lines(after.get(file, b""), at) for file, at in lines.items()}
            added = edit.code or _added_text(lines, after)
            flags = find_flags(added, known=known, tasks=self.train)
            watched.append((edit, lines, EditEvidence(acting, derived[position], flags)))
        self._watched[candidate] = _Watched(base, watched)
        self.runner.watch(base, dict.fromkeys(files, ()))
        self.runner.watch(
            candidate,
            {
                file: {n for _, lines, _ in watched for n in lines.get(file, ())}
                for file in {file for _, lines, _ in watched for file in lines}
            },
        )

    def refuse(self, candidate: str, episodes: Sequence[Episode]) -> str | None:
        """One sentence where an edit of the candidate ran in none of its train episodes."""
        watched = self._watched[candidate].edits
        activations = [find_activation(lines, episodes) for _, lines, _ in watched]
        for (edit, _, _), activation in zip(watched, activations, strict=True):
            if activation.proven:
                self._proven.add(edit.model_dump_json())
        self._episodes[candidate] = list(episodes)
        return refuse_inactive([edit for edit, _, _ in watched], activations)

    def fill(
        self,
        verdict: Verdict,
        candidate: str,
        control: Sequence[Episode],
        changed: Sequence[Episode],
    ) -> None:
        """`activated` and `accommodation` of a verdict, from the hidden tasks' two arms."""
        of = self._watched[candidate]
        activations = [find_activation(lines, changed) for _, lines, _ in of.edits]
        verdict.activated = [
            activation.proven or edit.model_dump_json() in self._proven
            for (edit, _, _), activation in zip(of.edits, activations, strict=True)
        ]
        files = {edit.file for edit, _, _ in of.edits}
        texts = [
            {
                path: content.decode("utf-8", "replace")
                for path, content in self.repository.read_files(tree, files).items()
            }
            for tree in (of.base, candidate)
        ]
        verdict.accommodation = measure_accommodation(
            [evidence for _, _, evidence in of.edits],
            [*changed, *self._episodes.get(candidate, ())],
            shrunk_actions(control, changed, *texts),
        )
        verdict.reason += _say(verdict, activations)

    def _known_text(self, tree: str) -> str:
        splits = set(self.table.splits.paths().values())
        files = self.repository.read_files(tree)
        return "\n".join(
            content.decode("utf-8", "replace")
            for path, content in files.items()
            if path not in splits
        )


def _derived_from(spec: ModificationSpec, pattern: Pattern) -> frozenset[str]:
    evidence = {item.task_id for item in pattern.evidence}
    return frozenset({*pattern.tasks, *evidence, *spec.predicted_fixes})


def _lines_of(
    edit: Edit,
    position: int,
    origins: Mapping[str, Origins],
    before: dict[str, bytes],
    after: dict[str, bytes],
) -> dict[str, list[int]]:
    """File → lines of one edit there."""
    found = {}
    for file, of in origins.items():
        added = [line for line, maker in of.added.items() if maker == position]
        removed = [line for line, maker in of.removed.items() if maker == position]
        lines = lines_of_edit(added, removed, before.get(file, b""), after.get(file, b""))
        if lines:
            found[file] = lines
    return found


def _added_text(lines: EditLines, after: dict[str, bytes]) -> str:
    pieces = []
    for file, numbers in lines.items():
        text = after.get(file, b"").decode("utf-8", "replace").splitlines()
        pieces += [text[number - 1] for number in numbers if number <= len(text)]
    return "\n".join(pieces)


def _say(verdict: Verdict, activations: Sequence[Activation]) -> str:
    """What the verdict's sentence adds: only what a reviewer must know."""
    said = ""
    unproven = [n for n, proven in enumerate(verdict.activated, 1) if not proven]
    if unproven:
        seen = any(activations[n - 1].level != "unknown" for n in unproven)
        why = "ran in no watched episode" if seen else "could not be watched"
        said += f" Edit {', '.join(map(str, unproven))} {why}."
    of = verdict.accommodation
    if of is not None and of.narrow:
        numbers = ", ".join(str(position + 1) for position in of.narrow)
        said += f" Edit {numbers} serves only the tasks it was derived from."
    if of is not None and of.shrunk:
        said += f" {' '.join(of.shrunk)}"
    return said
