"""The comments at the top of a module: the file's own and those of its first statement."""

from __future__ import annotations

import libcst as cst

from bot.edit.code import leading_lines, split_lines, with_lines
from bot.edit.tree import Statement


def free_first_comments(module: cst.Module) -> cst.Module:
    """The same code, with comments right on the first statement attached to it.

    The parser keeps all comments at the top for the module. Those behind a blank line are about
    the first statement; a block without one (a licence, a `#!` line) stays the module's.
    """
    if not module.body:
        return module
    apart, attached = split_lines(module.header)
    if not apart:
        return module
    blank = len(apart)
    while blank and apart[blank - 1].comment is None:
        blank -= 1
    first = module.body[0]
    assert isinstance(first, Statement)
    lines = [*apart[blank:], *attached, *leading_lines(first)]
    body = [with_lines(first, lines), *module.body[1:]]
    return module.with_changes(header=apart[:blank], body=body)
