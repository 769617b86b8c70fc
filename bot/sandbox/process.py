"""Foreign code as a child process with limits: the first level of isolation.

What this level promises: a process group of its own that is killed at the end, an allow-listed
environment, no inherited descriptors, limits on time, memory, file size, processes and open
files. What it does not promise: the child can read the user's files and reach the network.
"""

from __future__ import annotations

import contextlib
import os
import queue
import secrets
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import IO, Protocol

MARK = "ECDYSIS_PROCESS"
"""The variable by which processes that left their group are found again."""

_LIMIT_SCRIPT = """
ulimit -c 0
ulimit -t {cpu}
ulimit -v {memory_kb} 2>/dev/null
ulimit -f {file_blocks}
ulimit -n {open_files}
(ulimit -u {processes}) 2>/dev/null && ulimit -u {processes} || ulimit -p {processes} 2>/dev/null
exec "$@"
"""


@dataclass(frozen=True)
class ProcessLimits:
    """Seconds of wall time, megabytes, counts. `processes` does not bind root."""

    wall_s: float
    memory_mb: int = 4096
    file_mb: int = 64
    processes: int = 256
    open_files: int = 256
    output_mb: int = 8  # what is read back of stdout and of stderr


@dataclass(frozen=True)
class Finished:
    """A process that has ended. `code` is None after a time-out, negative for a signal."""

    code: int | None
    timed_out: bool
    stdout: bytes
    stderr: bytes
    wall_s: float
    truncated: bool = False


class Running(Protocol):
    """A process that goes on: a worker, or a task's environment."""

    def send(self, line: bytes) -> None: ...
    def read_line(self, timeout_s: float) -> bytes | None: ...
    def alive(self) -> bool: ...
    def stop(self, grace_s: float = 0.0) -> Finished: ...


class Sandbox(Protocol):
    """A level of isolation. `promises` names what it keeps the child from."""

    level: str
    promises: frozenset[str]

    def run(
        self,
        argv: Sequence[str],
        *,
        cwd: Path,
        env: Mapping[str, str],
        limits: ProcessLimits,
        stdin: bytes | None = None,
    ) -> Finished: ...

    def start(
        self, argv: Sequence[str], *, cwd: Path, env: Mapping[str, str], limits: ProcessLimits
    ) -> Running: ...

    def kill_all(self) -> None:
        """Kill every process that runs: the work is being given up."""


def choose_sandbox() -> Sandbox:
    """The strongest level that this machine offers; so far there is one."""
    return ResourceLimits()


class ResourceLimits:
    """Process group, clean environment, closed descriptors, resource and time limits."""

    def __init__(self) -> None:
        self._children: set[Child] = set()

    level = "resource-limits"
    promises = frozenset(
        {"environment", "descriptors", "time", "memory", "file-size", "open-files", "group-kill"}
    )

    def run(
        self,
        argv: Sequence[str],
        *,
        cwd: Path,
        env: Mapping[str, str],
        limits: ProcessLimits,
        stdin: bytes | None = None,
    ) -> Finished:
        child = Child(argv, cwd=cwd, env=env, limits=limits, stdin=stdin, family=self._children)
        with child:
            timed_out = not child.wait(limits.wall_s)
            return child.finish(timed_out)

    def start(
        self, argv: Sequence[str], *, cwd: Path, env: Mapping[str, str], limits: ProcessLimits
    ) -> Running:
        return Child(argv, cwd=cwd, env=env, limits=limits, interactive=True, family=self._children)

    def kill_all(self) -> None:
        for child in list(self._children):
            child.kill()


