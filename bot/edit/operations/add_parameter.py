"""Add a parameter to the function or method `target`, and pass it at its calls in the module.

`code` is the parameter as in a signature (`limit: int = 5`; `*, strict: bool = False` makes it
keyword-only); it stands behind the last one of its kind. `argument` is the expression that the
calls pass; it may be left out where there is a default. Calls are found by scope: of the plain
name, by `self.` and `cls.` in the class, and by the name of the class. Without a default, every
call must be one of these. Other modules are not looked at.
Postcondition: the function has this parameter, of this kind, with this type and default.
"""

from __future__ import annotations

import libcst as cst

from bot.edit.arguments import pass_argument, refuse_unknown_names
from bot.edit.callers import Callers, callers_of, decorator_name
from bot.edit.code import parse_expression
from bot.edit.parameters import find_function, kind_in, parse_parameter, position_of, with_parameter
from bot.edit.refusal import Refused
from bot.edit.schema import AddParameter
from bot.edit.scopes import scan
from bot.edit.structure import same
from bot.edit.tree import at_lines, node_at, put_in_module

_WITHOUT_CALLS = frozenset(["property", "cached_property", "setter", "getter", "deleter"])


def add_parameter(module: cst.Module, edit: AddParameter) -> cst.Module:
    new, keyword_only = parse_parameter(edit.code, module)
    spot = find_function(module, edit.target, edit.target_number)
    function = spot.node
    assert isinstance(function, cst.FunctionDef)
    name = new.name.value
    field, present = kind_in(function.params, name)
    if present is not None:
        if same(present, new) and (field == "kwonly_params") == keyword_only:
            return module
        raise Refused(
            "conflict", f"{edit.target} has a parameter {name} already, of another kind or value."
        )
    argument = parse_expression(edit.argument, module) if edit.argument.strip() else None
    found = scan(module)
    callers = callers_of(module, found, spot)
    _refuse_property(function, edit.target)
    _refuse_unreached(module, callers, new, argument)
    if argument is not None:
        refuse_unknown_names(module, found, callers, argument)
    place = None if keyword_only else position_of(function.params, new)
    # Those inside others first, so that the ways stay right.
    for site in sorted(callers.calls, key=lambda site: len(site.spot.path), reverse=True):
        call = node_at(module, site.spot.path)
        assert isinstance(call, cst.Call)
        params, bound, unit = function.params, site.bound, module.default_indent
        try:
            passed = pass_argument(call, bound, params, name, place, argument, unit)
        except Refused as refused:
            where = at_lines(module, [call])
            raise Refused(refused.kind, f"The call {where} {refused.message}") from None
        if passed is not call:
            module = put_in_module(module, site.spot.path, passed)
    function = node_at(module, spot.path)
    assert isinstance(function, cst.FunctionDef)
    unit = module.default_indent
    changed = with_parameter(function, new, unit, keyword_only=keyword_only)
    return put_in_module(module, spot.path, changed)


def _refuse_property(function: cst.FunctionDef, target: str) -> None:
    if any(decorator_name(decorator) in _WITHOUT_CALLS for decorator in function.decorators):
        raise Refused("unsupported", f"{target} is a property, which takes no arguments.")


def _refuse_unreached(
    module: cst.Module, callers: Callers, new: cst.Param, argument: cst.CSTNode | None
) -> None:
    """Refused where a call that needs the argument is not surely one, or where it has none."""
    name = new.name.value
    calls: list[cst.CSTNode] = [site.call for site in callers.calls]
    if new.default is None:
        unsure = [spot.node for spot in (*callers.unknown, *callers.values)]
        if unsure:
            raise Refused(
                "unsupported",
                f"{name} has no default, and it cannot be told whether what stands "
                f"{at_lines(module, unsure)} is a call of the function; give {name} a default.",
            )
        if calls and argument is None:
            raise Refused(
                "unsupported",
                f"{name} has no default: say with argument what the calls pass, "
                f"{at_lines(module, calls)}.",
            )
    if argument is None or not calls:
        return
    several = callers.overrides or (callers.definitions if len(callers.definitions) > 1 else [])
    if several:
        raise Refused(
            "unsupported",
            f"The calls {at_lines(module, calls)} may be of another function of that name, "
            f"{at_lines(module, several)}; give {name} a default and no argument.",
        )
