"""Small programs, specs for them, and what they do: the material of the drift benchmark.

A program is a folder with `program.py` (one module of a harness), `check.py` (calls that show
what it does) and `specs.toml` (specs that change what it does). As a repository, a program `name`
is `harness/name.py` beside `check.py`.
"""

from __future__ import annotations

import asyncio
import inspect
import signal
import sys
import tomllib
import types
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.machinery import ModuleSpec
from pathlib import Path
from typing import Any

from bot.records import ModificationSpec

FOLDER = Path(__file__).with_name("programs")
CHECK = "check.py"
LONGEST_S = 5.0
Files = dict[str, str]


@dataclass(frozen=True)
class DriftSpec:
    """A spec, and the function that drift is to happen in (a dotted name)."""

    program: str
    name: str
    place: str
    spec: ModificationSpec


def program_names() -> list[str]:
    return sorted(path.parent.name for path in FOLDER.glob("*/program.py"))


def program_files(name: str) -> Files:
    return {
        "harness/__init__.py": "",
        f"harness/{name}.py": (FOLDER / name / "program.py").read_text(encoding="utf-8"),
        CHECK: (FOLDER / name / "check.py").read_text(encoding="utf-8"),
    }


def program_specs(name: str) -> list[DriftSpec]:
    text = (FOLDER / name / "specs.toml").read_text(encoding="utf-8")
    return [_read_spec(name, raw) for raw in tomllib.loads(text)["specs"]]


def _read_spec(program: str, raw: dict[str, Any]) -> DriftSpec:
    edits = [{"file": f"harness/{program}.py", **edit} for edit in raw["edits"]]
    targets = [edit["target"] for edit in edits if edit.get("target")]
    spec = ModificationSpec(
        title=raw["name"],
        pattern="drift",
        layer="procedural-skill",
        hypothesis="It behaves differently.",
        origin="benchmark",
        edits=edits,
    )
    return DriftSpec(program, raw["name"], raw.get("place", targets[0] if targets else ""), spec)


def behaviour(files: Mapping[str, str]) -> str:
    """What the program gives for each call of its check, or that it cannot be called at all.

    A call that gives a coroutine is awaited, so a function may become `async`.
    """
    modules = {
        path.removesuffix(".py").removesuffix("/__init__").replace("/", "."): text
        for path, text in files.items()
    }
    with _only_modules(modules), _at_most(LONGEST_S), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a coroutine that nobody awaits shows in the results
        try:
            check = __import__(CHECK.removesuffix(".py"))
            calls = list(check.calls())
        except Exception as error:
            return f"not importable: {error!r}"
        return "\n".join(_result(call) for call in calls)


def _result(call: Any) -> str:
    try:
        value = call()
        if inspect.iscoroutine(value):
            value = asyncio.run(value)
        return repr(value)
    except Exception as error:
        return f"{type(error).__name__}: {error}"


@contextmanager
def _only_modules(modules: Mapping[str, str]) -> Iterator[None]:
    """Let these modules be imported, from their texts, in the block."""

    class Finder:
        @staticmethod
        def find_spec(name: str, path: object = None, target: object = None) -> Any:
            if name not in modules:
                return None
            return ModuleSpec(name, Loader(), is_package=name == "harness")

    class Loader:
        def create_module(self, spec: Any) -> None:
            return None

        def exec_module(self, module: types.ModuleType) -> None:
            exec(compile(modules[module.__name__], module.__name__, "exec"), module.__dict__)

    finder: Any = Finder
    sys.meta_path.insert(0, finder)
    try:
        yield
    finally:
        sys.meta_path.remove(finder)
        for name in modules:
            sys.modules.pop(name, None)


@contextmanager
def _at_most(seconds: float) -> Iterator[None]:
    def stop(*_: object) -> None:
        raise TimeoutError(f"over {seconds} s")

    before = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
