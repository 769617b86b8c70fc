"""The gate for any two revisions of a harness: what `evolve` does with a candidate of its own."""

from __future__ import annotations

from dataclasses import dataclass, field

from unidiff.patch import PatchSet

from bot.config import PathGlobs
from bot.display import count
from bot.edit.review import review_files
from bot.evolve import check_code
from bot.gate.paired_test import Comparison, compare
from bot.hidden import compare_hidden
from bot.records import Verdict
from bot.workshop import Workshop, arm

ALPHA = 0.05


@dataclass
class Gated:
    """The verdict, the train split beside it, and what a reader must know of both."""

    verdict: Verdict
    train: Comparison | None = None
    notes: list[str] = field(default_factory=list)


def gate_revisions(shop: Workshop, before: str, after: str) -> Gated:
    """Everything that decides on a candidate, for the trees `before` and `after`.

    The table, the tasks, the scorer and the environment are those of `before`.
    """
    differing = _changed(shop, before, after)
    if not differing:
        return Gated(Verdict(decision="reject", reason="The two revisions hold the same files."))
    kept = PathGlobs(shop.table.never_edited())
    changed = [path for path in differing if not kept.match(path)]
    ignored = [path for path in differing if kept.match(path)]
    gated = Gated(Verdict(decision="reject", reason=""), notes=_notes(shop, changed, ignored))
    if not changed:
        gated.verdict.reason = "The revisions differ only in files that no candidate may change."
        return gated
    patch = _difference(shop, before, after, changed)
    refusal = _static(shop, before, after, changed, patch)
    if refusal is not None:
        gated.verdict.reason = refusal
        return gated
    shop.observation.watch_difference(before, after, patch)
    control = shop.run_train(before)
    candidate = shop.run_train(after)
    gated.train = compare(arm(control), arm(candidate), shop.table.trials)
    gated.verdict, _ = compare_hidden(shop, before, after, level=ALPHA)
    return gated


def _changed(shop: Workshop, before: str, after: str) -> list[str]:
    listed = shop.repository.git("diff", "--name-only", "--no-renames", "-z", before, after)
    return [path for path in listed.split("\0") if path]


def _notes(shop: Workshop, changed: list[str], ignored: list[str]) -> list[str]:
    """What differs and has no part in the comparison, or is more than a candidate may change."""
    notes = []
    if ignored:
        notes.append(
            f"{count(len(ignored), 'file')} that no candidate may change differ, and those of the "
            f"first revision are used: {', '.join(ignored[:5])}{', …' * (len(ignored) > 5)}."
        )
    editable = PathGlobs(shop.table.editable)
    outside = [path for path in changed if not editable.match(path)]
    if outside:
        notes.append(
            f"{count(len(outside), 'file')} outside the editable paths differ: "
            f"{', '.join(outside[:5])}{', …' * (len(outside) > 5)}."
        )
    return notes


def _difference(shop: Workshop, before: str, after: str, changed: list[str]) -> PatchSet:
    """What differs in the files, in one form whatever the user's settings for `git diff` say."""
    return PatchSet(
        shop.repository.git(
            "diff",
            "--no-color",
            "--no-ext-diff",
            "--no-textconv",
            "--no-renames",
            "--no-relative",
            "--submodule=short",
            "--src-prefix=a/",
            "--dst-prefix=b/",
            "--inter-hunk-context=0",
            "-U0",
            before,
            after,
            "--",
            *changed,
        )
    )


def _static(
    shop: Workshop, before: str, after: str, changed: list[str], patch: PatchSet
) -> str | None:
    read = shop.repository.read_files
    old, new = read(before, changed), read(after, changed)
    refusal = review_files(old, new, python=str(shop.runner.python), allow=shop.table.allow)
    if refusal is not None:
        return refusal
    added = "".join(line.value for file in patch for hunk in file for line in hunk if line.is_added)
    files = [file.path for file in patch if file.path in new]
    objection = check_code(shop, before, after, files, added)
    return objection.reason if objection else None
