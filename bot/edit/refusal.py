"""Why a spec cannot be applied: a value that says what to do, useful to a model or a person."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

RefusalKind = Literal[
    "not_found",
    "ambiguous",
    "conflict",
    "not_editable",
    "protected",
    "workflow",
    "unparseable",
    "would_not_compile",
    "too_large",
    "dangerous",
    "unsupported",
]


@dataclass(frozen=True)
class Refusal:
    """`edit` is the position of the edit in the spec, from 0; -1 for the spec as a whole."""

    kind: RefusalKind
    message: str
    edit: int = -1


class Refused(Exception):
    """Raised inside this room where an edit cannot be made; `apply_spec` turns it into a value."""

    def __init__(self, kind: RefusalKind, message: str, edit: int = -1) -> None:
        super().__init__(message)
        self.kind, self.message, self.edit = kind, message, edit

    def at(self, edit: int) -> Refused:
        """The same, of a certain edit."""
        return Refused(self.kind, self.message, edit)
