"""Whether a model has fallen into a loop."""

from __future__ import annotations

import re

# Characters at the end of a text, and how often its shortest period must fit into them. Rows that
# differ in their numbers alone are often a legitimate list, and must go on for longer.
EXACT = (1_500, 6)
NUMBERED = (10_000, 40)


def repeats_itself(text: str) -> bool:
    """Whether the end of `text` is one piece over and over, exactly or up to its numbers."""
    if _is_periodic(text, *EXACT):
        return True
    length, times = NUMBERED
    return len(text) >= length and _is_periodic(
        re.sub(r"[0-9]+", "0", text[-2 * length :]), length // 2, times
    )


def _is_periodic(text: str, length: int, times: int) -> bool:
    """Whether the last `length` characters are `times` periods or more; linear in `length`."""
    if len(text) < length:
        return False
    tail = text[-length:]
    # The shortest period is the length less the longest border (Knuth, Morris and Pratt).
    border = [0] * length
    for position in range(1, length):
        size = border[position - 1]
        while size and tail[position] != tail[size]:
            size = border[size - 1]
        border[position] = size + (tail[position] == tail[size])
    return length - border[-1] <= length // times
