"""The parameters of a function as one row, with `/` and `*` among them, and adding one."""

from __future__ import annotations

import difflib
from typing import Any

import libcst as cst

from bot.edit.callers import decorator_name
from bot.edit.code import parse_statements
from bot.edit.commas import items_of, read_row, with_item
from bot.edit.dedent import dedent_code
from bot.edit.refusal import Refused
from bot.edit.targets import definitions, find_target
from bot.edit.tree import Spot, at_lines, has_comment

_ROW = ("posonly_params", "posonly_ind", "params", "star_arg", "kwonly_params", "star_kwarg")
_LISTS = ("posonly_params", "params", "kwonly_params")
_ONE = "add_parameter takes one parameter, as in a signature: limit: int = 5, or *, limit: int."


def find_function(module: cst.Module, target: str, number: int | None) -> Spot:
    """The function or method of that dotted name. Refused for a class and for an overload."""
    try:
        spot = find_target(module, target, number)
    except Refused as refused:
        raise Refused(refused.kind, refused.message + _overload_hint(module, target)) from None
    if not isinstance(spot.node, cst.FunctionDef):
        hint = "; name its __init__ instead" if target else ""
        raise Refused("unsupported", f"{target} is a class, not a function{hint}.")
    if _is_overload(spot.node):
        hint = _overload_hint(module, target)
        raise Refused("unsupported", f"{target} is an overload; replace each signature.{hint}")
    return spot


def _is_overload(function: cst.FunctionDef) -> bool:
    return any(decorator_name(decorator) == "overload" for decorator in function.decorators)


def _overload_hint(module: cst.Module, target: str) -> str:
    """Which of several definitions are overloads, and which is the function; else nothing."""
    outer, _, name = target.rpartition(".")
    try:
        scope = find_target(module, outer)
    except Refused:
        return ""
    found = [
        spot.node
        for spot in definitions(scope)
        if isinstance(spot.node, cst.FunctionDef) and spot.node.name.value == name
    ]
    whole = [i for i, node in enumerate(found) if not _is_overload(node)]
    if len(whole) != 1 or len(found) == 1:
        return ""
    others = [node for node in found if _is_overload(node)]
    return (
        f" Those {at_lines(module, others)} are overloads; the function itself is target_number "
        f"{whole[0] + 1}."
    )


def missing_parameter(function: cst.FunctionDef, target: str, name: str) -> Refused:
    """The refusal of a parameter that a function does not have."""
    names = [item.name.value for _, item in _row(function.params) if isinstance(item, cst.Param)]
    near = difflib.get_close_matches(name, names, n=3)
    if near:
        hint = f"the nearest names are {', '.join(near)}"
    else:
        hint = f"it takes {', '.join(names) or 'none'}"
    return Refused("not_found", f"{target} has no parameter {name}; {hint}.")


def parse_parameter(code: str, module: cst.Module) -> tuple[cst.Param, bool]:
    """The parameter that a piece of a signature holds, and whether it is keyword-only."""
    statements = parse_statements(f"def function(\n{dedent_code(code)}\n): pass", module)
    statement = statements[0]
    if len(statements) != 1 or not isinstance(statement, cst.FunctionDef):
        raise Refused("unsupported", _ONE)
    params = statement.params
    found = [*params.params, *params.kwonly_params]
    if (
        len(found) != 1
        or params.posonly_params
        or params.star_kwarg is not None
        or isinstance(params.star_arg, cst.Param)
        or has_comment(statement)
    ):
        raise Refused("unsupported", _ONE)
    bare = found[0].with_changes(
        comma=cst.MaybeSentinel.DEFAULT, whitespace_after_param=cst.SimpleWhitespace("")
    )
    return bare, bool(params.kwonly_params)


def kind_in(params: cst.Parameters, name: str) -> tuple[str, cst.Param | None]:
    """The field of the parameters that holds one of that name, and the parameter."""
    for field, item in _row(params):
        if isinstance(item, cst.Param) and item.name.value == name:
            return field, item
    return "", None


def required_behind(params: cst.Parameters, name: str) -> list[str]:
    """The positional parameters without a default that stand behind a positional one."""
    positional = [*params.posonly_params, *params.params]
    names = [param.name.value for param in positional]
    behind = positional[names.index(name) + 1 :] if name in names else []
    return [param.name.value for param in behind if param.default is None]


def position_of(params: cst.Parameters, new: cst.Param) -> int:
    """The place of a new positional parameter: behind the others of its kind.

    Refused where none before it may lack a default.
    """
    if new.default is not None:
        return len(params.posonly_params) + len(params.params)
    if any(param.default is not None for param in params.posonly_params):
        raise Refused(
            "would_not_compile",
            f"{new.name.value} has no default, but a positional-only parameter before it has "
            "one; give it a default, or make it keyword-only with `*, `.",
        )
    required = [param for param in params.params if param.default is None]
    return len(params.posonly_params) + len(required)


def with_parameter(
    function: cst.FunctionDef, new: cst.Param, unit: str, *, keyword_only: bool
) -> cst.FunctionDef:
    """The function with another parameter, behind the last of its kind.

    `unit` is the file's indentation.
    """
    params = function.params
    found = _row(params)
    fields = [field for field, _ in found]
    if keyword_only:
        place = len(found) - fields.count("star_kwarg")
    else:
        place = position_of(params, new) + fields.count("posonly_ind")
    row = read_row([item for _, item in found], function.whitespace_before_params)
    row = with_item(row, place, new, unit)
    fields.insert(place, "kwonly_params" if keyword_only else "params")
    if keyword_only and "star_arg" not in fields:
        row = with_item(row, place, cst.ParamStar(), unit)
        fields.insert(place, "star_arg")
    values: dict[str, Any] = {name: [] for name in _LISTS}
    for field, item in zip(fields, items_of(row, bracketed=False), strict=True):
        if field in _LISTS:
            values[field].append(item)
        else:
            values[field] = item
    return function.with_changes(
        params=params.with_changes(**values), whitespace_before_params=row.gaps[0]
    )


def _row(params: cst.Parameters) -> list[tuple[str, Any]]:
    """Field and node of everything between the brackets, in order."""
    row: list[tuple[str, Any]] = []
    for field in _ROW:
        value = getattr(params, field)
        if field in _LISTS:
            row += [(field, item) for item in value]
        elif isinstance(value, cst.CSTNode):
            row.append((field, value))
    return row
