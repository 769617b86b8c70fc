"""Edit a file that is not Python: a prompt, a template, a table.

`place` is `replace` (the default): the one place where `anchor` stands gets `code`; `before` /
`after`: `code` goes on lines of its own before / after those of the anchor; `start` / `end`: at
the beginning / end of the file. Line ends in anchor and code mean the file's own.
Postcondition: `code` stands at that place; for `replace`, with no anchor outside of it.
"""

from __future__ import annotations

import difflib
import re

from bot.edit.refusal import Refused
from bot.edit.schema import EditText

_BOM = "\ufeff"
_LINE_END = re.compile(r"\r\n|\r|\n")


def edit_text(text: str, edit: EditText) -> str:
    mark, text = (_BOM, text[1:]) if text.startswith(_BOM) else ("", text)
    match = _LINE_END.search(text)
    newline = match.group() if match else "\n"
    if edit.place == "replace":
        return mark + _replace(text, newline.join(_LINE_END.split(edit.code)), edit)
    return mark + _insert(text, newline, edit)


def _replace(text: str, code: str, edit: EditText) -> str:
    done = _find(text, edit.code)
    found = [
        (start, stop)
        for start, stop in _find(text, edit.anchor)
        if not any(first <= start and stop <= last for first, last in done)
    ]
    if not found and done:
        return text
    if done and edit.number is not None:
        raise Refused(
            "conflict",
            f"The new text stands {_at_lines(text, done)} already, so it cannot be told which "
            "number is meant; give a larger anchor.",
        )
    start, stop = _choose(text, found, edit)
    return text[:start] + code + text[stop:]


def _insert(text: str, newline: str, edit: EditText) -> str:
    """`text` with the lines of `code` at the place; the file's last line end stays as it is."""
    lines = re.findall(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+\Z", text)
    bare = [line.rstrip("\r\n") for line in lines]
    code = _LINE_END.split(edit.code.strip("\r\n"))
    size = len(code)
    runs = [i for i in range(len(bare) - size + 1) if bare[i : i + size] == code]
    place = 0 if edit.place == "start" else len(lines)
    if edit.place in ("before", "after"):
        spans = [(span, *_lines_of(text, span)) for span in _find(text, edit.anchor)]
        outside = [
            span
            for span, first, last in spans
            if not any(run <= first and last <= run + size for run in runs)
        ]
        if spans and not outside:
            return text
        first, last = _lines_of(text, _choose(text, outside, edit))
        place = first if edit.place == "before" else last
    if any(place == (run + size if edit.place in ("before", "end") else run) for run in runs):
        return text
    if runs:
        raise Refused(
            "conflict",
            f"These lines stand at line {runs[0] + 1} already, not where they are to go.",
        )
    added = [line + newline for line in code]
    if place == len(lines) and lines and lines[-1] == bare[-1]:
        lines[-1] += newline
        added[-1] = code[-1]
    return "".join([*lines[:place], *added, *lines[place:]])


def _lines_of(text: str, span: tuple[int, int]) -> tuple[int, int]:
    """The first line of a span, from 0, and the one behind its last."""
    first = len(_LINE_END.findall(text[: span[0]]))
    covered = text[span[0] : span[1]]
    ends = len(_LINE_END.findall(covered))
    return first, first + ends + (not covered.endswith(("\r", "\n")))


def _find(text: str, wanted: str) -> list[tuple[int, int]]:
    lines = [re.escape(line) for line in _LINE_END.split(wanted)]
    pattern = re.compile(r"(?:\r\n|\r|\n)".join(lines))
    spans, position = [], 0
    while match := pattern.search(text, position):
        spans.append(match.span())
        position = match.start() + 1
    return spans


def _choose(text: str, found: list[tuple[int, int]], edit: EditText) -> tuple[int, int]:
    first = edit.anchor.strip().splitlines()[0][:80]
    if not found:
        raise Refused(
            "not_found", f"There is no text {first!r} in {edit.file}.{_near(text, first)}"
        )
    if edit.number is None and len(found) == 1:
        return found[0]
    times = f"{len(found)} times" if len(found) > 1 else "once"
    where = f"The anchor {first!r} stands {times} in {edit.file}, {_at_lines(text, found)}"
    if edit.number is None:
        raise Refused(
            "ambiguous", f"{where}: give a larger anchor, or say which with number, from 1."
        )
    if edit.number > len(found):
        raise Refused("not_found", f"{where}; there is no number {edit.number}.")
    return found[edit.number - 1]


def _near(text: str, first: str) -> str:
    lines = [line.strip() for line in text.splitlines()[:20_000]]
    near = difflib.get_close_matches(first, lines, n=1)
    return f" The nearest is line {lines.index(near[0]) + 1}: {near[0][:80]!r}." if near else ""


def _at_lines(text: str, spans: list[tuple[int, int]]) -> str:
    lines = [str(_lines_of(text, span)[0] + 1) for span in spans]
    if len(lines) == 1:
        return f"at line {lines[0]}"
    return f"at lines {', '.join(lines[:-1][:9])} and {lines[-1]}"
