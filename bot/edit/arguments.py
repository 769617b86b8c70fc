"""Passing one more argument at a call."""

from __future__ import annotations

import builtins

import libcst as cst

from bot.edit.callers import Callers
from bot.edit.commas import items_of, read_row, with_item
from bot.edit.refusal import Refused
from bot.edit.scopes import Scopes, scan
from bot.edit.tree import at_lines

# What must stand in parentheses to be an argument.
_ENCLOSED = (cst.Tuple, cst.NamedExpr, cst.GeneratorExp, cst.Yield)


def pass_argument(
    call: cst.Call,
    bound: int,
    params: cst.Parameters,
    name: str,
    place: int | None,
    argument: cst.BaseExpression | None,
    unit: str,
) -> cst.Call:
    """The call with the argument for a new parameter; the same one where nothing is to be done.

    `params` are those before; `place` is that of the new one among the positional ones, None for
    a keyword-only one; the first `bound` of them are not passed by the call. The argument goes by
    keyword unless others behind it are passed by position. `unit` is the file's indentation.
    Refused where that cannot be told.
    """
    args = list(call.args)
    if any(arg.keyword is not None and arg.keyword.value == name for arg in args):
        return call
    count = next((i for i, arg in enumerate(args) if arg.keyword or arg.star), len(args))
    is_last = place is None or (
        place == len(params.posonly_params) + len(params.params)
        and not isinstance(params.star_arg, cst.Param)
    )
    if not is_last and any(arg.star == "*" for arg in args):
        raise Refused("unsupported", f"passes `*`, so the place of {name} cannot be told.")
    if place is not None and place - bound < count:
        if argument is None:
            raise Refused(
                "unsupported",
                f"passes what stands behind {name} by position: say argument, or make it "
                "keyword-only with `*, `.",
            )
        new = cst.Arg(value=enclosed(argument))
        return _with(call, max(place - bound, 0), new, unit)
    if argument is None:
        return call
    if params.star_kwarg is not None and any(arg.star == "**" for arg in args):
        raise Refused("unsupported", f"may pass {name} in a mapping, which cannot be told.")
    return with_keyword(call, name, argument, unit)


def with_keyword(call: cst.Call, name: str, value: cst.BaseExpression, unit: str) -> cst.Call:
    """The call with one more argument by keyword, behind the others but for mappings."""
    return with_argument(call, keyword_argument(name, value), unit)


def keyword_argument(name: str, value: cst.BaseExpression) -> cst.Arg:
    """`name=value`."""
    space = cst.SimpleWhitespace("")
    equal = cst.AssignEqual(space, space)
    return cst.Arg(keyword=cst.Name(name), value=enclosed(value), equal=equal)


def with_argument(call: cst.Call, new: cst.Arg, unit: str) -> cst.Call:
    """The call with one more argument, behind the others but for mappings."""
    before = next((i for i, arg in enumerate(call.args) if arg.star == "**"), len(call.args))
    return _with(call, before, new, unit)


def refuse_unknown_names(
    module: cst.Module, found: Scopes, callers: Callers, argument: cst.BaseExpression
) -> None:
    """Refused where a name of the argument means nothing at one of the calls."""
    alone = scan(cst.Module([cst.SimpleStatementLine([cst.Expr(argument)])]))
    free = {m.name for m in alone.mentions if m.scope.meaning(m.name) is None}
    for name in sorted(free):
        unknown = [site.call for site in callers.calls if site.scope.meaning(name) is None]
        if unknown and not hasattr(builtins, name) and not found.stars:
            raise Refused(
                "conflict",
                f"The argument names {name}, which means nothing {at_lines(module, unknown)}.",
            )


def enclosed(argument: cst.BaseExpression) -> cst.BaseExpression:
    """An expression as it may stand among arguments."""
    if isinstance(argument, _ENCLOSED) and not argument.lpar:
        return argument.with_changes(lpar=[cst.LeftParen()], rpar=[cst.RightParen()])
    return argument


def _with(call: cst.Call, index: int, new: cst.Arg, unit: str) -> cst.Call:
    args = [arg.with_changes(value=enclosed(arg.value)) for arg in call.args]
    row = with_item(read_row(args, call.whitespace_before_args), index, new, unit)
    opening = row.gaps[0]
    return call.with_changes(args=items_of(row, bracketed=False), whitespace_before_args=opening)
