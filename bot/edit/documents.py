"""A file while it is edited: bytes to a syntax tree or a text and back, byte for byte."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import Any

import libcst as cst

from bot.edit.code import leading_lines, with_lines
from bot.edit.refusal import Refused
from bot.edit.tree import Statement

# The parser drops a form feed before code. Meanwhile a comment line stands for what is before it.
_FORM_FEED = re.compile(rb"^([ \t]*\x0c[ \t\x0c]*?)(?=[ \t]*[^\s#])", re.MULTILINE)
_MARK = "# form-feed-before-code-"


@dataclass(frozen=True)
class PythonDocument:
    """A Python file. `tree` is as edited, `read` as it was read.

    `old_mac`: its lines end in CR alone, which the tree holds as LF. `marked`: comments in the
    tree stand for form feeds.
    """

    path: str
    tree: cst.Module
    read: cst.Module
    old_mac: bool = False
    marked: bool = False

    def with_tree(self, tree: Any) -> PythonDocument:
        """The document with an operation's result."""
        return replace(self, tree=tree)

    def read_back(self) -> PythonDocument:
        """The document as its bytes would be read. Refused where they cannot be.

        What stands at the top level as it stood in the file is not parsed again.
        """
        known = {id(statement) for statement in self.read.body}
        body: list[Statement] = []
        for statement in self.tree.body:
            if id(statement) in known:
                body.append(statement)
                continue
            again = _parse_again(self.path, self.tree, statement)
            if again is None:
                return open_python(self.path, self.content)
            body.extend(again)
        read = self.tree.with_changes(body=body)
        return replace(self, tree=read, read=read)

    @property
    def content(self) -> bytes:
        """Its bytes. Refused where the file's encoding lacks a character."""
        try:
            content = self.tree.bytes
        except UnicodeEncodeError as error:
            missing = error.object[error.start]
            raise Refused(
                "unsupported",
                f"The encoding of {self.path}, {self.tree.encoding}, has no {missing!r}.",
            ) from None
        if self.marked:
            content = _show_form_feeds(content)
        return content.replace(b"\n", b"\r") if self.old_mac else content


@dataclass(frozen=True)
class TextDocument:
    """A file of another kind; bytes that are no UTF-8 are kept as they are."""

    path: str
    tree: str

    def with_tree(self, tree: Any) -> TextDocument:
        """The document with an operation's result."""
        return replace(self, tree=tree)

    def read_back(self) -> TextDocument:
        """The document as its bytes would be read."""
        return open_text(self.path, self.content)

    @property
    def content(self) -> bytes:
        """Its bytes."""
        try:
            return self.tree.encode("utf-8", "surrogateescape")
        except UnicodeEncodeError:
            raise Refused("unsupported", "The edit's code holds half a character.") from None


Document = PythonDocument | TextDocument


def open_python(path: str, content: bytes) -> PythonDocument:
    """The syntax tree of a file. Refused where it cannot be had, or written back."""
    old_mac = b"\r" in content and b"\n" not in content
    source = content.replace(b"\r", b"\n") if old_mac else content
    marked = b"\x0c" in source and _MARK.encode() not in source
    try:
        tree = cst.parse_module(_hide_form_feeds(source) if marked else source)
        if not content:
            # What is added to an empty file ends as files do.
            tree = tree.with_changes(has_trailing_newline=True)
            return PythonDocument(path, tree, tree)
        document = PythonDocument(path, tree, tree, old_mac, marked)
        written = document.content
    except cst.ParserSyntaxError as error:
        raise _unparseable(path, error) from None
    except (UnicodeDecodeError, LookupError, SyntaxError):
        # SyntaxError: the line that declares the encoding contradicts the mark before it.
        raise Refused("unparseable", f"{path} is not in the encoding that it declares.") from None
    if written != content:
        line = _first_difference(content, written)
        raise Refused(
            "unsupported",
            f"{path} cannot be written back byte for byte: see line {line} (odd white space?).",
        )
    return document


def _parse_again(path: str, module: cst.Module, statement: Statement) -> list[Statement] | None:
    """A statement from its code; None where that, alone, would read otherwise than in its file."""
    try:
        alone = cst.parse_module(module.code_for_node(statement), module.config_for_parsing)
    except cst.ParserSyntaxError as error:
        raise _unparseable(path, error) from None
    if alone.footer or not alone.body:
        return None
    first, *others = alone.body
    return [with_lines(first, [*alone.header, *leading_lines(first)]), *others]


def _unparseable(path: str, error: cst.ParserSyntaxError) -> Refused:
    return Refused(
        "unparseable",
        f"{path} holds syntax that cannot be edited here, about line {error.raw_line}.",
    )


def open_text(path: str, content: bytes) -> TextDocument:
    """The text of a file. Refused where it is no text."""
    if b"\0" in content:
        raise Refused("unsupported", f"{path} is no text in UTF-8.")
    return TextDocument(path, content.decode("utf-8", "surrogateescape"))


def _hide_form_feeds(content: bytes) -> bytes:
    newline = b"\r\n" if b"\r\n" in content else b"\n"
    return _FORM_FEED.sub(
        lambda match: _MARK.encode() + match.group(1).hex().encode() + newline, content
    )


def _show_form_feeds(content: bytes) -> bytes:
    pattern = rb"[ \t]*" + re.escape(_MARK.encode()) + rb"([0-9a-f]+)(?:\r\n|\n)"
    return re.sub(pattern, lambda match: bytes.fromhex(match.group(1).decode()), content)


def _first_difference(one: bytes, other: bytes) -> int:
    length = min(len(one), len(other))
    place = next((i for i in range(length) if one[i] != other[i]), length)
    return one.count(b"\n", 0, place) + 1
