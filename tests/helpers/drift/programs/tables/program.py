"""Format tool results: tables, numbers, long texts."""

import math
from itertools import zip_longest

GAP = "  "
MOST_ROWS = 5
MOST_CHARACTERS = 80
EMPTY = "-"


def cell(value):
    if value is None:
        return EMPTY
    if isinstance(value, float):
        return f"{value:.2f}"
    if isinstance(value, bool):
        return "yes" if value else "no"
    return str(value)


def header(value):
    if value is None:
        return EMPTY
    if isinstance(value, float):
        return f"{value:.0f}"
    if isinstance(value, bool):
        return "on" if value else "off"
    return str(value).upper()


def widths(rows):
    columns = zip_longest(*rows, fillvalue="")
    return [max(len(text) for text in column) for column in columns]


def table(names, rows, *, number=False):
    lines = [[header(name) for name in names]]
    for index, row in enumerate(rows):
        if index == MOST_ROWS:
            lines.append([f"({len(rows) - MOST_ROWS} more)"])
            break
        texts = [cell(value) for value in row]
        if number:
            texts.insert(0, str(index))
        lines.append(texts)
    if number:
        lines[0].insert(0, "#")
    sizes = widths(lines)
    return "\n".join(GAP.join(map(str.ljust, line, sizes)).rstrip() for line in lines)


def listing(names, rows, *, number=False):
    blocks = []
    for index, row in enumerate(rows):
        if index == MOST_ROWS:
            blocks.append(f"({len(rows) - MOST_ROWS} more)")
            break
        texts = [f"{header(name)}: {cell(value)}" for name, value in zip(names, row, strict=False)]
        if number:
            texts.insert(0, str(index))
        blocks.append("\n".join(texts))
    return "\n\n".join(blocks)


def truncate(text, limit=MOST_CHARACTERS):
    if len(text) <= limit:
        return text
    head = math.ceil(limit / 2)
    tail = limit - head
    left_out = len(text) - limit
    return f"{text[:head]}[{left_out} left out]{text[len(text) - tail :]}"


def truncate_lines(text, limit=MOST_ROWS):
    lines = text.splitlines()
    if len(lines) <= limit:
        return text
    head = math.ceil(limit / 2)
    tail = limit - head
    left_out = len(lines) - limit
    return "\n".join([*lines[:head], f"[{left_out} lines left out]", *lines[len(lines) - tail :]])


def size(count):
    if count < 1024:
        return f"{count} B"
    units = ["KB", "MB", "GB"]
    count /= 1024
    while count >= 1024 and len(units) > 1:
        count /= 1024
        units.pop(0)
    return f"{count:.1f} {units[0]}"


def duration(seconds):
    if seconds < 60:
        return f"{seconds} s"
    units = ["min", "h"]
    seconds /= 60
    while seconds >= 60 and len(units) > 1:
        seconds /= 60
        units.pop(0)
    return f"{seconds:.1f} {units[0]}"
