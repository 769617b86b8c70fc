"""The weakest level: resource limits and a process group, on every system."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import subprocess
import sys
import time
from functools import cache, lru_cache
from pathlib import Path

from bot.sandbox.interface import ProcessLimits
from bot.sandbox.levels import LIMITS
from bot.sandbox.process import Child, Order, Processes
from bot.sandbox.warden import MARK

COUNTED_S = 0.5
ROOM = 8
SEARCHES = 5
_SCRIPT = """
[ "$PPID" = {supervisor} ] || exit 1
ulimit -c 0
ulimit -t {cpu}
ulimit -v {memory_kb} 2>/dev/null
ulimit -f {file_blocks}
ulimit -n {open_files}
{processes}
exec "$@"
"""
_PROCESSES = (
    "(ulimit -u {0}) 2>/dev/null && ulimit -u {0} || ulimit -p {0} 2>/dev/null"  # bash, dash
)


class ResourceLimits(Processes):
    """Process group, clean environment, closed descriptors, resource and time limits."""

    level = LIMITS.name
    # Elsewhere the kernel takes a limit on memory and does not keep it.
    promises = LIMITS.promises - (set() if sys.platform == "linux" else {"memory"})
    own_network = False

    def _spawn(self, order: Order) -> Child:
        return MarkedChild(order)


class MarkedChild(Child):
    """A process group, and those that left it but still carry a variable of ours."""

    def __init__(self, order: Order) -> None:
        super().__init__([*limiting_command(order.limits), *order.argv], order)

    def _bury(self) -> None:
        # Again until nothing new is found: a process shows no variables while it becomes another
        # program, and one that is found may have started one more.
        for search in range(SEARCHES):
            carriers = self._carriers()
            for pid in carriers:
                with contextlib.suppress(OSError):
                    os.kill(pid, signal.SIGKILL)
            if search and not carriers:
                break

    def _carriers(self) -> list[int]:
        needle = f"{MARK}={self.mark}".encode()
        carriers = []
        for entry in Path("/proc").glob("[0-9]*"):
            with contextlib.suppress(OSError):
                if needle in (entry / "environ").read_bytes().split(b"\0"):
                    carriers.append(int(entry.name))
        return carriers


def limiting_command(limits: ProcessLimits) -> list[str]:
    """A shell that sets the limits and becomes the program: `preexec_fn` is unsafe with threads.

    On Linux it dies with the thread that starts it, and, where that had died before the kernel
    was asked for this, it ends by itself.
    """
    tasks = most_tasks(limits)
    script = _SCRIPT.format(
        supervisor=os.getpid(),
        # CPU time of one process; the wall clock bounds the rest.
        cpu=int(limits.wall_s) + 1,
        memory_kb=limits.memory_mb << 10,
        file_blocks=limits.file_mb << 11,
        open_files=limits.open_files,
        processes="" if tasks is None else _PROCESSES.format(tasks),
    )
    return [*_death_signal(), "/bin/sh", "-c", script, "sh"]


def resource_limits(limits: ProcessLimits) -> dict[str, int]:
    """The same limits by their names in the module `resource`."""
    tasks = most_tasks(limits)
    named = {
        "RLIMIT_CORE": 0,
        "RLIMIT_CPU": int(limits.wall_s) + 1,
        "RLIMIT_AS": limits.memory_mb << 20,
        "RLIMIT_FSIZE": limits.file_mb << 20,
        "RLIMIT_NOFILE": limits.open_files,
    }
    return named if tasks is None else {**named, "RLIMIT_NPROC": tasks}


def most_tasks(limits: ProcessLimits) -> int | None:
    """The kernel's limit on processes counts all threads that the user has anywhere.

    So it is what runs now and room for several sandboxes; None where the system does not tell, and
    for root, whom it does not bind. It slows a fork bomb down; the number of processes in one
    sandbox is watched.
    """
    if os.getuid() == 0:
        return None
    running = _running_tasks(int(time.monotonic() / COUNTED_S))
    return None if running is None else running + ROOM * limits.processes


@lru_cache(maxsize=1)
def _running_tasks(moment: int) -> int | None:
    """Processes and threads of this user; counted once in a `moment`."""
    total, own = 0, os.getuid()
    for entry in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            if entry.stat().st_uid == own:
                total += len(os.listdir(entry / "task"))  # noqa: PTH208 - only the number
    return total or None


@cache
def _death_signal() -> tuple[str, ...]:
    """On Linux: have the kernel kill the child when the thread that started it dies."""
    setpriv = shutil.which("setpriv")
    if setpriv is None or not sys.platform.startswith("linux"):
        return ()
    tried = subprocess.run(
        [setpriv, "--pdeathsig", "KILL", "true"], capture_output=True, check=False
    )
    return (setpriv, "--pdeathsig", "KILL", "--") if tried.returncode == 0 else ()
