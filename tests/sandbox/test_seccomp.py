"""The filter's program, run step by step: what it says of each call, on both architectures."""

from __future__ import annotations

import errno
import socket
import struct

import pytest

from bot.sandbox.seccomp import MACHINES, filter_program

ALLOW, KILL, ASK = 0x7FFF0000, 0x80000000, 0x7FC00000
STREAM, DATAGRAM = int(socket.SOCK_STREAM), int(socket.SOCK_DGRAM)
CLOEXEC = 0o2000000

# Numbers on x86_64 and aarch64, from their unistd.h.
NUMBERS = {
    "read": (0, 63),
    "openat": (257, 56),
    "execve": (59, 221),
    "kill": (62, 129),
    "clone": (56, 220),
    "clone3": (435, 435),
    "unshare": (272, 97),
    "mount": (165, 40),
    "ptrace": (101, 117),
    "keyctl": (250, 219),
    "bpf": (321, 280),
    "io_uring_setup": (425, 425),
    "ioctl": (16, 29),
    "socket": (41, 198),
    "socketpair": (53, 199),
    "connect": (42, 203),
    "bind": (49, 200),
    "sendto": (44, 206),
    "sendmsg": (46, 211),
    "prlimit64": (302, 261),
    "setpriority": (141, 140),
    "shmget": (29, 194),
    "landlock_restrict_self": (446, 446),
}


def decide(program: bytes, number: int, mark: int, *arguments: int) -> int:
    """What classic BPF returns for a call; the instructions that the filter uses."""
    padded = [*arguments, 0, 0, 0, 0, 0, 0][:6]
    data = struct.pack("=iIQ6Q", number, mark, 0, *padded)
    lines = list(struct.iter_unpack("=HBBI", program))
    at, held = 0, 0
    while True:
        code, true, false, operand = lines[at]
        at += 1
        if code == 0x06:
            return int(operand)
        if code == 0x20:
            held = struct.unpack_from("=I", data, operand)[0]
        elif code == 0x54:
            held &= operand
        else:
            test = {0x15: held == operand, 0x35: held >= operand, 0x45: bool(held & operand)}
            at += true if test[code] else false


def refused(reason: int) -> int:
    return 0x50000 | reason


NO, UNKNOWN, FAMILY = refused(errno.EPERM), refused(errno.ENOSYS), refused(errno.EAFNOSUPPORT)
PROTOCOL = refused(errno.EPROTONOSUPPORT)


# What is said in namespaces of its own, and on a machine that is shared with all others.
@pytest.mark.parametrize("machine", MACHINES)
@pytest.mark.parametrize(
    ("call", "arguments", "alone", "shared"),
    [
        ("read", (), ALLOW, ALLOW),
        ("openat", (), ALLOW, ALLOW),
        ("execve", (), ALLOW, ALLOW),
        ("kill", (1, 9), ALLOW, ALLOW),
        ("landlock_restrict_self", (), ALLOW, ALLOW),
        ("clone", (0x3D0F00,), ALLOW, ALLOW),  # a thread
        ("clone", (0x10000000 | 17,), NO, NO),  # a user namespace
        ("clone", (0x40000000 | 17,), NO, NO),  # a network
        ("clone3", (), UNKNOWN, UNKNOWN),
        ("unshare", (0,), NO, NO),
        ("mount", (), NO, NO),
        ("ptrace", (16, 1), NO, NO),
        ("keyctl", (), NO, NO),
        ("bpf", (), NO, NO),
        ("io_uring_setup", (), UNKNOWN, UNKNOWN),
        ("ioctl", (0, 0x5401), ALLOW, ALLOW),
        ("ioctl", (0, 0x5412), NO, NO),
        ("ioctl", (0, 0x541C), NO, NO),
        ("socket", (1, STREAM | CLOEXEC, 0), ALLOW, ALLOW),
        ("socket", (1, DATAGRAM, 0), ALLOW, PROTOCOL),
        ("socket", (2, STREAM | CLOEXEC, 6), ALLOW, ALLOW),
        ("socket", (10, STREAM, 0), ALLOW, ALLOW),
        ("socket", (2, STREAM, 262), ALLOW, PROTOCOL),  # MPTCP
        ("socket", (2, DATAGRAM, 0), ALLOW, PROTOCOL),
        ("socket", (2, 3, 1), ALLOW, PROTOCOL),  # raw
        ("socket", (16, 3, 0), ALLOW, FAMILY),  # netlink
        ("socket", (40, STREAM, 0), FAMILY, FAMILY),  # the virtual machine's host
        ("socket", (17, 3, 0), FAMILY, FAMILY),  # packets
        ("socketpair", (1, STREAM | CLOEXEC, 0), ALLOW, ALLOW),
        ("socketpair", (1, DATAGRAM, 0), ALLOW, PROTOCOL),
        ("connect", (3,), ALLOW, ALLOW),
        ("bind", (3,), ALLOW, ALLOW),
        ("sendto", (3, 0, 1, 0x4000), ALLOW, ALLOW),
        ("sendto", (3, 0, 1, 0x20004000), ALLOW, NO),
        ("sendmsg", (3, 0, 0x20000000), ALLOW, NO),
        ("prlimit64", (0, 7), ALLOW, ALLOW),
        ("prlimit64", (4711, 7), ALLOW, NO),
        ("setpriority", (0, 0), ALLOW, ALLOW),
        ("setpriority", (0, 4711), ALLOW, NO),
        ("shmget", (4711,), ALLOW, NO),
    ],
)
def test_a_call(
    call: str, arguments: tuple[int, ...], alone: int, shared: int, machine: str
) -> None:
    number, mark = NUMBERS[call][MACHINES[machine].column], MACHINES[machine].mark
    for shared_machine, expected in ((False, alone), (True, shared)):
        program = filter_program(shared_machine=shared_machine, machine=machine)
        assert decide(program, number, mark, *arguments) == expected


@pytest.mark.parametrize("machine", MACHINES)
def test_what_depends_on_the_view(machine: str) -> None:
    column, mark = MACHINES[machine].column, MACHINES[machine].mark
    socket_call, connect = NUMBERS["socket"][column], NUMBERS["connect"][column]
    without = filter_program(shared_machine=True, unix=False, machine=machine)
    assert decide(without, socket_call, mark, 1, STREAM, 0) == refused(errno.EACCES)
    assert decide(without, socket_call, mark, 2, STREAM, 0) == ALLOW
    guarded = filter_program(shared_machine=True, guarded=True, machine=machine)
    assert decide(guarded, connect, mark, 3) == ASK


def test_another_architectures_calls_are_not_taken_for_ours() -> None:
    program = filter_program(shared_machine=False, machine="x86_64")
    assert decide(program, 0, MACHINES["aarch64"].mark) == KILL
    assert decide(program, 0, 0x40000003) == KILL  # 32 bits
    assert decide(program, 0x40000000 | 41, MACHINES["x86_64"].mark) == UNKNOWN  # x32
    with pytest.raises(KeyError):
        filter_program(shared_machine=False, machine="riscv64")


def test_a_program_fits_into_the_kernel() -> None:
    for machine in MACHINES:
        program = filter_program(shared_machine=True, guarded=True, machine=machine)
        assert len(program) % 8 == 0
        assert len(program) // 8 < 4096
