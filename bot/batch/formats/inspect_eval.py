"""Inspect AI's `.eval` files: a zip of one log's head and samples.

The head is `header.json`, or `_journal/start.json` where the run was broken off. A sample is one
member, `samples/{id}_epoch_{n}.json`; what it holds is read by `inspect_ai`. Newer logs may keep
a large sample in chunks, in a folder of its own: such a sample is said, not read.
"""

from __future__ import annotations

import json
import re
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import orjson

from bot.batch.formats.inspect_ai import read_item, recognises
from bot.batch.formats.values import as_dict
from bot.batch.formats.zip_members import LOCAL_HEADER, TooLarge, read_member
from bot.batch.nesting import TOO_DEEP, is_too_deep
from bot.display import printable
from bot.errors import InputError
from bot.records import Episode

NAME = "inspect-eval"
LARGEST_MEMBER = 256 << 20
HEADS = ("header.json", "_journal/start.json")
_SHELL = re.compile(r"samples/.+_epoch_\d+/sample\.json")  # of a sample in chunks
_PIECE = re.compile(
    r"(samples/.+)/(?:(?:messages|events|calls|attachments)/\w+|metadata|skeleton)\.json"
)


def recognises_file(path: str, head: bytes) -> str | None:
    """Why a file is taken for an `.eval`, or None; `head` is its first bytes."""
    if head.startswith(LOCAL_HEADER) and (path.endswith(".eval") or b"_journal/" in head):
        return "Inspect AI .eval: a zip of samples"
    return None


def read_file(path: Path, cap: int) -> Iterator[tuple[str, Episode | str]]:
    """(where, the episode of a sample or what is wrong with it), in the order of the names.

    Raises InputError where the members that are read unpack to more than `cap` bytes.
    """
    try:
        with zipfile.ZipFile(path) as archive:
            yield from _Log(path, archive, cap).samples()
    except (zipfile.BadZipFile, ValueError, NotImplementedError, OSError) as error:
        yield str(path), f"the archive cannot be read ({printable(str(error), 80)})"


class _Log:
    """One `.eval`; `left` is how many bytes may still be unpacked."""

    def __init__(self, path: Path, archive: zipfile.ZipFile, cap: int) -> None:
        self.path, self.archive, self.cap, self.left = path, archive, cap, cap
        self.members = {info.filename: info for info in archive.infolist()}  # of a name, the last

    def samples(self) -> Iterator[tuple[str, Episode | str]]:
        try:
            head = self._head()
        except ValueError as error:
            yield str(self.path), str(error)
            return
        names = sorted(name for name in self.members if self._is_sample(name))
        if not names:
            yield str(self.path), f"the log holds no samples; its status is {head.get('status')}"
        for name in names:
            try:
                found: Episode | str = read_item(self._sample(name), head, str(self.path))
            except ValueError as error:
                found = printable(str(error), 200)
            yield f"{self.path}, {printable(name, 100)}", found

    def _head(self) -> dict[str, Any]:
        """The log without its samples; a journal does not tell the status of the run."""
        name = next((name for name in HEADS if name in self.members), None)
        if name is None:
            raise ValueError(f"the archive has neither {' nor '.join(HEADS)}")
        try:
            value = self._value(name)
        except ValueError as error:
            raise ValueError(f"{name}: {error}") from None
        head = {"status": "started", **as_dict(value)}
        if recognises(head) is None:
            raise ValueError(f"{name} is not the head of an Inspect log")
        return head

    def _sample(self, name: str) -> Any:
        if _SHELL.fullmatch(name):
            raise ValueError("the sample is stored in chunks: convert the log to .json first")
        return self._value(name)

    def _is_sample(self, name: str) -> bool:
        if not name.startswith("samples/") or not name.endswith(".json"):
            return False
        piece = _PIECE.fullmatch(name)
        return piece is None or f"{piece[1]}/sample.json" not in self.members

    def _value(self, name: str) -> Any:
        """The JSON value of a member. Raises ValueError, with what is wrong."""
        most = min(LARGEST_MEMBER, self.left)
        try:
            content = read_member(self.path, self.archive, self.members[name], most)
        except TooLarge:
            if most == LARGEST_MEMBER:
                said = f"it unpacks to more than {LARGEST_MEMBER >> 20} MB"
                raise ValueError(said) from None
            raise InputError(
                f"{self.path} unpacks to more than {self.cap:,} bytes.",
                "If that is what it should be, allow it with --max-bytes.",
            ) from None
        self.left -= len(content)
        value = _parse(content)
        if is_too_deep(value):
            raise ValueError(TOO_DEEP)
        return value


def _parse(content: bytes) -> Any:
    """The JSON value of `content`; Python's NaN, which Inspect writes, is null."""
    try:
        return orjson.loads(content)
    except orjson.JSONDecodeError as error:
        try:
            return json.loads(content, parse_constant=lambda _: None)
        except RecursionError:
            raise ValueError(TOO_DEEP) from None
        except ValueError:
            raise ValueError(f"not JSON ({error.msg})") from None
