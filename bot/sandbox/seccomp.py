"""System calls that no sandboxed process may make, as a filter program for the kernel.

The filter is classic BPF over `struct seccomp_data` (seccomp(2)): number at 0, architecture at
4, the low half of argument n at 16 + 8n. It forbids what is named and lets the rest through; the
namespaces or Landlock, not this list, are what keeps files and processes apart.
"""

from __future__ import annotations

import errno
import platform
import socket
import struct
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

_LOAD, _JUMP_EQUAL, _JUMP_AT_LEAST, _AND, _RETURN = 0x20, 0x15, 0x35, 0x54, 0x06
_JUMP_ANY_BIT = 0x45
_ALLOW, _KILL, _ERRNO, _ASK = 0x7FFF0000, 0x80000000, 0x00050000, 0x7FC00000
_X32 = 0x40000000  # x86_64 has a second table of calls, with this bit set

_CLONE_NEW = 0x7E020000 | 0x80  # the namespaces of clone(2)
_FAST_OPEN = 0x20000000  # MSG_FASTOPEN connects without connect(2)
_TTY_INPUT = (0x5412, 0x541C)  # TIOCSTI, TIOCLINUX: type into the user's terminal

Instruction = tuple[int, int, int, int]
"""Code, jump if true, jump if false, operand."""

# Numbers on x86_64 and aarch64; None where the architecture lacks the call.
_NUMBERS: Mapping[str, tuple[int | None, int | None]] = {
    # Namespaces, mounts, roots.
    "unshare": (272, 97),
    "setns": (308, 268),
    "mount": (165, 40),
    "umount2": (166, 39),
    "pivot_root": (155, 41),
    "chroot": (161, 51),
    "open_tree": (428, 428),
    "move_mount": (429, 429),
    "fsopen": (430, 430),
    "fsconfig": (431, 431),
    "fsmount": (432, 432),
    "fspick": (433, 433),
    "mount_setattr": (442, 442),
    "open_by_handle_at": (304, 265),
    "fanotify_init": (300, 262),
    "quotactl": (179, 60),
    "quotactl_fd": (443, 443),
    # Other processes' memory.
    "ptrace": (101, 117),
    "process_vm_readv": (310, 270),
    "process_vm_writev": (311, 271),
    "process_madvise": (440, 440),
    "kcmp": (312, 272),
    "pidfd_getfd": (438, 438),
    # Kernel keys are kept for the user, not for the namespace.
    "add_key": (248, 217),
    "request_key": (249, 218),
    "keyctl": (250, 219),
    # Large parts of the kernel that no harness needs.
    "bpf": (321, 280),
    "perf_event_open": (298, 241),
    "userfaultfd": (323, 282),
    # The machine itself.
    "init_module": (175, 105),
    "finit_module": (313, 273),
    "delete_module": (176, 106),
    "kexec_load": (246, 104),
    "kexec_file_load": (320, 294),
    "reboot": (169, 142),
    "swapon": (167, 224),
    "swapoff": (168, 225),
    "acct": (163, 89),
    "syslog": (103, 116),
    "settimeofday": (164, 170),
    "clock_settime": (227, 112),
    "clock_adjtime": (305, 266),
    "adjtimex": (159, 171),
    "sethostname": (170, 161),
    "setdomainname": (171, 162),
    "iopl": (172, None),
    "ioperm": (173, None),
    "vhangup": (153, 58),
    # Answered as if the kernel did not know them: their users then take the older way.
    "clone3": (435, 435),
    "io_uring_setup": (425, 425),
    "io_uring_enter": (426, 426),
    "io_uring_register": (427, 427),
    # Looked at more closely.
    "clone": (56, 220),
    "ioctl": (16, 29),
    "socket": (41, 198),
    "socketpair": (53, 199),
    "connect": (42, 203),
    "sendto": (44, 206),
    "sendmsg": (46, 211),
    "sendmmsg": (307, 269),
    "prlimit64": (302, 261),
    "setpriority": (141, 140),
    "sched_setaffinity": (203, 122),
    "sched_setscheduler": (144, 119),
    "sched_setparam": (142, 118),
    "sched_setattr": (314, 274),
    "ioprio_set": (251, 30),
    # What System V and POSIX share between processes.
    "shmget": (29, 194),
    "shmat": (30, 196),
    "shmctl": (31, 195),
    "semget": (64, 190),
    "semop": (65, 193),
    "semctl": (66, 191),
    "semtimedop": (220, 192),
    "msgget": (68, 186),
    "msgsnd": (69, 189),
    "msgrcv": (70, 188),
    "msgctl": (71, 187),
    "mq_open": (240, 180),
    "mq_unlink": (241, 181),
    "move_pages": (279, 239),
    "migrate_pages": (256, 238),
}
_UNKNOWN = frozenset({"clone3", "io_uring_setup", "io_uring_enter", "io_uring_register"})
_SHARED = frozenset(
    {
        *("shmget", "shmat", "shmctl", "semget", "semop", "semctl", "semtimedop"),
        *("msgget", "msgsnd", "msgrcv", "msgctl", "mq_open", "mq_unlink"),
        *("move_pages", "migrate_pages"),
    }
)
_OF_OTHERS = (
    *("prlimit64", "sched_setaffinity", "sched_setscheduler", "sched_setparam"),
    "sched_setattr",
)
_SENDING = {"sendto": 3, "sendmsg": 2, "sendmmsg": 3}  # which argument holds the flags
_CHECKED = frozenset(
    {"clone", "ioctl", "socket", "socketpair", "setpriority", "ioprio_set", *_OF_OTHERS, *_SENDING}
)


