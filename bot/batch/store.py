"""Episodes on disk, appended as they end; a killed run goes on from them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from types import TracebackType

import orjson
from pydantic import ValidationError

from bot.errors import InputError
from bot.records import Episode


class EpisodeStore:
    """An episodes JSONL file; use as a context manager.

    A last line that a crash tore off is cut away when the file is opened. Raises InputError
    where any other line is no episode.
    """

    def __init__(self, path: Path) -> None:
        self.path = path

    def __enter__(self) -> EpisodeStore:
        self.path.parent.mkdir(parents=True, exist_ok=True)
        self._file = self.path.open("ab+")
        size = self._file.tell()
        self._file.seek(0)
        content = self._file.read()
        whole = content.rfind(b"\n") + 1
        if whole != size:
            self._file.truncate(whole)
        self._episodes = list(self._parse(content[:whole]))
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._file.close()

    def append(self, episode: Episode) -> None:
        """Write one episode; it is in the file when this returns."""
        self._file.write(orjson.dumps(episode.model_dump(exclude_none=True)) + b"\n")
        self._file.flush()
        self._episodes.append(episode)

    def valid_episodes(self) -> list[Episode]:
        """What needs not be run again: `invalid` episodes say nothing of the harness."""
        return [episode for episode in self._episodes if episode.outcome != "invalid"]

    def _parse(self, content: bytes) -> Iterator[Episode]:
        for number, line in enumerate(content.splitlines(), 1):
            try:
                yield Episode.model_validate(orjson.loads(line))
            except (orjson.JSONDecodeError, ValidationError):
                raise InputError(
                    f"{self.path}, line {number} is no episode.",
                    "Remove the file (or use --fresh) to run anew.",
                ) from None
