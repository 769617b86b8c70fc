"""Apply a model's search-and-replace blocks to files."""

import difflib
import re
from collections import OrderedDict

HEAD = "<<<<"
MIDDLE = "===="
TAIL = ">>>>"
CUTOFF = 0.6


def split_blocks(text):
    """(search, replacement) of each block; what is not closed is left out."""
    blocks = []
    search, replacement, current = [], [], None
    for line in text.splitlines():
        if line.startswith(HEAD):
            search, replacement = [], []
            current = search
        elif line.startswith(MIDDLE) and current is search:
            current = replacement
        elif line.startswith(TAIL) and current is replacement:
            blocks.append(("\n".join(search), "\n".join(replacement)))
            current = None
        elif current is not None:
            current.append(line)
    return blocks


def split_files(text):
    """(path, content) of each file; what is not closed is left out."""
    files = OrderedDict()
    path, current = "", None
    for line in text.splitlines():
        if line.startswith("file "):
            path = line.removeprefix("file ").strip()
            current = []
        elif line.startswith(TAIL) and current is not None:
            files[path] = "\n".join(current)
            current = None
        elif current is not None:
            current.append(line)
    return list(files.items())


def find_near(lines, wanted):
    best, place = 0.0, None
    for start in range(len(lines) - len(wanted) + 1):
        piece = lines[start : start + len(wanted)]
        ratio = difflib.SequenceMatcher(None, "\n".join(piece), "\n".join(wanted)).ratio()
        if ratio > best:
            best, place = ratio, start
    if best < CUTOFF:
        return None
    return place


def find_exact(lines, wanted):
    place = None
    for start in range(len(lines) - len(wanted) + 1):
        piece = lines[start : start + len(wanted)]
        if piece == wanted:
            place = start
    return place


def apply_block(content, search, replacement):
    lines, wanted = content.splitlines(), search.splitlines()
    place = find_exact(lines, wanted)
    if place is None:
        place = find_near(lines, wanted)
    if place is None:
        raise LookupError(search[:20])
    lines[place : place + len(wanted)] = replacement.splitlines()
    return "\n".join(lines)


def apply_strictly(content, search, replacement):
    lines, wanted = content.splitlines(), search.splitlines()
    place = find_exact(lines, wanted)
    if place is None:
        raise LookupError(search[:20])
    lines[place : place + len(wanted)] = replacement.splitlines()
    return "\n".join(lines)


def apply_all(content, text, strict=False):
    step = apply_strictly if strict else apply_block
    made, failed = 0, []
    for search, replacement in split_blocks(text):
        try:
            content = step(content, search, replacement)
        except LookupError as error:
            failed.append(str(error))
            continue
        made += 1
    return content, made, failed


def summarize(content, text):
    changed, made, failed = apply_all(content, text)
    delta = len(changed.splitlines()) - len(content.splitlines())
    names = re.findall(r"def (\w+)", changed)
    return f"{made} made, {len(failed)} failed, {delta:+d} lines, {' '.join(names)}"