@dataclass(frozen=True)
class Machine:
    """An architecture: its mark in `seccomp_data`, and its column in the table above."""

    mark: int
    column: int


MACHINES = {"x86_64": Machine(0xC000003E, 0), "aarch64": Machine(0xC00000B7, 1)}


@cache
def filter_program(
    *,
    shared_machine: bool,
    unix: bool = True,
    guarded: bool = False,
    machine: str = platform.machine(),
) -> bytes:
    """The filter as an array of `struct sock_filter`.

    `shared_machine` is for processes that share the machine's network, process ids and queues
    with all others: of sockets it leaves TCP and, with `unix`, Unix streams, and nothing that
    acts on another process by its number. With `guarded` a supervisor is asked about each
    connect(2). Raises KeyError for an architecture without a table.
    """
    here = MACHINES[machine]
    program: list[Instruction] = [
        (_LOAD, 0, 0, 4),
        (_JUMP_EQUAL, 1, 0, here.mark),
        (_RETURN, 0, 0, _KILL),
        (_LOAD, 0, 0, 0),
    ]
    if machine == "x86_64":
        program += [(_JUMP_AT_LEAST, 0, 1, _X32), (_RETURN, 0, 0, _ERRNO | errno.ENOSYS)]
    for name, numbers in _NUMBERS.items():
        number = numbers[here.column]
        if number is None:
            continue
        body = _body(name, shared_machine, unix, guarded)
        if body:
            program += [(_JUMP_EQUAL, 0, len(body), number), *body]
    program.append((_RETURN, 0, 0, _ALLOW))
    return b"".join(struct.pack("=HBBI", *instruction) for instruction in program)


