"""Apply a spec: all of its edits or none, without touching any file."""

from __future__ import annotations

import base64
import json
import os
import sys
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, get_args

from bot.config import PathGlobs
from bot.edit.dangerous import new_dangers
from bot.edit.refusal import Refusal, RefusalKind
from bot.records import Edit, ModificationSpec
from bot.sandbox import ProcessLimits, choose_sandbox

LARGEST_FILE = 1 << 20
MOST_EDITS = 200
# What each operation needs beside op and file. The operations themselves live in `operations/`,
# which only the child process imports.
NEEDS: dict[str, tuple[str, ...]] = {
    "add_function": ("code",),
    "add_import": ("code",),
    "insert_statements": ("code",),
    "replace_expression": ("anchor", "code"),
    "replace_function_body": ("target", "code"),
    "set_constant": ("target", "code"),
}
_CHECK = """
import json, sys, warnings
warnings.simplefilter("ignore")
source = sys.stdin.buffer.read()
try:
    compile(source, "harness", "exec", dont_inherit=True)
    print("{}")
except SyntaxError as error:
    print(json.dumps({"line": error.lineno, "message": error.msg}))
except (ValueError, RecursionError, MemoryError, OverflowError) as error:
    print(json.dumps({"line": None, "message": str(error) or type(error).__name__}))
"""


@dataclass(frozen=True)
class Applied:
    """`files` holds the new bytes of what changed; `changed[i]` is False where edit i was no-op."""

    files: dict[str, bytes]
    changed: list[bool]


def apply_spec(
    spec: ModificationSpec,
    read: Callable[[str], bytes | None],
    *,
    editable: Sequence[str],
    protected: Sequence[str],
    python: str,
) -> Applied | Refusal:
    """The files that the spec's edits give, in their order, or why they cannot be made.

    `read` gives a file's bytes; `python` is the harness's interpreter, which judges the syntax
    before and after. A second application is a no-op or a refusal.
    """
    if len(spec.edits) > MOST_EDITS:
        return Refusal("too_large", f"The spec holds {len(spec.edits)} edits, over {MOST_EDITS}.")
    files: dict[str, bytes] = {}
    for position, edit in enumerate(spec.edits):
        refusal = _check_edit(edit, position, PathGlobs(editable), PathGlobs(protected))
        if refusal is not None:
            return refusal
        if edit.file in files:
            continue
        content = read(edit.file)
        if content is None:
            return Refusal("not_found", f"There is no file {edit.file}.", position)
        if len(content) > LARGEST_FILE:
            return Refusal("too_large", f"{edit.file} is over {LARGEST_FILE >> 20} MB.", position)
        broken = _syntax_error(python, content)
        if broken is not None:
            where = f"line {broken['line']}: " if broken["line"] else ""
            return Refusal(
                "unparseable", f"{edit.file} does not parse: {where}{broken['message']}.", position
            )
        files[edit.file] = content
    answer = _run_worker(files, spec.edits)
    if isinstance(answer, Refusal):
        return answer
    changed = {path: base64.b64decode(text) for path, text in answer["files"].items()}
    for path, content in changed.items():
        refusal = _check_result(path, files[path], content, python)
        if refusal is not None:
            return refusal
    return Applied(changed, list(answer["changed"]))


def _check_edit(
    edit: Edit, position: int, editable: PathGlobs, protected: PathGlobs
) -> Refusal | None:
    if edit.op not in NEEDS:
        known = ", ".join(NEEDS)
        return Refusal(
            "unsupported", f"There is no operation {edit.op!r}; there are {known}.", position
        )
    missing = [name for name in NEEDS[edit.op] if not getattr(edit, name).strip()]
    if missing:
        return Refusal("unsupported", f"{edit.op} needs {', '.join(missing)}.", position)
    if not is_plain_path(edit.file):
        return Refusal("not_editable", f"{edit.file!r} is not a plain path.", position)
    lowered = edit.file.lower()
    if lowered.startswith((".github/", ".git/")) or lowered == ".git":
        return Refusal("not_editable", f"{edit.file} may never be edited.", position)
    if protected.match(edit.file):
        return Refusal("protected", f"{edit.file} is protected in the table.", position)
    if not editable.match(edit.file):
        return Refusal("not_editable", f"{edit.file} is not editable in the table.", position)
    if not edit.file.endswith(".py"):
        return Refusal("unsupported", f"{edit.file} is no Python file.", position)
    return None


def is_plain_path(path: str) -> bool:
    """A relative path of ordinary parts: nothing that could lead out or means another file."""
    parts = path.split("/")
    return (
        bool(path)
        and "\\" not in path
        and all(part not in ("", ".", "..") and part == part.strip() for part in parts)
        and all(ord(char) >= 32 for char in path)
    )


def _check_result(path: str, before: bytes, after: bytes, python: str) -> Refusal | None:
    broken = _syntax_error(python, after)
    if broken is not None:
        where = f"line {broken['line']}: " if broken["line"] else ""
        message = f"{path} would not compile: {where}{broken['message']}."
        return Refusal("would_not_compile", message)
    try:
        dangers = new_dangers(before, after)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return Refusal("dangerous", f"{path} cannot be checked for dangerous calls.")
    if dangers:
        return Refusal("dangerous", f"The edit of {path} adds {', '.join(dangers)}.")
    return None


def _syntax_error(python: str, content: bytes) -> dict[str, Any] | None:
    """Line and message where the harness's interpreter does not compile `content`."""
    done = choose_sandbox().run(
        [python, "-I", "-S", "-c", _CHECK],
        cwd=Path(tempfile.gettempdir()),
        env={"PATH": os.environ.get("PATH", os.defpath)},
        limits=ProcessLimits(wall_s=20, memory_mb=2048),
        stdin=content,
    )
    try:
        answer = json.loads(done.stdout)
    except ValueError:
        # The interpreter itself died of it: deeply nested code does that.
        return {"line": None, "message": "the interpreter does not survive reading it"}
    return answer or None


def _run_worker(files: dict[str, bytes], edits: Sequence[Edit]) -> dict[str, Any] | Refusal:
    request = {
        "files": {path: base64.b64encode(content).decode() for path, content in files.items()},
        "edits": [edit.model_dump() for edit in edits],
    }
    done = choose_sandbox().run(
        [sys.executable, "-m", "bot.edit.worker"],
        cwd=Path(__file__).resolve().parents[2],
        env={"PATH": os.environ.get("PATH", os.defpath), "PYTHONPATH": os.pathsep.join(sys.path)},
        limits=ProcessLimits(wall_s=20, memory_mb=4096, output_mb=64),
        stdin=json.dumps(request).encode(),
    )
    if done.timed_out:
        return Refusal("too_large", "The edit takes over 20 s.")
    try:
        answer = json.loads(done.stdout)
    except ValueError:
        return Refusal("too_large", "The syntax tree is too deep or too large to be edited.")
    if "files" in answer:
        assert isinstance(answer, dict)
        return answer
    kind: RefusalKind = (
        answer["kind"] if answer.get("kind") in get_args(RefusalKind) else "unsupported"
    )
    return Refusal(kind, str(answer.get("message", "no reason")), int(answer.get("edit", -1)))
