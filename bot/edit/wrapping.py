"""Code around a call: what it is, and whether the call would mean the same inside of it."""

from __future__ import annotations

import builtins
from dataclasses import dataclass
from typing import cast

import libcst as cst

from bot.edit.code import one_line, parse_expression
from bot.edit.expressions import expressions, put_expression
from bot.edit.items import called
from bot.edit.layout import shifted
from bot.edit.refusal import Refused
from bot.edit.scopes import scan
from bot.edit.tree import Path, Spot, at_lines, node_at, put_at, walk

_COMPREHENSIONS = (cst.ListComp, cst.SetComp, cst.DictComp, cst.GeneratorExp)
# What can be awaited comes out of these; nothing of the kind comes out of other built-ins.
_ASYNCHRONOUS = ("aiter", "anext")


@dataclass(frozen=True)
class Wrapper:
    """An expression, and the way to the `...` in it."""

    code: cst.BaseExpression
    hole: Path

    def plainly_around(self, call: cst.CSTNode) -> cst.CSTNode:
        """The code with a call in its place, whatever its parentheses."""
        return put_at(self.code, self.hole, call)

    def around(self, module: cst.Module, call: cst.CSTNode) -> cst.BaseExpression:
        """The code with a call in its place, in parentheses where they are needed."""
        line = cst.SimpleStatementLine([cst.Expr(self.code)])
        alone = module.with_changes(body=[line], header=[], footer=[])
        path: Path = (("body", 0), ("body", 0), ("value", None))
        filled = put_expression(alone, (*path, *self.hole), cast(cst.BaseExpression, call))
        return cast(cst.BaseExpression, node_at(filled, path))


def parse_wrapper(code: str, module: cst.Module) -> Wrapper:
    """Code with one `...`, or a name to call. Refused for anything else."""
    node = shifted(parse_expression(code, module), "", module.default_indent)
    holes = [s.path for s in walk(Spot(node), lambda n: True) if isinstance(s.node, cst.Ellipsis)]
    if not holes and isinstance(node, cst.Name | cst.Attribute):
        call = cst.Call(node, [cst.Arg(cst.Ellipsis())])
        return Wrapper(call, (("args", 0), ("value", None)))
    if len(holes) != 1 or not holes[0]:
        raise Refused(
            "unsupported",
            f"{one_line(module, node)!r} does not say where the call goes: give one `...` in its "
            "place, as in `retry(lambda: ...)`, or only a name to call with it.",
        )
    return Wrapper(node, holes[0])


def refuse_other_meaning(module: cst.Module, wrapper: Wrapper, spot: Spot) -> None:
    """Refused where a call would not mean the same in its place in the wrapper."""
    _refuse_awaited(module, wrapper, spot)
    inner = list(_scopes_in(wrapper))
    if not inner:
        return
    call = spot.node
    for scope in inner:
        kind = "lambda" if isinstance(scope, cst.Lambda) else "comprehension"
        reason = _reason(scope, call)
        if reason:
            raise Refused(
                "conflict",
                f"The call {at_lines(module, [call])} {reason}, which would not mean the same in "
                f"the {kind} of the code.",
            )
    lost = _class_names(module, spot)
    if lost:
        raise Refused(
            "conflict",
            f"The call {at_lines(module, [call])} uses {lost[0]} of the class, which is not known "
            "inside a lambda or comprehension.",
        )


def _class_names(module: cst.Module, spot: Spot) -> list[str]:
    """The names of the class body in which an expression is evaluated that it uses."""
    kinds = (cst.ClassDef, cst.FunctionDef, cst.Lambda)
    around = [
        node
        for length, (step, _) in enumerate(spot.path)
        if step == "body" and isinstance(node := node_at(module, spot.path[:length]), kinds)
    ]
    if not around or not isinstance(around[-1], cst.ClassDef):
        return []
    return [
        mention.name
        for mention in scan(module).mentions
        if mention.spot.path[: len(spot.path)] == spot.path
        and mention.scope.kind == "class"
        and mention.scope.meaning(mention.name) is mention.scope
    ]


def _refuse_awaited(module: cst.Module, wrapper: Wrapper, spot: Spot) -> None:
    """Refused where the call is awaited and what is around it surely gives nothing to await."""
    around = node_at(module, spot.path[:-1])
    step = spot.path[-1][0]
    is_await = isinstance(around, cst.Await)
    is_used = (isinstance(around, cst.For | cst.CompFor) and step == "iter") and (
        around.asynchronous is not None
    )
    if isinstance(around, cst.WithItem):
        with_ = node_at(module, spot.path[:-2])
        is_used = isinstance(with_, cst.With) and with_.asynchronous is not None
    code = wrapper.code
    if not is_await and not is_used:
        return
    if isinstance(code, cst.Call):
        name = code.func.value if isinstance(code.func, cst.Name) else ""
        if not hasattr(builtins, str(name)) or name in _ASYNCHRONOUS:
            return
    hint = f"; give the anchor `{one_line(module, around)}` to wrap what comes out of it"
    raise Refused(
        "conflict",
        f"The call {at_lines(module, [spot.node])} is awaited, and what {one_line(module, code)!r} "
        f"gives is not to be awaited{hint if is_await else ''}.",
    )


def _scopes_in(wrapper: Wrapper) -> list[cst.CSTNode]:
    """The lambdas and comprehensions of a wrapper that its hole is evaluated inside of."""
    found: list[cst.CSTNode] = []
    for length in range(len(wrapper.hole)):
        node = node_at(wrapper.code, wrapper.hole[:length])
        first, second = (*wrapper.hole[length:], ("", None))[:2]
        if isinstance(node, cst.Lambda) and first[0] == "body":
            found.append(node)
        # The first iterable of a comprehension is evaluated outside.
        if isinstance(node, _COMPREHENSIONS) and (first[0], second[0]) != ("for_in", "iter"):
            found.append(node)
    return found


def _reason(scope: cst.CSTNode, call: cst.CSTNode) -> str:
    """What a call does that it cannot do in another scope; empty where there is nothing."""
    inside = [spot.node for spot in walk(Spot(call), lambda n: not isinstance(n, cst.Lambda))]
    if any(isinstance(node, cst.Yield) for node in inside):
        return "holds a yield"
    waits = any(
        isinstance(node, cst.Await) or getattr(node, "asynchronous", None) for node in inside
    )
    if waits and isinstance(scope, cst.Lambda | cst.GeneratorExp):
        return "holds an await"
    if any(isinstance(node, cst.NamedExpr) for node in inside) and isinstance(scope, cst.Lambda):
        return "holds a `:=`"
    if any(
        isinstance(node, cst.Call) and called(node) == "super" and not node.args for node in inside
    ):
        return "holds a super()"
    names = {s.node.value for s in expressions(Spot(call)) if isinstance(s.node, cst.Name)}
    taken = sorted(names & _bound_in(scope))
    return f"uses {taken[0]}" if taken else ""


def _bound_in(scope: cst.CSTNode) -> set[str]:
    """The parameters of a lambda, or what a comprehension assigns to."""
    found: set[str] = set()
    for spot in walk(Spot(scope), lambda node: True):
        node = spot.node
        if isinstance(node, cst.Param):
            found.add(node.name.value)
        if isinstance(node, cst.CompFor):
            targets = walk(Spot(node.target), lambda inner: True)
            found |= {one.node.value for one in targets if isinstance(one.node, cst.Name)}
    return found
