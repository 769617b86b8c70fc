"""The level without namespaces: Landlock keeps files, ports and signals apart, seccomp the rest.

Works where user namespaces are forbidden. What Landlock can do depends on the kernel's version of
it (its ABI): files from 3 on, TCP ports from 4 on, signals and abstract Unix sockets from 6 on.
The numbers are those of linux/landlock.h.
"""

from __future__ import annotations

import contextlib
import marshal
import os
import platform
import signal
import struct
import sys
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

from bot.sandbox.interface import View
from bot.sandbox.levels import LANDLOCK
from bot.sandbox.limits import resource_limits
from bot.sandbox.process import Child, Order, Processes
from bot.sandbox.seccomp import MACHINES, filter_program
from bot.sandbox.system import own_interpreter, system_paths

# As an import, so that its compiled form is used.
CONFINE = "import sys; sys.path.append(sys.argv[1]); import confine; confine.main()"
HERE = str(Path(__file__).parent)
ASK, END = int(signal.SIGTERM), int(signal.SIGUSR1)  # to the supervisor
END_S = 10.0
OLDEST_ABI = 4
SIGNALS_ABI = 6
DEVICE_CONTROL_ABI = 5

_EXECUTE, _WRITE_FILE, _READ_FILE, _READ_DIR = 1 << 0, 1 << 1, 1 << 2, 1 << 3
_MAKE_CHARACTER_DEVICE, _MAKE_BLOCK_DEVICE = 1 << 6, 1 << 11
_MOVE = 1 << 13
_TRUNCATE, _DEVICE_CONTROL = 1 << 14, 1 << 15
_ALL_FILES = (1 << 15) - 1
_BIND, _CONNECT = 1 << 0, 1 << 1
_ABSTRACT_SOCKETS, _SIGNALS = 1 << 0, 1 << 1

READ = _EXECUTE | _READ_FILE | _READ_DIR
WRITE = _ALL_FILES & ~(_MAKE_CHARACTER_DEVICE | _MAKE_BLOCK_DEVICE)
OF_A_FILE = _EXECUTE | _WRITE_FILE | _READ_FILE | _TRUNCATE  # the others are about folders

DEVICES = ("/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom")
KERNEL = (
    *("/proc/cpuinfo", "/proc/meminfo", "/proc/stat", "/proc/loadavg", "/proc/uptime"),
    *("/proc/version", "/proc/filesystems", "/proc/sys/kernel/osrelease", "/proc/sys/vm"),
    "/sys/devices/system/cpu",
)


class Landlock(Processes):
    """`abi` is what is used of the kernel's Landlock; less than it has can be asked for.

    `guarded`: the supervisor makes the program's connections. Containers may forbid that.
    """

    level = LANDLOCK.name
    own_network = False

    def __init__(self, abi: int, *, guarded: bool = True) -> None:
        super().__init__()
        self._abi, self._guarded = abi, guarded
        self.promises = LANDLOCK.promises
        if abi < SIGNALS_ABI:
            # A program that may end its supervisor may outlive it, and its limits.
            self.promises -= WITH_SIGNALS
        if not guarded:
            self.promises -= WITH_GUARD
            if abi < SIGNALS_ABI:
                self.promises -= {"abstract-sockets"}

    def _spawn(self, order: Order) -> Child:
        view = order.view
        guarded = self._guarded and not view.network
        filtering = filter_program(
            shared_machine=not view.network, unix=bool(view.sockets), guarded=guarded
        )
        reached = [str(place) for place in (*view.sockets, *view.writable)]
        told = {
            "supervisor": os.getpid(),
            "argv": list(order.argv),
            "cwd": str(order.cwd),
            "limits": resource_limits(order.limits),
            "ask": ASK,
            "end": END,
            "outer": self._outer(),
            "inner": self._inner(view),
            "filter": filtering.hex(),
            "guard": (view.model.port if view.model else 0, reached) if guarded else None,
        }
        return SupervisedChild(
            [str(own_interpreter()), "-I", "-S", "-c", CONFINE, HERE, marshal.dumps(told).hex()],
            order,
        )

    def _outer(self) -> dict[str, Any] | None:
        """The domain of the supervisor: anything goes but signals out of it."""
        if self._abi < SIGNALS_ABI:
            return None
        # To move a file to another folder is forbidden in every domain that does not grant it.
        attributes = self._attributes(_MOVE, 0, _SIGNALS)
        return {"attributes": attributes, "beneath": [("/", _MOVE)], "ports": []}

    def _inner(self, view: View) -> dict[str, Any]:
        """The domain of the program."""
        files = _ALL_FILES | (_DEVICE_CONTROL if self._abi >= DEVICE_CONTROL_ABI else 0)
        ports = 0 if view.network else _BIND | _CONNECT
        return {
            "attributes": self._attributes(files, ports, _SIGNALS | _ABSTRACT_SOCKETS),
            "beneath": list(_beneath(view)),
            "ports": [(view.model.port, _CONNECT)] if view.model and ports else [],
        }

    def _attributes(self, files: int, ports: int, scopes: int) -> str:
        """`struct landlock_ruleset_attr` in hex, as long as this ABI knows it."""
        words = (files, ports, scopes) if self._abi >= SIGNALS_ABI else (files, ports)
        return struct.pack(f"={len(words)}Q", *words).hex()


WITH_SIGNALS = frozenset({"signals", "leftovers", "processes", "memory-together", "disk"})
"""Promises that need an ABI in which signals are kept apart."""


WITH_GUARD = frozenset({"network", "unix-sockets"})
"""Promises that need the supervisor to make the connections."""


class SupervisedChild(Child):
    """A supervisor (`confine.py`) that ends with it all that the program started."""

    def kill(self) -> None:
        with contextlib.suppress(ProcessLookupError):
            os.kill(self._process.pid, END)

    def _ask(self) -> None:
        with contextlib.suppress(ProcessLookupError):
            os.kill(self._process.pid, ASK)

    def _bury(self) -> None:
        if not self.wait(END_S):
            super().kill()

    def _meaning(self, code: int) -> int:
        return 128 - code if 128 < code <= 128 + signal.NSIG else code


@cache
def kernel_abi() -> int:
    """The version of Landlock that this kernel has; 0 where it has none."""
    if not sys.platform.startswith("linux") or platform.machine() not in MACHINES:
        return 0
    import ctypes

    libc = ctypes.CDLL(None, use_errno=True)
    return max(int(libc.syscall(444, None, ctypes.c_size_t(0), 1)), 0)


def _beneath(view: View) -> Iterator[tuple[str, int]]:
    """Paths and what may be done with them and all that lies beneath them."""
    yield from _granted((*map(Path, DEVICES),), _READ_FILE | _WRITE_FILE)
    yield from _granted(map(Path, KERNEL), READ)
    yield from _granted((*system_paths(), *view.readable, *view.sockets), READ)
    yield from _granted(view.writable, WRITE)


def _granted(places: Iterable[Path], access: int) -> Iterator[tuple[str, int]]:
    for place in places:
        if place.is_dir():
            yield str(place), access
        elif place.exists():
            yield str(place), access & OF_A_FILE
