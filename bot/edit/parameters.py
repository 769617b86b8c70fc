"""The parameters of a function as one row, with `/` and `*` among them, and adding one."""

from __future__ import annotations

from typing import Any

import libcst as cst
from libcst import matchers

from bot.edit.code import parse_statements
from bot.edit.commas import with_item
from bot.edit.dedent import dedent_code
from bot.edit.refusal import Refused

_ROW = ("posonly_params", "posonly_ind", "params", "star_arg", "kwonly_params", "star_kwarg")
_LISTS = ("posonly_params", "params", "kwonly_params")
_ONE = "add_parameter takes one parameter, as in a signature: limit: int = 5, or *, limit: int."


def parse_parameter(code: str, module: cst.Module) -> tuple[cst.Param, bool]:
    """The parameter that a piece of a signature holds, and whether it is keyword-only."""
    statement = parse_statements(f"def function(\n{dedent_code(code)}\n): pass", module)[0]
    if not isinstance(statement, cst.FunctionDef):
        raise Refused("unsupported", _ONE)
    params = statement.params
    found = [*params.params, *params.kwonly_params]
    if (
        len(found) != 1
        or params.posonly_params
        or params.star_kwarg is not None
        or isinstance(params.star_arg, cst.Param)
        or matchers.findall(statement, matchers.Comment())
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
    function: cst.FunctionDef, new: cst.Param, *, keyword_only: bool
) -> cst.FunctionDef:
    """The function with another parameter, behind the last of its kind."""
    params = function.params
    row = _row(params)
    fields = [field for field, _ in row]
    if keyword_only:
        place = len(row) - fields.count("star_kwarg")
    else:
        place = position_of(params, new) + fields.count("posonly_ind")
    opening = function.whitespace_before_params
    items = with_item([item for _, item in row], place, new, opening)
    fields.insert(place, "kwonly_params" if keyword_only else "params")
    if keyword_only and "star_arg" not in fields:
        items = with_item(items, place, cst.ParamStar(), opening)
        fields.insert(place, "star_arg")
    values: dict[str, Any] = {name: [] for name in _LISTS}
    for field, item in zip(fields, items, strict=True):
        if field in _LISTS:
            values[field].append(item)
        else:
            values[field] = item
    return function.with_changes(params=params.with_changes(**values))


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
