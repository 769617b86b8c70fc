"""Drift of layout: the syntax tree stays."""

from __future__ import annotations

import ast
import random
from collections.abc import Callable

import libcst as cst

from tests.helpers.drift.kind import Drift, Place, on_module
from tests.helpers.drift.program import Files


def unparsed(files: Files, place: Place, chance: random.Random) -> Drift:
    """The whole file as `ast` writes it: no comments, no blank lines, its own quotes."""

    def change(files: Files) -> Files:
        return {**files, place.file: ast.unparse(ast.parse(files[place.file])) + "\n"}

    return Drift(change, place)


def requoted(files: Files, place: Place, chance: random.Random) -> Drift:
    """Single quotes where double ones were, and the other way round."""

    class Requote(cst.CSTTransformer):
        def leave_SimpleString(
            self, original: cst.SimpleString, node: cst.SimpleString
        ) -> cst.SimpleString:
            if len(node.quote) > 1 or set(node.raw_value) & {"'", '"', "\\"}:
                return node
            other = "'" if node.quote == '"' else '"'
            return node.with_changes(value=f"{node.prefix}{other}{node.raw_value}{other}")

        def visit_FormattedString(self, node: cst.FormattedString) -> bool:
            # Before Python 3.12, its quotes may not come again inside of it.
            return False

    return _everywhere(place, Requote)


def spread(files: Files, place: Place, chance: random.Random) -> Drift:
    """Calls of two arguments and more, and signatures, one argument a line."""
    inner = cst.ParenthesizedWhitespace(
        indent=True, last_line=cst.SimpleWhitespace("    "), first_line=cst.TrailingWhitespace()
    )
    outer = cst.ParenthesizedWhitespace(indent=True, first_line=cst.TrailingWhitespace())

    class Spread(cst.CSTTransformer):
        def leave_Call(self, original: cst.Call, node: cst.Call) -> cst.Call:
            if len(node.args) < 2:
                return node
            args = [
                arg.with_changes(
                    comma=cst.Comma(whitespace_after=outer if arg is node.args[-1] else inner),
                    whitespace_after_arg=cst.SimpleWhitespace(""),
                )
                for arg in node.args
            ]
            return node.with_changes(args=args, whitespace_before_args=inner)

        def leave_FormattedString(
            self, original: cst.FormattedString, node: cst.FormattedString
        ) -> cst.FormattedString:
            return original

        def leave_Parameters(
            self, original: cst.Parameters, node: cst.Parameters
        ) -> cst.Parameters:
            if len(node.params) < 2 or node.star_kwarg or node.kwonly_params:
                return node
            return node.with_changes(
                params=[
                    param.with_changes(
                        comma=cst.Comma(
                            whitespace_after=outer if param is node.params[-1] else inner
                        )
                    )
                    for param in node.params
                ]
            )

        def leave_FunctionDef(
            self, original: cst.FunctionDef, node: cst.FunctionDef
        ) -> cst.FunctionDef:
            plain = node.params.star_kwarg or node.params.kwonly_params
            if len(node.params.params) < 2 or plain:
                return node
            return node.with_changes(whitespace_before_params=inner)

        def visit_Lambda(self, node: cst.Lambda) -> bool:
            return False

    return _everywhere(place, Spread)


def reindented(files: Files, place: Place, chance: random.Random) -> Drift:
    """Two spaces, or a tab, for each level."""
    step = chance.choice(["  ", "\t"])
    return Drift(
        on_module(place.file, lambda module: module.with_changes(default_indent=step)), place
    )


def commented(files: Files, place: Place, chance: random.Random) -> Drift:
    """A comment or a blank line before some statements, and behind some."""
    lines = {
        "comment": cst.EmptyLine(comment=cst.Comment("# See the notes on this step.")),
        "blank": cst.EmptyLine(indent=False),
    }
    seed = chance.random()

    class Remark(cst.CSTTransformer):
        def __init__(self) -> None:
            super().__init__()
            self._chance = random.Random(seed)

        def leave_SimpleStatementLine(
            self, original: cst.SimpleStatementLine, node: cst.SimpleStatementLine
        ) -> cst.SimpleStatementLine:
            what = self._chance.choice(["comment", "blank", "behind", ""])
            if what in lines:
                return node.with_changes(leading_lines=[*node.leading_lines, lines[what]])
            if what and node.trailing_whitespace.comment is None:
                behind = cst.TrailingWhitespace(
                    whitespace=cst.SimpleWhitespace("  "), comment=cst.Comment("# as before")
                )
                return node.with_changes(trailing_whitespace=behind)
            return node

    return _everywhere(place, Remark)


def _everywhere(place: Place, make: Callable[[], cst.CSTTransformer]) -> Drift:
    return Drift(on_module(place.file, lambda module: module.visit(make())), place)
