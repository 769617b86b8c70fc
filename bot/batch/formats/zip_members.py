"""Members of a zip, unpacked within a bound; also zstd ones, which zipfile reads from 3.14 on."""

from __future__ import annotations

import io
import struct
import zipfile
import zlib
from pathlib import Path

from bot.display import printable

LOCAL_HEADER = b"PK\x03\x04"
ZSTD_METHOD = 93  # APPNOTE.TXT, 4.4.5
LARGEST_WINDOW = 128 << 20
_LENGTHS = struct.Struct("<26x2H")  # in a local header: of the name, of the extra field


class TooLarge(Exception):
    """A member unpacks to more than it may."""


def read_member(path: Path, archive: zipfile.ZipFile, info: zipfile.ZipInfo, most: int) -> bytes:
    """The bytes of a member of the zip at `path`.

    Raises TooLarge past `most` bytes, of which no more are ever held: the sizes in a zip are its
    writer's claims. Raises ValueError, with what is wrong, for a member that cannot be unpacked.
    """
    if info.file_size > most or info.compress_size > most:
        raise TooLarge
    try:
        if info.compress_type == ZSTD_METHOD:
            content = _unpack_zstd(_packed(path, info), most + 1)
        else:
            with archive.open(info) as stream:
                content = stream.read(most + 1)
    except (zipfile.BadZipFile, zlib.error, EOFError, OSError) as error:
        raise ValueError(f"the member is torn ({printable(str(error), 80)})") from None
    except (NotImplementedError, RuntimeError) as error:  # an unknown packing, a password
        said = printable(str(error), 80)
        raise ValueError(f"the member cannot be unpacked ({said})") from None
    if len(content) > most:
        raise TooLarge
    if zlib.crc32(content) != info.CRC:
        raise ValueError("the member is torn (its checksum does not fit)")
    return content


def _packed(path: Path, info: zipfile.ZipInfo) -> bytes:
    """The member's bytes as they stand in the file, behind its local header."""
    with path.open("rb") as raw:
        raw.seek(info.header_offset)
        header = raw.read(_LENGTHS.size)
        if not header.startswith(LOCAL_HEADER) or len(header) < _LENGTHS.size:
            raise zipfile.BadZipFile("it is not where the directory says")
        raw.seek(sum(_LENGTHS.unpack(header)), io.SEEK_CUR)
        return raw.read(info.compress_size)


def _unpack_zstd(packed: bytes, most: int) -> bytes:
    """The first `most` bytes of the zstd frames."""
    import zstandard  # imported when used: few files are packed so

    # Not `decompress`: it believes the size in the frame's head, and stops after one frame.
    unpacker = zstandard.ZstdDecompressor(max_window_size=LARGEST_WINDOW)
    try:
        return unpacker.stream_reader(packed, read_across_frames=True).read(most)
    except zstandard.ZstdError as error:
        raise zipfile.BadZipFile(str(error)) from None
