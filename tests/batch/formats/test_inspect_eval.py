"""Inspect AI's `.eval` files, packed as zipfile packs them and with zstd members."""

import json
import struct
import tracemalloc
import zipfile
import zlib
from pathlib import Path
from typing import Any

import pytest
import zstandard

from bot.batch.formats import inspect_eval
from bot.batch.formats.inspect_eval import read_file, recognises_file
from bot.batch.read import read_batch
from bot.errors import InputError
from bot.records import Episode
from tests.helpers.foreign import inspect_log, inspect_sample

CAP = 1 << 30
HEAD = {key: value for key, value in inspect_log().items() if key != "samples"}
JOURNAL = {key: HEAD[key] for key in ("version", "eval", "plan")}
TWO_FRAMES = 40


def pack(path: Path, members: dict[str, Any]) -> Path:
    """A zip with these members: bytes as they are, anything else as JSON."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(name, as_bytes(content))
    return path


def pack_zstd(path: Path, members: dict[str, Any], **claims: int) -> Path:
    """The same, each member as two zstd frames of method 93, which zipfile writes since 3.14.

    `claims` are the unpacked sizes that the directory tells instead of the right ones.
    """
    frame = zstandard.ZstdCompressor().compress
    with zipfile.ZipFile(path, "w", zipfile.ZIP_STORED) as archive:
        for name, content in members.items():
            text = as_bytes(content)
            archive.writestr(name, frame(text[:TWO_FRAMES]) + frame(text[TWO_FRAMES:]))
    raw = bytearray(path.read_bytes())
    with zipfile.ZipFile(path) as archive:
        at = archive.start_dir
    for name, content in members.items():
        text = as_bytes(content)
        struct.pack_into("<H", raw, at + 10, 93)
        struct.pack_into("<I", raw, at + 16, zlib.crc32(text))
        struct.pack_into("<I", raw, at + 24, claims.get(name, len(text)))
        at += 46 + sum(struct.unpack_from("<3H", raw, at + 28))
    path.write_bytes(raw)
    return path


def as_bytes(content: Any) -> bytes:
    return content if isinstance(content, bytes) else json.dumps(content).encode()


def read(path: Path, cap: int = CAP) -> list[tuple[str, str]]:
    """(where in the file, the episode's task and outcome or the problem)."""
    return [
        (
            where.removeprefix(f"{path}, "),
            f"{found.task_id} {found.outcome}" if isinstance(found, Episode) else found,
        )
        for where, found in read_file(path, cap)
    ]


MEMBERS = {
    "_journal/start.json": JOURNAL,
    "samples/a_epoch_2.json": inspect_sample("a", "C"),
    "samples/b/c_epoch_2.json": inspect_sample("b/c", "I"),
    "samples/d_epoch_2.json": inspect_sample("d", "I", error={"message": "no docker"}),
    "summaries.json": [],
    "header.json": HEAD,
}
both = pytest.mark.parametrize("make", [pack, pack_zstd])


@both
def test_each_sample_is_an_episode(make: Any, tmp_path: Path) -> None:
    path = make(tmp_path / "log.eval", MEMBERS)
    assert read(path) == [
        ("samples/a_epoch_2.json", "a pass"),
        ("samples/b/c_epoch_2.json", "b/c fail"),
        ("samples/d_epoch_2.json", "d invalid"),
    ]
    batch = read_batch([path])
    assert [episode.task_id for episode in batch.episodes()] == ["a", "b/c", "d"]
    assert batch.formats == {str(path): "inspect-eval (Inspect AI .eval: a zip of samples)"}


def test_it_is_known_by_its_name_or_its_journal(tmp_path: Path) -> None:
    head = pack(tmp_path / "log.eval", MEMBERS).read_bytes()[:4096]
    assert recognises_file("log.eval", head)
    assert recognises_file("log.zip", head)
    assert recognises_file("log.zip", pack(tmp_path / "x", {"a": 1}).read_bytes()) is None
    assert recognises_file("log.eval", b"{}") is None


def test_a_run_that_was_broken_off_has_a_journal_only(tmp_path: Path) -> None:
    members = {
        "_journal/start.json": JOURNAL,
        "samples/a_epoch_1.json": inspect_sample("a", "C"),
        "samples/b_epoch_1.json": inspect_sample("b", "C", scores=None),
    }
    (_, first), (_, second) = read(pack(tmp_path / "log.eval", members))
    assert first == "a pass"
    assert second.startswith("the sample has no score")


@both
def test_each_bad_member_is_said(make: Any, tmp_path: Path) -> None:
    bad = {
        "1.json": b"{",
        "2.json": b"[" * 100_000,
        "3.json": b"[" * 300 + b"]" * 300,
        "4.json": [],
        "5.json": as_bytes({**inspect_sample("5", "C"), "total_time": float("nan")}),
        "6_epoch_1/sample.json": {"id": "6"},
        "6_epoch_1/messages/0.json": [],
        "6_epoch_1/events/stats.json": {},
        "6_epoch_1/skeleton.json": {},
    }
    members = {"header.json": HEAD} | {f"samples/{name}": value for name, value in bad.items()}
    assert read(make(tmp_path / "log.eval", members)) == [
        ("samples/1.json", "not JSON (unexpected end of data)"),
        ("samples/2.json", "nested more than 200 levels deep"),
        ("samples/3.json", "nested more than 200 levels deep"),
        ("samples/4.json", "the sample has no score; score the log first (inspect score)"),
        ("samples/5.json", "5 pass"),
        (
            "samples/6_epoch_1/sample.json",
            "the sample is stored in chunks: convert the log to .json first",
        ),
    ]


@pytest.mark.parametrize(
    ("members", "said"),
    [
        ({"a": 1}, "the archive has neither header.json nor _journal/start.json"),
        ({"header.json": b"{"}, "header.json: not JSON"),
        ({"header.json": [HEAD]}, "header.json is not the head of an Inspect log"),
        ({"header.json": {**HEAD, "status": "cancelled"}}, "the log holds no samples; its status"),
    ],
)
def test_a_zip_that_is_no_log(members: dict[str, Any], said: str, tmp_path: Path) -> None:
    path = pack(tmp_path / "log.eval", members)
    ((where, problem),) = read(path)
    assert where == str(path)
    assert problem.startswith(said)


@both
def test_a_file_cut_or_spoilt_anywhere_is_read_or_said(make: Any, tmp_path: Path) -> None:
    whole = make(tmp_path / "log.eval", MEMBERS).read_bytes()
    path = tmp_path / "spoilt.eval"
    for at in range(0, len(whole), 41):
        path.write_bytes(whole[:at])
        ((_, problem),) = read(path)
        assert problem.startswith("the archive cannot be read")
        path.write_bytes(whole[:at] + bytes([whole[at] ^ 255]) + whole[at + 1 :])
        assert read(path)


def test_no_more_than_the_cap_is_unpacked(tmp_path: Path) -> None:
    path = pack(tmp_path / "log.eval", MEMBERS)
    with pytest.raises(InputError, match="unpacks to more than 1,000 bytes"):
        read(path, cap=1000)


@pytest.mark.parametrize("claimed", [100, 1 << 30])
def test_a_bomb_is_said_without_unpacking_it(
    claimed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A frame tells its own size; zstandard allocates that much where it is believed."""
    monkeypatch.setattr(inspect_eval, "LARGEST_MEMBER", 1 << 20)
    members = {**MEMBERS, "samples/e.json": b" " * (40 << 20)}
    path = pack_zstd(tmp_path / "log.eval", members, **{"samples/e.json": claimed})
    tracemalloc.start()
    assert read(path)[-1] == ("samples/e.json", "it unpacks to more than 1 MB")
    assert tracemalloc.get_traced_memory()[1] < 8 << 20
    tracemalloc.stop()


def test_members_that_cannot_be_unpacked_are_said(tmp_path: Path) -> None:
    path = pack(tmp_path / "log.eval", MEMBERS)
    raw = bytearray(path.read_bytes())
    name = b"samples/a_epoch_2.json"
    raw[raw.rfind(name) - 46 + 10] = 97  # the method of packing, in the directory
    path.write_bytes(raw)
    (_, problem), *rest = read(path)
    assert problem.startswith("the member cannot be unpacked (")
    assert len(rest) == 2
