"""Markdown as a tree: its lines, within the front matter, fences and comments they stand in."""

from __future__ import annotations

import re
from collections.abc import Iterator

from bot.edit.text.lines import LINE_END, Lines
from bot.edit.text.nodes import Malformed, Node, group
from bot.edit.text.toml_tree import read_toml

# A fence may stand in a list or a quotation, at any depth.
_FENCE = re.compile(r"[ \t>]*(?:(?:[-*+]|\d{1,9}[.)])[ \t]+)*(`{3,}(?=[^`]*$)|~{3,})")
_COMMENT = re.compile(r"[ \t>]*<!--")
# Between two rules, other than front matter, may stand any text.
_FRONT = re.compile(r"(?:---|\+\+\+)[ \t]*[\r\n](?:\s*#.*)*\s*(?:\[|[\w\"'-][^\r\n]*[:=])")


def read_markdown(text: str) -> Node:
    """The tree of a Markdown text.

    Raises Malformed where a fence, a comment or the front matter has no end, or the latter is
    no YAML (`---`) or TOML (`+++`).
    """
    root = group("text")
    lines = _lines(text)
    if _FRONT.match(text):
        mark = re.compile(re.escape(text[:3]) + r"[ \t]*")
        last = _until(mark, 1, next(lines)[1], lines, "front matter")[-1]
        # The text's places are kept. To YAML its first line says that a document begins.
        inside = text[: last.start] if mark.match("---") else "   " + text[3 : last.start]
        root.children.append(_front(inside) if mark.match("---") else read_toml(inside))
    for number, line in lines:
        said = str(line.says)
        if fence := _FENCE.match(said):
            mark = re.compile(rf"[ \t>]*{fence[1]}{fence[1][0]}*[ \t]*")
            block = _until(mark, number, line, lines, "code fence")
            root.children.append(group("fence", *block))
        elif _COMMENT.match(said):
            mark = re.compile(r".*-->.*")
            is_whole = mark.match(said)
            block = [line] if is_whole else _until(mark, number, line, lines, "comment")
            root.children.append(group("comment", *block))
        else:
            root.children.append(line)
    return root


def _front(text: str) -> Node:
    # Few prompts have front matter, and YAML's parser takes its time to load.
    from bot.edit.text.yaml_tree import read_yaml

    return read_yaml(text)


def _lines(text: str) -> Iterator[tuple[int, Node]]:
    """The lines and their numbers, from 1."""
    starts = Lines(text).starts
    for number, start in enumerate(starts, 1):
        line = LINE_END.sub("", text[start : starts[number] if number < len(starts) else None])
        yield number, Node(start, start + len(line), line)


def _until(
    end: re.Pattern[str], number: int, first: Node, lines: Iterator[tuple[int, Node]], what: str
) -> list[Node]:
    """The lines from the first to the next that is an end."""
    block = [first]
    for _, line in lines:
        block.append(line)
        if end.fullmatch(str(line.says)):
            return block
    raise Malformed(number, f"the {what} that begins here has no end")
