"""The two steps of the action that use the bot: `run.py evaluate` and `run.py publish`.

The environment, set by action.yml: WORK is a folder of this run with the harness's commit in
`clone`; what one job hands to the other is in `handed-over`. Nothing that an episode or a model
said reaches the log as a command of the runner, or an output.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import secrets
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from bot.publish.markdown import code, prose, table

NOTHING = 1  # the exit code of `evolve` and `pr` where there is nothing to do
BARS = "▁▂▃▄▅▆▇█"
MOST_POINTS = 40
KEY_NAME = re.compile(r"(?!GITHUB_|RUNNER_|ACTIONS_|ECDYSIS_|GIT_|LD_|PYTHON|PATH$)[A-Z][A-Z0-9_]*")
SCORE = re.compile(r"^Ecdysis-Score: ([0-9.]+)/([0-9]+) -> ([0-9.]+)/([0-9]+)$", re.MULTILINE)
PUBLIC = re.compile(r"[A-Za-z0-9 ._~:/?#=&%+-]*")


def main(job: str) -> int:
    """Do the job; the exit code of the step."""
    work = Path(os.environ["WORK"])
    return evaluate(work) if job == "evaluate" else publish(work)


def evaluate(work: Path) -> int:
    """Make one generation of the commit, and hand it over if it is accepted."""
    keys = read_keys(os.environ.pop("KEYS", ""))
    if keys is None:
        print("::error::keys are lines of NAME=KEY; NAME is what api_key_env says in the table.")
        return 2
    options = ["--panel"] if os.environ.get("PANEL") == "true" else []
    status, report, said = ask(work, ["evolve", "--from", "HEAD", *options], keys)
    handed = False
    if status == 0:
        status, _, said = ask(work, ["pr", "--export", str(work / "handed-over")], {})
        handed = status == 0
    summarise(evaluation(report, past_scores(Path(os.environ["HARNESS"])), said))
    put_out(accepted="true" if handed else "false")
    return 0 if status == NOTHING else status


def read_keys(lines: str) -> dict[str, str] | None:
    """Variable → key. None where a line is no such pair; an empty key is one that is not set."""
    keys = {}
    for line in filter(str.strip, lines.splitlines()):
        name, _, key = line.strip().partition("=")
        if not KEY_NAME.fullmatch(name):
            return None
        if key:
            keys[name] = key
    return keys


def publish(work: Path) -> int:
    """Open or update the pull request of what was handed over."""
    options = ["--from", str(work / "handed-over")]
    options += ["--dry-run"] if os.environ.get("DRY_RUN") == "true" else []
    options += ["--no-quotes"] if os.environ.get("QUOTES") == "false" else []
    status, answer, said = ask(work, ["pr", *options], {})
    summarise(publication(answer, said))
    names = ("status", "number", "url")
    put_out(**{name: str(answer[name]) for name in names if answer.get(name) is not None})
    return 0 if status == NOTHING and answer else status


# --- the bot ------------------------------------------------------------------------------


def ask(
    work: Path, command: Sequence[str], more: Mapping[str, str]
) -> tuple[int, dict[str, Any], str]:
    """Exit code, JSON and messages of a command of the bot on the clone.

    `more` is added to its environment.
    """
    with no_commands(), (work / "answer.json").open("w+", encoding="utf-8") as told:
        done = subprocess.Popen(
            [sys.executable, "-m", "bot", *command, "--json", "-C", str(work / "clone")],
            cwd=work,
            env={**os.environ, **more},
            stdout=told,
            stderr=subprocess.PIPE,
            text=True,
            encoding="utf-8",
            errors="replace",
        )
        assert done.stderr is not None
        said = []
        for line in done.stderr:  # shown as it comes: a run takes minutes
            print(line, end="", flush=True)
            said.append(line)
        status = done.wait()
        told.seek(0)
        try:
            answer = json.load(told)
        except ValueError:
            answer = {}
    return status, answer if isinstance(answer, dict) else {}, "".join(said)


@contextlib.contextmanager
def no_commands() -> Iterator[None]:
    """Lines that are printed meanwhile are no commands to the runner."""
    word = secrets.token_hex(16)
    print(f"::stop-commands::{word}", flush=True)
    try:
        yield
    finally:
        print(f"::{word}::", flush=True)


def past_scores(harness: Path) -> list[float]:
    """Rates after each generation that the checkout's history holds, oldest first.

    Read from the trailers, which squash merges keep. A shallow checkout shows less of it.
    """
    done = subprocess.run(
        ["git", "-C", str(harness), "log", "--reverse", "--grep=^Ecdysis-Score: ", "--format=%B"],
        capture_output=True,
        text=True,
        errors="replace",
        check=False,
    )
    found = SCORE.findall(done.stdout)[-MOST_POINTS:]
    return [min(float(after) / max(int(of), 1), 1.0) for _, _, after, of in found]


# --- what people see ----------------------------------------------------------------------


def evaluation(report: Mapping[str, Any], past: Sequence[float], said: str) -> str:
    """The summary of an evaluation, as Markdown."""
    if not report:
        return f"## Evolution failed\n\n{last_line(said)}\n"
    repairs, rejected = report.get("repairs", []), report.get("rejected", [])
    lines = ["## " + ("A generation was accepted" if repairs else "Nothing was accepted"), ""]
    rows = [
        ["accepted", prose(r["title"], 120), code(r["pattern"], 90), f"{len(r['observed_fixes'])}"]
        for r in repairs
    ]
    rows += [["rejected", prose(r["title"], 120), prose(r["reason"], 200), ""] for r in rejected]
    rows += [
        ["left alone", code(r["pattern"], 90), prose(r["reason"], 200), ""]
        for r in report.get("left", [])
    ]
    if rows:
        lines += [table(["", "repair", "pattern or reason", "tasks fixed"], rows), ""]
    select = report.get("select", {})
    rates = [rate for rate in (select.get("seed"), select.get("evolved")) if rate is not None]
    if rates:
        figures = " → ".join(f"{rate:.0%}" for rate in rates)
        lines += [
            f"Hidden tasks passed: {figures}, noise band {report.get('noise_band') or 0:g} tasks",
            "",
            f"`{sparkline([*past, *rates])}` over "
            + ("the merged generations and this one" if past else "this run"),
            "",
        ]
    lines.append(
        f"{report.get('model_calls', 0):,} model calls, {report.get('tokens', 0):,} tokens, "
        f"{report.get('wall_s', 0):.0f} s; isolation {code(str(report.get('sandbox', '')))}"
    )
    return "\n".join(lines) + "\n"


def publication(answer: Mapping[str, Any], said: str) -> str:
    """The summary of a publication, as Markdown."""
    if not answer:
        return f"## No pull request\n\n{last_line(said)}\n"
    lines = [f"## Pull request: {answer['status']}", ""]
    if PUBLIC.fullmatch(str(answer.get("url") or "")) and answer.get("url"):
        lines += [f"[#{answer['number']}]({answer['url']})", ""]
    lines += [prose(str(answer[key])) for key in ("reason", "next") if answer.get(key)]
    lines += [f"- weak: {prose(sentence)}" for sentence in answer.get("weaknesses", [])]
    return "\n".join(lines).rstrip() + "\n"


def last_line(said: str) -> str:
    """The error's sentence. Addresses in it are the bot's own, so they stay whole."""
    lines = [line for line in said.splitlines() if line.strip()]
    words = []
    for word in (" ".join(lines[-2:]) if lines else "It said nothing.").split(" "):
        plain = word.startswith(("https://", "http://")) and PUBLIC.fullmatch(word)
        words.append(f"<{word}>" if plain else prose(word))
    return " ".join(words)


def sparkline(rates: Sequence[float]) -> str:
    """One bar for each rate between 0 and 1."""
    return "".join(BARS[min(int(rate * len(BARS)), len(BARS) - 1)] for rate in rates)


def summarise(text: str) -> None:
    with Path(os.environ["GITHUB_STEP_SUMMARY"]).open("a", encoding="utf-8") as file:
        file.write(text)


def put_out(**values: str) -> None:
    """Set outputs; a value that is more than a plain word or address is left out."""
    with Path(os.environ["GITHUB_OUTPUT"]).open("a", encoding="utf-8") as file:
        file.writelines(f"{k}={v}\n" for k, v in values.items() if PUBLIC.fullmatch(v))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
