"""What an import statement imports."""

from __future__ import annotations

import libcst as cst

from bot.edit.code import parse_statements
from bot.edit.refusal import Refused
from bot.edit.structure import flatten

Import = cst.Import | cst.ImportFrom


def parse_import(code: str, op: str, module: cst.Module) -> cst.SimpleStatementLine:
    """The one import statement that an edit brings."""
    statements = parse_statements(code, module)
    line = statements[0]
    if (
        len(flatten(statements)) != 1
        or not isinstance(line, cst.SimpleStatementLine)
        or not isinstance(line.body[0], Import)
    ):
        raise Refused("unsupported", f"{op} takes one import statement.")
    return line


def imported(node: Import) -> list[tuple[str, str, str]]:
    """(module, name, alias) of everything that a statement imports."""
    source = ""
    if isinstance(node, cst.ImportFrom):
        source = source_of(node)
    if isinstance(node.names, cst.ImportStar):
        return [(source, "*", "")]
    return [(source, alias.evaluated_name, alias.evaluated_alias or "") for alias in node.names]


def source_of(node: cst.ImportFrom) -> str:
    """The module that it imports from, with the dots of a relative one."""
    name = cst.Module([]).code_for_node(node.module).replace(" ", "") if node.module else ""
    return "." * len(node.relative) + name
