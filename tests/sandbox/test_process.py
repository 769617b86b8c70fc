"""Child processes that leave their group, hold pipes, flood, break off; and a bot that dies."""

import json
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from bot.sandbox import Finished, ProcessLimits, Running, choose_sandbox
from bot.sandbox.process import MARK

ENV = {"PATH": os.environ["PATH"]}
LIMITS = ProcessLimits(wall_s=10, memory_mb=512, file_mb=2, output_mb=1)
DAEMON = """
import os, sys, time
ready, tell = os.pipe()
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        os.write(tell, b"%d" % os.getpid())
        {become}
        time.sleep(100)
    os._exit(0)
print(os.read(ready, 20).decode(), flush=True)
time.sleep({linger})
"""


def python(code: str, *args: str) -> list[str]:
    return [sys.executable, "-c", code, *args]


def run(code: str, limits: ProcessLimits = LIMITS, stdin: bytes | None = None) -> Finished:
    return choose_sandbox().run(python(code), cwd=Path("/"), env=ENV, limits=limits, stdin=stdin)


def start(code: str) -> Running:
    return choose_sandbox().start(python(code), cwd=Path("/"), env=ENV, limits=LIMITS)


def gone(pid: int, within_s: float = 3.0) -> bool:
    """Whether a process ends, or is only waiting to be reaped, within the time."""
    until = time.monotonic() + within_s
    while time.monotonic() < until:
        try:
            if Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] == "Z":
                return True
        except (FileNotFoundError, ProcessLookupError):
            return True
        time.sleep(0.01)
    return False


@pytest.mark.parametrize("linger", [0, 100])
def test_a_double_fork_with_setsid_does_not_escape(linger: int) -> None:
    """A daemon in a session of its own, also where its starter has long ended."""
    started = time.monotonic()
    done = run(DAEMON.format(become="", linger=linger), ProcessLimits(wall_s=1))
    assert time.monotonic() - started < 5
    assert done.timed_out == (linger > 0)
    assert gone(int(done.stdout))


def test_a_daemon_that_starts_another_program_is_found_by_its_mark() -> None:
    become = "os.execlp('sleep', 'sleep', '100')"
    assert gone(int(run(DAEMON.format(become=become, linger=0)).stdout))


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("import sys; sys.exit(7)", 7),
        ("import os; os.kill(os.getpid(), 15)", -15),
        ("import os; os.abort()", -6),
        ("raise ValueError", 1),
    ],
)
def test_codes_and_signals(code: str, expected: int) -> None:
    assert run(code).code == expected


def test_a_program_or_folder_that_is_not_there() -> None:
    sandbox = choose_sandbox()
    done = sandbox.run(["no-such-program"], cwd=Path("/"), env=ENV, limits=LIMITS)
    assert done.code == 127
    assert b"no-such-program" in done.stderr
    with pytest.raises(FileNotFoundError):
        sandbox.run(python("pass"), cwd=Path("/no/such/folder"), env=ENV, limits=LIMITS)


def test_arguments_reach_the_program_as_they_are() -> None:
    given = ["", " ", "$HOME", "`id`", "a'b\"c", "-x", "*", "ü\n"]
    code = "import json, sys; print(json.dumps(sys.argv[1:]))"
    done = choose_sandbox().run(python(code, *given), cwd=Path("/"), env=ENV, limits=LIMITS)
    assert json.loads(done.stdout) == given


def test_standard_input_is_what_is_given_or_empty() -> None:
    code = "import sys; print(len(sys.stdin.buffer.read()))"
    assert run(code, stdin=b"x" * 300_000).stdout == b"300000\n"
    assert run(code).stdout == b"0\n"


def test_the_end_of_a_flood_is_kept() -> None:
    done = run("import sys; sys.stdout.write('a' * 1_500_000 + 'the end')")
    assert done.truncated
    assert len(done.stdout) == 1 << 20
    assert done.stdout.endswith(b"athe end")


def test_processor_time_is_limited_too() -> None:
    """Where the wall clock's killer was itself killed, the kernel still ends the child."""
    done = run("import resource; print(resource.getrlimit(resource.RLIMIT_CPU))")
    assert done.stdout == b"(11, 11)\n"


@pytest.mark.skipif(os.getuid() == 0, reason="the number of processes does not bind root")
def test_the_number_of_processes_is_limited() -> None:
    code = "import os, time\nwhile True:\n    if os.fork() == 0: time.sleep(100)"
    done = run(code, ProcessLimits(wall_s=10, processes=64))
    assert done.code == 1
    assert b"BlockingIOError" in done.stderr


