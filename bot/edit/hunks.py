"""Which edit of a spec is behind each hunk of a diff."""

from __future__ import annotations

import base64
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from difflib import SequenceMatcher

from unidiff.errors import UnidiffParseError
from unidiff.patch import PatchSet

from bot.edit.apply import ask_worker, encoded, said
from bot.edit.refusal import Refused
from bot.edit.schema import read_fields
from bot.records import ModificationSpec


@dataclass(frozen=True)
class Hunk:
    """A hunk of a diff. `edits` are positions in the spec, from 0; empty: none of them did this."""

    file: str
    header: str
    lines: list[str]
    edits: list[int]


@dataclass(frozen=True)
class Origins:
    """Of one file's lines, counted from 1: which edits removed the old, which made the new."""

    removed: dict[int, int] = field(default_factory=dict)
    added: dict[int, int] = field(default_factory=dict)


def explain_diff(
    diff: str, spec: ModificationSpec | None, read: Callable[[str], bytes | None]
) -> list[Hunk]:
    """The hunks of a git diff, in its order, each with the edits that are behind it.

    `read` gives the files as they were. Where there is no spec, or its edits cannot be made on
    these files, no hunk has an edit.
    """
    origins = trace_edits(spec, read) if spec is not None else {}
    hunks = []
    try:
        patches = PatchSet(diff)
    except UnidiffParseError:
        return []
    for patch in patches:
        known = origins.get(patch.path, Origins())
        for hunk in patch:
            edits: dict[int, None] = {}
            for line in hunk:
                place = line.target_line_no if line.is_added else line.source_line_no
                of = known.added if line.is_added else known.removed if line.is_removed else {}
                if place in of:
                    edits[of[place]] = None
            text = str(hunk).rstrip("\n").split("\n")
            hunks.append(Hunk(patch.path, text[0], text[1:], sorted(edits)))
    return hunks


def trace_edits(
    spec: ModificationSpec, read: Callable[[str], bytes | None]
) -> Mapping[str, Origins]:
    """File → the origins of its changed lines, when the spec is applied edit by edit."""
    files = {edit.file: read(edit.file) for edit in spec.edits}
    try:
        fields = [read_fields(edit.op, edit) for edit in spec.edits]
        answer = ask_worker({"files": encoded(files), "edits": said(spec, fields), "steps": True})
    except (Refused, KeyError):
        return {}
    origins: dict[str, Origins] = {}
    # A line of the present state: its number in the file as it was, or the edit that made it.
    state: dict[str, list[tuple[bytes, int | None, int | None]]] = {}
    for position, (edit, step) in enumerate(zip(spec.edits, answer["steps"], strict=True)):
        if edit.file not in state:
            lines = (files[edit.file] or b"").splitlines(keepends=True)
            state[edit.file] = [(line, i + 1, None) for i, line in enumerate(lines)]
        found = origins.setdefault(edit.file, Origins())
        now = base64.b64decode(step).splitlines(keepends=True)
        state[edit.file] = _follow(state[edit.file], now, position, found)
    for path, lines_now in state.items():
        for number, (_, _, maker) in enumerate(lines_now, start=1):
            if maker is not None:
                origins[path].added[number] = maker
    return origins


def _follow(
    before: list[tuple[bytes, int | None, int | None]],
    now: list[bytes],
    position: int,
    found: Origins,
) -> list[tuple[bytes, int | None, int | None]]:
    matcher = SequenceMatcher(None, [line for line, _, _ in before], now, autojunk=False)
    after: list[tuple[bytes, int | None, int | None]] = []
    for kind, a, b, c, d in matcher.get_opcodes():
        if kind == "equal":
            after += before[a:b]
            continue
        for _, number, _ in before[a:b]:
            if number is not None:
                found.removed[number] = position
        after += [(line, None, position) for line in now[c:d]]
    return after
