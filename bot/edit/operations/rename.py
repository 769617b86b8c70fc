"""Rename what `target` names, to `to`: a function, class, variable, parameter or local.

`target` is the name in its scope: `LIMIT`, `function.local`, `Class.method.parameter`. Every
mention in the module follows: closures, `global`, `__all__`, annotations in quotes, and for a
parameter the keyword at its calls. Docstrings and comments stay. Of attributes, only those private
to a class (`Class.__name`) can be renamed. Other modules are not looked at.
Postcondition: nothing in that scope binds the old name, and something binds the new one.
"""

from __future__ import annotations

import difflib
import keyword
import unicodedata
from typing import cast

import libcst as cst

from bot.edit.exports import exported
from bot.edit.keywords import keyword_changes
from bot.edit.mentions import renamed_mention
from bot.edit.private import rename_private
from bot.edit.refusal import Refused
from bot.edit.rename_checks import refuse_capture, refuse_dynamic
from bot.edit.schema import Rename
from bot.edit.scopes import Scope, Scopes, scan
from bot.edit.targets import find_target
from bot.edit.tree import Path, at_lines, put_all


def rename(module: cst.Module, edit: Rename) -> cst.Module:
    outer, _, old = unicodedata.normalize("NFKC", edit.target).rpartition(".")
    new = edit.to
    _check_name(new)
    place = find_target(module, outer, edit.target_number)
    found = scan(module)
    scope = found.of(place.path)
    if scope.kind == "class" and old.startswith("__") and not old.endswith("__"):
        return rename_private(module, found, scope, old, new)
    if old not in scope.bound and new in scope.bound:
        return module
    where = outer or "this file"
    _refuse_unfit(module, found, scope, old, new, where)
    changes = _changes(module, found, scope, old, new)
    if isinstance(place.node, cst.FunctionDef):
        changes |= keyword_changes(module, found, place, old, new)
    refuse_capture(module, found, scope, old, new)
    return cast(cst.Module, put_all(module, changes))


def _check_name(name: str) -> None:
    if not name.isidentifier() or unicodedata.normalize("NFKC", name) != name:
        raise Refused("unsupported", f"{name!r} is no name.")
    if keyword.iskeyword(name):
        raise Refused("unsupported", f"{name!r} is a word of the language.")
    if name.startswith("__") and name.endswith("__"):
        raise Refused("unsupported", f"{name!r} means something to Python.")


def _refuse_unfit(
    module: cst.Module, found: Scopes, scope: Scope, old: str, new: str, where: str
) -> None:
    if old not in scope.bound:
        near = difflib.get_close_matches(old, sorted(scope.bound), n=3)
        names = near or sorted(scope.bound)[:8]
        hint = f" The nearest names are {', '.join(names)}." if names else ""
        raise Refused("not_found", f"{where[0].upper()}{where[1:]} binds no {old!r}.{hint}")
    if scope.kind == "class":
        raise Refused(
            "unsupported",
            f"{old} is an attribute of {where}, and it cannot be told which .{old} mean it; only "
            "names, and attributes private to a class (__name), can be renamed.",
        )
    if old.startswith("__") and old.endswith("__"):
        raise Refused("unsupported", f"{old!r} means something to Python.")
    if new in scope.bound:
        taken = [m.spot.node for m in found.mentions_of(new, scope) if m.binds]
        message = f"{new} exists in {where} already, {at_lines(module, taken)}."
        raise Refused("conflict", message)
    refuse_dynamic(module, found, scope, old)


def _changes(
    module: cst.Module, found: Scopes, scope: Scope, old: str, new: str
) -> dict[Path, cst.CSTNode]:
    changes: dict[Path, cst.CSTNode] = {}
    for mention in found.mentions_of(old, scope):
        changes[mention.spot.path] = renamed_mention(module, mention.spot.node, old, new)
    if scope.kind == "module":
        for export in exported(module):
            value = export.node.evaluated_value
            if value == new:
                message = f"__all__ has {new} already, {at_lines(module, [export.node])}."
                raise Refused("conflict", message)
            if value == old:
                changes[export.path] = renamed_mention(module, export.node, old, new)
    return changes
