"""The child process that makes the edits: deep or huge code may kill it, and not the bot.

Reads one JSON request on standard input, `{"files": {path: base64}, "edits": [fields with op]}`,
and writes one JSON answer: `{"files": {path: base64}, "changed": [bool], "unread": why or ""}`,
or `{"kind", "message", "edit"}` for a refusal. With `steps` it answers `edit_in_steps`, with
`undo` `undo_edits`; with `old` and `new` instead of `files` it says the edits again for another
revision.
"""

from __future__ import annotations

import base64
import gc
import json
import sys
import threading
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from bot.edit.documents import Document

STACK = 512 << 20
RECURSION = 200_000


def apply_edits(files: dict[str, bytes], edits: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """The answer to a request; files that change, in base64.

    The edits are made twice: on the files, and on what came out, which must change nothing more
    or be refused. So a spec can be applied again without harm.
    """
    from bot.edit.refusal import Refused

    changed: list[bool] = []
    try:
        opened = _open_all(files, edits)
        edited = _edit(opened, edits, changed)
        results = _contents(files, opened, edited, edits, changed)
    except Refused as refused:
        return {"kind": refused.kind, "message": refused.message, "edit": refused.edit}
    answer = {
        "files": {
            path: base64.b64encode(content).decode()
            for path, content in results.items()
            if content != files[path]
        },
        "changed": changed,
        "unread": "",
    }
    repeated: list[bool] = []
    try:
        reread = {path: document.read_back() for path, document in edited.items()}
    except Refused as refused:
        answer["unread"] = refused.message
        return answer
    try:
        again = _edit(reread, edits, repeated)
    except Refused:
        return answer
    if _contents(results, reread, again, edits, repeated) != results:
        return {
            "kind": "conflict",
            "message": "Applied a second time, this edit would change the file again; give it an "
            "anchor that its own code does not make.",
            "edit": repeated.index(True),
        }
    return answer


def _open_all(files: dict[str, bytes], edits: Sequence[dict[str, Any]]) -> dict[str, Document]:
    from bot.edit.refusal import Refused

    documents: dict[str, Document] = {}
    for position, raw in enumerate(edits):
        path = raw["file"]
        try:
            if path not in documents:
                documents[path] = _open(path, files[path], raw["op"])
        except Refused as refused:
            raise refused.at(position) from None
        except (RecursionError, MemoryError):
            raise Refused("too_large", f"{path} is nested too deep.", position) from None
    return documents


def _edit(
    opened: dict[str, Document], edits: Sequence[dict[str, Any]], changed: list[bool]
) -> dict[str, Document]:
    from libcst import CSTValidationError

    from bot.edit.operations import OPERATIONS
    from bot.edit.refusal import Refused
    from bot.edit.schema import SCHEMAS

    documents = dict(opened)
    for position, raw in enumerate(edits):
        path = raw["file"]
        document = documents[path]
        try:
            edit = SCHEMAS[raw["op"]].model_validate(raw)
            tree = OPERATIONS[raw["op"]](document.tree, edit)
        except Refused as refused:
            raise refused.at(position) from None
        except CSTValidationError as error:
            message = f"The edit does not fit into the code: {error}"
            raise Refused("would_not_compile", message, position) from None
        except (RecursionError, MemoryError):
            raise Refused("too_large", f"{path} is nested too deep.", position) from None
        changed.append(tree is not document.tree and tree != document.tree)
        if changed[-1]:
            documents[path] = document.with_tree(tree)
    return documents


def edit_in_steps(files: dict[str, bytes], edits: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """`{"steps": [base64]}`: the edited file after each of the edits; or the refusal."""
    from bot.edit.refusal import Refused

    steps: list[str] = []
    try:
        documents = _open_all(files, edits)
        for edit in edits:
            documents = _edit(documents, [edit], [])
            steps.append(base64.b64encode(documents[edit["file"]].content).decode())
    except Refused as refused:
        return {"kind": refused.kind, "message": refused.message, "edit": refused.edit}
    return {"steps": steps}


def undo_edits(files: dict[str, bytes], edits: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """`{"edits": [fields with op]}`: those that lead from what the edits give back to `files`."""
    from bot.edit.inverse import undo
    from bot.edit.refusal import Refused

    undoing: list[dict[str, Any]] = []
    try:
        documents = _open_all(files, edits)
        for position, edit in enumerate(edits):
            path, before = edit["file"], documents[edit["file"]]
            try:
                edited = _edit({path: before}, [edit], [])[path]
                if edited is not before:
                    documents[path] = _open(path, edited.content, edit["op"])
                    undoing[:0] = undo(before, documents[path], edit)
            except Refused as refused:
                raise refused.at(position) from None
    except Refused as refused:
        return {"kind": refused.kind, "message": refused.message, "edit": refused.edit}
    return {"edits": undoing}


def _contents(
    files: dict[str, bytes],
    opened: dict[str, Document],
    documents: dict[str, Document],
    edits: Sequence[dict[str, Any]],
    changed: Sequence[bool],
) -> dict[str, bytes]:
    """The bytes of the documents; those of a file whose document was not touched stay as given."""
    from bot.edit.refusal import Refused

    results: dict[str, bytes] = {}
    for path, document in documents.items():
        try:
            results[path] = files[path] if document is opened[path] else document.content
        except Refused as refused:
            mine = [i for i, raw in enumerate(edits) if raw["file"] == path and changed[i]]
            raise refused.at(mine[0] if len(mine) == 1 else -1) from None
    return results


def _open(path: str, content: bytes, op: str) -> Document:
    from bot.edit.documents import open_python, open_text

    if op == "edit_text":
        return open_text(path, content)
    return open_python(path, content)


def translate_edits(request: dict[str, Any]) -> dict[str, Any]:
    """The edits for another revision: `{"edits": [{"edit": position, "fields"}]}`.

    `request` has `old` and `new` files as `{path: base64}`, `moved` (old path → new path) and
    the edits.
    """
    from bot.edit.refusal import Refused
    from bot.edit.rewording import reword

    old, new = (_decoded(request[name]) for name in ("old", "new"))
    try:
        return {"edits": reword(old, new, request["moved"], request["edits"])}
    except Refused as refused:
        return {"kind": refused.kind, "message": refused.message, "edit": refused.edit}


def _decoded(files: dict[str, str]) -> dict[str, bytes]:
    return {path: base64.b64decode(text) for path, text in files.items()}


def answer_to(request: dict[str, Any]) -> dict[str, Any]:
    """The answer to any request."""
    if "old" in request:
        return translate_edits(request)
    files, edits = _decoded(request["files"]), request["edits"]
    if request.get("undo"):
        return undo_edits(files, edits)
    if request.get("steps"):
        return edit_in_steps(files, edits)
    return apply_edits(files, edits)


def main() -> None:
    request = json.load(sys.stdin)
    answer: dict[str, Any] = {}
    # A tree holds millions of objects and no cycles.
    gc.disable()

    def work() -> None:
        answer.update(answer_to(request))

    sys.setrecursionlimit(RECURSION)
    threading.stack_size(STACK)
    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    json.dump(answer, sys.stdout)


if __name__ == "__main__":
    main()
