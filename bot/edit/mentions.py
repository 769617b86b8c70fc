"""One mention of a name, under another name."""

from __future__ import annotations

import re

import libcst as cst

from bot.edit.refusal import Refused
from bot.edit.scanning import names_in_text, type_in_comment
from bot.edit.tree import at_lines


def renamed_mention(module: cst.Module, node: cst.CSTNode, old: str, new: str) -> cst.CSTNode:
    """A name, an import, a string or a comment that holds a type, with `new` in place of `old`."""
    if isinstance(node, cst.Name):
        return node.with_changes(value=new)
    if isinstance(node, cst.ImportAlias):
        if isinstance(node.name, cst.Name):
            return node.with_changes(asname=cst.AsName(name=cst.Name(new)))
        raise Refused(
            "unsupported",
            f"{old} comes from the dotted import {at_lines(module, [node])}, which cannot give it "
            "another name.",
        )
    if isinstance(node, cst.Comment):
        start, stop = type_in_comment(node)
        said = _replaced(node.value[start:stop], old, new)
        return node.with_changes(value=node.value[:start] + said + node.value[stop:])
    if isinstance(node, cst.SimpleString):
        changed = node.with_changes(value=_in_text(node, old, new))
        expected = {new if name == old else name for name in names_in_text(node)}
        if names_in_text(changed) == expected and not re.search(r"[\\'\"]", node.raw_value):
            return changed
    raise Refused(
        "unsupported",
        f"The string {at_lines(module, [node])} mentions {old} in a way that is not understood.",
    )


def _in_text(node: cst.SimpleString, old: str, new: str) -> str:
    start = len(node.prefix) + len(node.quote)
    return node.value[:start] + _replaced(node.raw_value, old, new) + node.quote


def _replaced(text: str, old: str, new: str) -> str:
    return re.sub(rf"(?<![\w.]){re.escape(old)}(?!\w)", new, text)
