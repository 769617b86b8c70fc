"""Edit a file that is not Python: a prompt, a template, a table.

`place` is `replace` (the default): the one place where `anchor` stands gets `code`; `before` /
`after`: `code` goes on lines of its own before / after those of the anchor; `start` / `end`: at
the beginning / end of the file. Line ends in anchor and code mean those that the file has there.
Postcondition: `code` stands at that place; for `replace`, with no anchor outside of it. A file of
a known format stays well-formed, and what is outside of the place keeps its meaning.
"""

from __future__ import annotations

import difflib
from bisect import bisect_right
from collections.abc import Sequence

from bot.edit.refusal import Refused
from bot.edit.schema import EditText
from bot.edit.text.change import Change
from bot.edit.text.checks import check_change
from bot.edit.text.lines import LINE_END, Lines, plain

_BOM = "\ufeff"
_MOST_FOUND = 1 << 26  # characters, all places of an anchor together
_MOST_COMPARED = 2_000  # lines


def edit_text(text: str, edit: EditText) -> str:
    mark, text = (_BOM, text[1:]) if text.startswith(_BOM) else ("", text)
    lines = Lines(text)
    change = _replacement(lines, edit) if edit.place == "replace" else _insertion(lines, edit)
    if change is None:
        return mark + text
    check_change(edit.file, change)
    return mark + change.after


def _replacement(lines: Lines, edit: EditText) -> Change | None:
    code, anchor = plain(edit.code), plain(edit.anchor)
    done = _find(lines.plain, code, edit)
    found = [
        start
        for start in _find(lines.plain, anchor, edit)
        if not _is_inside(start, start + len(anchor), done, len(code))
    ]
    if not found and done:
        return None
    if done and edit.number is not None:
        raise Refused(
            "conflict",
            f"The new text stands {_at_lines(lines, done)} already, so it cannot be told which "
            "number is meant; give a larger anchor.",
        )
    start = _choose(lines, found, edit)
    newline = lines.end_of(lines.line_of(start))
    stop = lines.place_of(start + len(anchor))
    return Change(lines.text, lines.place_of(start), stop, code.replace("\n", newline))


def _insertion(lines: Lines, edit: EditText) -> Change | None:
    """`code` on lines of its own; the file's last line end stays as it is."""
    code = plain(edit.code).strip("\n")
    size = code.count("\n") + 1
    runs = [lines.line_of(at) for at in _find(f"\n{lines.plain}\n", f"\n{code}\n", edit)]
    place = 0 if edit.place == "start" else lines.count
    if edit.place in ("before", "after"):
        anchor = plain(edit.anchor)
        found = _find(lines.plain, anchor, edit)
        outside = [
            start for start in found if not _is_inside(*_covered(lines, start, anchor), runs, size)
        ]
        if found and not outside:
            return None
        first, last = _covered(lines, _choose(lines, outside, edit), anchor)
        place = first if edit.place == "before" else last
    if any(place == (run + size if edit.place in ("before", "end") else run) for run in runs):
        return None
    if runs:
        raise Refused(
            "conflict",
            f"These lines stand at line {runs[0] + 1} already, not where they are to go.",
        )
    newline = lines.end_of(place - 1 if place else 0)
    code = code.replace("\n", newline)
    start = lines.starts[place] if place < lines.count else len(lines.text)
    is_open = place and start == len(lines.text) and not lines.plain.endswith("\n")
    return Change(lines.text, start, start, newline + code if is_open else code + newline)


def _find(text: str, wanted: str, edit: EditText) -> list[int]:
    """Where it begins, wherever it stands; the places may overlap."""
    found = []
    start = text.find(wanted)
    while start >= 0:
        found.append(start)
        if len(found) * len(wanted) > _MOST_FOUND:
            raise Refused(
                "ambiguous", f"{_first_line(wanted)!r} stands too often in {edit.file} to tell."
            )
        start = text.find(wanted, start + 1)
    return found


def _is_inside(start: int, stop: int, begins: Sequence[int], size: int) -> bool:
    """Whether a span is in one of those of one size, of which the begins are given in order."""
    nearest = bisect_right(begins, start) - 1
    return nearest >= 0 and stop <= begins[nearest] + size


def _covered(lines: Lines, start: int, anchor: str) -> tuple[int, int]:
    """The first line of an anchor, and the one behind its last."""
    return lines.line_of(start), lines.line_of(start + len(anchor) - 1) + 1


def _choose(lines: Lines, found: Sequence[int], edit: EditText) -> int:
    first = _first_line(edit.anchor)
    if not found:
        raise Refused(
            "not_found", f"There is no text {first!r} in {edit.file}.{_near(lines, first)}"
        )
    if edit.number is None and len(found) == 1:
        return found[0]
    times = f"{len(found)} times" if len(found) > 1 else "once"
    where = f"The anchor {first!r} stands {times} in {edit.file}, {_at_lines(lines, found)}"
    if edit.number is None:
        raise Refused(
            "ambiguous", f"{where}: give a larger anchor, or say which with number, from 1."
        )
    if edit.number > len(found):
        raise Refused("not_found", f"{where}; there is no number {edit.number}.")
    return found[edit.number - 1]


def _first_line(text: str) -> str:
    return LINE_END.split(text.strip())[0][:80]


def _near(lines: Lines, first: str) -> str:
    """What is most like a line that was not found."""
    numbers: dict[str, int] = {}
    for number, line in enumerate(lines.plain.split("\n"), 1):
        numbers.setdefault(line.strip()[:200], number)
        if len(numbers) == _MOST_COMPARED:
            break
    near = [
        f"line {numbers[line]}: {line[:80]!r}" for line in difflib.get_close_matches(first, numbers)
    ]
    if not near:
        return ""
    return f" The nearest {'is' if len(near) == 1 else 'are'} {'; '.join(near)}."


def _at_lines(lines: Lines, found: Sequence[int]) -> str:
    numbers = list(dict.fromkeys(str(lines.line_of(start) + 1) for start in found))
    numbers[9:] = numbers[9:][-1:]
    if len(numbers) == 1:
        return f"at line {numbers[0]}"
    return f"at lines {', '.join(numbers[:-1])} and {numbers[-1]}"
