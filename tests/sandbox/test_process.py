"""Child processes that leave their group, hold pipes, flood, break off; and a bot that dies."""

import json
import os
import secrets
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from bot.sandbox import Finished, ProcessLimits, Running, Sandbox
from bot.sandbox.limits import limiting_command
from bot.sandbox.warden import MARK
from tests.sandbox.conftest import ENV, PYTHON, is_running, seeing

LIMITS = ProcessLimits(wall_s=10, memory_mb=512, file_mb=2, output_mb=1)
# A daemon whose argument WORD tells it from all other processes.
DAEMON = """
import os, time
ready, tell = os.pipe()
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        os.set_inheritable(tell, True)
        os.execlp("sh", "sh", "-c", f"echo up >&{{tell}}; sleep 100; :", "{word}")
    os._exit(0)
os.read(ready, 20)
print("up", flush=True)
time.sleep({linger})
"""


def python(code: str, *args: str) -> list[str]:
    return [PYTHON, "-c", code, *args]


def run(
    sandbox: Sandbox, code: str, limits: ProcessLimits = LIMITS, stdin: bytes | None = None
) -> Finished:
    return sandbox.run(
        python(code), cwd=Path("/"), env=ENV, limits=limits, stdin=stdin, view=seeing()
    )


def start(sandbox: Sandbox, code: str) -> Running:
    return sandbox.start(python(code), cwd=Path("/"), env=ENV, limits=LIMITS, view=seeing())


def daemon(linger: float = 0) -> tuple[str, str]:
    """A word, and code that starts a daemon which carries it."""
    word = f"daemon-{secrets.token_hex(8)}"
    return word, DAEMON.format(word=word, linger=linger)


def has_ended(sandbox: Sandbox, word: str) -> bool:
    """Whether no process carries the word; at once, where the level promises so."""
    return not is_running(word) if "leftovers" in sandbox.promises else ends(word)


def ends(word: str, within_s: float = 3.0) -> bool:
    """Whether no process carries the word any more, within the time."""
    until = time.monotonic() + within_s
    while is_running(word) and time.monotonic() < until:
        time.sleep(0.01)
    return not is_running(word)


@pytest.mark.parametrize("linger", [0, 100])
def test_a_double_fork_with_setsid_does_not_escape(sandbox: Sandbox, linger: int) -> None:
    """A daemon in a session of its own, another program, also where its starter has long ended."""
    word, code = daemon(linger)
    started = time.monotonic()
    done = run(sandbox, code, ProcessLimits(wall_s=1.5))
    assert time.monotonic() - started < 5
    assert done.timed_out == (linger > 0)
    assert done.stdout == b"up\n"
    assert has_ended(sandbox, word)


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("import sys; sys.exit(7)", 7),
        ("import os; os.kill(os.getpid(), 15)", -15),
        ("import os; os.abort()", -6),
        ("raise ValueError", 1),
    ],
)
def test_codes_and_signals(sandbox: Sandbox, code: str, expected: int) -> None:
    assert run(sandbox, code).code == expected


def test_a_program_or_folder_that_is_not_there(sandbox: Sandbox) -> None:
    done = sandbox.run(["no-such-program"], cwd=Path("/"), env=ENV, limits=LIMITS)
    assert done.code not in (0, None)
    assert b"no-such-program" in done.stderr
    with pytest.raises(FileNotFoundError):
        sandbox.run(python("pass"), cwd=Path("/no/such/folder"), env=ENV, limits=LIMITS)


def test_arguments_reach_the_program_as_they_are(sandbox: Sandbox) -> None:
    given = ["", " ", "$HOME", "`id`", "a'b\"c", "-x", "*", "ü\n"]
    code = "import json, sys; print(json.dumps(sys.argv[1:]))"
    done = sandbox.run(python(code, *given), cwd=Path("/"), env=ENV, limits=LIMITS, view=seeing())
    assert json.loads(done.stdout) == given


