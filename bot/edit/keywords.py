"""The keyword arguments that name a parameter, when the parameter gets another name."""

from __future__ import annotations

import libcst as cst

from bot.edit.callers import Callers, callers_of, decorator_name
from bot.edit.refusal import Refused
from bot.edit.scopes import Scopes
from bot.edit.tree import Path, Spot, at_lines

# Decorators that do not look at the names of parameters.
_BLIND_NAMES = """
    staticmethod classmethod property setter getter deleter abstractmethod override final cache
    lru_cache cached_property contextmanager asynccontextmanager wraps
"""
_BLIND = frozenset(_BLIND_NAMES.split())


def keyword_changes(
    module: cst.Module, found: Scopes, target: Spot, old: str, new: str
) -> dict[Path, cst.CSTNode]:
    """New keywords at the calls of a function, where `old` is a parameter that takes one.

    Refused where a call may pass it in a way that cannot be seen.
    """
    function = target.node
    assert isinstance(function, cst.FunctionDef)
    params = function.params
    named = {param.name.value for param in (*params.params, *params.kwonly_params)}
    if old not in named:
        return {}
    _refuse_seen_names(function, old)
    callers = callers_of(module, found, target)
    changes: dict[Path, cst.CSTNode] = {}
    unpacking = []
    for site in callers.calls:
        for index, arg in enumerate(site.call.args):
            if arg.star == "**":
                unpacking.append(site.spot)
            if arg.keyword is not None and arg.keyword.value == old:
                path = (*site.spot.path, ("args", index), ("keyword", None))
                changes[path] = arg.keyword.with_changes(value=new)
    _refuse(module, unpacking, old, "may pass {old} in a mapping")
    _refuse_unknown(module, found, callers, old)
    if changes and callers.overrides:
        raise Refused(
            "unsupported",
            f"{function.name.value} is also defined in a class above or below, "
            f"{at_lines(module, callers.overrides)}; {old} is passed by keyword.",
        )
    return changes


def _refuse_seen_names(function: cst.FunctionDef, old: str) -> None:
    names = [decorator_name(decorator) for decorator in function.decorators]
    seeing = [name or "a decorator" for name in names if name not in _BLIND]
    if seeing:
        raise Refused(
            "unsupported",
            f"{seeing[0]} decorates {function.name.value} and may read the name {old}.",
        )
    if function.name.value.startswith("test_"):
        message = f"{function.name.value} looks like a test; its fixtures go by their names."
        raise Refused("unsupported", message)


def _refuse_unknown(module: cst.Module, found: Scopes, callers: Callers, old: str) -> None:
    passing = [spot for spot in callers.unknown if _has_keyword(spot, old)]
    if callers.values:
        known = {site.spot.path for site in callers.calls}
        passing += [
            spot for spot, _ in found.calls if spot.path not in known and _has_keyword(spot, old)
        ]
    _refuse(module, passing, old, "may pass {old} to it")


def _refuse(module: cst.Module, spots: list[Spot], old: str, what: str) -> None:
    if spots:
        where = at_lines(module, [spot.node for spot in spots])
        message = f"The call {where} {what.format(old=old)}, which cannot be told."
        raise Refused("unsupported", message)


def _has_keyword(spot: Spot, name: str) -> bool:
    assert isinstance(spot.node, cst.Call)
    return any(arg.keyword is not None and arg.keyword.value == name for arg in spot.node.args)
