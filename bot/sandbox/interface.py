"""What callers say of a foreign process, and what they get of it; the same at every level."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol


@dataclass(frozen=True)
class ProcessLimits:
    """Seconds of wall time, megabytes, counts.

    `memory_mb` and `file_mb` bind each process; `processes` and `disk_mb` what one sandbox holds
    altogether. What is over one of those two is seen within a second, and ended.
    """

    wall_s: float
    memory_mb: int = 4096
    file_mb: int = 64
    processes: int = 256
    open_files: int = 256
    output_mb: int = 8  # what is read back of stdout and of stderr
    disk_mb: int = 1024  # in the writable folders, beyond what lay there at the start


@dataclass(frozen=True)
class ModelDoor:
    """Where the model's proxy listens: `port` of loopback, as the process will call it.

    With `socket` the proxy listens on that Unix socket alone, and a process with a network of
    its own gets a forwarder that leads the port there.
    """

    port: int
    socket: Path | None = None


@dataclass(frozen=True)
class View:
    """What a process sees beside the system's own files, under the same paths as outside.

    Folders or files; a folder holds all that is in it. `sockets` are folders in which Unix
    sockets lie that it may connect to, or that it may listen on. `network` opens the machine's
    own network; only the harness's setup gets it. Levels that cannot hide things leave more in
    sight, and say so.
    """

    readable: tuple[Path, ...] = ()
    writable: tuple[Path, ...] = ()
    sockets: tuple[Path, ...] = ()
    model: ModelDoor | None = None
    network: bool = False


@dataclass(frozen=True)
class Finished:
    """A process that has ended. `code` is None after a time-out, negative for a signal.

    `over` names the limit for which the sandbox was ended, empty if none was.
    """

    code: int | None
    timed_out: bool
    stdout: bytes
    stderr: bytes
    wall_s: float
    truncated: bool = False
    over: str = ""


class Running(Protocol):
    """A process that goes on: a worker, or a task's environment."""

    def send(self, line: bytes) -> None: ...
    def read_line(self, timeout_s: float) -> bytes | None: ...
    def alive(self) -> bool: ...
    def stop(self, grace_s: float = 0.0) -> Finished: ...


class Sandbox(Protocol):
    """A level of isolation, in force. `promises` names what it keeps the process from."""

    level: str
    promises: frozenset[str]
    own_network: bool
    """Processes have a network of their own: the model must be on a Unix socket."""

    def run(
        self,
        argv: Sequence[str],
        *,
        cwd: Path,
        env: Mapping[str, str],
        limits: ProcessLimits,
        view: View = ...,
        stdin: bytes | None = None,
    ) -> Finished: ...

    def start(
        self,
        argv: Sequence[str],
        *,
        cwd: Path,
        env: Mapping[str, str],
        limits: ProcessLimits,
        view: View = ...,
    ) -> Running: ...

    def kill_all(self) -> None:
        """Kill every process that runs: the work is being given up."""
