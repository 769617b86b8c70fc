"""The code that an edit brings, parsed in the style of the file: its line ends and indentation."""

from __future__ import annotations

from collections.abc import Sequence

import libcst as cst

from bot.edit.dedent import dedent_code
from bot.edit.refusal import Refused
from bot.edit.tree import Statement


def parse_statements(code: str, module: cst.Module) -> list[Statement]:
    """Statements; comments before the first one belong to it."""
    text = dedent_code(code).replace("\n", module.default_newline) + module.default_newline
    try:
        parsed = cst.parse_module(text, config=module.config_for_parsing)
    except cst.ParserSyntaxError as error:
        raise Refused("would_not_compile", f"The code does not parse: {error.message}.") from None
    if not parsed.body:
        raise Refused("unsupported", "The edit's code holds no statement.")
    if any(line.comment is not None for line in parsed.footer):
        raise Refused("unsupported", "The edit's code ends with a comment; no statement follows.")
    tidy = parsed.visit(_FileIndentation())
    assert isinstance(tidy, cst.Module)
    first, *others = tidy.body
    # Comments before the first statement stand in the module's header.
    lines = without_blank_start([*tidy.header, *leading_lines(first)])
    return [first.with_changes(leading_lines=lines), *others]


def parse_anchor(anchor: str, module: cst.Module) -> list[Statement]:
    """The statements that an anchor names."""
    try:
        return parse_statements(anchor, module)
    except Refused as refused:
        raise Refused("not_found", f"The anchor is no statement: {refused.message}") from None


def parse_expression(code: str, module: cst.Module) -> cst.BaseExpression:
    """An expression; where it goes over lines outside brackets, in parentheses."""
    text = dedent_code(code).strip().replace("\n", module.default_newline)
    for attempt in (text, f"({text})", f"({text}{module.default_newline})"):
        try:
            parsed = cst.parse_expression(attempt, config=module.config_for_parsing)
        except cst.ParserSyntaxError:
            continue
        tidy = parsed.visit(_FileIndentation())
        assert isinstance(tidy, cst.BaseExpression)
        return tidy
    raise Refused("would_not_compile", f"{code!r} is no expression.")


class _FileIndentation(cst.CSTTransformer):
    def leave_IndentedBlock(  # noqa: N802 - libcst's naming
        self, original_node: cst.IndentedBlock, updated_node: cst.IndentedBlock
    ) -> cst.IndentedBlock:
        return updated_node.with_changes(indent=None)


def leading_lines(statement: cst.CSTNode) -> list[cst.EmptyLine]:
    """The blank lines and comments right before a statement."""
    return list(getattr(statement, "leading_lines", ()))


def with_lines(statement: Statement, lines: Sequence[cst.EmptyLine]) -> Statement:
    """The statement with these blank lines and comments before it."""
    return statement.with_changes(leading_lines=list(lines))


def split_lines(
    lines: Sequence[cst.EmptyLine],
) -> tuple[list[cst.EmptyLine], list[cst.EmptyLine]]:
    """Lines before a statement: those apart from it, and the comments that stand right on it."""
    place = len(lines)
    while place and lines[place - 1].comment is not None:
        place -= 1
    return list(lines[:place]), list(lines[place:])


def is_definition(node: cst.CSTNode) -> bool:
    """A function or a class: blank lines belong around it."""
    return isinstance(node, cst.FunctionDef | cst.ClassDef)


def blank_lines(count: int) -> list[cst.EmptyLine]:
    """Lines with nothing on them."""
    return [cst.EmptyLine(indent=False) for _ in range(count)]


def pad(lines: Sequence[cst.EmptyLine], least: int) -> list[cst.EmptyLine]:
    """`lines` with at least so many blank ones at their start."""
    have = 0
    while have < len(lines) and lines[have].comment is None:
        have += 1
    return [*blank_lines(least - have), *lines]


def trailing_blanks(lines: Sequence[cst.EmptyLine]) -> int:
    """How many blank ones are at their end."""
    return len(lines) - max((i + 1 for i, line in enumerate(lines) if line.comment), default=0)


def without_blank_start(lines: list[cst.EmptyLine]) -> list[cst.EmptyLine]:
    """`lines` from the first comment on."""
    while lines and lines[0].comment is None:
        lines = lines[1:]
    return lines


def one_line(module: cst.Module, node: cst.CSTNode, limit: int = 80) -> str:
    """The first line of a node's code, for a refusal."""
    first = module.code_for_node(node).strip().splitlines()[0].strip()
    return first if len(first) <= limit else first[: limit - 1] + "…"
