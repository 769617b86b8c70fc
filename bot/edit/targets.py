"""The function or class that an edit names by its dotted name, and the choice among several."""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Sequence
from typing import TypeVar

import libcst as cst

from bot.edit.refusal import Refused
from bot.edit.tree import Spot, at_lines, children

_BLOCKS = (
    cst.BaseCompoundStatement,
    cst.BaseSuite,
    cst.Else,
    cst.Finally,
    cst.ExceptHandler,
    cst.ExceptStarHandler,
    cst.MatchCase,
)
Found = TypeVar("Found")


def find_target(module: cst.Module, target: str, number: int | None = None) -> Spot:
    """The one module (""), class or function of that dotted name; of several, number `number`."""
    found = [Spot(module)]
    path = ""
    for part in target.split(".") if target else ():
        path = f"{path}.{part}".lstrip(".")
        inside = [spot for scope in found for spot in definitions(scope) if _name(spot) == part]
        if not inside:
            raise Refused("not_found", _not_found(module, path, target))
        found = inside
    return choose(
        module,
        found,
        number,
        what=f"{target} is defined",
        nodes=[spot.node for spot in found],
        field="target_number",
    )


def choose(
    module: cst.Module,
    found: Sequence[Found],
    number: int | None,
    *,
    what: str,
    where: str = "",
    nodes: Sequence[cst.CSTNode],
    field: str = "number",
) -> Found:
    """The only one found, or number `number`. `nodes` are theirs, for the lines in a refusal."""
    if number is None and len(found) == 1:
        return found[0]
    if number is not None and number <= len(found):
        return found[number - 1]
    times = f"{len(found)} times" if len(found) > 1 else "once"
    said = f"{what} {times}{where}, {at_lines(module, nodes)}"
    if number is not None:
        raise Refused("not_found", f"{said}; there is no {field} {number}.")
    hint = "" if field == "target_number" else "give a larger anchor, a narrower target, or "
    raise Refused("ambiguous", f"{said}: {hint}say which with {field}, from 1.")


def definitions(scope: Spot) -> Iterator[Spot]:
    """Functions and classes of a scope, also those inside its `if`, `try` and `with` blocks."""
    stack = [scope]
    while stack:
        spot = stack.pop()
        if spot is not scope and isinstance(spot.node, cst.FunctionDef | cst.ClassDef):
            yield spot
        elif spot is scope or isinstance(spot.node, _BLOCKS):
            inside = [child for _, child in children(spot)]
            stack.extend(reversed(inside))


def dotted_names(scope: Spot, prefix: str = "") -> Iterator[str]:
    """The dotted names of everything defined inside a scope."""
    for spot in definitions(scope):
        name = f"{prefix}{_name(spot)}"
        yield name
        yield from dotted_names(spot, f"{name}.")


def _name(spot: Spot) -> str:
    assert isinstance(spot.node, cst.FunctionDef | cst.ClassDef)
    return spot.node.name.value


def _not_found(module: cst.Module, path: str, target: str) -> str:
    names = list(dict.fromkeys(dotted_names(Spot(module))))
    last = target.rpartition(".")[2]
    near = [name for name in names if name.rpartition(".")[2] == last]
    near += difflib.get_close_matches(target, names, n=3)
    near += difflib.get_close_matches(last, names, n=3)
    nearest = list(dict.fromkeys(near))[:3]
    if nearest:
        return f"There is no {path} in this file. The nearest names are {', '.join(nearest)}."
    shown = ", ".join(names[:8]) or "nothing"
    return f"There is no {path} in this file, which defines {shown}."
