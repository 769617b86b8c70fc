"""What the edits of a candidate do while it runs: activation and accommodation.

`evolve` says which specs made a candidate before its episodes are run; then what ran in them
becomes a refusal, or figures of the verdict. The rooms do the work: `edit/` says which lines are
whose, `batch/` watches them, `gate/` judges.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from unidiff.patch import Line, PatchSet

from bot.batch.run import Runner
from bot.config import HarnessTable
from bot.edit.hunks import Origins, trace_edits
from bot.edit.reading import read_commit
from bot.gate.accommodation import (
    Acts,
    EditEvidence,
    acting_lines,
    find_acts,
    measure_accommodation,
    shrunk_actions,
)
from bot.gate.activation import (
    EditLines,
    find_activation,
    lines_of_edit,
    refuse_inactive,
)
from bot.gate.task_values import Flag, find_flags
from bot.git.repository import Repository
from bot.records import Edit, Episode, ModificationSpec, Pattern, Task, Verdict
from bot.visible import known_text

Source = tuple[ModificationSpec, Pattern]


@dataclass(frozen=True)
class _WatchedEdit:
    """An edit of a candidate: its lines there, and those of them that run only where it acts.

    None where it is not known which lines are its own.
    """

    edit: Edit
    lines: EditLines | None
    acting: EditLines | None
    derived_from: frozenset[str]
    flags: Sequence[Flag]

    @property
    def key(self) -> str:
        return self.edit.model_dump_json()


@dataclass
class Observation:
    """Candidates by tree. `train` are the tasks that specs may be derived from."""

    repository: Repository
    runner: Runner
    table: HarnessTable
    train: Sequence[Task]
    # Candidate → the tree it was made of, and its edits in their order.
    _watched: dict[str, tuple[str, list[_WatchedEdit]]] = field(default_factory=dict)
    _revisions: set[str] = field(default_factory=set)  # candidates that no spec made
    # Of each edit (its key): whether it was proven active on the train split, and where it acted.
    _proven: dict[str, bool] = field(default_factory=dict)
    _acts: dict[str, Acts] = field(default_factory=dict)

    def watch(self, base: str, candidate: str, sources: Sequence[Source]) -> None:
        """From now on, episodes of `candidate`, made of `base` by the specs, say what ran.

        Those of `base` are watched alike, for what it costs: it may not tip a comparison.
        """
        edits = [(edit, source) for source in sources for edit in source[0].edits]
        files = {edit.file for edit, _ in edits}
        whole = sources[0][0].model_copy(update={"edits": [edit for edit, _ in edits]})
        origins = trace_edits(whole, read_commit(self.repository, base))
        before, after = (self.repository.read_files(tree, files) for tree in (base, candidate))
        known = known_text(self.repository, self.table, base)
        watched = []
        for position, (edit, source) in enumerate(edits):
            lines = _lines_of(position, origins, before, after)
            flags = find_flags(edit.code or _text(lines, after), known=known, tasks=self.train)
            acting = {file: acting_lines(after[file], at) for file, at in lines.items()}
            is_known = bool(origins)
            watched.append(
                _WatchedEdit(
                    edit,
                    lines if is_known else None,
                    acting if is_known else None,
                    _derived_from(*source),
                    flags,
                )
            )
        self._watched[candidate] = base, watched
        self.runner.watch(base, dict.fromkeys(files, ()))
        together: dict[str, set[int]] = {}
        for one in watched:
            for file, numbers in (one.lines or {}).items():
                together.setdefault(file, set()).update(numbers)
        self.runner.watch(candidate, together)

    def watch_difference(self, base: str, candidate: str, patch: PatchSet) -> None:
        """The same for two revisions: each hunk of their difference is an edit of nobody's."""
        files = {file.path for file in patch}
        before, after = (self.repository.read_files(tree, files) for tree in (base, candidate))
        watched, together = [], dict[str, list[int]]()
        for file in patch:
            for hunk in file:
                added = [line.target_line_no or 0 for line in hunk if line.is_added]
                removed = [line.source_line_no or 0 for line in hunk if line.is_removed]
                old, new = before.get(file.path, b""), after.get(file.path, b"")
                lines = lines_of_edit(added, removed, old, new) if file.path in after else []
                edit = Edit(op="change", file=file.path, code="".join(map(_value, hunk)))
                at = {file.path: lines} if lines else {}
                watched.append(_WatchedEdit(edit, at, at, frozenset(), ()))
                together.setdefault(file.path, []).extend(lines)
        self._watched[candidate] = base, watched
        self._revisions.add(candidate)
        self.runner.watch(base, dict.fromkeys(files, ()))
        self.runner.watch(candidate, together)

    def refuse(self, candidate: str, episodes: Sequence[Episode]) -> str | None:
        """One sentence where an edit of the candidate ran in none of its train episodes."""
        _, watched = self._watched[candidate]
        activations = [find_activation(one.lines, episodes) for one in watched]
        for one, activation in zip(watched, activations, strict=True):
            self._proven[one.key] = activation.proven
            self._acts[one.key] = find_acts(one.acting, episodes)
        return refuse_inactive([one.edit for one in watched], activations)

    def fill(
        self,
        verdict: Verdict,
        candidate: str,
        control: Sequence[Episode],
        changed: Sequence[Episode],
    ) -> None:
        """`activated` and `accommodation` of a verdict, from the hidden tasks' two arms."""
        base, watched = self._watched[candidate]
        verdict.activated = [
            self._proven.get(one.key, False) or find_activation(one.lines, changed).proven
            for one in watched
        ]
        if candidate in self._revisions:
            verdict.reason += _say(verdict)
            return  # a person's change is derived from no task that we know of
        files = {one.edit.file for one in watched}
        texts = [
            {
                path: content.decode("utf-8", "replace")
                for path, content in self.repository.read_files(tree, files).items()
            }
            for tree in (base, candidate)
        ]
        verdict.accommodation = measure_accommodation(
            [
                EditEvidence(
                    one.derived_from,
                    self._acts.get(one.key, Acts()) | find_acts(one.acting, changed),
                    one.flags,
                )
                for one in watched
            ],
            shrunk_actions(control, changed, *texts),
        )
        verdict.reason += _say(verdict)


