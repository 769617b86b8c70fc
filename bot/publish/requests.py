"""What people ask of the bot on its pull request. Only who may write here is heard.

Comments that were edited are not read: whoever edits one may be somebody else than its author.
Of reviews only the request for changes counts; their edits are not told apart, so no command is
read from them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, Literal

from bot.display import defuse, printable

MAY_WRITE = ("admin", "write")
LONGEST_WORDS = 2000
MOST_REQUESTS = 20
_COMMAND = re.compile(r"/ecdysis[ \t]+(drop|retry|explain)(?:[ \t]+([0-9]{1,3}))?[ \t]*")
_ANSWER = re.compile(r"<!-- ecdysis-answer to=([a-z]+-[0-9]+) -->")


@dataclass(frozen=True)
class Request:
    """`number` is that of a repair, from 1; `source` names the comment or review it stands in."""

    kind: Literal["drop", "retry", "explain", "changes"]
    number: int | None
    author: str
    words: str
    source: str


def read_requests(
    comments: Sequence[Mapping[str, Any]],
    reviews: Sequence[Mapping[str, Any]],
    *,
    permission: Callable[[str], str],
    own: str,
) -> list[Request]:
    """The requests that were not answered yet, oldest first, at most twenty.

    `permission` asks GitHub, now, what an account may do; `own` is the bot's account.
    """
    ask = cache(permission)
    answered = answered_sources(comments, own)
    found: list[Request] = []
    for comment in comments:
        source = f"comment-{comment.get('id')}"
        asked = _commands(comment) if source not in answered and _is_a_persons(comment, own) else []
        if asked and ask(_login(comment)) in MAY_WRITE:
            found += [
                Request(kind, number, _login(comment), _words(comment), source)
                for kind, number in asked
            ]
    for review in reviews:
        source = f"review-{review.get('id')}"
        asks = review.get("state") == "CHANGES_REQUESTED" and source not in answered
        if asks and _is_a_persons(review, own) and ask(_login(review)) in MAY_WRITE:
            found.append(Request("changes", None, _login(review), _words(review), source))
    return found[:MOST_REQUESTS]


def answer_to(source: str, text: str) -> str:
    """A comment that answers; its first line keeps the request from being read again."""
    return f"<!-- ecdysis-answer to={source} -->\n{text}"


def answered_sources(comments: Sequence[Mapping[str, Any]], own: str) -> set[str]:
    """What the bot has answered. A marker in anybody else's comment counts for nothing."""
    matches = (
        _ANSWER.match(str(comment.get("body") or ""))
        for comment in comments
        if _login(comment) == own
    )
    return {match.group(1) for match in matches if match}


def closing_words(
    comments: Sequence[Mapping[str, Any]],
    reviews: Sequence[Mapping[str, Any]],
    *,
    permission: Callable[[str], str],
    own: str,
) -> str:
    """What people with write access said on a pull request that was closed, newest last."""
    ask = cache(permission)
    said = []
    for item in [*comments, *reviews]:
        words = _words(item)
        if words and _is_a_persons(item, own) and ask(_login(item)) in MAY_WRITE:
            said.append(f"{_login(item)}: {words}")
    return printable("\n\n".join(said)[-LONGEST_WORDS:], lines=True)


def _is_a_persons(item: Mapping[str, Any], own: str) -> bool:
    """Not a program's, not the bot's own, and never edited."""
    user = item.get("user") or {}
    is_own = _login(item) == own and str(item.get("body") or "").startswith("<!-- ecdysis")
    edited = item.get("updated_at", item.get("created_at")) != item.get("created_at")
    return bool(_login(item)) and user.get("type") != "Bot" and not is_own and not edited


def _login(item: Mapping[str, Any]) -> str:
    return str((item.get("user") or {}).get("login") or "")


def _words(item: Mapping[str, Any]) -> str:
    """What a person wrote, without commands, as harmless as anything foreign."""
    lines = str(item.get("body") or "").splitlines()
    kept = (line for line in lines if not _COMMAND.fullmatch(line))
    return defuse(printable("\n".join(kept).strip(), LONGEST_WORDS, lines=True))


def _commands(
    comment: Mapping[str, Any],
) -> list[tuple[Literal["drop", "retry", "explain"], int | None]]:
    """The commands of a comment: whole lines, none of them quoted or inside a code block."""
    found: list[tuple[Literal["drop", "retry", "explain"], int | None]] = []
    fence = ""
    for line in str(comment.get("body") or "").splitlines():
        mark = re.match(r" {0,3}(`{3,}|~{3,})", line)
        if mark and (not fence or mark.group(1).startswith(fence)):
            fence = "" if fence else mark.group(1)
            continue
        match = None if fence else _COMMAND.fullmatch(line)
        if match:
            number = int(match.group(2)) if match.group(2) else None
            found.append((match.group(1), number))  # type: ignore[arg-type]
    return found
