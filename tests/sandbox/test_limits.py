"""What every level limits, on real processes."""

import os
import time
from pathlib import Path

import pytest

from bot.sandbox import Finished, ProcessLimits, Sandbox, View, run_trusted
from tests.sandbox.conftest import ENV, PYTHON, seeing

LIMITS = ProcessLimits(wall_s=10, memory_mb=512, file_mb=2, open_files=64, output_mb=1)


def run(
    sandbox: Sandbox,
    code: str,
    limits: ProcessLimits = LIMITS,
    view: View | None = None,
    **env: str,
) -> Finished:
    return sandbox.run(
        [PYTHON, "-c", code],
        cwd=Path("/"),
        env=ENV | env,
        limits=limits,
        view=view or seeing(),
    )


def test_output_code_and_environment(sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("A_SECRET", "x")
    done = run(sandbox, "import os, sys; print(sorted(os.environ)); sys.exit(3)", GIVEN="1")
    names = done.stdout.decode()
    assert done.code == 3
    assert "GIVEN" in names
    assert "A_SECRET" not in names
    assert "HOME" not in names


OPEN = """
import os
for number in range(64):
    try: os.fstat(number); print(number)
    except OSError: pass
"""


def test_no_descriptor_is_inherited(sandbox: Sandbox, tmp_path: Path) -> None:
    with (tmp_path / "open").open("w") as file:
        os.set_inheritable(file.fileno(), True)
        assert run(sandbox, OPEN).stdout == b"0\n1\n2\n"


def test_memory_files_descriptors_and_core_are_limited(sandbox: Sandbox, tmp_path: Path) -> None:
    assert b"MemoryError" in run(sandbox, "bytearray(10**9)").stderr
    big = run(
        sandbox,
        f"open({str(tmp_path / 'big')!r}, 'wb').write(b'x' * (4 << 20))",
        view=seeing(tmp_path),
    )
    assert big.code != 0
    assert (tmp_path / "big").stat().st_size <= 2 << 20
    many = run(sandbox, "import os; f = [os.open('/usr', os.O_RDONLY) for _ in range(200)]")
    assert b"Too many open files" in many.stderr
    assert run(sandbox, "import resource; print(resource.getrlimit(4))").stdout == b"(0, 0)\n"


def test_a_flood_of_output_is_cut(sandbox: Sandbox) -> None:
    done = run(sandbox, "import sys\nwhile True: sys.stdout.write('y' * 65536)")
    assert done.code != 0
    assert len(done.stdout) == 1 << 20
    assert done.truncated


def test_time_is_limited_and_the_group_killed(sandbox: Sandbox) -> None:
    started = time.monotonic()
    done = run(sandbox, "import os, time; os.fork(); time.sleep(100)", ProcessLimits(wall_s=0.5))
    assert (done.timed_out, done.code) == (True, None)
    assert time.monotonic() - started < 5


def test_a_running_process_talks_and_stops(sandbox: Sandbox) -> None:
    code = "import sys\nfor line in sys.stdin: print(line.upper(), end='', flush=True)"
    process = sandbox.start(
        [PYTHON, "-u", "-c", code], cwd=Path("/"), env=ENV, limits=LIMITS, view=seeing()
    )
    process.send(b"hello")
    assert process.read_line(5) == b"HELLO"
    with pytest.raises(TimeoutError):
        process.read_line(0.05)
    assert process.alive()
    process.stop(grace_s=1)
    assert not process.alive()
    assert process.read_line(1) is None


def test_giving_up_kills_everything_that_runs(sandbox: Sandbox) -> None:
    argv = [PYTHON, "-c", "import time; time.sleep(100)"]
    running = [
        sandbox.start(argv, cwd=Path("/"), env=ENV, limits=LIMITS, view=seeing()) for _ in range(3)
    ]
    sandbox.kill_all()
    until = time.monotonic() + 5
    while any(p.alive() for p in running) and time.monotonic() < until:
        time.sleep(0.01)
    assert not any(p.alive() for p in running)
    for process in running:
        process.stop()


def test_an_errand_reports_while_it_runs_and_has_its_time() -> None:
    seen = []
    argv = [PYTHON, "-c", "import time; time.sleep(0.7)"]
    done = run_trusted(
        argv, cwd=Path("/"), env=ENV, wall_s=10, while_running=lambda: seen.append(1)
    )
    assert done.code == 0
    assert len(seen) >= 2
    late = run_trusted(argv, cwd=Path("/"), env=ENV, wall_s=0.2)
    assert late.timed_out