def _value(line: Line) -> str:
    return str(line.value) if line.is_added else ""


def _derived_from(spec: ModificationSpec, pattern: Pattern) -> frozenset[str]:
    evidence = {item.task_id for item in pattern.evidence}
    return frozenset({*pattern.tasks, *evidence, *spec.predicted_fixes})


def _lines_of(
    position: int,
    origins: Mapping[str, Origins],
    before: Mapping[str, bytes],
    after: Mapping[str, bytes],
) -> dict[str, list[int]]:
    """File → lines of one edit there."""
    found = {}
    for file, of in origins.items():
        added = [line for line, maker in of.added.items() if maker == position]
        removed = [line for line, maker in of.removed.items() if maker == position]
        lines = lines_of_edit(added, removed, before.get(file, b""), after.get(file, b""))
        if lines and file in after:
            found[file] = lines
    return found


def _text(lines: EditLines, after: Mapping[str, bytes]) -> str:
    """What stands on the lines."""
    pieces = []
    for file, numbers in lines.items():
        text = after[file].splitlines()
        pieces += [text[number - 1] for number in numbers if number <= len(text)]
    return b"\n".join(pieces).decode("utf-8", "replace")


def _say(verdict: Verdict) -> str:
    """What the verdict's sentence adds: only what a reviewer must know."""
    said = ""
    unproven = [n for n, proven in enumerate(verdict.activated, 1) if not proven]
    if unproven:
        said += f" It is not proven that edit {_numbers(unproven)} ran."
    of = verdict.accommodation
    if of is not None and of.narrow:
        numbers = _numbers([position + 1 for position in of.narrow])
        said += f" Edit {numbers} serves only the tasks it was derived from."
    if of is not None and of.shrunk:
        said += f" {' '.join(of.shrunk)}"
    return said


def _numbers(numbers: Sequence[int]) -> str:
    return ", ".join(map(str, numbers))