class Child:
    """A limited child process; output goes to files, so that nothing can block or flood us."""

    def __init__(
        self,
        argv: Sequence[str],
        *,
        cwd: Path,
        env: Mapping[str, str],
        limits: ProcessLimits,
        stdin: bytes | None = None,
        interactive: bool = False,
        family: set[Child] | None = None,
    ) -> None:
        self._limits, self._started = limits, time.monotonic()
        self._mark = secrets.token_hex(8)
        self._stdout: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115 - closed in finish
        self._stderr: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115
        self._lines: queue.SimpleQueue[bytes | None] = queue.SimpleQueue()
        given: IO[bytes] | int = subprocess.DEVNULL
        if interactive:
            given = subprocess.PIPE
        elif stdin is not None:
            given = tempfile.TemporaryFile()  # noqa: SIM115
            given.write(stdin)
            given.seek(0)
        self._ended: Finished | None = None
        self._process = subprocess.Popen(
            [*_launcher(limits), *argv],
            cwd=cwd,
            env={**env, MARK: self._mark},
            stdin=given,
            stdout=subprocess.PIPE if interactive else self._stdout,
            stderr=self._stderr,
            start_new_session=True,
            close_fds=True,
        )
        self._family = family if family is not None else set()
        self._family.add(self)
        if not isinstance(given, int):
            given.close()
        if interactive:
            threading.Thread(target=self._pump, daemon=True).start()

    def __enter__(self) -> Child:
        return self

    def __exit__(self, *exc: object) -> None:
        self.stop()

    def wait(self, timeout_s: float) -> bool:
        """Whether the process ended within the time."""
        with contextlib.ExitStack() as stack:
            try:
                descriptor = os.pidfd_open(self._process.pid)
            except (AttributeError, OSError):
                with contextlib.suppress(subprocess.TimeoutExpired):
                    self._process.wait(timeout_s)
                return self._process.poll() is not None
            stack.callback(os.close, descriptor)
            # A pidfd wakes us at once; Popen.wait would poll.
            poller = select.poll()
            poller.register(descriptor, select.POLLIN)
            poller.poll(max(timeout_s, 0) * 1000)
            return self._process.poll() is not None

    def send(self, line: bytes) -> None:
        """Write one line to a worker. BrokenPipeError when it has gone."""
        assert self._process.stdin is not None
        self._process.stdin.write(line + b"\n")
        self._process.stdin.flush()

    def read_line(self, timeout_s: float) -> bytes | None:
        """The next line of a worker's output; None at its end. TimeoutError when none comes."""
        try:
            return self._lines.get(timeout=max(timeout_s, 0.001))
        except queue.Empty:
            raise TimeoutError from None

    def alive(self) -> bool:
        return self._process.poll() is None

    def stop(self, grace_s: float = 0.0) -> Finished:
        """End the process and all that it started; with `grace_s`, ask first."""
        if self._ended is None and grace_s and self.alive():
            if self._process.stdin is not None:
                with contextlib.suppress(OSError):
                    self._process.stdin.close()
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self._process.pid, signal.SIGTERM)
            self.wait(grace_s)
        return self.finish(timed_out=False)

    def kill(self) -> None:
        """Kill the group; whoever waits for it wakes up."""
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self._process.pid, signal.SIGKILL)

    def finish(self, timed_out: bool) -> Finished:
        """Kill what is left of the group, and give what the process wrote."""
        if self._ended is not None:
            return self._ended
        self._family.discard(self)
        code = self._process.poll()
        self.kill()
        _kill_marked(self._mark)
        self._process.wait()
        for stream in (self._process.stdin, self._process.stdout):
            if stream is not None:
                with contextlib.suppress(OSError):
                    stream.close()
        cap = self._limits.output_mb << 20
        out, out_cut = _read_back(self._stdout, cap)
        err, err_cut = _read_back(self._stderr, cap)
        wall = time.monotonic() - self._started
        self._ended = Finished(code, timed_out, out, err, wall, out_cut or err_cut)
        return self._ended

    def _pump(self) -> None:
        """Lines of a worker, into the queue; a line over the cap ends the worker."""
        stream, cap = self._process.stdout, self._limits.output_mb << 20
        assert stream is not None
        with contextlib.suppress(OSError, ValueError):
            while line := stream.readline(cap + 1):
                if len(line) > cap:
                    break
                self._lines.put(line.rstrip(b"\r\n"))
        self._lines.put(None)


def _launcher(limits: ProcessLimits) -> list[str]:
    """A shell that sets the limits and becomes the program: `preexec_fn` is unsafe with threads."""
    script = _LIMIT_SCRIPT.format(
        # CPU time of one process; the wall clock bounds the rest.
        cpu=int(limits.wall_s) + 1,
        memory_kb=limits.memory_mb << 10,
        file_blocks=limits.file_mb << 11,
        open_files=limits.open_files,
        processes=limits.processes,
    )
    return [*_death_signal(), "/bin/sh", "-c", script, "sh"]


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


def _kill_marked(mark: str) -> None:
    """Kill processes that left the group (`setsid`) but still carry our variable."""
    needle = f"{MARK}={mark}".encode()
    for entry in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            if needle in (entry / "environ").read_bytes().split(b"\0"):
                os.kill(int(entry.name), signal.SIGKILL)


def _read_back(file: IO[bytes], cap: int) -> tuple[bytes, bool]:
    """The beginning and end of what was written, at most `cap` bytes; whether it was cut."""
    with file:
        size = file.seek(0, os.SEEK_END)
        if size <= cap:
            file.seek(0)
            return file.read(), False
        file.seek(size - cap)
        return file.read(cap), True
