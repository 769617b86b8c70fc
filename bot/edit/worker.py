"""The child process that runs libcst: deep or huge code may kill it, and not the bot.

Reads one JSON request on standard input, `{"files": {path: base64}, "edits": [...]}`, and writes
one JSON answer: `{"files": {path: base64}, "changed": [bool]}`, or `{"kind", "message", "edit"}`
for a refusal.
"""

from __future__ import annotations

import base64
import gc
import json
import sys
import threading
from typing import Any

STACK = 512 << 20
RECURSION = 200_000


def apply_edits(request: dict[str, Any]) -> dict[str, Any]:
    """The answer to a request."""
    import libcst as cst

    from bot.edit.operations import OPERATIONS
    from bot.edit.refusal import Refused
    from bot.records import Edit

    files = {path: base64.b64decode(text) for path, text in request["files"].items()}
    modules: dict[str, cst.Module] = {}
    changed: list[bool] = []
    for position, raw in enumerate(request["edits"]):
        edit = Edit.model_validate(raw)
        try:
            module = modules.get(edit.file)
            if module is None:
                module = _parse(files[edit.file], edit.file)
            result = OPERATIONS[edit.op](module, edit)
            changed.append(result is not module)
            # Parse again: positions and parents of the next edit are those of real code.
            modules[edit.file] = _parse(result.bytes, edit.file) if changed[-1] else module
        except Refused as refused:
            return {"kind": refused.kind, "message": refused.message, "edit": position}
        except RecursionError:
            message = f"{edit.file} is nested too deep to be edited."
            return {"kind": "too_large", "message": message, "edit": position}
    encoded = {
        path: base64.b64encode(module.bytes).decode()
        for path, module in modules.items()
        if module.bytes != files[path]
    }
    return {"files": encoded, "changed": changed}


def _parse(content: bytes, path: str) -> Any:
    import libcst as cst

    from bot.edit.refusal import Refused

    try:
        module = cst.parse_module(content)
    except cst.ParserSyntaxError as error:
        raise Refused("unparseable", f"{path} does not parse: {error.message}.") from None
    except (UnicodeDecodeError, LookupError):
        raise Refused("unparseable", f"{path} is not in the encoding that it declares.") from None
    if module.bytes != content:
        raise Refused("unsupported", f"{path} cannot be written back byte for byte.")
    return module


def main() -> None:
    request = json.load(sys.stdin)
    answer: dict[str, Any] = {}
    gc.disable()

    def work() -> None:
        answer.update(apply_edits(request))

    sys.setrecursionlimit(RECURSION)
    threading.stack_size(STACK)
    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    json.dump(answer, sys.stdout)


if __name__ == "__main__":
    main()
