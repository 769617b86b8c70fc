"""What `ecdysis pr` tells of a generation, gathered from commits, notes and rejected candidates."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from bot.commands.repair_diff import diff_of, explain
from bot.records import Pattern, Verdict

if TYPE_CHECKING:
    from bot.git.repository import Repository
    from bot.lineage.generations import Generation, Repair
    from bot.lineage.rejected import RejectedCandidate
    from bot.publish.facts import GenerationFacts, HunkFacts, RepairFacts

_OBJECTION = re.compile(r"Objection \(")
_NOT_DONE = re.compile(r"Not done: ")
_EVIDENCE = re.compile(r"  \S.* step \d+   |  \.\.\. and \d+ more")


def gather(
    repository: Repository, generation: Generation, *, target: str, **more: Any
) -> GenerationFacts:
    """The facts of a generation; `more` are fields that git alone does not know."""
    from bot.lineage.evidence import read_note
    from bot.lineage.rejected import list_rejected
    from bot.publish.facts import GenerationFacts

    notes = [read_note(repository, repair.commit) or {} for repair in generation.repairs]
    rejected = list_rejected(repository)
    verdict = read_verdict(notes[-1]) if "Fixed" in generation.figures else None
    facts: dict[str, Any] = {
        "number": generation.number,
        "branch": generation.branch,
        "base": generation.base or "",
        "commit": generation.commit,
        "tree": repository.tree_of(generation.commit),
        "target": target,
        "repairs": [
            gather_repair(repository, generation, repair, note, rejected)
            for repair, note in zip(generation.repairs, notes, strict=True)
        ],
        "figures": generation.figures,
        "verdict": verdict,
    }
    return GenerationFacts(**{**facts, **more})


def gather_repair(
    repository: Repository,
    generation: Generation,
    repair: Repair,
    note: Mapping[str, Any],
    rejected: list[RejectedCandidate],
) -> RepairFacts:
    from bot.lineage.evidence import stored_spec
    from bot.publish.facts import Alternative, RepairFacts

    explanation, objections, not_done = split_body(repair.message.body)
    trailers = repair.message.trailers
    alternatives = [Alternative(text, "the panel", "") for text in not_done]
    alternatives += [
        Alternative(one.title, one.origin, one.reason)
        for one in rejected
        if one.pattern == trailers.get("Pattern") and one.digest != trailers.get("Spec")
    ]
    return RepairFacts(
        commit=repair.commit,
        title=repair.message.title,
        explanation=explanation,
        trailers=trailers,
        spec=stored_spec(note),
        pattern=read_pattern(note),
        hunks=gather_hunks(repository, generation, repair),
        objections=objections,
        alternatives=alternatives,
    )


def split_body(body: str) -> tuple[str, list[str], list[str]]:
    """The explanation of a commit, the objections in it, and what was not done.

    The lines of evidence are left out: the notes hold more of it.
    """
    kept, objections, not_done = [], [], []
    for paragraph in body.split("\n\n"):
        lines = paragraph.split("\n")
        text = " ".join(paragraph.split())
        if _OBJECTION.match(text):
            objections.append(text.removeprefix("Objection "))
        elif _NOT_DONE.match(text):
            not_done += _NOT_DONE.sub("", text).split("; ")
        elif not all(_EVIDENCE.match(line) for line in lines):
            kept.append(paragraph)
    return "\n\n".join(kept), objections, not_done


def gather_hunks(repository: Repository, generation: Generation, repair: Repair) -> list[HunkFacts]:
    """The hunks of one repair with their reasons, and where they are in the whole diff."""
    from bot.publish.comments import commentable_lines, find_place
    from bot.publish.facts import HunkFacts

    diff = diff_of(repository, generation, repair.commit)
    explained = explain(repository, generation, repair, diff)
    if not explained or generation.base is None:
        return []
    whole = commentable_lines(whole_diff(repository, generation.base, generation.commit))
    paths = {hunk.file for hunk, _ in explained}
    after = repository.read_files(repair.commit, paths)
    at_last = repository.read_files(generation.commit, paths)
    return [
        HunkFacts(
            hunk.file,
            hunk.header,
            hunk.lines,
            reasons,
            find_place(
                hunk.file,
                hunk.lines,
                hunk.header,
                (_lines(after.get(hunk.file)), _lines(at_last.get(hunk.file))),
                whole,
            ),
        )
        for hunk, reasons in explained
    ]


def whole_diff(repository: Repository, base: str, commit: str) -> str:
    """The diff of a whole generation."""
    return repository.git(
        *("diff-tree", "-r", "-p", "-M", "--no-color", "--no-ext-diff", "--no-textconv"),
        *("--end-of-options", base, commit),
    )


def _lines(content: bytes | None) -> list[str]:
    return (content or b"").decode("utf-8", "replace").split("\n")


def read_pattern(note: Mapping[str, Any]) -> Pattern | None:
    try:
        return Pattern.model_validate(note.get("pattern"))
    except ValueError:
        return None


def read_verdict(note: Mapping[str, Any]) -> Verdict | None:
    try:
        return Verdict.model_validate(note.get("verdict"))
    except ValueError:
        return None
