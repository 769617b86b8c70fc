"""How fast `ecdysis --help` is: its whole process against a Python that does nothing.

`help_ms` is the median wall time of `ecdysis --help`, `python_ms` that of `python -c pass` by the
same interpreter, run in turn so that both meet the same load; `ratio_to_python` is the median of
the ratios of neighbouring runs. At most 4 is wanted.

    python -m tests.benchmarks.startup [--smoke] [--json]
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).parents[2]


HELP = "import sys; sys.argv[1:] = ['--help']; from bot.cli import run; run()"
"""What the console script does, without depending on where it was installed."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--smoke", action="store_true", help="five runs of each, not forty")
    parser.add_argument("--json", action="store_true")
    asked = parser.parse_args()
    figures = measure(5 if asked.smoke else 40)
    if asked.json:
        print(json.dumps(figures))
        return
    for name, value in figures.items():
        print(f"{name:16} {value}")


def measure(times: int) -> dict[str, float]:
    """Medians, in milliseconds, and the ratio, after one run of each to warm up."""
    run(HELP)
    pairs = [(run(HELP), run("pass")) for _ in range(times)]
    return {
        "help_ms": round(statistics.median(helped for helped, _ in pairs), 1),
        "python_ms": round(statistics.median(plain for _, plain in pairs), 1),
        "ratio_to_python": round(statistics.median(h / p for h, p in pairs), 2),
    }


def run(code: str) -> float:
    """Milliseconds that `python -c CODE` takes, from its start to its end."""
    start = time.perf_counter()
    subprocess.run([sys.executable, "-c", code], cwd=ROOT, stdout=subprocess.DEVNULL, check=True)
    return (time.perf_counter() - start) * 1000


if __name__ == "__main__":
    main()
