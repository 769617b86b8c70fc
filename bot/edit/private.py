"""Renaming an attribute that is private to a class: `__name`, which Python mangles.

Language reference, 6.2.1 "Private name mangling".
"""

from __future__ import annotations

from typing import cast

import libcst as cst

from bot.edit.callers import class_name
from bot.edit.refusal import Refused
from bot.edit.scopes import Scope, Scopes
from bot.edit.tree import Path, Spot, at_lines, put_all


def rename_private(
    module: cst.Module, found: Scopes, owner: Scope, old: str, new: str
) -> cst.Module:
    """The module with another name for an attribute of the class whose scope is `owner`."""
    name = class_name(owner)
    if not new.startswith("__"):
        raise Refused("unsupported", f"{old} is private to {name}; {new!r} would not be.")
    mentions, others = _mentions(found, owner, old), _mentions(found, owner, new)
    if not mentions and others:
        return module
    if not mentions:
        raise Refused("not_found", f"{name} has no {old!r}.")
    if others:
        taken = at_lines(module, [spot.node for spot in others])
        raise Refused("conflict", f"{new} exists in {name} already, {taken}.")
    bare = name.lstrip("_")
    same_name = [
        scope.spot.node
        for scope in found.all
        if scope.kind == "class" and class_name(scope).lstrip("_") == bare
    ]
    if f"_{bare}{old}" in module.code or len(same_name) > 1:
        raise Refused("unsupported", f"{old} is reached from outside of {name}: _{bare}{old}.")
    changes: dict[Path, cst.CSTNode] = {
        spot.path: cst.ensure_type(spot.node, cst.Name).with_changes(value=new) for spot in mentions
    }
    return cast(cst.Module, put_all(module, changes))


def _mentions(found: Scopes, owner: Scope, name: str) -> list[Spot]:
    """The names in the class, and the attributes of anything, that are mangled alike."""
    names = [m.spot for m in found.mentions if m.name == name and _class_of(m.scope) is owner]
    attributes = []
    for spot, scope in found.attributes:
        node = cst.ensure_type(spot.node, cst.Attribute)
        if node.attr.value == name and _class_of(scope) is owner:
            attributes.append(Spot(node.attr, (*spot.path, ("attr", None))))
    return [*names, *attributes]


def _class_of(scope: Scope) -> Scope | None:
    """The innermost class that a scope lies in."""
    inner: Scope | None = scope
    while inner is not None and inner.kind != "class":
        inner = inner.outer
    return inner
