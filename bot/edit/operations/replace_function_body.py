"""Replace a function's body; its signature, decorators and comments before it stay.

The docstring stays too, unless `code` begins with one.
Postcondition: the body has the structure of `code`.
"""

from __future__ import annotations

import libcst as cst

from bot.edit.refusal import Refused
from bot.edit.structure import find_scope, is_docstring, parse_code, replace_node, statement_shape
from bot.records import Edit


def replace_function_body(module: cst.Module, edit: Edit) -> cst.Module:
    scope = find_scope(module, edit.target)
    if not isinstance(scope, cst.FunctionDef):
        raise Refused("unsupported", f"{edit.target or 'The module'} is no function.")
    statements = parse_code(edit.code, module)
    suite = scope.body
    old = list(suite.body) if isinstance(suite, cst.IndentedBlock) else []
    if old and is_docstring(old[0]) and not is_docstring(statements[0]):
        docstring = old[0]
        assert isinstance(docstring, cst.SimpleStatementLine)
        # `"""doc"""; x = 1` is one line: only the docstring of it stays.
        bare = docstring.body[0].with_changes(semicolon=cst.MaybeSentinel.DEFAULT)
        statements = [docstring.with_changes(body=[bare]), *statements]
    if [statement_shape(module, n) for n in old] == [
        statement_shape(module, n) for n in statements
    ]:
        return module
    if isinstance(suite, cst.IndentedBlock):
        return replace_node(module, suite, suite.with_changes(body=statements))
    return replace_node(module, suite, cst.IndentedBlock(body=statements))
