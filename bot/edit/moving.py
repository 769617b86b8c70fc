"""A spec on a base that has moved since the spec was made.

Where the files are the same, the spec is applied as it is. Otherwise each edit is said again for
the new base (`translation`), and the spec that comes of it is applied with all the usual checks.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from bot.edit.apply import Applied, apply_spec, ask_worker, encoded, is_python, read_edits, said
from bot.edit.paths import EditablePaths
from bot.edit.reading import Reader
from bot.edit.refusal import Refusal, Refused
from bot.records import ModificationSpec

MOST_SEARCHED = 60  # files that a function may have moved to
LARGEST_SEARCHED = 200_000  # bytes


@dataclass(frozen=True)
class Reapplied:
    """`spec` is what was applied to the new base: the given one, or what it has become there."""

    spec: ModificationSpec
    applied: Applied


def reapply_spec(
    spec: ModificationSpec,
    read_base: Reader,
    read: Reader,
    *,
    editable: Sequence[str],
    protected: Sequence[str],
    python: str,
    allow: Sequence[str] = (),
    moved: Mapping[str, str] | None = None,
    files: Iterable[str] = (),
) -> Reapplied | Refusal:
    """Apply a spec that was made on one revision (`read_base`) to another one (`read`).

    `moved` leads from old paths to new ones; `files` are the new revision's, among which a
    function is looked for that is gone from its file. What cannot be followed with certainty is
    refused.
    """
    moved = moved or {}
    rules = {"editable": editable, "protected": protected}

    def apply(some: ModificationSpec, reader: Reader) -> Applied | Refusal:
        return apply_spec(some, reader, **rules, python=python, allow=allow)

    wanted = spec
    try:
        drifted = [e.file for e in spec.edits if read(e.file) != read_base(e.file)]
        # What cannot be made on its own base says nothing about where it belongs.
        if drifted and isinstance(apply(spec, read_base), Applied):
            wanted = _follow(spec, read_base, read, moved, files, rules)
    except Refused as refused:
        return Refusal(refused.kind, refused.message, refused.edit)
    applied = apply(wanted, read)
    return applied if isinstance(applied, Refusal) else Reapplied(wanted, applied)


def _follow(
    spec: ModificationSpec,
    read_base: Reader,
    read: Reader,
    moved: Mapping[str, str],
    files: Iterable[str],
    rules: Mapping[str, Sequence[str]],
) -> ModificationSpec:
    """The spec for the new base; what is gone from its file is looked for in the others."""
    touched = list(dict.fromkeys(edit.file for edit in spec.edits))
    try:
        return _translate(spec, read_base, read, moved, touched, rules)
    except Refused as refused:
        if refused.kind != "not_found":
            raise
    found = _search(spec, read, files, EditablePaths(rules["editable"], rules["protected"]))
    return _translate(spec, read_base, read, moved, [*touched, *found], rules)


def _translate(
    spec: ModificationSpec,
    read_base: Reader,
    read: Reader,
    moved: Mapping[str, str],
    paths: Sequence[str],
    rules: Mapping[str, Sequence[str]],
) -> ModificationSpec:
    """The spec in the words of the new base. Refused where it cannot be said there."""
    old = {path: read_base(path) for path in dict.fromkeys(edit.file for edit in spec.edits)}
    new = {path: read(path) for path in [*paths, *(moved[p] for p in old if p in moved)]}
    fields = read_edits(spec, EditablePaths(rules["editable"], rules["protected"]))
    answer = ask_worker(
        {
            "old": encoded(old),
            "new": encoded(new),
            "moved": dict(moved),
            "edits": said(spec, fields),
        }
    )
    edits = [_said_again(spec, item) for item in answer["edits"]]
    return spec.model_copy(update={"edits": edits})


def _said_again(spec: ModificationSpec, item: Mapping[str, Any]) -> Any:
    original = spec.edits[item["edit"]]
    changes = {
        name: value
        for name, value in item["fields"].items()
        if getattr(original, name, None) != value
        and (value is not None or getattr(original, name, None) is not None)
    }
    kept = {name: value for name, value in original.model_dump().items() if name not in changes}
    return type(original).model_validate(
        kept | {name: value for name, value in changes.items() if value is not None}
    )


def _search(
    spec: ModificationSpec, read: Reader, files: Iterable[str], paths: EditablePaths
) -> list[str]:
    """Editable Python files that name what the spec's targets are called; any, if it has none."""
    names = {edit.target.rpartition(".")[2] for edit in spec.edits if edit.target}
    named = b"|".join(re.escape(name.encode()) for name in sorted(names))
    defined = re.compile(rb"\b(?:" + named + rb")\b" if named else b"")
    found: list[str] = []
    for path in files:
        if len(found) == MOST_SEARCHED:
            break
        if not is_python(path) or not paths.allows(path):
            continue
        content = read(path)
        if content and len(content) <= LARGEST_SEARCHED and defined.search(content):
            found.append(path)
    return found
