"""The harness's interpreter as the judge of syntax: the bot's own may know less, or more."""

from __future__ import annotations

import base64
import json
import os
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from bot.display import printable
from bot.edit.refusal import Refused
from bot.sandbox import ProcessLimits, ResourceLimits

LIMITS = ProcessLimits(wall_s=20, memory_mb=2048, output_mb=16)


@dataclass(frozen=True)
class Judgement:
    """Of one source. `line` counts from 1, None where the interpreter names none."""

    parses: bool
    compiles: bool
    line: int | None = None
    message: str = ""
    dangers: dict[str, int] = field(default_factory=dict)

    @property
    def reason(self) -> str:
        """`line 40: invalid syntax`."""
        where = f"line {self.line}: " if self.line else ""
        return where + printable(self.message, 200)


@dataclass(frozen=True)
class Source:
    """Bytes to judge: a whole file, or a piece of code that stands inside one."""

    content: bytes
    whole: bool = True


EMPTY = Source(b"")


class HarnessInterpreter:
    """`python` is its path. Nothing of what it judges is executed."""

    def __init__(self, python: str) -> None:
        self._python = python

    def judge(self, sources: Sequence[Source]) -> list[Judgement]:
        """One judgement for each source, in order, from one process.

        Refused where the interpreter cannot be run at all.
        """
        if not sources:
            return []
        answer = self._ask(sources)
        if answer is not None:
            return answer
        if len(sources) > 1:
            # One of them kills the interpreter: find out which.
            return [judgement for source in sources for judgement in self.judge([source])]
        if sources[0] != EMPTY and self._ask([EMPTY]) is None:
            raise Refused("unsupported", f"The interpreter {self._python} cannot be run.")
        return [Judgement(False, False, None, f"{self._python} does not survive reading it")]

    def _ask(self, sources: Sequence[Source]) -> list[Judgement] | None:
        request = [
            {"source": base64.b64encode(source.content).decode(), "whole": source.whole}
            for source in sources
        ]
        done = ResourceLimits().run(
            [self._python, "-I", "-S", "-c", _program()],
            cwd=Path(tempfile.gettempdir()),
            env={"PATH": os.environ.get("PATH", os.defpath)},
            limits=LIMITS,
            stdin=json.dumps(request).encode(),
        )
        try:
            answers = [Judgement(**answer) for answer in json.loads(done.stdout)]
        except (ValueError, TypeError):
            return None
        return answers if len(answers) == len(sources) else None


@cache
def _program() -> str:
    return Path(__file__).with_name("judge.py").read_text(encoding="utf-8")
