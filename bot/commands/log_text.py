"""What `ecdysis log` prints for a person: the graph of generations, and what is missing."""

from __future__ import annotations

from collections.abc import Iterator

from bot.commands.graph import Node, draw
from bot.commands.log import History, find_missing
from bot.display import count, printable, show_day
from bot.git.objects import CommitRecord
from bot.lineage.generations import Generation
from bot.lineage.rejected import RejectedCandidate


def write_log(history: History) -> list[str]:
    """The graph, each generation with its figures and repairs; what is missing."""
    lines = list(draw(list(graph_nodes(history))))
    if history.test_reads:
        lines.append(f"The sealed test split was read {count(history.test_reads, 'time')}.")
    lines += [f"Note: {sentence}" for sentence in find_missing(history.generations)]
    return lines


def graph_nodes(history: History) -> Iterator[Node]:
    """Generations, rejected candidates and the commits where they begin, newest first."""
    tried_on, by_age = place_rejected(history)
    last_on: dict[str, int] = {}  # commit → the oldest generation that stands on it
    for generation in history.generations:
        parent = history.parents.get(generation.number)
        if isinstance(parent, CommitRecord):
            last_on[parent.oid] = generation.number
    for generation in history.generations:
        while by_age and by_age[-1].when >= generation.repairs[-1].when:
            yield rejected_node(by_age.pop())
        yield from map(rejected_node, tried_on.get(generation.commit, ()))
        parent = history.parents.get(generation.number)
        if isinstance(parent, CommitRecord):
            yield generation_node(history, generation, parent.oid)
            if last_on[parent.oid] == generation.number:
                yield from map(rejected_node, tried_on.get(parent.oid, ()))
                yield root_node(parent)
        else:
            yield generation_node(history, generation, parent)
    yield from map(rejected_node, reversed(by_age))


def place_rejected(
    history: History,
) -> tuple[dict[str, list[RejectedCandidate]], list[RejectedCandidate]]:
    """Commit shown → the candidates tried on it; and the others, oldest first."""
    shown = {generation.commit for generation in history.generations}
    shown |= {p.oid for p in history.parents.values() if isinstance(p, CommitRecord)}
    tried_on: dict[str, list[RejectedCandidate]] = {}
    others = []
    for item in history.rejected:
        if item.base in shown:
            tried_on.setdefault(item.base, []).append(item)
        else:
            others.append(item)
    return tried_on, others[::-1]


def generation_node(history: History, generation: Generation, parent: int | str | None) -> Node:
    """A generation: status and figures, then title, pattern and origin of each repair."""
    when, status = show_day(generation.repairs[-1].when), history.merges.status(generation)
    head = f"gen-{generation.number:04d}  {generation.commit[:10]}  {when}  {status}"
    body = []
    for repair in generation.repairs:
        trailers = repair.message.trailers
        pattern = fit(trailers.get("Pattern", ""), 72)
        origin = fit(trailers.get("Origin", "unknown origin"), 60)
        body.append(f"    {fit(repair.message.title, 72)}")
        body.append(f"        {pattern}  [{origin}]")
    return Node(generation.number, parent, f"{head}  {figures_line(generation)}".rstrip(), body)


def rejected_node(item: RejectedCandidate) -> Node:
    """A rejected candidate: its title, and why it was rejected."""
    head = f"rejected  {item.commit[:10]}  {show_day(item.when)}  {printable(item.title, 72)}"
    why = f"    {printable(item.reason, 96)}  [{printable(item.origin, 60)}]"
    return Node(item.ref, None, head, [why], mark="x")


def root_node(commit: CommitRecord) -> Node:
    """The commit, of no generation, where generations begin."""
    title = printable(commit.message.partition("\n")[0], 72)
    return Node(commit.oid, None, f"{commit.oid[:10]}  {show_day(commit.when)}  {title}", mark="o")


def figures_line(generation: Generation) -> str:
    """`score 11/24 -> 21/24, 10 fixed, 0 broken, noise band 1, p = 0.001`; what is known of it."""
    figures = generation.figures
    parts = [
        (figures.get("Score"), "score {}"),
        (figures.get("Fixed"), "{} fixed"),
        (figures.get("Broken"), "{} broken"),
        (figures.get("Noise-Band"), "noise band {}"),
        (figures.get("P-Value"), "p = {}"),
    ]
    return ", ".join([form.format(fit(value, 40)) for value, form in parts if value])


def fit(text: str, limit: int) -> str:
    """`text`, printable and short enough; most is so already, and there are thousands of lines."""
    return text if len(text) <= limit and text.isprintable() else printable(text, limit)
