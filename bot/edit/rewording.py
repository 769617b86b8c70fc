"""All edits of a spec, said again for another revision: one after the other, as they are applied.

An import or a helper function goes along with the code that needs it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

import libcst as cst

from bot.edit.code import parse_statements
from bot.edit.documents import open_python
from bot.edit.following import Revision
from bot.edit.names import bound_names
from bot.edit.operations import OPERATIONS
from bot.edit.refusal import Refused
from bot.edit.schema import SCHEMAS
from bot.edit.structure import flatten
from bot.edit.translation import ADDITIONS, Fields, Translator


def reword(
    old: Mapping[str, bytes],
    new: Mapping[str, bytes],
    moved: Mapping[str, str],
    edits: Sequence[Fields],
) -> list[dict[str, Any]]:
    """`{"edit": position in `edits`, "fields": the edit now}`, in the order to apply them.

    Raises Refused, with the edit's position, for the first that cannot be said with certainty.
    """
    python = {edit["file"] for edit in edits if edit["op"] != "edit_text"}
    before = Revision({path: _parse(path, old[path]) for path in old if path in python})
    after = Revision(
        {
            path: _parse(path, content)
            for path, content in new.items()
            if path in python or path.endswith(".py")
        }
    )
    texts = {path for path in new if path not in after.modules}
    destinations = _destinations(before, after, moved, edits)
    said: list[dict[str, Any]] = []
    for position, edit in enumerate(edits):
        try:
            for fields in _say(before, after, moved, edit, destinations.get(position), texts):
                said.append({"edit": position, "fields": fields})
                _apply(after, fields)
            _apply(before, edit)
        except Refused as refused:
            raise refused.at(position) from None
        except (cst.CSTValidationError, RecursionError, MemoryError) as error:
            raise Refused("unsupported", f"It cannot be followed: {error}", position) from None
    return said


def _say(
    before: Revision,
    after: Revision,
    moved: Mapping[str, str],
    edit: Fields,
    destinations: set[str] | None,
    texts: set[str],
) -> list[Fields]:
    """The edit now; an import once for each file that needs it."""
    if edit["op"] == "edit_text":
        path = edit["file"] if edit["file"] in texts else moved.get(edit["file"], edit["file"])
        return [edit | {"file": path}]
    translator = Translator(before, after, moved)
    if not destinations or destinations == {translator.file(edit["file"])}:
        return [translator.translate(edit)]
    if edit["op"] != "add_import" and len(destinations) > 1:
        raise Refused("conflict", "What needs this code has moved to several files.")
    return [edit | {"file": path, "target": ""} for path in sorted(destinations)]


def _destinations(
    before: Revision, after: Revision, moved: Mapping[str, str], edits: Sequence[Fields]
) -> dict[int, set[str]]:
    """Position of an import or added function → the files that the code which needs it is in."""
    found: dict[int, set[str]] = {}
    translator = Translator(before, after, moved)
    for position, edit in enumerate(edits):
        if edit["op"] not in ADDITIONS:
            continue
        names = _brought(before.modules[edit["file"]], edit)
        for user in edits:
            others = set(re.findall(r"\w+", str(user.get("code", ""))))
            if user["op"] in ADDITIONS or user["file"] != edit["file"] or not names & others:
                continue
            places = translator.places(user)
            found.setdefault(position, set()).update(place.file for place in places[:1])
    return found


def _brought(module: cst.Module, edit: Fields) -> set[str]:
    try:
        statements = flatten(parse_statements(edit["code"], module))
    except Refused:
        return set()
    return {name for statement in statements for name in bound_names(statement)}


def _apply(revision: Revision, edit: Fields) -> None:
    if edit["op"] == "edit_text" or edit["file"] not in revision.modules:
        return
    schema = SCHEMAS[edit["op"]].model_validate(edit)
    revision.put(edit["file"], OPERATIONS[edit["op"]](revision.modules[edit["file"]], schema))


def _parse(path: str, content: bytes) -> cst.Module:
    return open_python(path, content).tree
