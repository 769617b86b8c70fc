"""The spec that undoes a spec: applied to what that one gives, it brings the old bytes back."""

from __future__ import annotations

import base64
from collections.abc import Sequence

from bot.edit.apply import Applied, apply_spec, ask_worker, read_edits, read_files
from bot.edit.paths import EditablePaths
from bot.edit.reading import Reader
from bot.edit.refusal import Refusal, Refused
from bot.records import Edit, ModificationSpec


def undo_spec(
    spec: ModificationSpec,
    read: Reader,
    *,
    editable: Sequence[str],
    protected: Sequence[str],
    python: str,
    allow: Sequence[str] = (),
) -> ModificationSpec | Refusal:
    """The edits that lead from what the spec gives back to the files that `read` gives.

    Refused where the spec is, and `unsupported` where an edit has no inverse: one that dropped a
    comment, say, which no operation brings back; or where there is nothing to undo.
    """

    def apply(wanted: ModificationSpec, reader: Reader) -> Applied | Refusal:
        return apply_spec(
            wanted, reader, editable=editable, protected=protected, python=python, allow=allow
        )

    applied = apply(spec, read)
    if isinstance(applied, Refusal):
        return applied
    try:
        fields = read_edits(spec, EditablePaths(editable, protected))
        files = read_files(fields, read)
        answer = ask_worker(
            {
                "undo": True,
                "files": {path: base64.b64encode(c).decode() for path, c in files.items()},
                "edits": [
                    {"op": edit.op} | edited.model_dump()
                    for edit, edited in zip(spec.edits, fields, strict=True)
                ],
            }
        )
        edits = [Edit.model_validate(_said(edit)) for edit in answer["edits"]]
        if not edits:
            raise Refused("unsupported", "The spec changes nothing here: nothing is to be undone.")
        undoing = spec.model_copy(
            update={
                "title": f"Undo: {spec.title}",
                "hypothesis": "",
                "predicted_fixes": [],
                "risk_tasks": [],
                "edits": edits,
            }
        )
        result = apply(undoing, {**files, **applied.files}.get)
        if isinstance(result, Refusal):
            message = f"The edits that undo the spec are refused: {result.message}"
            raise Refused("unsupported", message)
        if {**files, **applied.files, **result.files} != files:
            raise Refused("unsupported", "The edits that undo the spec give other bytes.")
    except Refused as refused:
        return Refusal(refused.kind, refused.message, refused.edit)
    return undoing


def _said(fields: dict[str, object]) -> dict[str, object]:
    return {name: value for name, value in fields.items() if value is not None}
