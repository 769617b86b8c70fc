"""Apply a spec: all of its edits or none, without touching any file.

The harness's interpreter judges the files before and after; a child process makes the edits.
Either may die of what it is given without taking the bot along.
"""

from __future__ import annotations

import base64
import json
import os
import sys
from collections.abc import Collection, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any, get_args

from bot.edit.interpreter import HarnessInterpreter, Judgement, Source
from bot.edit.paths import EditablePaths
from bot.edit.reading import Reader
from bot.edit.refusal import Refusal, RefusalKind, Refused
from bot.edit.schema import Fields, read_fields
from bot.edit.text_dangers import text_dangers
from bot.records import ModificationSpec
from bot.sandbox import ProcessLimits, ResourceLimits, Sandbox

LARGEST_FILE = 1 << 20
MOST_EDITS = 200
WORKER_LIMITS = ProcessLimits(wall_s=10, memory_mb=2048, output_mb=64)


@dataclass(frozen=True)
class Applied:
    """`files` holds the new bytes of what changed; `changed[i]` is False where edit i was no-op."""

    files: dict[str, bytes]
    changed: list[bool]


def apply_spec(
    spec: ModificationSpec,
    read: Reader,
    *,
    editable: Sequence[str],
    protected: Sequence[str],
    python: str,
    allow: Sequence[str] = (),
) -> Applied | Refusal:
    """The files that the spec's edits give, in their order, or why they cannot be made.

    `read` gives a file's bytes, None where there is no regular file; `python` is the harness's
    interpreter; `allow` names the dangers that edits may bring, in the words of the refusal.
    Applied to its own result, a spec changes nothing, or is refused.
    """
    interpreter = HarnessInterpreter(python)
    try:
        fields = read_edits(spec, EditablePaths(editable, protected))
        files = read_files(fields, read)
        before, answer = _judge_and_edit(interpreter, spec, fields, files)
        changed = {path: base64.b64decode(text) for path, text in answer["files"].items()}
        _judge_after(interpreter, fields, files, changed, before, frozenset(allow))
        if answer["unread"]:
            raise Refused(
                "would_not_compile", f"What comes out is not read back: {answer['unread']}"
            )
    except Refused as refused:
        return Refusal(refused.kind, refused.message, refused.edit)
    return Applied(changed, list(answer["changed"]))


def is_python(path: str) -> bool:
    """Whether a file is edited as a syntax tree rather than as text."""
    return path.lower().endswith((".py", ".pyi", ".pyw"))


def read_edits(spec: ModificationSpec, paths: EditablePaths) -> list[Fields]:
    """The typed fields of each edit. Refused where one may not be, or lacks something."""
    if len(spec.edits) > MOST_EDITS:
        raise Refused("too_large", f"The spec holds {len(spec.edits)} edits, over {MOST_EDITS}.")
    fields = []
    for position, edit in enumerate(spec.edits):
        try:
            paths.check(edit.file)
            fields.append(read_fields(edit.op, edit))
            if sum(map(len, (edit.code, edit.anchor, edit.target))) > LARGEST_FILE:
                raise Refused("too_large", f"The edit holds over {LARGEST_FILE >> 20} MB.")
            if is_python(edit.file) == (edit.op == "edit_text"):
                raise Refused("unsupported", _wrong_kind(edit.op, edit.file))
        except Refused as refused:
            raise refused.at(position) from None
    return fields


def _wrong_kind(op: str, path: str) -> str:
    if op == "edit_text":
        return f"{path} is Python: use an operation on its syntax tree, not edit_text."
    return f"{path} is no Python file: {op} needs one; edit_text is for others."


def read_files(edits: Sequence[Fields], read: Reader) -> dict[str, bytes]:
    """The files that the edits name. Refused where one is not there, or is too large."""
    files: dict[str, bytes] = {}
    for position, edit in enumerate(edits):
        if edit.file in files:
            continue
        content = read(edit.file)
        if content is None:
            raise Refused("not_found", f"There is no file {edit.file}.", position)
        if len(content) > LARGEST_FILE:
            size = f"{len(content) / 1e6:.1f} MB"
            raise Refused(
                "too_large",
                f"{edit.file} has {size}; files over {LARGEST_FILE >> 20} MiB are not edited.",
                position,
            )
        files[edit.file] = content
    return files


def _judge_and_edit(
    interpreter: HarnessInterpreter,
    spec: ModificationSpec,
    edits: Sequence[Fields],
    files: dict[str, bytes],
) -> tuple[dict[str, Judgement], dict[str, Any]]:
    """The judgements of the files as they are, and the child's answer. Both work side by side.

    The interpreter's refusal comes first: what the parser says of such files is worth less.
    """
    sandbox = ResourceLimits()
    with ThreadPoolExecutor(1) as beside:
        answer = beside.submit(_run_worker, sandbox, spec, edits, files)
        try:
            before = _judge_before(interpreter, edits, files)
        except BaseException:
            sandbox.kill_all()
            raise
        return before, answer.result()


def _judge_before(
    interpreter: HarnessInterpreter,
    edits: Sequence[Fields],
    files: dict[str, bytes],
) -> dict[str, Judgement]:
    """Judgements of the Python files. Refused where one, or the code of an edit, does not parse."""
    paths = [path for path in files if is_python(path)]
    codes = [i for i, edit in enumerate(edits) if is_python(edit.file) and edit.code]
    judgements = interpreter.judge(
        [Source(files[path]) for path in paths]
        + [Source(_as_source(edits[i]), whole=False) for i in codes]
    )
    for path, judgement in zip(paths, judgements, strict=False):
        if not judgement.parses:
            first = next(i for i, edit in enumerate(edits) if edit.file == path)
            raise Refused("unparseable", f"{path} does not parse: {judgement.reason}.", first)
    for position, judgement in zip(codes, judgements[len(paths) :], strict=True):
        if not judgement.parses:
            kind = "expression" if edits[position].brings == "expression" else "code"
            raise Refused(
                "would_not_compile",
                f"The edit's {kind} does not parse: {judgement.reason}.",
                position,
            )
    return dict(zip(paths, judgements, strict=False))


