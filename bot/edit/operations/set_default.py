"""Set the default value of a parameter of the function or method `target`.

`parameter` is its name, `code` the value. Calls are not touched.
Postcondition: the parameter has this default.
"""

from __future__ import annotations

import libcst as cst

from bot.edit.arguments import enclosed
from bot.edit.code import parse_expression
from bot.edit.expressions import put_expression
from bot.edit.parameters import find_function, kind_in, missing_parameter, required_behind
from bot.edit.refusal import Refused
from bot.edit.schema import SetDefault
from bot.edit.structure import same
from bot.edit.tree import put_in_module


def set_default(module: cst.Module, edit: SetDefault) -> cst.Module:
    value = parse_expression(edit.code, module)
    spot = find_function(module, edit.target, edit.target_number)
    function = spot.node
    assert isinstance(function, cst.FunctionDef)
    name = edit.parameter
    field, param = kind_in(function.params, name)
    if param is None:
        raise missing_parameter(function, edit.target, name)
    if field in ("star_arg", "star_kwarg"):
        raise Refused("unsupported", f"{name} takes any number of arguments, so no default.")
    index = list(getattr(function.params, field)).index(param)
    path = (*spot.path, ("params", None), (field, index))
    if param.default is not None:
        if same(param.default, value):
            return module
        return put_expression(module, (*path, ("default", None)), value)
    required = required_behind(function.params, name)
    if required:
        raise Refused(
            "would_not_compile",
            f"{required[0]} has no default and stands behind {name}; give "
            f"{' and '.join(required)} a default first, from the last one on.",
        )
    space = cst.SimpleWhitespace("" if param.annotation is None else " ")
    changed = param.with_changes(default=enclosed(value), equal=cst.AssignEqual(space, space))
    return put_in_module(module, path, changed)
