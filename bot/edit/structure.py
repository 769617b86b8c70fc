"""Whether two pieces of code have the same structure: layout, quotes and comments do not matter."""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from functools import cache
from typing import TypeGuard

import libcst as cst

from bot.edit.tree import field_names

Small = cst.BaseSmallStatement | cst.BaseCompoundStatement
_STRINGS = (cst.SimpleString, cst.ConcatenatedString, cst.FormattedString)
_NUMBERS = (cst.Integer, cst.Float, cst.Imaginary)


def same(one: object, other: object) -> bool:
    """Whether two nodes, or sequences of nodes, mean the same to the parser."""
    pairs = [(one, other)]
    while pairs:
        left, right = map(plain, pairs.pop())
        if isinstance(left, list) and isinstance(right, list):
            if len(left) != len(right):
                return False
            pairs += zip(left, right, strict=True)
        elif isinstance(left, cst.CSTNode) and isinstance(right, cst.CSTNode):
            if type(left) is not type(right):
                return False
            pairs += [(getattr(left, name), getattr(right, name)) for name in _fields(left)]
        elif type(left) is not type(right) or left != right:
            return False
    return True


def same_statements(one: Sequence[cst.CSTNode], other: Sequence[cst.CSTNode]) -> bool:
    """`same` for statements, however they are spread over lines."""
    return same(flatten(one), flatten(other))


def flatten(statements: Sequence[cst.CSTNode]) -> list[cst.CSTNode]:
    """Statements one by one: `a; b` is two."""
    return [
        small
        for statement in statements
        for small in (
            statement.body if isinstance(statement, cst.SimpleStatementLine) else [statement]
        )
    ]


def _fields(node: cst.CSTNode) -> tuple[str, ...]:
    return field_names(type(node))


def _of_plain_kind(kind: type) -> bool:
    """Whether values of a type are as they are."""
    return not issubclass(
        kind,
        (
            *(cst.MaybeSentinel, list, tuple, cst.BaseSuite, cst.Module, cst.SimpleStatementLine),
            *(cst.Else, cst.Subscript, *_STRINGS, *_NUMBERS),
        ),
    )


# Asking `isinstance` of each value takes longer than all the rest.
_is_plain: Callable[[type], bool] = cache(_of_plain_kind)


def plain(value: object) -> object:
    """A value without what does not matter: text by its value, blocks as lists of statements."""
    if _is_plain(type(value)):
        return value
    if isinstance(value, cst.MaybeSentinel):
        return None
    if isinstance(value, list | tuple):
        return list(value)
    if isinstance(value, _STRINGS):
        return ["text", *_text_parts(value)]
    if isinstance(value, _NUMBERS):
        return ["number", _number(value.value)]
    if isinstance(value, cst.BaseSuite | cst.Module | cst.SimpleStatementLine):
        return flatten(value.body) if isinstance(value.body, list | tuple) else value
    if isinstance(value, cst.Else):
        statements = flatten(value.body.body)
        # `else: if …` is what `elif` means.
        only = statements[0] if len(statements) == 1 else None
        return only if isinstance(only, cst.If) else ["else", statements]
    if isinstance(value, cst.Subscript):
        several = len(value.slice) > 1 or isinstance(value.slice[0].comma, cst.Comma)
        return ["subscript", value.value, several, list(value.slice)]
    return value


def _text_parts(node: cst.CSTNode) -> list[object]:
    """The pieces of a string: its value as one text, and the expressions inside an f-string."""
    strings = string_pieces(node)
    merged: list[object] = [any(isinstance(piece, cst.FormattedString) for piece in strings)]
    for piece in (part for string in strings for part in _parts(string)):
        last = merged[-1]
        if isinstance(piece, str | bytes) and type(piece) is type(last):
            merged[-1] = last + piece  # type: ignore[operator]
        elif piece != "" or len(strings) == 1:
            merged.append(piece)
    return merged


def string_pieces(node: cst.CSTNode) -> list[cst.CSTNode]:
    """The strings that stand one behind the other in a string."""
    if isinstance(node, cst.ConcatenatedString):
        return [*string_pieces(node.left), *string_pieces(node.right)]
    return [node]


def _parts(node: cst.CSTNode) -> list[object]:
    if isinstance(node, cst.SimpleString):
        try:
            value = node.evaluated_value
        except (ValueError, SyntaxError):
            return [node.value]
        return [value if isinstance(value, bytes) else value.replace("\r\n", "\n")]
    assert isinstance(node, cst.FormattedString)
    return [_formatted(part, "r" in node.prefix) for part in node.parts]


def _formatted(part: cst.BaseFormattedStringContent, raw: bool) -> object:
    if not isinstance(part, cst.FormattedStringText):
        return part
    text = part.value.replace("\r\n", "\n").replace("{{", "{").replace("}}", "}")
    if raw or "\\" not in text:
        return text
    try:
        return text.encode("latin-1", "backslashreplace").decode("unicode_escape")
    except UnicodeDecodeError:
        return text


def _number(text: str) -> str:
    try:
        return repr(ast.literal_eval(text))
    except (ValueError, SyntaxError):  # thousands of digits
        return text


def is_docstring(node: cst.CSTNode) -> TypeGuard[cst.Expr]:
    """Whether a statement, the first of its block, would be a docstring."""
    if not isinstance(node, cst.Expr):
        return False
    return all(
        isinstance(piece, cst.SimpleString) and "b" not in piece.prefix.lower()
        for piece in string_pieces(node.value)
    )
