"""The edit operations, one a module. Each takes a module (or text) and gives the changed one.

An operation that finds its postcondition fulfilled gives the very module that it was given; one
that cannot be made raises `Refused`. What each needs stands in `bot.edit.schema`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from bot.edit.operations.add_class import add_class
from bot.edit.operations.add_decorator import add_decorator
from bot.edit.operations.add_field import add_field
from bot.edit.operations.add_function import add_function
from bot.edit.operations.add_import import add_import
from bot.edit.operations.add_method import add_method
from bot.edit.operations.add_parameter import add_parameter
from bot.edit.operations.append_to import append_to
from bot.edit.operations.delete_statements import delete_statements
from bot.edit.operations.edit_text import edit_text
from bot.edit.operations.insert_statements import insert_statements
from bot.edit.operations.remove_from import remove_from
from bot.edit.operations.remove_import import remove_import
from bot.edit.operations.rename import rename
from bot.edit.operations.replace_expression import replace_expression
from bot.edit.operations.replace_function import replace_function
from bot.edit.operations.replace_function_body import replace_function_body
from bot.edit.operations.replace_statements import replace_statements
from bot.edit.operations.set_argument import set_argument
from bot.edit.operations.set_constant import set_constant
from bot.edit.operations.set_default import set_default
from bot.edit.operations.wrap_call import wrap_call

OPERATIONS: dict[str, Callable[[Any, Any], Any]] = {
    "add_class": add_class,
    "add_decorator": add_decorator,
    "add_field": add_field,
    "add_function": add_function,
    "add_import": add_import,
    "add_method": add_method,
    "add_parameter": add_parameter,
    "append_to": append_to,
    "delete_statements": delete_statements,
    "edit_text": edit_text,
    "insert_statements": insert_statements,
    "remove_from": remove_from,
    "remove_import": remove_import,
    "rename": rename,
    "replace_expression": replace_expression,
    "replace_function": replace_function,
    "replace_function_body": replace_function_body,
    "replace_statements": replace_statements,
    "set_argument": set_argument,
    "set_constant": set_constant,
    "set_default": set_default,
    "wrap_call": wrap_call,
}
