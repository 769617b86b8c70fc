"""The review that the bot leaves on its own pull request: one comment beside each hunk."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from difflib import SequenceMatcher
from typing import Any

from unidiff.errors import UnidiffParseError
from unidiff.patch import PatchSet

from bot.publish.facts import GenerationFacts, HunkFacts, Place
from bot.publish.markdown import code, prose, short_header

MOST_COMMENTS = 40
_MARKER = re.compile(r"<!-- ecdysis-review head=([0-9a-f]{40,64}) -->")


def find_place(
    path: str,
    lines: Sequence[str],
    header: str,
    files: tuple[Sequence[str], Sequence[str]],
    commentable: Mapping[str, set[tuple[str, int]]],
) -> Place | None:
    """Where a hunk of one repair stands in the diff of the whole generation.

    `files` are the lines of the file after the repair and after the generation; `commentable`
    maps a path to the (side, line) pairs of that whole diff. The last added line that is still
    there; None where none is, and for hunks that only remove.
    """
    match = re.match(r"@@ -\d+(?:,\d+)? \+(\d+)", header)
    if match is None:
        return None
    number, added = int(match.group(1)), []
    for line in lines:
        if line.startswith("+"):
            added.append(number)
        if line[:1] in ("+", " ", ""):
            number += 1
    after, at_last = files
    now: dict[int, int] = {}
    for a, b, size in SequenceMatcher(None, after, at_last, autojunk=False).get_matching_blocks():
        now |= {a + step + 1: b + step + 1 for step in range(size)}
    there = commentable.get(path, set())
    for line_number in reversed(added):
        if ("RIGHT", now.get(line_number, 0)) in there:
            return Place(path, now[line_number])
    return None


def commentable_lines(diff: str) -> dict[str, set[tuple[str, int]]]:
    """Path → (side, line) of every line of a diff that a review comment may name."""
    found: dict[str, set[tuple[str, int]]] = {}
    try:
        patches = PatchSet(diff)
    except UnidiffParseError:
        return {}
    for patch in patches:
        places = found.setdefault(patch.path, set())
        for line in (line for hunk in patch for line in hunk):
            if line.target_line_no:
                places.add(("RIGHT", line.target_line_no))
            elif line.source_line_no:
                places.add(("LEFT", line.source_line_no))
    return found


def write_review(facts: GenerationFacts) -> dict[str, Any]:
    """The fields of a review: a comment for each hunk with a place, the other hunks in the body."""
    comments: dict[Place, list[str]] = {}
    elsewhere: list[str] = []
    for number, repair in enumerate(facts.repairs, 1):
        for hunk in repair.hunks:
            said = _say(number, hunk)
            if hunk.place is not None and (hunk.place in comments or len(comments) < MOST_COMMENTS):
                comments.setdefault(hunk.place, []).append(said)
            else:
                elsewhere.append(f"- {code(hunk.file)} {code(short_header(hunk.header))}: {said}")
    body = [f"<!-- ecdysis-review head={facts.commit} -->", "Why each hunk is there."]
    if elsewhere:
        body += ["", "Hunks without a line of their own here:", "", *elsewhere[:MOST_COMMENTS]]
    return {
        "commit_id": facts.commit,
        "event": "COMMENT",
        "body": "\n".join(body),
        "comments": [
            {
                "path": place.path,
                "line": place.line,
                "side": place.side,
                "body": "\n\n".join(said),
            }
            for place, said in comments.items()
        ],
    }


def _say(number: int, hunk: HunkFacts) -> str:
    return f"Repair {number}. " + " ".join(prose(reason, 1000) for reason in hunk.reasons)


def reviewed_heads(reviews: Sequence[Mapping[str, Any]]) -> set[str]:
    """The commits that the bot has reviewed already."""
    matches = (_MARKER.match(str(review.get("body") or "")) for review in reviews)
    return {match.group(1) for match in matches if match}
