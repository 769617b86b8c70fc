"""The edit operations, one a module. Each takes a module and gives the changed one.

An operation that finds its postcondition fulfilled gives the very module that it was given; one
that cannot be made raises `Refused`.
"""

from __future__ import annotations

from collections.abc import Callable

import libcst as cst

from bot.edit.operations.add_function import add_function
from bot.edit.operations.add_import import add_import
from bot.edit.operations.insert_statements import insert_statements
from bot.edit.operations.replace_expression import replace_expression
from bot.edit.operations.replace_function_body import replace_function_body
from bot.edit.operations.set_constant import set_constant
from bot.records import Edit

Operation = Callable[[cst.Module, Edit], cst.Module]

OPERATIONS: dict[str, Operation] = {
    "add_function": add_function,
    "add_import": add_import,
    "insert_statements": insert_statements,
    "replace_expression": replace_expression,
    "replace_function_body": replace_function_body,
    "set_constant": set_constant,
}
