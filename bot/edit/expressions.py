"""Expressions inside a function or module: finding them by structure, and replacing one."""

from __future__ import annotations

import ast
from collections.abc import Iterator

import libcst as cst

from bot.edit.structure import same
from bot.edit.tree import Path, Spot, children, node_at, put_at, put_in_module

_BRACKETED = (cst.Tuple, cst.GeneratorExp)
# Names that are no expressions.
_LABELS = {
    (cst.Attribute, "attr"),
    (cst.Arg, "keyword"),
    (cst.Param, "name"),
    (cst.FunctionDef, "name"),
    (cst.ClassDef, "name"),
    (cst.ImportAlias, "name"),
    (cst.ImportAlias, "asname"),
    (cst.ImportFrom, "module"),
    (cst.ExceptHandler, "name"),
    (cst.ExceptStarHandler, "name"),
    (cst.NameItem, "name"),
    (cst.MatchAs, "name"),
    (cst.MatchStar, "name"),
    (cst.MatchMapping, "rest"),
    (cst.MatchKeywordElement, "key"),
    (cst.TypeAlias, "name"),
    (cst.TypeVar, "name"),
    (cst.TypeVarTuple, "name"),
    (cst.ParamSpec, "name"),
}
# What is assigned to: an anchor means the value of a name, not its assignment.
_ASSIGNED = {
    (cst.AssignTarget, "target"),
    (cst.AugAssign, "target"),
    (cst.AnnAssign, "target"),
    (cst.For, "target"),
    (cst.CompFor, "target"),
    (cst.AsName, "name"),
    (cst.Del, "target"),
    (cst.NamedExpr, "target"),
}
_UNPACKING = (cst.Tuple, cst.List, cst.Element, cst.StarredElement)


def expressions(scope: Spot) -> Iterator[Spot]:
    """Every expression that is evaluated inside a scope, in the order of the code."""
    stack = [(scope, True)]
    while stack:
        spot, hidden = stack.pop()
        node = spot.node
        if not hidden and isinstance(node, cst.BaseExpression):
            yield spot
        below = []
        for name, child in children(spot):
            key = (type(node), name)
            if key in _LABELS:
                continue
            passed_on = hidden and isinstance(node, _UNPACKING)
            piece = isinstance(node, cst.ConcatenatedString)
            below.append((child, key in _ASSIGNED or passed_on or piece))
        stack.extend(reversed(below))


def find_expressions(scope: Spot, wanted: cst.BaseExpression) -> list[Spot]:
    """Those with the structure of `wanted`."""
    kind = type(wanted)
    if isinstance(wanted, cst.SimpleString | cst.ConcatenatedString | cst.FormattedString):
        return [spot for spot in expressions(scope) if same(spot.node, wanted)]
    return [s for s in expressions(scope) if type(s.node) is kind and same(s.node, wanted)]


def put_expression(module: cst.Module, path: Path, new: cst.BaseExpression) -> cst.Module:
    """The module with another expression at a place, in parentheses where they are needed.

    Parentheses around the old expression stay: an anchor does not say whether there are any.
    """
    old = node_at(module, path)
    assert isinstance(old, cst.BaseExpression)
    bare = new if isinstance(new, _BRACKETED) else new.with_changes(lpar=[], rpar=[])
    length, statement = _statement_around(module, path)
    inner = path[length:]
    around = _quote_around(statement, inner)
    if around is not None:
        new, bare = _requoted(new, around), _requoted(bare, around)
    if old.lpar and not isinstance(old, _BRACKETED):
        if not bare.lpar:
            bare = bare.with_changes(lpar=old.lpar, rpar=old.rpar)
        return put_in_module(module, path, bare)
    enclosed = bare.with_changes(
        lpar=[cst.LeftParen(), *bare.lpar], rpar=[*bare.rpar, cst.RightParen()]
    )
    truth = _dump(module, statement, inner, enclosed)
    for attempt in (bare, new):
        if truth is not None and _dump(module, statement, inner, attempt) == truth:
            return put_in_module(module, path, attempt)
    plain = truth is None and isinstance(
        bare, cst.Name | cst.Attribute | cst.Call | cst.Subscript | cst.BaseNumber | cst.BaseString
    )
    return put_in_module(module, path, bare if plain else enclosed)


def _statement_around(module: cst.Module, path: Path) -> tuple[int, cst.CSTNode]:
    """The innermost statement that holds a place, and how far along the way it is."""
    found: tuple[int, cst.CSTNode] = (0, module)
    for length in range(1, len(path)):
        node = node_at(module, path[:length])
        if isinstance(node, cst.BaseSmallStatement | cst.BaseCompoundStatement):
            found = (length, node)
    return found


def _quote_around(statement: cst.CSTNode, path: Path) -> str | None:
    """The quote of the f-string that a place lies in: before Python 3.12 it ends the string."""
    for length in range(len(path), 0, -1):
        node = node_at(statement, path[:length])
        if isinstance(node, cst.FormattedString):
            return node.quote
    return None


def _requoted(new: cst.BaseExpression, around: str) -> cst.BaseExpression:
    """The expression with the other quote for its plain strings, where they would end `around`."""
    other = "'" if '"' in around else '"'

    class Requote(cst.CSTTransformer):
        def leave_SimpleString(  # noqa: N802 - libcst's naming
            self, original_node: cst.SimpleString, updated_node: cst.SimpleString
        ) -> cst.SimpleString:
            if around not in updated_node.value or other in updated_node.raw_value:
                return updated_node
            return cst.SimpleString(f"{updated_node.prefix}{other}{updated_node.raw_value}{other}")

    changed = new.visit(Requote())
    assert isinstance(changed, cst.BaseExpression)
    return changed


def _dump(
    module: cst.Module, statement: cst.CSTNode, path: Path, new: cst.BaseExpression
) -> str | None:
    """What a statement with another expression means; None where the bot cannot tell."""
    try:
        changed = put_at(_without_printing(statement, path), path, new)
        return ast.dump(ast.parse(module.code_for_node(changed)))
    except (cst.CSTValidationError, SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def _without_printing(statement: cst.CSTNode, path: Path) -> cst.CSTNode:
    """The statement with `{x}` for each `{x=}` around a place: that prints the very parentheses."""
    for length in range(len(path)):
        node = node_at(statement, path[:length])
        if isinstance(node, cst.FormattedStringExpression) and node.equal is not None:
            statement = put_at(statement, path[:length], node.with_changes(equal=None))
    return statement
