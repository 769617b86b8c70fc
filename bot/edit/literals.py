"""The list, tuple, set or dict literals that a value is made of, and where such a value stands."""

from __future__ import annotations

from collections.abc import Callable
from typing import cast

import libcst as cst

from bot.edit.anchors import open_place
from bot.edit.assignments import find_assignment, find_assignment_to
from bot.edit.code import one_line, parse_expression
from bot.edit.expressions import find_expressions
from bot.edit.items import Item, Literal, called, is_dict, is_empty_call, is_pair
from bot.edit.refusal import Refused
from bot.edit.schema import ItemEdit
from bot.edit.targets import find_target
from bot.edit.tree import Path, Spot, at_lines, node_at

# Changes the value at a place of a module; the text is what the value is called.
Change = Callable[[cst.Module, Spot, str], cst.Module]
_LITERALS = (cst.List, cst.Tuple, cst.Set, cst.Dict)


def change_value(module: cst.Module, edit: ItemEdit, change: Change) -> cst.Module:
    """The module with a change made on the one value that target and anchor name.

    Without an anchor the target is a constant (`TOOLS`, `Config.TOOLS`). With one, the target is
    a scope, and the anchor what is assigned to there, or the value as it stands.
    """
    if not edit.anchor.strip():
        outer, _, name = edit.target.rpartition(".")
        scope = find_target(module, outer, edit.target_number)
        where = outer or "this file"
        statement = find_assignment(module, scope, name, edit.number, where)
        return change(module, _value_of(statement, edit.target), edit.target)
    scope = find_target(module, edit.target, edit.target_number)
    where = edit.target or "this file"
    wanted = parse_expression(edit.anchor, module)
    said = one_line(module, wanted)
    if isinstance(wanted, cst.Name | cst.Attribute | cst.Subscript):
        statement = find_assignment_to(module, scope, wanted, edit.number, where)
        return change(module, _value_of(statement, said), said)
    done = find_expressions(scope, _changed_alone(module, wanted, change, said))
    spot = open_place(module, scope, wanted, done=done, number=edit.number, where=where)
    return module if spot is None else change(module, spot, said)


def _changed_alone(
    module: cst.Module, value: cst.BaseExpression, change: Change, said: str
) -> cst.BaseExpression:
    """The value as the change makes it."""
    line = cst.SimpleStatementLine([cst.Expr(value)])
    alone = module.with_changes(body=[line], header=[], footer=[])
    path: Path = (("body", 0), ("body", 0), ("value", None))
    return cast(cst.BaseExpression, node_at(change(alone, Spot(value, path), said), path))


def _value_of(statement: Spot, name: str) -> Spot:
    node = statement.node
    assert isinstance(node, cst.Assign | cst.AnnAssign | cst.AugAssign)
    if isinstance(node, cst.AugAssign) and not isinstance(
        node.operator, cst.AddAssign | cst.BitOrAssign
    ):
        raise Refused("unsupported", f"{name} is not added to there, but changed otherwise.")
    if node.value is None:
        raise Refused("unsupported", f"{name} has a type, but no value; set_constant gives it one.")
    return Spot(node.value, (*statement.path, ("value", None)))


def literals_for(
    module: cst.Module, value: Spot, item: Item, name: str, *, may_be_key: bool = False
) -> list[Spot]:
    """The literals of a value that such an item belongs into, in the order of the code.

    `may_be_key`: an element may be the key of a dict. Refused, with the reason, where there are
    none.
    """
    found = literals(value)
    if not found:
        how = "by a comprehension" if isinstance(_core(value.node), cst.BaseComp) else "otherwise"
        raise Refused(
            "unsupported",
            f"{name} is made {how}, {at_lines(module, [value.node])}, not by a list, tuple, set "
            "or dict literal; replace_expression can change it.",
        )
    fitting = [spot for spot in found if is_dict(cast(Literal, spot.node)) == is_pair(item)]
    if not fitting and may_be_key and isinstance(item, cst.Element):
        return found
    if not fitting and not is_pair(item):
        raise Refused("unsupported", f"{name} is a dict, whose items are `key: value`.")
    if not fitting:
        raise Refused("unsupported", f"{name} is no dict, so it takes no `key: value`.")
    return fitting


def literals(value: Spot) -> list[Spot]:
    """The literals that an expression is made of: itself, in a call, or joined by `+` or `|`."""
    node = value.node
    if isinstance(node, _LITERALS) or is_empty_call(node):
        return [value]
    if isinstance(node, cst.BinaryOperation):
        if not isinstance(node.operator, cst.Add | cst.BitOr):
            return []
        return [*literals(_below(value, "left")), *literals(_below(value, "right"))]
    if isinstance(node, cst.Call):
        inside = [
            found
            for index, arg in enumerate(node.args)
            if (found := literals(Spot(arg.value, _argument(value, index)))) and not arg.star
            if arg.keyword is None
        ]
        factory = [
            literals(Spot(arg.value.body, (*_argument(value, index), ("body", None))))
            for index, arg in enumerate(node.args)
            if arg.keyword is not None
            and arg.keyword.value == "default_factory"
            and isinstance(arg.value, cst.Lambda)
        ]
        both = [*inside, *factory]
        if called(node) == "dict" and not (len(node.args) == 1 and both):
            return [value]
        return both[0] if len(both) == 1 else []
    return []


def _core(node: cst.CSTNode) -> cst.CSTNode:
    """What stands inside calls with one argument."""
    while isinstance(node, cst.Call) and len(node.args) == 1:
        node = node.args[0].value
    return node


def _below(spot: Spot, name: str) -> Spot:
    return Spot(getattr(spot.node, name), (*spot.path, (name, None)))


def _argument(call: Spot, index: int) -> Path:
    return (*call.path, ("args", index), ("value", None))
