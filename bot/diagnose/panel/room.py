"""What a prompt has room for: sizes in tokens, estimated, and the choice of what goes in."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TypeVar

from bot.display import printable

CHARACTERS_A_TOKEN = 4
MOST_NAMED = 12


@dataclass(frozen=True)
class Piece:
    """Something that a prompt may hold, whole or not at all; `name` is for when it does not."""

    name: str
    text: str


P = TypeVar("P", bound=Piece)


def tokens(text: str) -> int:
    """An estimate: one token for four ASCII characters, and for each other character."""
    plain = len(text.encode("ascii", "ignore"))
    return -(-plain // CHARACTERS_A_TOKEN) + len(text) - plain


def choose(pieces: Iterable[P], room: int) -> tuple[list[P], list[P]]:
    """Those that fit into `room` tokens, the first first, and those that do not.

    One that does not fit leaves its room to smaller ones after it.
    """
    chosen: list[P] = []
    left_out: list[P] = []
    for piece in pieces:
        needed = tokens(piece.text) + 1
        if needed <= room:
            chosen.append(piece)
            room -= needed
        else:
            left_out.append(piece)
    return chosen, left_out


def name_left_out(pieces: Iterable[Piece]) -> str:
    """One line that says what a prompt has no room for; empty where it holds everything."""
    times = Counter(piece.name for piece in pieces)
    names = [f"{name} x{number}" if number > 1 else name for name, number in times.items()]
    if not names:
        return ""
    more = f" and {len(names) - MOST_NAMED} more" if len(names) > MOST_NAMED else ""
    return printable(f"Left out for want of room: {', '.join(names[:MOST_NAMED])}{more}.")
