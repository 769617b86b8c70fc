"""Finding things in a syntax tree by structure: white space, quotes and comments do not matter."""

from __future__ import annotations

import ast
import difflib
import textwrap
from collections.abc import Iterator, Sequence
from typing import TypeGuard

import libcst as cst

from bot.edit.refusal import Refused

Statement = cst.SimpleStatementLine | cst.BaseCompoundStatement
BLOCKS = (
    cst.BaseCompoundStatement,
    cst.BaseSuite,
    cst.Else,
    cst.Finally,
    cst.ExceptHandler,
    cst.ExceptStarHandler,
    cst.MatchCase,
)
Scope = cst.Module | cst.FunctionDef | cst.ClassDef


def parse_code(code: str, module: cst.Module) -> list[Statement]:
    """Statements of inserted code, in the file's own line ends and indentation."""
    text = "\n".join(code.replace("\r\n", "\n").replace("\r", "\n").strip("\n").split("\n"))
    text = text.replace("\n", module.default_newline) + module.default_newline
    try:
        parsed = cst.parse_module(text, config=module.config_for_parsing)
    except cst.ParserSyntaxError:
        raise Refused(
            "would_not_compile", f"The code does not parse: {_first_error(code)}."
        ) from None
    tidy = parsed.visit(_FileIndentation())
    assert isinstance(tidy, cst.Module)
    if not tidy.body:
        raise Refused("unsupported", "The edit holds no code.")
    first = tidy.body[0]
    # Comments before the first statement stand in the module's header.
    lines = [line for line in tidy.header if line.comment is not None]
    if lines:
        first = first.with_changes(leading_lines=[*lines, *first.leading_lines])
    return [first, *tidy.body[1:]]


def parse_expression(code: str, module: cst.Module) -> cst.BaseExpression:
    """An expression given as code."""
    try:
        expression = cst.parse_expression(code.strip(), config=module.config_for_parsing)
    except cst.ParserSyntaxError:
        raise Refused("would_not_compile", f"{code!r} is no expression.") from None
    tidy = expression.visit(_FileIndentation())
    assert isinstance(tidy, cst.BaseExpression)
    return tidy


class _FileIndentation(cst.CSTTransformer):
    def leave_IndentedBlock(  # noqa: N802 - libcst's naming
        self, original_node: cst.IndentedBlock, updated_node: cst.IndentedBlock
    ) -> cst.IndentedBlock:
        return updated_node.with_changes(indent=None)


def _first_error(code: str) -> str:
    try:
        ast.parse(code)
    except SyntaxError as error:
        return f"{error.msg} (line {error.lineno} of the code)"
    return "it is no valid Python"


def find_scope(module: cst.Module, target: str) -> Scope:
    """The one module (""), class or function of that dotted name. Raises Refused."""
    scope: Scope = module
    path = ""
    for part in target.split(".") if target else ():
        named = [node for node in _definitions(scope) if node.name.value == part]
        path = f"{path}.{part}".strip(".")
        if not named:
            raise Refused("not_found", _not_found(path, scope, target))
        if len(named) > 1:
            raise Refused(
                "ambiguous",
                f"{path} is defined {len(named)} times in this file; name one that is not.",
            )
        scope = named[0]
    return scope


def _not_found(path: str, scope: Scope, target: str) -> str:
    names = [node.name.value for node in _definitions(scope)]
    near = difflib.get_close_matches(target.split(".")[-1], names, n=3)
    hint = f" The nearest names are {', '.join(near)}." if near else ""
    return f"There is no {path} in this file.{hint}"


def _definitions(scope: Scope) -> Iterator[cst.FunctionDef | cst.ClassDef]:
    """Functions and classes of a scope, also those inside its `if`, `try` and `with` blocks."""
    stack: list[cst.CSTNode] = list(block_statements(scope))
    while stack:
        node = stack.pop(0)
        if isinstance(node, cst.FunctionDef | cst.ClassDef):
            yield node
        elif isinstance(node, BLOCKS):
            stack = [*node.children, *stack]


def block_statements(scope: Scope) -> Sequence[cst.BaseStatement | cst.BaseSmallStatement]:
    return scope.body if isinstance(scope, cst.Module) else scope.body.body


def is_docstring(node: cst.CSTNode) -> TypeGuard[cst.SimpleStatementLine]:
    """Whether a statement line begins with a bare string."""
    return (
        isinstance(node, cst.SimpleStatementLine)
        and isinstance(node.body[0], cst.Expr)
        and isinstance(node.body[0].value, cst.SimpleString | cst.ConcatenatedString)
    )


def statement_shape(module: cst.Module, node: cst.CSTNode) -> str:
    """Statements with one shape do the same."""
    return code_shape(module.code_for_node(node))


def code_shape(code: str) -> str:
    """The structure of statements, as text."""
    lines = code.strip("\r\n")
    return ast.dump(ast.parse(textwrap.dedent(lines)))


def expression_shape(code: str) -> str | None:
    """The structure of an expression; None where the code is none on its own."""
    try:
        return ast.dump(ast.parse(f"({code}\n)", mode="eval"))
    except SyntaxError:
        return None


def find_expressions(
    module: cst.Module, scope: Scope, anchor: cst.BaseExpression
) -> list[cst.CSTNode]:
    """Every expression inside `scope` with the structure of `anchor`, in order of the code."""
    wanted = expression_shape(module.code_for_node(anchor))
    found: list[cst.CSTNode] = []

    class Finder(cst.CSTVisitor):
        def on_visit(self, node: cst.CSTNode) -> bool:
            if (
                type(node) is type(anchor)
                and expression_shape(module.code_for_node(node)) == wanted
            ):
                found.append(node)
            return True

    scope.visit(Finder())
    return found


def replace_node(module: cst.Module, old: cst.CSTNode, new: cst.CSTNode) -> cst.Module:
    """`module` with one node, told by identity, replaced."""
    result = module.deep_replace(old, new)
    assert isinstance(result, cst.Module)
    return result
