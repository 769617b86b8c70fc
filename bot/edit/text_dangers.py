"""Ways to run code in files that are not Python, which the harness's interpreter cannot judge.

Templates and tables run code where what reads them lets them; programs do in any case.
"""

from __future__ import annotations

import re
from collections import Counter
from pathlib import PurePosixPath

PROGRAM = "a change of a program that is not Python"

_PROGRAMS = re.compile(
    r"\.(?:bash|bat|c|cjs|cmd|cpp|fish|go|ipynb|jl|jsx?|ksh|lua|mjs|mk|php|pl|ps1|pth|pyx|r|rb|rs"
    r"|service|sh|tsx?|zsh)"
)
_PROGRAM_NAMES = frozenset(["containerfile", "dockerfile", "justfile", "makefile"])
# Of an object in a template to the interpreter behind it; the tags that build Python objects.
_WAYS = re.compile(
    r"__(?:base|bases|builtins|class|code|dict|getattribute|globals|import|loader|mro|reduce|"
    r"reduce_ex|spec|subclasses)__|!!python/[\w/]+|tag:yaml\.org,2002:python/[\w/]+"
)
_ATTR_FILTER = re.compile(r"\|\s*(attr)\s*\(")
_TEMPLATES = (".j2", ".jinja", ".jinja2")


def text_dangers(path: str, before: bytes, after: bytes) -> tuple[Counter[str], Counter[str]]:
    """What is dangerous in a file before and after a change: what → how often."""
    old, new = _count(path, before), _count(path, after)
    if before != after and _is_program(path, before, after):
        new[PROGRAM] += 1
    return old, new


def _count(path: str, content: bytes) -> Counter[str]:
    text = content.decode("utf-8", "replace")
    found = Counter(_WAYS.findall(text))
    if path.lower().endswith(_TEMPLATES):
        found.update(f"the filter {name}" for name in _ATTR_FILTER.findall(text))
    return found


def _is_program(path: str, before: bytes, after: bytes) -> bool:
    name = PurePosixPath(path.lower())
    return (
        _PROGRAMS.fullmatch(name.suffix) is not None
        or name.name.split(".")[0] in _PROGRAM_NAMES
        or before.startswith(b"#!")
        or after.startswith(b"#!")
    )
