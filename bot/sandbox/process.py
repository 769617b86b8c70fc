"""A foreign child process: started, waited for, read from, watched, and ended with all it began.

What keeps it in its place is each level's own: its sandbox starts the child through a command,
and its child says how everything that runs in there is killed.
"""

from __future__ import annotations

import contextlib
import os
import select
import signal
import subprocess
import tempfile
import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from bot.sandbox.interface import Finished, ProcessLimits, Running, View
from bot.sandbox.lines import Lines
from bot.sandbox.warden import MARK, new_mark
from bot.sandbox.watch import Watch, size_on_disk

NOTHING = View()


@dataclass(frozen=True)
class Order:
    """A program to start. `interactive`: one talks to it in lines; else it gets `stdin`, or none.

    The other fields are as in `interface.Sandbox`.
    """

    argv: Sequence[str]
    cwd: Path
    env: Mapping[str, str]
    limits: ProcessLimits
    view: View = NOTHING
    stdin: bytes | None = None
    interactive: bool = False


class Child:
    """A child process with limits; output goes to files, so that nothing can block or flood us.

    `command` becomes the program of `order` within its limits. Here the process group is all that
    is killed; levels that hold more together override the four methods at the end.
    """

    def __init__(
        self, command: Sequence[str], order: Order, *, pass_fds: Sequence[int] = ()
    ) -> None:
        self.limits, self.writable, self.over = order.limits, order.view.writable, ""
        self.lay_there = size_on_disk(self.writable)
        self.mark = new_mark()
        self._started = time.monotonic()
        self._stdout: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115 - closed in finish
        self._stderr: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115
        self._lines = Lines(order.limits.output_mb << 20)
        given: IO[bytes] | int = subprocess.DEVNULL
        if order.interactive:
            given = subprocess.PIPE
        elif order.stdin is not None:
            given = tempfile.TemporaryFile()  # noqa: SIM115
            given.write(order.stdin)
            given.seek(0)
        self._ended: Finished | None = None
        self._family: set[Child] = set()
        self._process = subprocess.Popen(
            command,
            cwd=order.cwd,
            env={**order.env, MARK: self.mark},
            stdin=given,
            stdout=subprocess.PIPE if order.interactive else self._stdout,
            stderr=self._stderr,
            start_new_session=True,
            close_fds=True,
            pass_fds=pass_fds,
        )
        if not isinstance(given, int):
            given.close()
        if order.interactive:
            threading.Thread(target=self._pump, daemon=True).start()

    def __enter__(self) -> Child:
        return self

    def __exit__(self, *exc: object) -> None:
        self.stop()

    def join(self, family: set[Child]) -> None:
        """Belong to those that are watched and given up together, until the end."""
        self._family = family
        family.add(self)

    def wait(self, timeout_s: float) -> bool:
        """Whether the process ended within the time."""
        return _wait(self._process, timeout_s)

    def send(self, line: bytes) -> None:
        """Write one line to a worker. BrokenPipeError when it has gone."""
        assert self._process.stdin is not None
        self._process.stdin.write(line + b"\n")
        self._process.stdin.flush()

    def read_line(self, timeout_s: float) -> bytes | None:
        """The next line of a worker's output; None at its end. TimeoutError when none comes."""
        return self._lines.get(max(timeout_s, 0.001))

    def alive(self) -> bool:
        return self._process.poll() is None

    def stop(self, grace_s: float = 0.0) -> Finished:
        """End the process and all that it started; with `grace_s`, ask first."""
        if self._ended is None and grace_s and self.alive():
            if self._process.stdin is not None:
                with contextlib.suppress(OSError):
                    self._process.stdin.close()
            self._ask()
            self.wait(grace_s)
        return self.finish(timed_out=False)

    def finish(self, timed_out: bool) -> Finished:
        """Kill what is left of it, and give what the process wrote. Nothing runs after that."""
        if self._ended is not None:
            return self._ended
        self._family.discard(self)
        code = self._process.poll()
        self.kill()
        self._bury()
        self._process.wait()
        self._lines.close()
        if self._process.stdin is not None:
            with contextlib.suppress(OSError):
                self._process.stdin.close()
        cap = self.limits.output_mb << 20
        out, out_cut = _read_back(self._stdout, cap)
        err, err_cut = _read_back(self._stderr, cap)
        wall = time.monotonic() - self._started
        code = None if code is None else self._meaning(code)
        self._ended = Finished(code, timed_out, out, err, wall, out_cut or err_cut, self.over)
        return self._ended

    def end_for(self, over: str) -> None:
        """Kill it because it is over a limit; whoever waits for it wakes up."""
        self.over = over
        self.kill()

    def _pump(self) -> None:
        """Lines of a worker, into the queue; a line over the cap ends the worker."""
        stream, cap = self._process.stdout, self.limits.output_mb << 20
        assert stream is not None
        # Closed here and nowhere else: closing waits for the thread that reads, and this one reads
        # for as long as a process that escaped holds the other end.
        with contextlib.suppress(OSError, ValueError), stream:
            while line := stream.readline(cap + 1):
                if len(line) > cap or not self._lines.put(line.rstrip(b"\r\n")):
                    break
        self._lines.close()

    # --- what levels do differently -------------------------------------------------------

    def kill(self) -> None:
        """Kill everything that runs in there; whoever waits for it wakes up."""
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self._process.pid, signal.SIGKILL)

    def root(self) -> int | None:
        """The process whose descendants are what runs in there; None where that is not known."""
        return self._process.pid

    def _ask(self) -> None:
        """Ask the program to end."""
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self._process.pid, signal.SIGTERM)

    def _bury(self) -> None:
        """Wait until all that was killed has gone."""

    def _meaning(self, code: int) -> int:
        """The program's exit code, from that of the process that held it."""
        return code


