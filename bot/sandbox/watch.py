"""A look, four times a second, at what the running sandboxes hold: processes, memory, disk.

The kernel's limits bind each process; what many processes or many files take together it limits
only for those who may make control groups, which few users may.
"""

from __future__ import annotations

import contextlib
import math
import os
import stat
import threading
import time
from collections.abc import Iterable, Iterator, Set
from pathlib import Path
from typing import Protocol

from bot.sandbox.interface import ProcessLimits

EVERY_S = 0.25
SMALLEST_FILE = 4096  # what a file counts at least: an inode is not free either
PAGE = os.sysconf("SC_PAGE_SIZE")


class Watched(Protocol):
    @property
    def limits(self) -> ProcessLimits: ...
    @property
    def writable(self) -> Iterable[Path]: ...
    @property
    def lay_there(self) -> int: ...
    def root(self) -> int | None: ...
    def end_for(self, over: str) -> None: ...


class Watch:
    """A thread that lives as long as there are children; it ends those that are over a limit."""

    def __init__(self, children: Set[Watched]) -> None:
        self._children = children
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None

    def begin(self) -> None:
        """A child has been added."""
        with self._lock:
            if self._thread is None:
                self._thread = threading.Thread(target=self._work, daemon=True, name="watch")
                self._thread.start()

    def _work(self) -> None:
        while True:
            time.sleep(EVERY_S)
            with self._lock:
                children = list(self._children)
                if not children:
                    self._thread = None
                    return
            for child in children:
                over = self._over(child)
                if over:
                    child.end_for(over)

    def _over(self, child: Watched) -> str:
        """The limit that the child is over, in words; empty if none."""
        limits, root = child.limits, child.root()
        pids = [] if root is None else list(descendants(root))
        if len(pids) > limits.processes:
            return f"it ran over {limits.processes} processes at once"
        if _memory(pids, limits.memory_mb << 20) > limits.memory_mb << 20:
            return f"its processes took over {limits.memory_mb} MB of memory together"
        try:
            cap = (limits.disk_mb << 20) + child.lay_there
            size = size_on_disk(child.writable, cap)
        except Unmeasurable as error:
            return str(error)
        if size + _deleted(pids) > cap:
            return f"it wrote over {limits.disk_mb} MB to disk"
        return ""


class Unmeasurable(Exception):
    """A folder that hides what is in it."""


def descendants(pid: int) -> Iterator[int]:
    """The process and all that descend from it, where the kernel tells."""
    waiting, seen = [pid], set()
    while waiting:
        one = waiting.pop()
        if one in seen:
            continue
        seen.add(one)
        yield one
        with contextlib.suppress(OSError, ValueError):
            for task in Path(f"/proc/{one}/task").iterdir():
                with contextlib.suppress(OSError):
                    waiting += map(int, (task / "children").read_bytes().split())


def size_on_disk(places: Iterable[Path], enough: float = math.inf) -> int:
    """Bytes that files and folders take; counting stops once it is over `enough`.

    Raises Unmeasurable for a folder that cannot be looked into.
    """
    total, waiting = 0, [str(place) for place in places]
    while waiting and total <= enough:
        folder = waiting.pop()
        try:
            with os.scandir(folder) as entries:
                for entry in entries:
                    if entry.is_dir(follow_symlinks=False):
                        waiting.append(entry.path)
                    with contextlib.suppress(FileNotFoundError):
                        blocks = entry.stat(follow_symlinks=False).st_blocks
                        total += max(blocks * 512, SMALLEST_FILE)
                    if total > enough:
                        break
        except (FileNotFoundError, NotADirectoryError):
            continue
        except OSError as error:
            raise Unmeasurable(f"it made a folder that cannot be read: {error.strerror}") from None
    return total


def _memory(pids: Iterable[int], cap: int) -> int:
    """Bytes that the processes hold; what they share is counted once where it matters."""
    held: dict[int, int] = {}
    for pid in pids:
        with contextlib.suppress(OSError, ValueError, IndexError):
            held[pid] = int(Path(f"/proc/{pid}/statm").read_bytes().split()[1]) * PAGE
    if sum(held.values()) <= cap:
        return sum(held.values())
    for pid in held:
        # A process may forbid this look; then all of it counts.
        with contextlib.suppress(OSError, ValueError):
            rollup = Path(f"/proc/{pid}/smaps_rollup").read_bytes().splitlines()
            held[pid] = sum(int(s.split()[1]) << 10 for s in rollup if s.startswith(b"Pss:"))
    return sum(held.values())


def _deleted(pids: Iterable[int]) -> int:
    """Bytes of files that were deleted while the processes hold them open."""
    found: dict[tuple[int, int], int] = {}
    for pid in pids:
        with contextlib.suppress(OSError):
            for descriptor in os.scandir(f"/proc/{pid}/fd"):
                with contextlib.suppress(OSError):
                    held = descriptor.stat()
                    if stat.S_ISREG(held.st_mode) and not held.st_nlink:
                        found[held.st_dev, held.st_ino] = held.st_blocks * 512
    return sum(found.values())
