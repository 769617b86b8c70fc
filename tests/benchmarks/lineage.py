"""How fast the lineage is: `ecdysis log` over 5,000 generations, and one commit on 2,000 files.

The generations are real: commits with the bot's own messages, each on top of the one before it,
with branches, refs, notes and 500 rejected candidates, written by `git fast-import`. `log_5000_s`
is the wall time of the whole `ecdysis log` process, Python's start (`start_s`) included, with its
output read; `log_5000_first_s` that of the first time, when nothing has been kept of an earlier
one; `log_5000_loose_s` where no ref is packed, `log_5000_json_s` with --json, `log_5000_cpu_s` the
processor time, git's included, for machines that are busy with other things. `commit_ms` is what a
repair costs from its changed bytes to the moved ref (tree, commit, compare-and-swap), `record_ms` a
whole generation of two repairs with branch, ref and notes. Medians.

    python -m tests.benchmarks.lineage [--smoke] [--json]
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from bot.git.repository import Repository
from bot.lineage.evidence import NOTES_REF, write_note
from bot.lineage.generations import GENERATION_PREFIX, branch_name, record_generation
from bot.lineage.rejected import REJECTED_PREFIX
from tests.helpers.repairs import make_figures, make_message
from tests.helpers.repositories import CONFIG, clean_environment, git, make_repository

GENERATIONS = 5_000
REJECTED = 500
FILES = 2_000


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--smoke", action="store_true", help="each figure measured once")
    parser.add_argument("--json", action="store_true")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="ecdysis-lineage-") as folder:
        figures = measure(Path(folder), 1 if asked.smoke else 9)
    if asked.json:
        print(json.dumps(figures))
    else:
        for name, value in figures.items():
            print(f"{name:18} {value}")


def measure(folder: Path, times: int) -> dict[str, float]:
    """The figures, in seconds (`_s`) and milliseconds (`_ms`)."""
    (folder / "home").mkdir()
    (folder / "home" / "gitconfig").write_text(CONFIG, encoding="utf-8")
    os.environ |= clean_environment(folder / "home")
    grown = make_generations(folder / "grown", GENERATIONS, REJECTED)
    loose = seconds(lambda: log(grown), times)
    git(grown, "pack-refs", "--all")
    kept = grown / ".git" / "ecdysis" / "generations.json"
    before = os.times()
    again = seconds(lambda: log(grown), times)
    after = os.times()
    spent = after.children_user + after.children_system
    spent -= before.children_user + before.children_system
    return {
        "generations": GENERATIONS,
        "log_5000_s": round(again, 3),
        "log_5000_first_s": round(seconds(lambda: (kept.unlink(), log(grown)), times), 3),
        "log_5000_loose_s": round(loose, 3),
        "log_5000_json_s": round(seconds(lambda: log(grown, "--json"), times), 3),
        "log_5000_cpu_s": round(spent / (times + 1), 3),
        "start_s": round(seconds(lambda: run("--version"), times), 3),
        **measure_commits(folder / "wide", times),
    }


def make_generations(folder: Path, generations: int, rejected: int) -> Path:
    """A repository with so many generations of one or two repairs, one on another."""
    make_repository(folder, {"agent.py": "ANSWER = 0\n"})
    stream = b"".join(fast_import(generations, rejected))
    git(folder, "fast-import", "--quiet", "--done", input=stream)
    return folder


def fast_import(generations: int, rejected: int) -> Iterator[bytes]:
    """The stream: generations with branches, refs and notes, then rejected candidates."""
    person = b"A <a@localhost> %d +0000"
    figures, message = make_figures(), make_message()
    note = write_note(message, figures)
    commits: list[int] = []
    mark, base = 0, b"refs/heads/work"
    yield b"reset refs/heads/work\nfrom refs/heads/main^0\n\n"
    for number in range(1, generations + 1):
        repairs = 1 + number % 2
        for repair in range(repairs):
            mark += 1
            commits.append(mark)
            extra = figures.trailers("0" * 40) if repair == repairs - 1 else ()
            text = message.write(number, extra).encode()
            yield b"commit %s\nmark :%d\n" % (base, mark)
            yield b"committer %s\n" % (person % (1_700_000_000 + mark)) + data(text)
            yield b"M 100644 inline agent.py\n" + data(b"ANSWER = %d\n" % mark) + b"\n"
        for ref in (f"refs/heads/{branch_name(number)}", f"{GENERATION_PREFIX}{number:04d}"):
            yield b"reset %s\nfrom :%d\n\n" % (ref.encode(), mark)
    yield b"commit %s\ncommitter %s\n" % (NOTES_REF.encode(), person % 1_800_000_000)
    yield data(b"Notes\n")
    for commit in commits:
        yield b"N inline :%d\n" % commit + data(note)
    for number in range(rejected):
        text = f"Rejected: Try {number}\n\nNot better.\n\nEcdysis-Decision: reject\n"
        text += f"Ecdysis-Pattern: p{number}\nEcdysis-Origin: catalog:x\nEcdysis-Spec: sha256:0\n"
        yield b"commit %s%016x\n" % (REJECTED_PREFIX.encode(), number)
        yield b"committer %s\n" % (person % (1_700_000_000 + number)) + data(text.encode())
    yield b"done\n"


def data(content: bytes) -> bytes:
    return b"data %d\n" % len(content) + content + b"\n"


def measure_commits(folder: Path, times: int) -> dict[str, float]:
    """One commit, and one generation of two repairs, on a harness of 2,000 files."""
    files = {f"package{i % 40}/module{i}.py": f"VALUE = {i}\n" for i in range(FILES)}
    repository = Repository.open(make_repository(folder, files))
    base = repository.resolve_commit("HEAD")
    repository.list_files(base)  # a run has listed its base long before it commits
    counter = iter(range(10_000))

    def commit() -> None:
        number = next(counter)
        tree = repository.write_tree(base, {"package0/module0.py": f"VALUE = -{number}\n".encode()})
        oid = repository.commit_tree(tree, [base], make_message().write(1))
        repository.update_ref(f"refs/heads/one-{number}", oid, None)

    def record() -> None:
        number = next(counter)
        trees = [
            repository.write_tree(base, {"package0/module0.py": f"{number, part}\n".encode()})
            for part in range(2)
        ]
        repairs = [(tree, make_message()) for tree in trees]
        record_generation(repository, base_commit=base, repairs=repairs, figures=make_figures())

    times *= 3
    return {
        "commit_ms": round(1000 * seconds(commit, times), 1),
        "record_ms": round(1000 * seconds(record, times), 1),
    }


def log(folder: Path, *options: str) -> None:
    printed = run("log", "-C", str(folder), *options)
    assert printed.count(b"gen-") >= GENERATIONS


def run(*args: str) -> bytes:
    return subprocess.run([sys.executable, "-m", "bot", *args], stdout=-1, check=True).stdout


def seconds(work: Callable[[], object], times: int) -> float:
    """The median wall time of so many runs, after one to warm up."""
    work()
    taken = []
    for _ in range(times):
        start = time.perf_counter()
        work()
        taken.append(time.perf_counter() - start)
    return statistics.median(taken)


if __name__ == "__main__":
    main()
