"""Add an import to a module.

`code` is one import statement. It lands behind the docstring and the `__future__` imports, among
the module's first imports; a plain import where the alphabet puts it.
Postcondition: the names are imported at the top level, the same way.
"""

from __future__ import annotations

import libcst as cst

from bot.edit.refusal import Refused
from bot.edit.structure import Statement, is_docstring, parse_code
from bot.records import Edit


def add_import(module: cst.Module, edit: Edit) -> cst.Module:
    statements = parse_code(edit.code, module)
    line = statements[0]
    if (
        len(statements) != 1
        or not isinstance(line, cst.SimpleStatementLine)
        or len(line.body) != 1
        or not isinstance(line.body[0], cst.Import | cst.ImportFrom)
    ):
        raise Refused("unsupported", "add_import takes one import statement.")
    wanted = _imported(module, line.body[0])
    present = {
        name
        for node in module.body
        if isinstance(node, cst.SimpleStatementLine)
        for small in node.body
        if isinstance(small, cst.Import | cst.ImportFrom)
        for name in _imported(module, small)
    }
    if wanted <= present:
        return module
    if not module.body:
        return module.with_changes(body=[line], has_trailing_newline=True)
    return module.with_changes(body=_placed(module, line))


def _imported(module: cst.Module, node: cst.Import | cst.ImportFrom) -> set[tuple[str, ...]]:
    """(module, name, alias) of everything that a statement imports."""
    source = ""
    if isinstance(node, cst.ImportFrom):
        dots = "." * len(node.relative)
        source = dots + (module.code_for_node(node.module) if node.module else "")
    if isinstance(node.names, cst.ImportStar):
        return {(source, "*", "")}
    return {
        (
            source,
            module.code_for_node(alias.name),
            module.code_for_node(alias.asname.name) if alias.asname else "",
        )
        for alias in node.names
    }


def _placed(module: cst.Module, line: cst.SimpleStatementLine) -> list[Statement]:
    body = list(module.body)
    start = 1 if body and is_docstring(body[0]) else 0
    while start < len(body) and _is_future(body[start]):
        start += 1
    if _is_future(line):
        start = 1 if body and is_docstring(body[0]) else 0
        return [*body[:start], *_swap_lines(line, body[start:])]
    end = start
    while end < len(body) and _is_import(body[end]):
        end += 1
    if end == start:
        blank = [cst.EmptyLine(indent=False)] if start else []
        return [*body[:start], line.with_changes(leading_lines=blank), *_set_off(body[start:])]
    name = _plain_name(line)
    plain = [i for i in range(start, end) if _plain_name(body[i]) is not None]
    if name is None:
        place = end
    elif not plain:
        place = start
    else:
        later = [i for i in plain if str(_plain_name(body[i])) > name]
        place = later[0] if later else plain[-1] + 1
    return (
        [*body[:place], *_swap_lines(line, body[place:])]
        if place < end
        else [
            *body[:place],
            line,
            *body[place:],
        ]
    )


def _swap_lines(line: cst.SimpleStatementLine, following: list[Statement]) -> list[Statement]:
    """The new line takes over the blank lines before what follows; comments stay there."""
    if not following:
        return [line]
    lines = list(getattr(following[0], "leading_lines", ()))
    blank = []
    while lines and lines[0].comment is None:
        blank.append(lines.pop(0))
    return [
        line.with_changes(leading_lines=blank),
        following[0].with_changes(leading_lines=lines),
        *following[1:],
    ]


def _set_off(following: list[Statement]) -> list[Statement]:
    """At least one blank line between the import and the code."""
    if not following:
        return []
    lines = list(getattr(following[0], "leading_lines", ()))
    if not lines or lines[0].comment is not None:
        lines.insert(0, cst.EmptyLine(indent=False))
    return [following[0].with_changes(leading_lines=lines), *following[1:]]


def _is_import(node: cst.CSTNode) -> bool:
    return isinstance(node, cst.SimpleStatementLine) and all(
        isinstance(small, cst.Import | cst.ImportFrom) for small in node.body
    )


def _is_future(node: cst.CSTNode) -> bool:
    return (
        isinstance(node, cst.SimpleStatementLine)
        and isinstance(node.body[0], cst.ImportFrom)
        and isinstance(node.body[0].module, cst.Name)
        and node.body[0].module.value == "__future__"
    )


def _plain_name(node: cst.CSTNode) -> str | None:
    if isinstance(node, cst.SimpleStatementLine) and isinstance(node.body[0], cst.Import):
        return node.body[0].names[0].evaluated_name
    return None