def _body(name: str, shared_machine: bool, unix: bool, guarded: bool) -> list[Instruction]:
    """What is done with a call of this name, ending in a return; empty to let it through."""
    if name in _UNKNOWN:
        return [(_RETURN, 0, 0, _ERRNO | errno.ENOSYS)]
    if name == "connect":
        return [(_RETURN, 0, 0, _ASK)] if guarded else []
    if name == "clone":
        return _refuse_bits(0, _CLONE_NEW)
    if name == "ioctl":
        return _refuse_values(1, _TTY_INPUT)
    if name == "socket":
        return _only_streams(unix) if shared_machine else _only_families()
    if name in _SHARED | _CHECKED and not shared_machine:
        return []
    if name == "socketpair":
        return _only_stream_types([(_RETURN, 0, 0, _ALLOW)])
    if name in _SENDING:
        return _refuse_bits(_SENDING[name], _FAST_OPEN)
    if name in _OF_OTHERS:
        return _allow_value(0, 0)
    if name in ("setpriority", "ioprio_set"):
        return _allow_value(1, 0)
    return [(_RETURN, 0, 0, _ERRNO | errno.EPERM)]


def _argument(position: int) -> Instruction:
    return (_LOAD, 0, 0, 16 + 8 * position)


def _refuse_bits(position: int, bits: int) -> list[Instruction]:
    return [
        _argument(position),
        (_JUMP_ANY_BIT, 0, 1, bits),
        (_RETURN, 0, 0, _ERRNO | errno.EPERM),
        (_RETURN, 0, 0, _ALLOW),
    ]


def _refuse_values(position: int, values: tuple[int, ...]) -> list[Instruction]:
    body = [_argument(position)]
    for value in values:
        body += [(_JUMP_EQUAL, 0, 1, value), (_RETURN, 0, 0, _ERRNO | errno.EPERM)]
    return [*body, (_RETURN, 0, 0, _ALLOW)]


def _allow_value(position: int, value: int) -> list[Instruction]:
    return [
        _argument(position),
        (_JUMP_EQUAL, 1, 0, value),
        (_RETURN, 0, 0, _ERRNO | errno.EPERM),
        (_RETURN, 0, 0, _ALLOW),
    ]


def _only_families() -> list[Instruction]:
    """Sockets of the families that a network namespace holds apart, and Unix sockets.

    Of the others, AF_VSOCK leads from a virtual machine to its host.
    """
    body = [_argument(0)]
    families = (socket.AF_UNIX, socket.AF_INET, socket.AF_INET6, socket.AF_NETLINK)
    for family in families:
        body += [(_JUMP_EQUAL, 0, 1, int(family)), (_RETURN, 0, 0, _ALLOW)]
    return [*body, (_RETURN, 0, 0, _ERRNO | errno.EAFNOSUPPORT)]


def _only_streams(unix: bool) -> list[Instruction]:
    """TCP, whose ports Landlock checks, and streams of Unix sockets: both must be connected."""
    local = _ALLOW if unix else _ERRNO | errno.EACCES
    tcp: list[Instruction] = [
        _argument(2),
        # Another protocol, such as MPTCP, would pass Landlock by.
        (_JUMP_EQUAL, 1, 0, 0),
        (_JUMP_EQUAL, 0, 1, socket.IPPROTO_TCP),
        (_RETURN, 0, 0, _ALLOW),
        (_RETURN, 0, 0, _ERRNO | errno.EPROTONOSUPPORT),
    ]
    body = [_argument(0)]
    for family, after in (
        (socket.AF_UNIX, [(_RETURN, 0, 0, local)]),
        (socket.AF_INET, tcp),
        (socket.AF_INET6, tcp),
    ):
        block = _only_stream_types(after)
        body += [(_JUMP_EQUAL, 0, len(block), int(family)), *block]
    return [*body, (_RETURN, 0, 0, _ERRNO | errno.EAFNOSUPPORT)]


def _only_stream_types(after: list[Instruction]) -> list[Instruction]:
    """Go on with `after` for SOCK_STREAM, refuse other types; the flags above are left out."""
    return [
        _argument(1),
        (_AND, 0, 0, 0xF),
        (_JUMP_EQUAL, 1, 0, socket.SOCK_STREAM),
        (_RETURN, 0, 0, _ERRNO | errno.EPROTONOSUPPORT),
        *after,
    ]
