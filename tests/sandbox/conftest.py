"""The levels of isolation as a fixture: a test that asks for `sandbox` runs at each of them."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from bot.sandbox import ResourceLimits, Sandbox, View, interpreter_paths
from bot.sandbox.bubblewrap import Bubblewrap, find_programs
from bot.sandbox.landlock import Landlock, kernel_abi

PYTHON = str(Path(sys.executable))
ENV = {"PATH": os.environ["PATH"]}


def make_sandbox(level: str) -> Sandbox:
    """A fresh sandbox of the level."""
    if level == "bubblewrap":
        return Bubblewrap(find_programs()[0])
    if level == "landlock":
        return Landlock(kernel_abi())
    return ResourceLimits()


@pytest.fixture(params=["limits", "landlock", "bubblewrap"])
def sandbox(request: pytest.FixtureRequest) -> Sandbox:
    return make_sandbox(request.param)


def seeing(*writable: Path, readable: tuple[Path, ...] = ()) -> View:
    """A view of the interpreter that runs the tests, and of what is given."""
    return View(readable=(*interpreter_paths(Path(PYTHON)), *readable), writable=writable)


def is_running(word: str) -> bool:
    """Whether a process outside or inside any sandbox has `word` among its arguments."""
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            if word.encode() in (entry / "cmdline").read_bytes().split(b"\0"):
                return True
        except OSError:
            continue
    return False
