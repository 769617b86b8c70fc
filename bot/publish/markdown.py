"""Foreign text as GitHub's Markdown that shows it and does nothing else.

No mention, no reference, no closing keyword, no HTML, no link, no heading comes of it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from bot.display import defuse, printable

_SPECIAL = re.compile(r"[\\`*\[\]|~$]|(?<![^\W_])_|_(?![^\W_])")
_LINE_START = re.compile(r"^(\s*)(#|[-+=:>]|\d+(?=[.)](?:\s|$)))")
_HTML = {"&": "&amp;", "<": "&lt;"}
_LINK = re.compile(r"(?i)\b(https?|ftp|mailto|xmpp)(:)(?=\S)|\b(www\.)(?=\S)")


def prose(text: str, limit: int = 4000) -> str:
    """One line of running text."""
    text = defuse(printable(text, limit))
    text = _LINK.sub(lambda match: f"{match.group(0)} ", text)
    text = "".join(_HTML.get(char, char) for char in text)
    text = _SPECIAL.sub(lambda match: f"\\{match.group(0)}", text)
    return _LINE_START.sub(_escape_start, text)


def _escape_start(match: re.Match[str]) -> str:
    space, mark = match.groups()
    return f"{space}{mark}\\" if mark.isdigit() else f"{space}\\{mark}"


def paragraphs(text: str) -> list[str]:
    """The paragraphs of a longer text, each on one line; none where there is no text."""
    parts = (prose(part) for part in re.split(r"\n[ \t]*\n", printable(text, lines=True)))
    return [part for part in parts if part.strip()]


def code(text: str, limit: int = 200) -> str:
    """A code span; in a table `|` would end the cell, so it becomes a similar sign."""
    text = defuse(printable(text, limit)).replace("|", "¦")
    if not text.strip():
        return "–"
    longest = max((len(run) for run in re.findall("`+", text)), default=0)
    fence = "`" * (longest + 1)
    room = " " if text[0] in "` " or text[-1] in "` " else ""
    return f"{fence}{room}{text}{room}{fence}"


def block(lines: Iterable[str], language: str = "text", limit: int = 300) -> str:
    """A fenced block that its own lines cannot end."""
    shown = [defuse(printable(line.expandtabs(4), limit, lines=True)) for line in lines]
    shown = [line.replace("\n", " ") for line in shown]
    longest = max((len(run) for line in shown for run in re.findall("`+", line)), default=0)
    fence = "`" * max(3, longest + 1)
    return "\n".join([f"{fence}{language}", *shown, fence])


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table; the cells are Markdown already."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines)


def short_header(header: str) -> str:
    """`@@ -4,7 +4,7 @@` of a hunk's header, without the line of code behind it."""
    return " ".join(header.split(" ")[:4])
