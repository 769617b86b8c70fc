"""Makes text that came from a model or a trajectory harmless inside a commit message.

It may not command a terminal, forge a trailer, close an issue, ping a person, skip CI or steer a
later rebase; and it keeps its meaning for a reader.
"""

from __future__ import annotations

import re
import textwrap

from bot.display import defuse, printable

SUBJECT_WIDTH = 72
BODY_WIDTH = 74
LONGEST_BODY = 12_000
LONGEST_VALUE = 240

_AUTOSQUASH = re.compile(r"^(fixup|squash|amend)!", re.IGNORECASE)
# What git or a forge reads at the start of a line: trailers, comments, mail and patch heads.
_SPECIAL_START = re.compile(
    r"""
    (?: \# | --- | diff\s | index\s | From\s | >From\s | \(cherry\ picked\ from
      | ecdysis-[\w-]*\s*: | [\w-]+-by\s*: | (?:cc|to|change-id|skip-checks)\s*:
      | (?:close[sd]?|fix(?:e[sd])?|resolve[sd]?|refs?|see|related)(?:-to)?\s*:
    )
    """,
    re.VERBOSE | re.IGNORECASE,
)


def one_line(text: str, limit: int = LONGEST_VALUE) -> str:
    """`text` defused, on one line of at most `limit` characters; a cut is marked by `…`."""
    return printable(defuse(printable(text)), limit).strip()


def write_subject(title: str, fallback: str) -> str:
    """The first line of a commit: at most 72 characters, cut between words."""
    subject = _AUTOSQUASH.sub(r"\1:", one_line(title, 1000)).lstrip("#-> ").rstrip(" .")
    subject = subject or one_line(fallback)
    if len(subject) > SUBJECT_WIDTH:
        cut = subject[: SUBJECT_WIDTH - 1]
        space = cut.rfind(" ")
        subject = (cut[:space] if space > SUBJECT_WIDTH // 2 else cut).rstrip(" ,;:") + "…"
    return subject


def write_body(text: str) -> str:
    """Paragraphs of prose, wrapped at 74 characters; lines that git would read are indented."""
    text = printable(text, LONGEST_BODY, lines=True)
    paragraphs = []
    for paragraph in re.split(r"\n[ \t]*\n", defuse(text)):
        words = " ".join(paragraph.split())
        lines = textwrap.wrap(words, BODY_WIDTH, break_on_hyphens=False)
        if lines:
            paragraphs.append("\n".join(indent_special(line) for line in lines))
    return "\n\n".join(paragraphs)


def indent_special(line: str) -> str:
    """`line`, moved two columns in where its start has a meaning for git or a forge."""
    return f"  {line}" if _SPECIAL_START.match(line) else line