class Processes(ABC):
    """What every level does alike: start, wait, watch, give up."""

    def __init__(self) -> None:
        self._children: set[Child] = set()
        self._watch = Watch(self._children)

    def run(
        self,
        argv: Sequence[str],
        *,
        cwd: Path,
        env: Mapping[str, str],
        limits: ProcessLimits,
        view: View = NOTHING,
        stdin: bytes | None = None,
    ) -> Finished:
        """Run a program to its end, or to the end of its time."""
        child = self._spawn(Order(argv, cwd, env, limits, view, stdin))
        with child:
            self._admit(child)
            timed_out = not child.wait(limits.wall_s)
            return child.finish(timed_out and not child.over)

    def start(
        self,
        argv: Sequence[str],
        *,
        cwd: Path,
        env: Mapping[str, str],
        limits: ProcessLimits,
        view: View = NOTHING,
    ) -> Running:
        """Start a program that one talks to in lines."""
        child = self._spawn(Order(argv, cwd, env, limits, view, interactive=True))
        self._admit(child)
        return child

    def kill_all(self) -> None:
        for child in list(self._children):
            child.kill()

    def _admit(self, child: Child) -> None:
        child.join(self._children)
        self._watch.begin()

    @abstractmethod
    def _spawn(self, order: Order) -> Child:
        """The program, started at this level."""


def wait_for_pid(descriptor: int, timeout_s: float) -> bool:
    """Whether the process behind a pidfd ended within the time."""
    poller = select.poll()
    poller.register(descriptor, select.POLLIN)
    return bool(poller.poll(max(timeout_s, 0) * 1000))


def _wait(process: subprocess.Popen[bytes], timeout_s: float) -> bool:
    with contextlib.ExitStack() as stack:
        try:
            descriptor = os.pidfd_open(process.pid)
        except (AttributeError, OSError):
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(timeout_s)
            return process.poll() is not None
        stack.callback(os.close, descriptor)
        # A pidfd wakes us at once; Popen.wait would poll.
        wait_for_pid(descriptor, timeout_s)
        return process.poll() is not None


def _read_back(file: IO[bytes], cap: int) -> tuple[bytes, bool]:
    """The beginning and end of what was written, at most `cap` bytes; whether it was cut."""
    with file:
        size = file.seek(0, os.SEEK_END)
        if size <= cap:
            file.seek(0)
            return file.read(), False
        file.seek(size - cap)
        return file.read(cap), True