def _as_source(edit: Fields) -> bytes:
    from bot.edit.dedent import dedent_code

    code = dedent_code(edit.code)
    if edit.brings == "decorator":
        code = f"{code}\ndef _(): pass" if code[:1] in "@#" else f"@{code}\ndef _(): pass"
    elif edit.brings == "parameter":
        code = f"def _(\n{code}\n): pass"
    elif edit.brings == "item":
        # Braces take `x`, `*x`, `key: value` and `**x`.
        code = f"{{{code}\n}}"
    elif edit.brings == "expression":
        # A comment at its end must not swallow the bracket.
        code = f"({code.strip()}\n)" if "#" in code else f"({code.strip()})"
    return code.encode("utf-8", "surrogatepass")


def _judge_after(
    interpreter: HarnessInterpreter,
    edits: Sequence[Fields],
    files: Mapping[str, bytes],
    changed: dict[str, bytes],
    before: dict[str, Judgement],
    allow: frozenset[str],
) -> None:
    for path, content in changed.items():
        if len(content) > LARGEST_FILE:
            raise Refused("too_large", f"The edits make {path} larger than 1 MiB.")
    for path in changed:
        if path not in before:
            new = increased(*text_dangers(path, files[path], changed[path]), allow)
            if new:
                raise Refused("dangerous", too_dangerous(path, new), _culprit(edits, path))
    paths = [path for path in changed if path in before]
    judgements = interpreter.judge([Source(changed[path]) for path in paths])
    for path, after in zip(paths, judgements, strict=True):
        old = before[path]
        if not after.parses or (old.compiles and not after.compiles):
            message = f"{path} would not compile: {after.reason}."
            raise Refused("would_not_compile", message, _culprit(edits, path))
        new = new_dangers(old, after, allow)
        if new:
            raise Refused("dangerous", too_dangerous(path, new), _culprit(edits, path))


def _culprit(edits: Sequence[Fields], path: str) -> int:
    """The edit of a file; -1 for several, as it is not known which one is at fault."""
    mine = [i for i, edit in enumerate(edits) if edit.file == path]
    return mine[0] if len(mine) == 1 else -1


def new_dangers(before: Judgement, after: Judgement, allow: Collection[str]) -> list[str]:
    """What is dangerous in a file and was not there, or not as often, and is not allowed."""
    return increased(before.dangers, after.dangers, allow)


def increased(
    before: Mapping[str, int], after: Mapping[str, int], allow: Collection[str]
) -> list[str]:
    """The dangers, what → how often, that are more than before and not allowed."""
    return sorted(
        what for what, times in after.items() if what not in allow and times > before.get(what, 0)
    )


def too_dangerous(path: str, new: Sequence[str]) -> str:
    """The sentence that refuses it, with what would allow it."""
    names = ", ".join(json.dumps(name, ensure_ascii=False) for name in new)
    return (
        f"The edits add to {path}: {', '.join(new)}. Repairs may not bring new ways to run code, "
        "reach the network or read secrets, but those that the harness's table names: "
        f"allow = [{names}]."
    )


def _run_worker(
    sandbox: Sandbox,
    spec: ModificationSpec,
    edits: Sequence[Fields],
    files: dict[str, bytes],
) -> dict[str, Any]:
    return ask_worker({"files": encoded(files), "edits": said(spec, edits)}, sandbox)


def encoded(files: Mapping[str, bytes | None]) -> dict[str, str]:
    """Files as the child process takes them; those that are not there left out."""
    return {
        path: base64.b64encode(content).decode()
        for path, content in files.items()
        if content is not None
    }


def said(spec: ModificationSpec, edits: Sequence[Fields]) -> list[dict[str, Any]]:
    """The edits of a spec as the child process takes them."""
    return [
        {"op": edit.op} | fields.model_dump()
        for edit, fields in zip(spec.edits, edits, strict=True)
    ]


def ask_worker(request: dict[str, Any], sandbox: Sandbox | None = None) -> dict[str, Any]:
    """The answer of the child process that parses and edits. Refused where it refuses, or dies."""
    done = (sandbox or ResourceLimits()).run(
        [sys.executable, "-m", "bot.edit.worker"],
        cwd=Path(__file__).resolve().parents[2],
        env={"PATH": os.environ.get("PATH", os.defpath), "PYTHONPATH": os.pathsep.join(sys.path)},
        limits=WORKER_LIMITS,
        stdin=json.dumps(request).encode(),
    )
    if done.timed_out:
        raise Refused("too_large", f"Editing takes over {WORKER_LIMITS.wall_s:.0f} s.")
    try:
        answer = json.loads(done.stdout)
    except ValueError:
        raise Refused(
            "too_large", "The code is nested too deep, or is too large, to be edited."
        ) from None
    assert isinstance(answer, dict)
    if "kind" not in answer:
        return answer
    known: tuple[RefusalKind, ...] = get_args(RefusalKind)
    kind: RefusalKind = next((kind for kind in known if kind == answer["kind"]), "unsupported")
    raise Refused(kind, str(answer["message"]), int(answer["edit"]))