def test_standard_input_is_what_is_given_or_empty(sandbox: Sandbox) -> None:
    code = "import sys; print(len(sys.stdin.buffer.read()))"
    assert run(sandbox, code, stdin=b"x" * 300_000).stdout == b"300000\n"
    assert run(sandbox, code).stdout == b"0\n"


def test_the_end_of_a_flood_is_kept(sandbox: Sandbox) -> None:
    done = run(sandbox, "import sys; sys.stdout.write('a' * 1_500_000 + 'the end')")
    assert done.truncated
    assert len(done.stdout) == 1 << 20
    assert done.stdout.endswith(b"athe end")


def test_processor_time_is_limited_too(sandbox: Sandbox) -> None:
    """Where the wall clock's killer was itself killed, the kernel still ends the child."""
    done = run(sandbox, "import resource; print(resource.getrlimit(resource.RLIMIT_CPU))")
    assert done.stdout == b"(11, 11)\n"


def test_the_number_of_processes_is_limited(sandbox: Sandbox) -> None:
    code = "import os, time\nwhile True:\n    if os.fork() == 0: time.sleep(100)"
    done = run(sandbox, code, ProcessLimits(wall_s=10, processes=64))
    assert not done.timed_out
    # The watch sees them, or the kernel refuses one more before that.
    assert done.over == "it ran over 64 processes at once" or b"BlockingIOError" in done.stderr


def test_many_runs_leave_neither_descriptors_nor_children(sandbox: Sandbox) -> None:
    run(sandbox, "pass")
    before = len(os.listdir("/proc/self/fd"))  # noqa: PTH208
    for _ in range(20):
        run(sandbox, "print(1)", stdin=b"x")
        worker = start(sandbox, "input()")
        worker.send(b"x")
        worker.stop(grace_s=1)
    deadline = time.monotonic() + 2
    while len(os.listdir("/proc/self/fd")) > before and time.monotonic() < deadline:  # noqa: PTH208
        time.sleep(0.01)
    assert len(os.listdir("/proc/self/fd")) <= before  # noqa: PTH208
    children = Path(f"/proc/self/task/{os.getpid()}/children").read_text().split()
    environments = [Path(f"/proc/{pid}/environ").read_bytes() for pid in children]
    assert not any(MARK.encode() in environment for environment in environments)


def test_marks_differ_so_that_one_ending_kills_no_other(sandbox: Sandbox) -> None:
    other = start(sandbox, "import time; time.sleep(100)")
    assert run(sandbox, daemon()[1]).code == 0
    assert other.alive()
    other.stop()


# --- processes that go on -----------------------------------------------------------------


def test_lines_come_one_by_one_and_the_last_without_its_end(sandbox: Sandbox) -> None:
    worker = start(sandbox, r"import sys; sys.stdout.write('a\r\n\nb')")
    assert [worker.read_line(5) for _ in range(4)] == [b"a", b"", b"b", None]
    worker.stop()


def test_a_line_over_the_cap_ends_the_talk(sandbox: Sandbox) -> None:
    worker = start(
        sandbox, "print('ok', flush=True); print('x' * (2 << 20), flush=True); print('more')"
    )
    assert worker.read_line(5) == b"ok"
    assert worker.read_line(5) is None
    worker.stop()


def test_a_worker_that_has_gone_breaks_the_pipe(sandbox: Sandbox) -> None:
    worker = start(sandbox, "import sys; sys.exit(3)")
    assert worker.read_line(5) is None
    until = time.monotonic() + 5
    while worker.alive() and time.monotonic() < until:
        time.sleep(0.005)
    time.sleep(0.1)  # what held the program's pipe for it ends a moment later
    with pytest.raises(BrokenPipeError):
        worker.send(b"x")
    done = worker.stop()
    assert (done.code, done.timed_out) == (3, False)
    assert worker.stop() is done


