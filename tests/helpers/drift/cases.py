"""Cases of drift: a spec applied to a program, and the program after it has drifted."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from tests.helpers.drift import additions, layout, moves, names
from tests.helpers.drift.kind import Maker, Place
from tests.helpers.drift.program import DriftSpec, Files, behaviour

# In the order in which several of them happen: inside the function first, the layout last.
KINDS: dict[str, Maker] = {
    maker.__name__: maker
    for maker in (
        additions.extra_statements,
        names.renamed_local,
        names.renamed_parameter,
        additions.annotated,
        additions.documented,
        additions.wrapped_block,
        additions.extracted_helper,
        additions.decorated,
        additions.made_async,
        names.renamed_constant,
        names.renamed_function,
        moves.reordered_imports,
        moves.moved_in_file,
        moves.moved_into_class,
        moves.moved_to_module,
        moves.module_renamed,
        layout.spread,
        layout.requoted,
        layout.reindented,
        layout.commented,
        layout.unparsed,
    )
}


@dataclass(frozen=True)
class Case:
    """`onto` is the drifted base. `wanted` is what the edited program does.

    Where the edited program can drift in the same way, a correct application is known: its result.
    """

    spec: DriftSpec
    kinds: tuple[str, ...]
    onto: Files
    wanted: str
    applicable: bool


def drift_cases(
    spec: DriftSpec, base: Files, edited: Files, combined: int, chance: random.Random
) -> Iterator[Case]:
    """Every kind of drift by itself, and `combined` random pairs and triples of kinds.

    Only drift that keeps what the base does.
    """
    before, wanted = behaviour(base), behaviour(edited)
    assert before != wanted, f"{spec.program}: {spec.name} changes nothing that the check sees"
    chosen: list[tuple[str, ...]] = [(kind,) for kind in KINDS]
    chosen += [_some_kinds(chance) for _ in range(combined)]
    for kinds in chosen:
        found = _combine(kinds, spec, base, chance)
        if found is None:
            continue
        change, onto = found
        if onto == base or behaviour(onto) != before:
            continue
        yield Case(spec, kinds, onto, wanted, behaviour(change(edited)) == wanted)


def _some_kinds(chance: random.Random) -> tuple[str, ...]:
    order = list(KINDS)
    return tuple(sorted(chance.sample(order, chance.choice([2, 3])), key=order.index))


def _combine(
    kinds: tuple[str, ...], spec: DriftSpec, base: Files, chance: random.Random
) -> tuple[Callable[[Files], Files], Files] | None:
    """One drift after the other, and what becomes of the base; None where one finds nothing."""
    text = " ".join(f"{edit.anchor} {edit.target} {edit.code}" for edit in spec.spec.edits)
    place = Place(spec.spec.edits[0].file, spec.place, frozenset(re.findall(r"\w+", text)))
    files, changes = base, []
    for kind in kinds:
        drift = KINDS[kind](files, place, chance)
        if drift is None:
            return None
        files, place = drift.change(files), drift.place
        changes.append(drift.change)

    def change(files: Files) -> Files:
        for one in changes:
            files = one(files)
        return files

    return change, files
