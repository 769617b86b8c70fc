"""The edit room without its child processes, for tests of what they answer.

The same requests get the same answers, as bytes; what is missing is the start of a process and its
large stack, so that only code of ordinary depth may be given.
"""

from __future__ import annotations

import base64
import json
import sys
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import pytest

from bot.edit import apply, interpreter
from bot.edit.judge import judge
from bot.edit.worker import answer_to
from bot.sandbox import Finished, ResourceLimits


class InProcess(ResourceLimits):
    """Answers what the worker, and the judge in this very interpreter, are asked."""

    def run(self, argv: Sequence[str], **how: Any) -> Finished:
        if list(argv) == [sys.executable, "-m", "bot.edit.worker"]:
            answer: object = answer_to(json.loads(how["stdin"]))
        elif argv[0] == sys.executable and "-c" in argv:
            answer = _judged(json.loads(how["stdin"]))
        else:
            return super().run(argv, **how)
        return Finished(0, False, json.dumps(answer).encode(), b"", 0.0)


def _judged(items: list[dict[str, Any]]) -> list[dict[str, Any]]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return [judge(base64.b64decode(item["source"]), item["whole"]) for item in items]


@contextmanager
def in_process() -> Iterator[None]:
    """In the block, the edit room starts no processes."""
    with pytest.MonkeyPatch.context() as patch:
        for module in (apply, interpreter):
            patch.setattr(module, "ResourceLimits", InProcess)
        yield
