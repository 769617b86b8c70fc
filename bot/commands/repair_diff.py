"""The diff of a repair, and the reasons of the edits behind each of its hunks."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from bot.edit.hunks import Hunk
    from bot.git.repository import Repository
    from bot.lineage.generations import Generation, Repair
    from bot.records import ModificationSpec

DIFF = ("diff-tree", "-r", "-p", "-M", "--no-color", "--no-ext-diff", "--no-textconv")


def diff_of(repository: Repository, generation: Generation, commit: str) -> list[str]:
    """The lines of a repair's diff; one sentence where its parent is not in this clone."""
    parent = parent_of(generation, commit)
    if parent is None or parent not in repository.read_commits([parent]):
        return ["The commit below this repair is not in this clone: git fetch --unshallow"]
    return unified_diff(repository, parent, commit)


def unified_diff(repository: Repository, old: str, new: str) -> list[str]:
    """The lines of the diff between two commits or trees, without colours and foreign programs."""
    text = repository.git(*DIFF, "--end-of-options", old, new)
    return text.split("\n") if text else []


def unified_diffs(repository: Repository, parents: Mapping[str, str]) -> dict[str, list[str]]:
    """Commit → the lines of the diff from its parent, of all of `parents` in one call."""
    asked = "".join(f"{commit} {parent}\n" for commit, parent in parents.items())
    diffs: dict[str, list[str]] = {commit: [] for commit in parents}
    if not asked:
        return diffs
    lines: list[str] = []
    for line in repository.git(*DIFF, "--stdin", input=asked.encode()).split("\n"):
        # Every line of a diff itself begins with a mark or a word of git's.
        lines = diffs.get(line, lines)
        if line not in diffs:
            lines.append(line)
    return diffs


def parent_of(generation: Generation, commit: str) -> str | None:
    """The commit below a repair; None where a shallow clone ends before it."""
    place = generation.commits.index(commit)
    return generation.commits[place - 1] if place else generation.base


def explain(
    repository: Repository,
    generation: Generation,
    repair: Repair,
    diff: list[str],
    *,
    note: Mapping[str, Any] | None = None,
    traced: bool = True,
) -> list[tuple[Hunk, list[str]]]:
    """The hunks of a repair's diff, each with the reasons of the edits behind it.

    `note` is the repair's, where it was read already. With `traced` False every edit of a file
    counts as being behind each of its hunks: quick, and exact where a file has but one.
    """
    from bot.edit.hunks import explain_diff
    from bot.lineage.evidence import read_note, stored_spec

    parent = parent_of(generation, repair.commit)
    if parent is None or not diff or not diff[0].startswith("diff "):
        return []
    spec = stored_spec((read_note(repository, repair.commit) if note is None else note) or {})
    if spec is None or traced:
        found = explain_diff("\n".join(diff), spec, lambda path: repository.read_file(parent, path))
    else:
        of_file: dict[str, list[int]] = {}
        for number, edit in enumerate(spec.edits):
            of_file.setdefault(edit.file, []).append(number)
        found = [
            replace(hunk, edits=of_file.get(hunk.file, []))
            for hunk in explain_diff("\n".join(diff), None, lambda path: None)
        ]
    return [(hunk, reasons(hunk, spec, repair)) for hunk in found]


def reasons(hunk: Hunk, spec: ModificationSpec | None, repair: Repair) -> list[str]:
    """One sentence for each edit behind a hunk; the pattern stands at the end of the last."""
    pattern = repair.message.trailers.get("Pattern", "")
    answers = f" [{pattern}]" if pattern else ""
    if spec is None:
        return [f"{repair.message.title}{answers}"]
    if not hunk.edits:
        return ["Not by an edit of the spec: a person's change, or an older version of the bot."]
    said = []
    for number in hunk.edits:
        edit = spec.edits[number]
        where = f" in {edit.target}" if edit.target else ""
        why = edit.why or spec.title
        said.append(f"edit {number + 1} of {len(spec.edits)}, {edit.op}{where}: {why}")
    said[-1] += answers
    return said
