"""The code of an edit, as written by a person or a model, made ready to be parsed."""

from __future__ import annotations

import io
import textwrap
import tokenize

_NO_CODE = (tokenize.NL, tokenize.COMMENT, tokenize.INDENT, tokenize.DEDENT)


def dedent_code(code: str) -> str:
    """`code` with LF as line end, without blank lines around it and without common indentation.

    The first line may lack the indentation of the others, as where a text was cut out. What lies
    inside a string is no indentation, and stays.
    """
    lines = code.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    while lines and not lines[0].strip():
        lines.pop(0)
    while lines and not lines[-1].strip():
        lines.pop()
    text = "\n".join(lines)
    if text[:1] not in (" ", "\t"):
        return text
    starts, strings = _starts_and_strings(lines)
    first = textwrap.dedent("\n".join(lines[i] for i in sorted(starts))).partition("\n")[0]
    depth = len(lines[0]) - len(first)
    return "\n".join(
        line if i in strings else line[min(depth, len(line) - len(line.lstrip())) :]
        for i, line in enumerate(lines)
    )


def _starts_and_strings(lines: list[str]) -> tuple[set[int], set[int]]:
    """The lines on which statements begin, and those that begin inside a string.

    Where the code cannot be told apart, statements may begin on each.
    """
    starts, strings = {0}, set()
    is_fresh, opened = False, 0
    text = "if 1:\n" + "\n".join(lines) + "\n"
    try:
        # Lines count from 1 there, and the first one is none of these.
        for token in tokenize.generate_tokens(io.StringIO(text).readline):
            kind, row = tokenize.tok_name[token.type], token.start[0] - 2
            if token.type == tokenize.NEWLINE:
                is_fresh = True
            elif is_fresh and token.type not in _NO_CODE:
                starts.add(row)
                is_fresh = False
            if kind.endswith("STRING_START"):
                opened = row
            elif kind == "STRING" or kind.endswith("STRING_END"):
                strings |= set(range(row if kind == "STRING" else opened, token.end[0] - 2))
    except (tokenize.TokenError, SyntaxError):
        return set(range(len(lines))), set()
    return starts & set(range(len(lines))), {i + 1 for i in strings}
