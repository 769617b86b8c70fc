"""Bytes of trajectory files, decompressed on the way, never more than a cap."""

from __future__ import annotations

import gzip
import io
import sys
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, cast

from bot.errors import InputError

GZIP, ZSTD = b"\x1f\x8b", b"\x28\xb5\x2f\xfd"
DEFAULT_CAP = 16 << 30

ByteStream = io.BufferedReader


class TornStream(Exception):
    """The bytes end, or stop making sense to the decompressor, before the file does."""


class CappedReader(io.RawIOBase):
    """Passes bytes through until `cap` of them have come; then raises InputError.

    Errors of the decompressor become TornStream: whoever reads knows what came before.
    """

    def __init__(self, source: Any, name: str, cap: int) -> None:
        self._source, self._name, self._left, self._cap = source, name, cap, cap

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        try:
            data = self._source.read1(len(buffer))  # what came before a tear is kept
        except (EOFError, zlib.error, gzip.BadGzipFile, OSError) as error:
            said = str(error).rstrip(".")
            raise TornStream(f"the file is torn or no whole gzip file ({said})") from None
        self._left -= len(data)
        if self._left < 0:
            raise InputError(
                f"{self._name} unpacks to more than {self._cap:,} bytes.",
                "If that is what it should be, allow it with --max-bytes.",
            )
        buffer[: len(data)] = data
        return len(data)


@contextmanager
def open_bytes(path: Path, cap: int = DEFAULT_CAP) -> Iterator[ByteStream]:
    """The bytes of `path` (`-` is standard input), `.gz` unpacked, a byte-order mark skipped.

    Raises InputError for a missing file, a folder and past `cap` bytes; TornStream when reading.
    """
    name = str(path)
    if name == "-" and sys.stdin.buffer.closed:
        raise InputError("Standard input was read already.", "Name - once.")
    try:
        raw: IO[bytes] = sys.stdin.buffer if name == "-" else path.open("rb")
    except IsADirectoryError:
        raise InputError(f"{name} is a folder.", "Name the trajectory files in it.") from None
    except OSError as error:
        raise InputError(f"{name} cannot be read: {error.strerror}.", "Check the path.") from None
    buffered = io.BufferedReader(cast(io.RawIOBase, raw))
    head = buffered.peek(4)[:4]
    source: Any = buffered
    if head.startswith(ZSTD):
        raise InputError(f"{name} is zstd-compressed.", "Unpack it first: zstd -d FILE.")
    if head.startswith(GZIP):
        source = gzip.GzipFile(fileobj=buffered)
    with buffered:
        reader = io.BufferedReader(CappedReader(source, name, cap), 1 << 18)
        if reader.peek(3)[:3] == b"\xef\xbb\xbf":
            reader.read(3)
        yield cast(ByteStream, reader)
