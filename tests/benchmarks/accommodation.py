"""How many bad edits of harnesses the mechanical checks flag, and how many good ones wrongly.

Bad: the labelled edits of `shor_flaw_half.json` in `$ECDYSIS_SHARED/data` (`--data DIR` names
another folder), each by the text at which the label points (a few labels point at none). They come
without their harness and tasks, so the checks that need these say nothing of them; what they add
is judged by its form alone. Every second one, from the first, was looked at while the rules were
written: `held_out` has the figures of the others, and these tell what to expect.

Good: every edit that the catalog proposes for the starter harness and for the second one, after
real episodes with scripted models that fail in different ways, checked as `evolve` checks them
(`catalog`); and edits as maintainers merge them, of `good_edits.toml`, checked like the bad ones
(`written`). `by_kind` counts the flagged ones by the kind of flag. No model is asked.

    python -m tests.benchmarks.accommodation [--data DIR] [--smoke] [--json]
"""

from __future__ import annotations

import argparse
import json
import os
import re
import tempfile
import tomllib
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from bot.batch.run import Job
from bot.batch.tasks import load_splits
from bot.cluster.diagnosis import diagnose
from bot.commands.revision import load_table
from bot.diagnose.catalog import Situation, propose
from bot.gate.task_values import Flag, find_flags
from bot.git.repository import Repository
from bot.llm.scripted import ScriptedServer
from bot.records import ModificationSpec
from bot.situations import places
from bot.workshop import expectation
from tests.helpers.harnesses import runner, second_harness
from tests.helpers.order_desk import order_desk, scripted_reply

FILE = "shor_flaw_half.json"
WRITTEN = Path(__file__).with_name("good_edits.toml")
TASKS = 15
Reply = Callable[[dict[str, Any]], str]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    shared = Path(os.environ.get("ECDYSIS_SHARED", "../shared"))
    parser.add_argument("--data", type=Path, default=shared / "data", metavar="DIR")
    parser.add_argument("--smoke", action="store_true", help="one scripted model a harness")
    parser.add_argument("--json", action="store_true")
    asked = parser.parse_args()
    figures = measure(asked.data, smoke=asked.smoke)
    if asked.json:
        print(json.dumps(figures))
    else:
        for name, value in figures.items():
            print(f"{name:16} {value}")


def measure(data: Path, *, smoke: bool = False) -> dict[str, Any]:
    written = [find_flags(e["added"]) for e in tomllib.loads(WRITTEN.read_text())["edit"]]
    catalog = [flags for harness in HARNESSES for flags in proposed(*harness, smoke=smoke)]
    good = {
        "good": len(written) + len(catalog),
        "flagged_good": flagged([*written, *catalog]),
        "written": {"good": len(written), "flagged": flagged(written)},
        "catalog": {"good": len(catalog), "flagged": flagged(catalog)},
    }
    if not (data / FILE).is_file():
        return {"bad": 0, "flagged_bad": None, **good, "skipped": f"no {FILE}"}
    labelled = json.loads((data / FILE).read_text(encoding="utf-8"))
    bad = [find_flags(piece_of(entry["where_error"])) for entry in labelled]
    return {
        "bad": len(bad),
        "flagged_bad": flagged(bad),
        **good,
        "held_out": {"bad": len(bad[1::2]), "flagged": flagged(bad[1::2])},
        "by_kind": {"bad": by_kind(bad), "good": by_kind([*written, *catalog])},
    }


def piece_of(label: str) -> str:
    """What a label points at, without its own marks and without padding."""
    text = re.sub(r"</?where_error>|^```\w*$", "", label, flags=re.MULTILINE)
    return "\n".join(line.rstrip() for line in text.splitlines())


def flagged(edits: Sequence[Sequence[Flag]]) -> int:
    return sum(map(bool, edits))


def by_kind(edits: Sequence[Sequence[Flag]]) -> dict[str, int]:
    kinds = Counter(kind for flags in edits for kind in {flag.kind for flag in flags})
    return dict(sorted(kinds.items()))


# --- what the catalog proposes ------------------------------------------------------------


def proposed(
    make: Callable[[Path, str], Repository], replies: Sequence[Reply], *, smoke: bool
) -> Iterator[list[Flag]]:
    """The flags of each edit that the catalog proposes for one harness; each edit once."""
    seen: set[str] = set()
    for reply in replies[:1] if smoke else replies:
        with tempfile.TemporaryDirectory() as folder, ScriptedServer(reply) as server:
            repository = make(Path(folder) / "harness", server.base_url)
            for spec, known, tasks in specs(repository):
                for edit in spec.edits:
                    if edit.model_dump_json() not in seen:
                        seen.add(edit.model_dump_json())
                        yield find_flags(edit.code, known=known, tasks=tasks)


def specs(repository: Repository) -> Iterator[tuple[ModificationSpec, str, list[Any]]]:
    """Every spec for a pattern of the train batch, with what the checks are told beside it."""
    tree, table = repository.tree_of("HEAD"), load_table(repository, "HEAD")
    tasks = load_splits(repository, tree, table)["train"][:TASKS]
    with runner(repository) as work:
        episodes = [episode for _, episode in work.run([Job(tree, task) for task in tasks])]
    expected = {task.task_id: expectation(task) for task in tasks}
    splits = table.splits.paths().values()
    known = "\n".join(
        content.decode("utf-8", "replace")
        for path, content in repository.read_files(tree).items()
        if path not in splits
    )
    for pattern in diagnose(episodes, expected=expected).patterns:
        situation = Situation(
            pattern=pattern,
            episodes=episodes,
            showing=[e for e in episodes if e.outcome == "fail" and places(e, pattern, expected)],
            table=table,
            read=partial(repository.read_file, tree),
            tasks={task.task_id: task for task in tasks},
            at=partial(places, pattern=pattern, expected=expected),
        )
        for _, proposal in propose(situation):
            if isinstance(proposal, ModificationSpec):
                yield proposal, known, tasks


def kitchen_reply(request: dict[str, Any]) -> str:
    """A model that calls the right tool in the user's own words."""
    said = request["messages"][-1]["content"]
    if match := re.search(r"(\d+) (\w+)", said):
        return f"convert: {match[1]}, {match[2]}"
    found = re.search(r"(?:does|keep) (\w+)", said)
    return f"keeps: {found[1]}" if found else "I do not know."


def fenced(reply: Reply) -> Reply:
    return lambda request: f"```\n{reply(request)}\n```"


def chatty(reply: Reply) -> Reply:
    return lambda request: f"Sure, I can help. {reply(request)} That should do it."


def mute(request: dict[str, Any]) -> str:
    return "I cannot help with that."


def other_tool(request: dict[str, Any]) -> str:
    """A model that confuses the tools."""
    return scripted_reply(request).replace("lookup_order", "find_order").replace("customer", "user")


HARNESSES: Sequence[tuple[Callable[[Path, str], Repository], Sequence[Reply]]] = (
    (
        partial(order_desk, train=TASKS, select=1, test=1),
        (scripted_reply, fenced(scripted_reply), chatty(scripted_reply), mute, other_tool),
    ),
    (second_harness, (kitchen_reply, chatty(kitchen_reply), mute)),
)


if __name__ == "__main__":
    main()
