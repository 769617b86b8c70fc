"""How fast edits are made: twenty in a file of 10,000 lines, and one in each of 200 small files.

The large file is put together from this interpreter's standard library; a spec of twenty edits of
several operations is applied to it as `ecdysis apply` does, with all checks. `ratio_to_parse` is
its wall time over libcst's own parse and code generation of the same file, measured between the
same runs; of each the median is taken. `peak_rss_mb` is the largest of all child processes.

    python -m tests.benchmarks.edit_speed [--smoke] [--json]
"""

from __future__ import annotations

import argparse
import ast
import json
import random
import resource
import statistics
import sys
import sysconfig
import textwrap
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import libcst as cst

from bot.edit.apply import Applied, apply_spec
from bot.records import ModificationSpec
from tests.edit.random_edits import functions

LINES = 10_000
MODULES = ("argparse", "typing", "inspect", "tarfile", "doctest", "optparse", "ast", "datetime")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--smoke", action="store_true", help="each figure measured once")
    parser.add_argument("--json", action="store_true")
    asked = parser.parse_args()
    figures = measure(1 if asked.smoke else 5)
    if asked.json:
        print(json.dumps(figures))
    else:
        for name, value in figures.items():
            print(f"{name:18} {value}")


def measure(times: int) -> dict[str, Any]:
    text = large_module()
    content, edits = text.encode(), twenty_edits(text)
    small = {f"small_{i:03}.py": b'"""Doc."""\n\n\ndef f(a):\n    return a\n' for i in range(200)}
    small_edits = [
        {"op": "insert_statements", "file": path, "target": "f", "code": "a = a or 1"}
        for path in small
    ]
    own, large, many = [], [], []
    for _ in range(times):
        own.append(seconds(lambda: cst.parse_module(content).bytes))
        large.append(seconds(lambda: apply(edits, {"large.py": content})))
        many.append(seconds(lambda: apply(small_edits, small)))
    return {
        "lines": text.count("\n"),
        "edits": len(edits),
        "seconds_10k_lines": round(statistics.median(large), 3),
        "seconds_parse": round(statistics.median(own), 3),
        "ratio_to_parse": round(statistics.median(large) / statistics.median(own), 2),
        "seconds_200_files": round(statistics.median(many), 3),
        "peak_rss_mb": resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss // 1024,
    }


def large_module() -> str:
    """Whole top-level statements of standard modules, about 10,000 lines of them."""
    library, parts, have = Path(sysconfig.get_paths()["stdlib"]), [], 0
    for name in MODULES:
        source = (library / f"{name}.py").read_text(encoding="utf-8")
        lines = source.splitlines(keepends=True)
        for node in ast.parse(source).body:
            late = isinstance(node, ast.ImportFrom) and node.module == "__future__"
            if have >= LINES or late:
                continue
            decorators = getattr(node, "decorator_list", [])
            first = min([node.lineno, *(decorator.lineno for decorator in decorators)])
            part = "".join(lines[first - 1 : node.end_lineno]) + "\n"
            parts.append(part)
            have += part.count("\n")
    return "".join(parts)


def twenty_edits(text: str) -> list[dict[str, Any]]:
    """Four of each of five operations, all over the file."""
    found = list(functions(ast.parse(text)))
    times = Counter(name for name, _ in found)
    # One function of each top-level name: no edit lies inside of another.
    chosen = {name.split(".")[0]: (name, node) for name, node in found if times[name] == 1}
    picked = random.Random(0).sample([c for c in chosen.values() if ends_alone(c[1])], 20)
    makers: list[Callable[[str, Any], dict[str, Any]]] = [
        lambda name, node: {"op": "insert_statements", "target": name, "code": "probe = 1"},
        lambda name, node: {
            "op": "replace_statements",
            "target": name,
            "anchor": textwrap.dedent(ast.get_source_segment(text, node.body[-1], padded=True)),
            "code": "probe(1)\nraise LookupError",
        },
        lambda name, node: {"op": "replace_function_body", "target": name, "code": "probe(2)"},
        lambda name, node: {"op": "add_function", "code": f"def probe_{node.lineno}(): pass"},
        lambda name, node: {"op": "add_import", "code": f"from probe import a_{node.lineno}"},
    ]
    return [
        makers[i % len(makers)](*function) | {"file": "large.py"}
        for i, function in enumerate(picked)
    ]


def ends_alone(function: Any) -> bool:
    """Whether no other statement of the function has the structure of its last one."""
    last = ast.dump(function.body[-1])
    statements = [node for node in ast.walk(function) if isinstance(node, ast.stmt)]
    return sum(ast.dump(statement) == last for statement in statements) == 1


def apply(edits: list[dict[str, Any]], files: dict[str, bytes]) -> None:
    spec = {"title": "Speed", "pattern": "-", "layer": "procedural-skill", "hypothesis": "-"}
    result = apply_spec(
        ModificationSpec.model_validate(spec | {"origin": "benchmark", "edits": edits}),
        files.get,
        editable=["*.py"],
        protected=[],
        python=sys.executable,
    )
    assert isinstance(result, Applied), result
    assert all(result.changed)


def seconds(work: Callable[[], object]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


if __name__ == "__main__":
    main()
