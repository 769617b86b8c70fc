"""What is counted of a running sandbox, and a worker's lines that nobody reads."""

from __future__ import annotations

import os
import subprocess
import threading
import time
from pathlib import Path

import pytest

from bot.sandbox import ProcessLimits, Sandbox, remove_tree
from bot.sandbox.lines import Lines
from bot.sandbox.watch import Unmeasurable, descendants, size_on_disk
from tests.sandbox.conftest import ENV, PYTHON, seeing


def test_files_count_what_they_take(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "big").write_bytes(b"x" * (1 << 20))
    (tmp_path / "empty").touch()
    (tmp_path / "link").symlink_to("/usr")
    with (tmp_path / "sparse").open("wb") as file:
        file.truncate(1 << 30)
    size = size_on_disk([tmp_path])
    # One inode each for the folder, the empty file, the link and the sparse one.
    assert (1 << 20) + 4 * 4096 <= size < (1 << 20) + 8 * 4096
    assert size_on_disk([tmp_path, tmp_path / "none"]) == size


def test_counting_stops_where_it_is_enough(tmp_path: Path) -> None:
    for number in range(50):
        (tmp_path / str(number)).touch()
    assert size_on_disk([tmp_path], enough=40_000) == 10 * 4096


def test_what_cannot_be_counted_is_said(tmp_path: Path) -> None:
    opened = [os.open(tmp_path, os.O_RDONLY)]
    try:
        for _ in range(25):
            os.mkdir("d" * 200, dir_fd=opened[-1])
            opened.append(os.open("d" * 200, os.O_RDONLY, dir_fd=opened[-1]))
        with pytest.raises(Unmeasurable, match="too long"):
            size_on_disk([tmp_path])
    finally:
        for descriptor in opened:
            os.close(descriptor)
    remove_tree(tmp_path / ("d" * 200))
    assert list(tmp_path.iterdir()) == []


def test_descendants_are_found_in_every_generation() -> None:
    code = "sh -c 'sleep 60; :' & sleep 60; :"
    with subprocess.Popen(["sh", "-c", code]) as top:
        until = time.monotonic() + 30
        while len(list(descendants(top.pid))) < 4 and time.monotonic() < until:
            time.sleep(0.01)
        found = list(descendants(top.pid))
        for pid in found:  # from the top: a shell whose child is gone would go on to its end
            os.kill(pid, 9)
    assert found[0] == top.pid
    assert len(found) == 4
    assert list(descendants(top.pid)) == [top.pid]


def test_a_sandbox_within_its_limits_is_left_alone(sandbox: Sandbox, tmp_path: Path) -> None:
    code = "import time; open('f', 'wb').write(b'x' * (4 << 20)); time.sleep(0.6); print('ok')"
    (tmp_path / "there").write_bytes(b"x" * (8 << 20))  # from before: it does not count
    done = sandbox.run(
        [PYTHON, "-c", code],
        cwd=tmp_path,
        env=ENV,
        limits=ProcessLimits(wall_s=5, memory_mb=256, processes=8, disk_mb=5),
        view=seeing(tmp_path),
    )
    assert (done.stdout, done.over) == (b"ok\n", "")


def test_a_running_worker_is_watched_too(sandbox: Sandbox, tmp_path: Path) -> None:
    code = """
import time
print("up", flush=True)
for n in range(40): open(str(n), "wb").write(b"x" * (1 << 20))
time.sleep(20)
"""
    worker = sandbox.start(
        [PYTHON, "-c", code],
        cwd=tmp_path,
        env=ENV,
        limits=ProcessLimits(wall_s=60, disk_mb=16),
        view=seeing(tmp_path),
    )
    assert worker.read_line(5) == b"up"
    assert worker.read_line(5) is None
    assert worker.stop(grace_s=1).over == "it wrote over 16 MB to disk"


# --- lines --------------------------------------------------------------------------------


def test_lines_come_in_order_and_end() -> None:
    lines = Lines(1000)
    for word in (b"a", b"", b"c"):
        assert lines.put(word)
    lines.close()
    assert [lines.get(1) for _ in range(5)] == [b"a", b"", b"c", None, None]
    assert lines.put(b"late") is False


def test_no_line_in_time() -> None:
    started = time.monotonic()
    with pytest.raises(TimeoutError):
        Lines(10).get(0.05)
    assert 0.04 < time.monotonic() - started < 1


def test_a_flood_waits_until_it_is_read() -> None:
    lines, put = Lines(1000), []

    def flood() -> None:
        for number in range(100):
            lines.put(b"x" * 100)
            put.append(number)

    thread = threading.Thread(target=flood)
    thread.start()
    time.sleep(0.1)
    held = len(put)
    assert 4 <= held <= 6
    assert [lines.get(1) for _ in range(100)] == [b"x" * 100] * 100
    thread.join(2)
    assert len(put) == 100


def test_a_flooding_worker_is_stopped_by_its_pipe(sandbox: Sandbox) -> None:
    code = "import sys\nwhile True: sys.stdout.write('y' * 1000 + '\\n')"
    limits = ProcessLimits(wall_s=10, output_mb=1)
    worker = sandbox.start(
        [PYTHON, "-c", code], cwd=Path("/"), env=ENV, limits=limits, view=seeing()
    )
    time.sleep(0.5)
    before = time.process_time()
    time.sleep(0.2)
    assert time.process_time() - before < 0.1  # nothing is read that nobody wants
    assert worker.read_line(1) == b"y" * 1000
    worker.stop()
