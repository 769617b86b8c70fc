"""The code of an edit, as written by a person or a model, made ready to be parsed."""

from __future__ import annotations

import textwrap


def dedent_code(code: str) -> str:
    """`code` with LF as line end, without blank lines around it and without common indentation.

    The first line may lack the indentation of the others, as where a text was cut out.
    """
    lines = code.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    while lines and not lines[0].strip():
        lines.pop(0)
    while lines and not lines[-1].strip():
        lines.pop()
    text = "\n".join(lines)
    return textwrap.dedent(text) if text[:1] in (" ", "\t") else text
