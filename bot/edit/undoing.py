"""The spec that undoes a spec: applied to what that one gives, it brings the old bytes back."""

from __future__ import annotations

from collections.abc import Sequence

from bot.edit.apply import Applied, apply_spec, ask_worker, encoded, read_edits, read_files, said
from bot.edit.paths import EditablePaths
from bot.edit.reading import Reader
from bot.edit.refusal import Refusal, Refused
from bot.records import Edit, ModificationSpec


def undo_spec(
    spec: ModificationSpec,
    applied: Applied,
    read: Reader,
    *,
    editable: Sequence[str],
    protected: Sequence[str],
    python: str,
    allow: Sequence[str] = (),
) -> ModificationSpec | Refusal:
    """The edits that lead from what the spec gives, `applied`, back to the files of `read`.

    Refused (unsupported) where an edit has no inverse, one that opened a line into a block, say;
    or where there is nothing to undo.
    """
    try:
        fields = read_edits(spec, EditablePaths(editable, protected))
        files = read_files(fields, read)
        request = {"files": encoded(files), "edits": said(spec, fields), "undo": True}
        answer = ask_worker(request)
        edits = [Edit.model_validate(_given(edit)) for edit in answer["edits"]]
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
        result = apply_spec(
            undoing,
            {**files, **applied.files}.get,
            editable=editable,
            protected=protected,
            python=python,
            allow=allow,
        )
        if isinstance(result, Refusal):
            message = f"The edits that undo the spec are refused: {result.message}"
            raise Refused("unsupported", message)
        if {**files, **applied.files, **result.files} != files:
            raise Refused("unsupported", "The edits that undo the spec give other bytes.")
    except Refused as refused:
        return Refusal(refused.kind, refused.message, refused.edit)
    return undoing


def _given(fields: dict[str, object]) -> dict[str, object]:
    return {name: value for name, value in fields.items() if value is not None}
