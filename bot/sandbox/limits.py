"""The weakest level: resource limits and a process group, on every system."""

from __future__ import annotations

import contextlib
import os
import secrets
import shutil
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path

from bot.sandbox.interface import ProcessLimits, View
from bot.sandbox.levels import LIMITS
from bot.sandbox.process import Child, Processes

MARK = "ECDYSIS_PROCESS"
"""The variable by which processes that left their group are found again."""

_SCRIPT = """
ulimit -c 0
ulimit -t {cpu}
ulimit -v {memory_kb} 2>/dev/null
ulimit -f {file_blocks}
ulimit -n {open_files}
(ulimit -u {processes}) 2>/dev/null && ulimit -u {processes} || ulimit -p {processes} 2>/dev/null
exec "$@"
"""


class ResourceLimits(Processes):
    """Process group, clean environment, closed descriptors, resource and time limits."""

    level = LIMITS.name
    promises = LIMITS.promises
    own_network = False

    def _spawn(
        self,
        argv: Sequence[str],
        *,
        cwd: Path,
        env: Mapping[str, str],
        limits: ProcessLimits,
        view: View,
        stdin: bytes | None = None,
        interactive: bool = False,
    ) -> Child:
        return MarkedChild(
            argv,
            cwd=cwd,
            env=env,
            limits=limits,
            writable=view.writable,
            stdin=stdin,
            interactive=interactive,
        )


class MarkedChild(Child):
    """A process group, and those that left it but still carry a variable of ours."""

    def __init__(
        self,
        argv: Sequence[str],
        *,
        cwd: Path,
        env: Mapping[str, str],
        limits: ProcessLimits,
        writable: Sequence[Path] = (),
        stdin: bytes | None = None,
        interactive: bool = False,
    ) -> None:
        self._mark = secrets.token_hex(8)
        super().__init__(
            [*limiting_command(limits), *argv],
            cwd=cwd,
            env={**env, MARK: self._mark},
            limits=limits,
            writable=writable,
            stdin=stdin,
            interactive=interactive,
        )

    def _bury(self) -> None:
        needle = f"{MARK}={self._mark}".encode()
        for entry in Path("/proc").glob("[0-9]*"):
            with contextlib.suppress(OSError):
                if needle in (entry / "environ").read_bytes().split(b"\0"):
                    os.kill(int(entry.name), signal.SIGKILL)


def limiting_command(limits: ProcessLimits) -> list[str]:
    """A shell that sets the limits and becomes the program: `preexec_fn` is unsafe with threads.

    On Linux it dies with the thread that starts it.
    """
    script = _SCRIPT.format(
        # CPU time of one process; the wall clock bounds the rest.
        cpu=int(limits.wall_s) + 1,
        memory_kb=limits.memory_mb << 10,
        file_blocks=limits.file_mb << 11,
        open_files=limits.open_files,
        processes=limits.processes,
    )
    return [*_death_signal(), "/bin/sh", "-c", script, "sh"]


def resource_limits(limits: ProcessLimits) -> dict[str, int]:
    """The same limits by their names in the module `resource`."""
    return {
        "RLIMIT_CORE": 0,
        "RLIMIT_CPU": int(limits.wall_s) + 1,
        "RLIMIT_AS": limits.memory_mb << 20,
        "RLIMIT_FSIZE": limits.file_mb << 20,
        "RLIMIT_NOFILE": limits.open_files,
        "RLIMIT_NPROC": limits.processes,
    }


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
