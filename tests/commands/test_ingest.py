"""`ecdysis ingest`: the output appears whole or not at all, and says the same."""

import gzip
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from bot.cli import main
from bot.records import Episode
from tests.helpers.trajectories import native, shared_data, tau, write_lines

Capture = pytest.CaptureFixture[str]


@pytest.fixture
def batch(tmp_path: Path) -> Path:
    path = tmp_path / "x_gpt-4o.json"
    calls = [("book_reservation", {"seat": 1}, "Error: no seat")]
    path.write_text(json.dumps([tau(n, float(n % 2), calls=calls) for n in range(4)], indent=1))
    return path


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_one_native_episode_a_line(batch: Path, capsys: Capture) -> None:
    assert main(["ingest", str(batch)]) == 0
    captured = capsys.readouterr()
    assert captured.err == "4 episodes written\n"
    episodes = [Episode.model_validate_json(line) for line in captured.out.splitlines()]
    assert [(e.task_id, e.outcome) for e in episodes] == [
        ("0", "fail"),
        ("1", "pass"),
        ("2", "fail"),
        ("3", "pass"),
    ]
    assert episodes[0].source == "tau-bench/airline"
    assert episodes[0].model == "gpt-4o"


def test_what_is_ingested_may_be_ingested_again(batch: Path, tmp_path: Path) -> None:
    one, two = tmp_path / "one.jsonl", tmp_path / "two.jsonl"
    assert main(["ingest", str(batch), "-o", str(one)]) == 0
    assert main(["ingest", str(one), "-o", str(two)]) == 0
    assert one.read_bytes() == two.read_bytes()
    assert main(["ingest", str(one), "-o", str(one)]) == 0
    assert one.read_bytes() == two.read_bytes()


def test_unknown_fields_are_passed_on(tmp_path: Path, capsys: Capture) -> None:
    step = {"kind": "tool", "name": "x", "colour": {"a": [1]}}
    path = write_lines(tmp_path / "a.jsonl", [native("t", steps=[step], mood="good")])
    assert main(["ingest", str(path)]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert (answer["mood"], answer["steps"][0]["colour"]) == ("good", {"a": [1]})


@pytest.mark.parametrize("name", ["out.jsonl", "out.jsonl.gz"])
@pytest.mark.parametrize("existing", [None, b"what was there"])
def test_a_bad_record_leaves_the_output_as_it_was(
    name: str, existing: bytes | None, batch: Path, tmp_path: Path, capsys: Capture
) -> None:
    batch.write_text(json.dumps([tau(1), tau(2, None)]))
    folder = tmp_path / "out"
    folder.mkdir()
    if existing:
        (folder / name).write_bytes(existing)
    assert main(["ingest", str(batch), "-o", str(folder / name)]) == 3
    assert "record 2: reward is null, not a number (1 good records" in capsys.readouterr().err
    assert names(folder) == ([name] if existing else [])
    if existing:
        assert (folder / name).read_bytes() == existing


def test_skip_bad_counts_what_it_left_out(batch: Path, tmp_path: Path, capsys: Capture) -> None:
    batch.write_text(json.dumps([tau(1), tau(2, None), tau(3, "x"), tau(4)]))
    out = tmp_path / "out.jsonl"
    assert main(["ingest", str(batch), "-o", str(out), "--skip-bad"]) == 0
    assert capsys.readouterr().err.splitlines() == [
        f"Left out: {batch}, record 2: reward is null, not a number",
        f'Left out: {batch}, record 3: reward is "x", not a number',
        "2 episodes written, 2 records left out",
    ]
    assert [json.loads(line)["task_id"] for line in out.read_text().splitlines()] == ["1", "4"]


def test_the_file_has_the_users_permissions(batch: Path, tmp_path: Path) -> None:
    before = os.umask(0o027)
    try:
        assert main(["ingest", str(batch), "-o", str(tmp_path / "out.jsonl")]) == 0
        assert os.umask(0o027) == 0o027
    finally:
        os.umask(before)
    assert (tmp_path / "out.jsonl").stat().st_mode & 0o777 == 0o640


def test_packed_output_is_the_same_bytes_each_time(batch: Path, tmp_path: Path) -> None:
    plain = tmp_path / "out.jsonl"
    packed = [tmp_path / "a.jsonl.gz", tmp_path / "b.jsonl.gz"]
    for path in (plain, *packed):
        assert main(["ingest", str(batch), "-o", str(path)]) == 0
    assert packed[0].read_bytes() == packed[1].read_bytes()
    assert gzip.decompress(packed[0].read_bytes()) == plain.read_bytes()


def test_where_nothing_can_be_written(batch: Path, tmp_path: Path, capsys: Capture) -> None:
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    for output, said in (
        (tmp_path, f"{tmp_path} is no regular file. Leave -o out for standard output."),
        (fifo, f"{fifo} is no regular file. Leave -o out for standard output."),
        (
            tmp_path / "none" / "x",
            f"Cannot write {tmp_path}/none/x: No such file or directory. Choose another path.",
        ),
    ):
        assert main(["ingest", str(batch), "-o", str(output)]) == 3
        assert capsys.readouterr().err == f"ecdysis: {said}\n"
    assert names(tmp_path) == ["fifo", batch.name]
    assert fifo.is_fifo()


def test_a_full_disk_is_told_and_leaves_nothing(
    batch: Path, tmp_path: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "replace", full)
    out = tmp_path / "out.jsonl"
    assert main(["ingest", str(batch), "-o", str(out)]) == 3
    assert capsys.readouterr().err == (
        f"ecdysis: Cannot write {out}: No space left on device. Choose another path.\n"
    )
    assert names(tmp_path) == [batch.name]


def test_a_reader_that_left_is_no_error(tmp_path: Path) -> None:
    records = [native(f"t{n}", more="x" * 2000) for n in range(200)]
    path = write_lines(tmp_path / "a.jsonl", records)
    command = f"'{sys.executable}' -m bot ingest '{path}' | head -1"
    done = subprocess.run(
        ["bash", "-o", "pipefail", "-c", command], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout.count("\n")) == (0, 1)
    assert json.loads(done.stdout)["task_id"] == "t0"
    assert "Traceback" not in done.stderr
    assert "Broken" not in done.stderr


@pytest.mark.parametrize(
    "name", ["tau-bench_airline_gpt-4o.json.gz", "agentrx_tau-retail_full.json.gz"]
)
def test_real_batches_are_diagnosed_alike(name: str, tmp_path: Path, capsys: Capture) -> None:
    out = tmp_path / "out.jsonl.gz"
    assert main(["ingest", str(shared_data(name)), "-o", str(out)]) == 0
    capsys.readouterr()
    answers = []
    for path in (shared_data(name), out):
        assert main(["diagnose", str(path), "--json"]) == 0
        answers.append(json.loads(capsys.readouterr().out))
    assert answers[0] == answers[1]
    assert main(["diagnose", str(shared_data(name)), str(out), "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == answers[0]