def test_stopping_asks_first_and_kills_then(sandbox: Sandbox) -> None:
    polite = start(
        sandbox,
        "import signal, sys, time\n"
        "signal.signal(15, lambda *a: (print('bye', file=sys.stderr), sys.exit(5)))\n"
        "print('up', flush=True)\ntime.sleep(100)",
    )
    assert polite.read_line(5) == b"up"
    done = polite.stop(grace_s=5)
    assert (done.code, done.stderr) == (5, b"bye\n")
    deaf = start(
        sandbox,
        "import signal, time\nsignal.signal(15, 1)\nprint('up', flush=True)\ntime.sleep(100)",
    )
    assert deaf.read_line(5) == b"up"
    started = time.monotonic()
    deaf.stop(grace_s=0.3)
    assert 0.25 < time.monotonic() - started < 3
    assert not deaf.alive()


def test_a_workers_children_end_with_it(sandbox: Sandbox) -> None:
    word, code = daemon(linger=100)
    worker = start(sandbox, code)
    assert worker.read_line(5) == b"up"
    assert is_running(word)
    worker.stop()
    assert has_ended(sandbox, word)


# --- the bot itself ends ------------------------------------------------------------------

BOT = """
import sys
from pathlib import Path
from bot.sandbox import ProcessLimits
from tests.sandbox.conftest import ENV, PYTHON, make_sandbox, seeing
level, word, folder = sys.argv[1:]
code = "import sys, time; open(sys.argv[2] + '/up', 'w'); time.sleep(100)"
make_sandbox(level).run([PYTHON, "-c", code, word, folder], cwd=Path("/"), env=ENV,
                        limits=ProcessLimits(wall_s=60), view=seeing(Path(folder)))
"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="needs a parent-death signal")
def test_a_killed_bot_takes_its_children_with_it(sandbox: Sandbox, tmp_path: Path) -> None:
    word = f"child-{secrets.token_hex(8)}"
    bot = subprocess.Popen([sys.executable, "-c", BOT, sandbox.level, word, str(tmp_path)])
    until = time.monotonic() + 20
    while not (tmp_path / "up").exists() and time.monotonic() < until:
        time.sleep(0.01)
    assert is_running(word)
    os.kill(bot.pid, signal.SIGKILL)
    bot.wait()
    assert ends(word)


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="needs a parent-death signal")
def test_a_start_that_its_bot_did_not_live_to_see_ends_by_itself() -> None:
    command = [*limiting_command(LIMITS), "echo", "runs"]
    assert subprocess.run(command, capture_output=True, check=True).stdout == b"runs\n"
    other = ["sh", "-c", '"$@"; exit $?', "sh", *command]  # a parent that is not who made it
    done = subprocess.run(other, capture_output=True, check=False)
    assert (done.returncode, done.stdout) == (1, b"")


@pytest.mark.slow
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="needs a parent-death signal")
def test_a_bot_killed_at_any_moment_of_a_start_leaves_nothing(
    sandbox: Sandbox, tmp_path: Path
) -> None:
    word = f"child-{secrets.token_hex(8)}"
    command = [sys.executable, "-c", BOT.replace("code =", "print(flush=True); code =")]
    for moment in range(40):
        bot = subprocess.Popen(
            [*command, sandbox.level, word, str(tmp_path)], stdout=subprocess.PIPE
        )
        assert bot.stdout is not None
        bot.stdout.readline()
        time.sleep(moment / 1000)
        os.kill(bot.pid, signal.SIGKILL)
        bot.wait()
        bot.stdout.close()
    time.sleep(0.5)
    assert ends(word)


def test_giving_up_wakes_who_waits(sandbox: Sandbox) -> None:
    ended: list[Finished] = []
    argv = python("import time; time.sleep(100)")
    waiter = threading.Thread(
        target=lambda: ended.append(
            sandbox.run(argv, cwd=Path("/"), env=ENV, limits=LIMITS, view=seeing())
        )
    )
    waiter.start()
    time.sleep(0.3)
    sandbox.kill_all()
    waiter.join(5)
    assert [(done.code, done.timed_out) for done in ended] == [(-9, False)]
