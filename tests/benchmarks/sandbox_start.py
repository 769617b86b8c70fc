"""What a start in a sandbox costs: milliseconds, at each level and without any.

Each figure is the median over runs of `/bin/true` to its end, all that a run entails: set-up, the
program, and its burial; the levels are measured in turn. `model_ms` is the same with the way to
the model opened (in bubblewrap a forwarder). `added_ms` is over an ordinary child process,
`probe_ms` what the proof that a level holds costs, once a command.

    python -m tests.benchmarks.sandbox_start [--smoke] [--json]
"""

from __future__ import annotations

import argparse
import json
import socket
import statistics
import subprocess
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from bot.sandbox import ModelDoor, ProcessLimits, Sandbox, View, choose_sandbox
from bot.sandbox.choose import try_level
from bot.sandbox.levels import LEVELS
from bot.sandbox.probe import find_problem

ARGV = ["/bin/true"]
PORT = 1024


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--smoke", action="store_true", help="five runs of each, not a hundred")
    parser.add_argument("--json", action="store_true")
    asked = parser.parse_args()
    figures = measure(5 if asked.smoke else 100)
    if asked.json:
        print(json.dumps(figures))
        return
    for level, row in figures.items():
        print(f"{level:12}", "  ".join(f"{name} {value}" for name, value in row.items()))


def measure(times: int) -> dict[str, dict[str, Any]]:
    held = [name for name in LEVELS if try_level(name).make is not None]
    spent: dict[tuple[str, str], list[float]] = defaultdict(list)
    with tempfile.TemporaryDirectory() as made, socket.socket(socket.AF_UNIX) as listener:
        folder, door = Path(made) / "own", Path(made) / "door"
        folder.mkdir()
        listener.bind(str(door))
        for _ in range(times):
            plain = milliseconds(lambda: subprocess.run(ARGV, cwd=folder, check=True))
            spent["none", "run_ms"].append(plain)
            for name in held:
                sandbox = choose_sandbox(name)
                view = View(writable=(folder,))
                model = ModelDoor(PORT, door if sandbox.own_network else None)
                spent[name, "run_ms"].append(run(sandbox, folder, view))
                spent[name, "model_ms"].append(run(sandbox, folder, replace(view, model=model)))
                if name != "limits":
                    spent[name, "probe_ms"].append(milliseconds(lambda s=sandbox: find_problem(s)))
    figures: dict[str, dict[str, Any]] = {}
    base = statistics.median(spent["none", "run_ms"])
    for (name, what), values in spent.items():
        row = figures.setdefault(name, {})
        row[what] = round(statistics.median(values), 1)
        if what == "run_ms" and name != "none":
            row["added_ms"] = round(statistics.median(values) - base, 1)
    return figures


def run(sandbox: Sandbox, folder: Path, view: View) -> float:
    limits = ProcessLimits(wall_s=10)
    env = {"PATH": "/usr/bin:/bin"}
    return milliseconds(lambda: sandbox.run(ARGV, cwd=folder, env=env, limits=limits, view=view))


def milliseconds(work: Callable[[], object]) -> float:
    start = time.perf_counter()
    work()
    return (time.perf_counter() - start) * 1000


if __name__ == "__main__":
    main()
