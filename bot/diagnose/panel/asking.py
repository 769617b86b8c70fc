"""How a role is asked."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, Protocol, TypeVar

from pydantic import BaseModel

T = TypeVar("T", bound=BaseModel)


@dataclass(frozen=True, slots=True)
class Turn:
    role: Literal["system", "user", "assistant"]
    content: str


@dataclass(frozen=True, slots=True)
class Failed:
    kind: str
    reason: str


class Ask(Protocol):
    async def __call__(self, label: str, turns: Sequence[Turn], answer: type[T]) -> T | Failed: ...