def test_many_runs_leave_neither_descriptors_nor_children() -> None:
    run("pass")
    before = len(os.listdir("/proc/self/fd"))  # noqa: PTH208
    for _ in range(20):
        run("print(1)", stdin=b"x")
        worker = start("input()")
        worker.send(b"x")
        worker.stop(grace_s=1)
    deadline = time.monotonic() + 2
    while len(os.listdir("/proc/self/fd")) > before and time.monotonic() < deadline:  # noqa: PTH208
        time.sleep(0.01)
    assert len(os.listdir("/proc/self/fd")) <= before  # noqa: PTH208
    children = Path(f"/proc/self/task/{os.getpid()}/children").read_text().split()
    environments = [Path(f"/proc/{pid}/environ").read_bytes() for pid in children]
    assert not any(MARK.encode() in environment for environment in environments)


def test_marks_differ_so_that_one_ending_kills_no_other() -> None:
    other = start("import time; time.sleep(100)")
    assert run(DAEMON.format(become="", linger=0)).code == 0
    assert other.alive()
    other.stop()


# --- processes that go on -----------------------------------------------------------------


def test_lines_come_one_by_one_and_the_last_without_its_end() -> None:
    worker = start(r"import sys; sys.stdout.write('a\r\n\nb')")
    assert [worker.read_line(5) for _ in range(4)] == [b"a", b"", b"b", None]
    worker.stop()


def test_a_line_over_the_cap_ends_the_talk() -> None:
    worker = start("print('ok', flush=True); print('x' * (2 << 20), flush=True); print('more')")
    assert worker.read_line(5) == b"ok"
    assert worker.read_line(5) is None
    worker.stop()


def test_a_worker_that_has_gone_breaks_the_pipe() -> None:
    worker = start("import sys; sys.exit(3)")
    assert worker.read_line(5) is None
    until = time.monotonic() + 5
    while worker.alive() and time.monotonic() < until:
        time.sleep(0.005)
    with pytest.raises(BrokenPipeError):
        worker.send(b"x")
    done = worker.stop()
    assert (done.code, done.timed_out) == (3, False)
    assert worker.stop() is done


def test_stopping_asks_first_and_kills_then() -> None:
    polite = start(
        "import signal, sys, time\n"
        "signal.signal(15, lambda *a: (print('bye', file=sys.stderr), sys.exit(5)))\n"
        "print('up', flush=True)\ntime.sleep(100)"
    )
    assert polite.read_line(5) == b"up"
    done = polite.stop(grace_s=5)
    assert (done.code, done.stderr) == (5, b"bye\n")
    deaf = start(
        "import signal, time\nsignal.signal(15, 1)\nprint('up', flush=True)\ntime.sleep(100)"
    )
    assert deaf.read_line(5) == b"up"
    started = time.monotonic()
    deaf.stop(grace_s=0.3)
    assert 0.25 < time.monotonic() - started < 3
    assert not deaf.alive()


def test_a_workers_children_end_with_it() -> None:
    worker = start(DAEMON.format(become="", linger=100))
    line = worker.read_line(5)
    assert line is not None
    worker.stop()
    assert gone(int(line))


# --- the bot itself ends ------------------------------------------------------------------

BOT = """
import os, sys, threading
from pathlib import Path
from bot.sandbox import ProcessLimits, choose_sandbox
code = "import os, time; open(os.environ['OUT'], 'w').write(str(os.getpid())); time.sleep(100)"
choose_sandbox().run([sys.executable, "-c", code], cwd=Path("/"),
                     env={"OUT": sys.argv[1]}, limits=ProcessLimits(wall_s=60))
"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="needs a parent-death signal")
def test_a_killed_bot_takes_its_children_with_it(tmp_path: Path) -> None:
    note = tmp_path / "pid"
    bot = subprocess.Popen([sys.executable, "-c", BOT, str(note)])
    until = time.monotonic() + 20
    while not (note.exists() and note.read_text()) and time.monotonic() < until:
        time.sleep(0.01)
    os.kill(bot.pid, signal.SIGKILL)
    bot.wait()
    assert gone(int(note.read_text()))


def test_giving_up_wakes_who_waits() -> None:
    sandbox = choose_sandbox()
    ended: list[Finished] = []
    argv = python("import time; time.sleep(100)")
    waiter = threading.Thread(
        target=lambda: ended.append(sandbox.run(argv, cwd=Path("/"), env=ENV, limits=LIMITS))
    )
    waiter.start()
    time.sleep(0.3)
    sandbox.kill_all()
    waiter.join(5)
    assert [(done.code, done.timed_out) for done in ended] == [(-9, False)]
