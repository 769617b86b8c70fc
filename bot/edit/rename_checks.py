"""Whether a name can be renamed: what reads names at run time, and what would be captured."""

from __future__ import annotations

import libcst as cst

from bot.edit.refusal import Refused
from bot.edit.scopes import Scope, Scopes
from bot.edit.tree import at_lines

_ANYWHERE = frozenset(["eval", "exec"])
_OF_MODULE = frozenset(["globals"])
# Those look at the names right around them.
_OF_PLACE = frozenset(["locals", "vars", "dir"])


def refuse_dynamic(module: cst.Module, found: Scopes, scope: Scope, old: str) -> None:
    """Refused where code may read or bind the scope's names by their text."""
    is_module = scope.kind == "module"
    reading = [
        m
        for m in found.mentions
        if m.name in _ANYWHERE | _OF_MODULE | _OF_PLACE and m.scope.meaning(m.name) is None
    ]
    for m in reading:
        if m.name in _OF_PLACE:
            reads = m.scope is scope or (m.scope.kind == "comprehension" and m.scope.is_in(scope))
        else:
            reads = m.scope.is_in(scope) and (is_module or m.name in _ANYWHERE)
        if reads:
            raise Refused(
                "unsupported",
                f"{m.name} is used {at_lines(module, [m.spot.node])}; it may mean {old} by its "
                "text.",
            )
    if is_module and found.stars:
        stars = [spot.node for spot in found.stars]
        raise Refused(
            "unsupported",
            f"It cannot be told which names the star import brings, {at_lines(module, stars)}.",
        )
    printed = [m for m in found.printed if m.name == old and m.scope.meaning(old) is scope]
    if printed:
        nodes = [m.spot.node for m in printed]
        message = f"The f-string prints the name {old}, {at_lines(module, nodes)}."
        raise Refused("unsupported", message)
    _refuse_class_reads(module, found, scope, old)


def _refuse_class_reads(module: cst.Module, found: Scopes, scope: Scope, old: str) -> None:
    """In a class that binds a name itself, it means the outer one until then."""
    unclear: list[cst.CSTNode] = [
        m.spot.node
        for m in found.mentions
        if m.name == old
        and not m.binds
        and m.scope.kind == "class"
        and old in m.scope.bound
        and m.scope.is_in(scope)
    ]
    if unclear:
        raise Refused(
            "unsupported",
            f"{old} {at_lines(module, unclear)} may be that of the class or the outer one.",
        )
    mangled: list[cst.CSTNode] = [
        m.spot.node
        for m in found.mentions_of(old, scope)
        if old.startswith("__") and any(outer.kind == "class" for outer in _outers(m.scope))
    ]
    if mangled:
        message = f"Inside a class, {old} is another name, {at_lines(module, mangled)}."
        raise Refused("unsupported", message)


def _outers(scope: Scope) -> list[Scope]:
    outers = [scope]
    while outers[-1].outer is not None:
        outers.append(outers[-1].outer)
    return outers


def refuse_capture(module: cst.Module, found: Scopes, scope: Scope, old: str, new: str) -> None:
    """Refused where a mention would mean something else. `found` has the new name afterwards."""
    concerned = [m for m in found.mentions if m.name in (old, new)]
    before = [m.scope.meaning(m.name) for m in concerned]
    declaring = [s for s in found.all if old in s.declared and s.meaning(old) is scope]
    for mention, meant in zip(concerned, before, strict=True):
        if meant is scope:
            mention.name = new
    for inner in declaring:
        inner.declared[new] = inner.declared.pop(old)
    found.bind()
    captured = [
        mention.spot.node
        for mention, meant in zip(concerned, before, strict=True)
        if mention.scope.meaning(mention.name) is not meant
    ]
    if captured:
        raise Refused(
            "conflict",
            f"{new} means something else {at_lines(module, captured)}; choose another name.",
        )
    if new.startswith("__") and any(
        outer.kind == "class" for m in found.mentions_of(new, scope) for outer in _outers(m.scope)
    ):
        raise Refused("unsupported", f"Inside a class, {new} is another name.")
