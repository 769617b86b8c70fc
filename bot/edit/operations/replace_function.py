"""Replace a whole function by new source of the same name.

Decorators, comments before it, in its signature and behind its colon, and `async` stay unless
`code` has its own, or `keep_decorators`, `keep_comments`, `keep_async` is false.
Postcondition: the function has the structure of `code` with what is kept.
"""

from __future__ import annotations

import libcst as cst

from bot.edit.code import leading_lines, parse_statements, split_lines
from bot.edit.header import free_first_comments
from bot.edit.refusal import Refused
from bot.edit.schema import ReplaceFunction
from bot.edit.structure import same
from bot.edit.targets import find_target
from bot.edit.tree import node_at, put_in_module


def replace_function(module: cst.Module, edit: ReplaceFunction) -> cst.Module:
    spot = find_target(module, edit.target, edit.target_number)
    new = _parse_function(edit, module)
    if not isinstance(spot.node, cst.FunctionDef):
        raise Refused("unsupported", f"{edit.target} is a class, not a function.")
    freed = free_first_comments(module)
    old = node_at(freed, spot.path)
    assert isinstance(old, cst.FunctionDef)
    if edit.keep_async and old.asynchronous is not None and new.asynchronous is None:
        new = new.with_changes(asynchronous=old.asynchronous)
    if edit.keep_decorators and not new.decorators:
        new = new.with_changes(
            decorators=old.decorators, lines_after_decorators=old.lines_after_decorators
        )
    if same(old, new):
        return module
    return put_in_module(freed, spot.path, _with_comments(module, old, new, edit))


def _parse_function(edit: ReplaceFunction, module: cst.Module) -> cst.FunctionDef:
    statements = parse_statements(edit.code, module)
    function = statements[0]
    if len(statements) != 1 or not isinstance(function, cst.FunctionDef):
        raise Refused("unsupported", "replace_function takes the code of one function.")
    name = edit.target.rpartition(".")[2]
    if function.name.value != name:
        raise Refused(
            "unsupported",
            f"The code defines {function.name.value}, not {name}; replace_function keeps the name.",
        )
    return function


def _with_comments(
    module: cst.Module, old: cst.FunctionDef, new: cst.FunctionDef, edit: ReplaceFunction
) -> cst.FunctionDef:
    apart, attached = split_lines(leading_lines(old))
    own = leading_lines(new)
    kept = attached if edit.keep_comments and not own else own
    new = new.with_changes(leading_lines=[*apart, *kept])
    if same(old.params, new.params) and same(old.returns, new.returns):
        layout = (
            *("whitespace_after_name", "whitespace_before_params", "params", "returns"),
            *("whitespace_before_colon", "type_parameters", "whitespace_after_type_parameters"),
        )
        if same(old.type_parameters, new.type_parameters):
            new = new.with_changes(**{name: getattr(old, name) for name in layout})
    elif edit.keep_comments:
        lost = _signature_comments(module, old) - _signature_comments(module, new)
        if lost:
            raise Refused(
                "conflict",
                f"The new signature of {edit.target} has lost the comment {min(lost)!r}; repeat "
                "it in the code, or say keep_comments: false.",
            )
    if edit.keep_comments:
        return new.with_changes(body=_with_header_comment(old.body, new.body))
    return new


def _with_header_comment(old: cst.BaseSuite, new: cst.BaseSuite) -> cst.BaseSuite:
    if not isinstance(new, cst.IndentedBlock) or new.header.comment is not None:
        return new
    if isinstance(old, cst.IndentedBlock):
        return new.with_changes(header=old.header)
    if isinstance(old, cst.SimpleStatementSuite):
        return new.with_changes(header=old.trailing_whitespace)
    return new


def _signature_comments(module: cst.Module, function: cst.FunctionDef) -> set[str]:
    """The comments between the name and the colon."""
    bare = function.with_changes(
        leading_lines=[],
        decorators=[],
        lines_after_decorators=[],
        body=cst.IndentedBlock(body=[cst.SimpleStatementLine(body=[cst.Pass()])]),
    )
    found: set[str] = set()

    class Collector(cst.CSTVisitor):
        def visit_Comment(self, node: cst.Comment) -> None:  # noqa: N802 - libcst's naming
            found.add(node.value)

    bare.visit(Collector())
    return found
