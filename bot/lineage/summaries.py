"""Thousands of generations at once: what was read of them before need not be read again.

A commit never changes, so what it says of its generation stays true. The file
`<git>/ecdysis/generations.json` keeps it by the tip; it may be deleted at any time.
"""

from __future__ import annotations

import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from bot.git.repository import Repository
from bot.lineage.generations import Generation, Repair, numbered_refs, read_generations
from bot.lineage.message import ParsedMessage

FEW = 500
"""Up to so many generations are read from git at once: there is nothing to gain."""
VERSION = 1


def list_summaries(repository: Repository, refs: Mapping[str, str]) -> list[Generation]:
    """Every generation that the refs show, oldest first; messages without their bodies."""
    tips = numbered_refs(repository, refs)
    if len(tips) <= FEW:
        return read_generations(repository, tips)
    place = repository.git_dir / "ecdysis" / "generations.json"
    stored = _load(place)
    found: dict[int, Generation] = {}
    unknown: dict[int, tuple[str, str]] = {}
    for number, (ref, tip) in tips.items():
        generation = _generation(number, ref, stored.get(tip))
        if generation is None:
            unknown[number] = ref, tip
        else:
            found[number] = generation
    fresh = read_generations(repository, unknown)
    found |= {generation.number: generation for generation in fresh}
    generations = [found[number] for number in sorted(found)]
    # What a shallow clone cuts off may come later.
    if any(generation.base is not None for generation in fresh):
        _save(place, [(tips[g.number][1], g) for g in generations if g.base is not None])
    return generations


def _load(place: Path) -> dict[str, Any]:
    import orjson

    try:
        body = orjson.loads(place.read_bytes())
        rows = body["generations"] if body["version"] == VERSION else {}
    except (OSError, ValueError, KeyError, TypeError):
        return {}
    return rows if isinstance(rows, dict) else {}


def _generation(number: int, ref: str, row: Any) -> Generation | None:
    """The generation of a row; None where it is of another one, or no row at all."""
    try:
        stored_number, base, repairs = row
        chain = tuple(
            [
                Repair(commit, tree, when, ParsedMessage(title, "", trailers))
                for commit, tree, when, title, trailers in repairs
            ]
        )
    except (TypeError, ValueError):
        return None
    return Generation(number, ref, chain, base) if stored_number == number and chain else None


def _save(place: Path, generations: Sequence[tuple[str, Generation]]) -> None:
    """Put the file in place in one step; where that cannot be done, it is done without."""
    import orjson

    rows = {
        tip: [
            generation.number,
            generation.base,
            [
                [repair.commit, repair.tree, repair.when, *_without_body(repair.message)]
                for repair in generation.repairs
            ],
        ]
        for tip, generation in generations
    }
    try:
        place.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile(dir=place.parent, delete=False) as temporary:
            temporary.write(orjson.dumps({"version": VERSION, "generations": rows}))
        Path(temporary.name).replace(place)
    except (OSError, TypeError):  # read-only; or half a character in a message
        return


def _without_body(message: ParsedMessage) -> tuple[str, dict[str, str]]:
    return message.title, message.trailers
