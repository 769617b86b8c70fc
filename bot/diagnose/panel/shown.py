"""Definitions as a prompt shows them: by file and line, as many as there is room for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from bot.diagnose.panel.room import Piece, choose
from bot.diagnose.panel.slices import Code, Definition


@dataclass(frozen=True)
class Shown:
    """Definitions that are shown, and those that there is no room for."""

    shown: tuple[Definition, ...]
    chosen: tuple[Piece, ...]
    left_out: tuple[Piece, ...]

    @classmethod
    def choose(cls, definitions: Sequence[Definition], room: int) -> Shown:
        pieces = {as_piece(d).name: d for d in definitions}
        chosen, left_out = choose((as_piece(d) for d in definitions), room)
        return cls(tuple(pieces[p.name] for p in chosen), tuple(chosen), tuple(left_out))

    def write(self, code: Code) -> str:
        """The definitions by file and line, under their file's name and imports."""
        rows = []
        for file in dict.fromkeys(d.file for d in sorted(self.shown, key=in_order)):
            rows.append(f"# {file}")
            if code.imports.get(file):
                rows.append(code.imports[file])
            here = sorted((d for d in self.shown if d.file == file), key=in_order)
            rows += [as_piece(definition).text for definition in here]
        return "\n\n".join(rows)


def in_order(definition: Definition) -> tuple[str, int]:
    return definition.file, definition.start


def as_piece(definition: Definition) -> Piece:
    lines = f"# lines {definition.start}-{definition.end}"
    head = f"{lines}, {definition.name}" if definition.name else lines
    return Piece(definition.place, f"{head}\n{definition.source.rstrip()}")
