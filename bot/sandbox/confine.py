"""Confine a program with Landlock and seccomp, and end with it all that it started.

Runs in a bare interpreter, started by `landlock.py`, which worked out the order that it gets. It
is on the way of every start, and takes only what is quick to import of the standard library:
`json`, `signal` and `pathlib` would double the time.

Two processes stay: this one, the supervisor, outside of the program's confinement but in a
Landlock domain of its own, around that of the program. In there no signal leads out. So the
supervisor, when it kills "all", kills the program and its descendants, however they hid, in one
call.
"""

from __future__ import annotations

import _signal as signal  # type: ignore[import-not-found]
import _thread
import ctypes
import errno
import marshal
import os
import resource
import struct
import sys

TYPE_CHECKING = False  # the module typing is slow to import
if TYPE_CHECKING:
    from typing import Any

_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446  # the same on every architecture
_BENEATH, _PORT = 1, 2
_DEATH_SIGNAL, _DROP_BOUND, _SUBREAPER, _NO_NEW_PRIVILEGES = 1, 24, 36, 38
_SECCOMP = {"x86_64": 317, "aarch64": 277}
_SET_FILTER, _NEW_LISTENER = 1, 8
_CAPABILITY_VERSION = 0x20080522
_libc = ctypes.CDLL(None, use_errno=True)


def check(result: int) -> int:
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
    return result


def call(number: int, *arguments: object) -> int:
    return check(_libc.syscall(number, *arguments))


def control(option: int, *values: int) -> None:
    padded = [*values, 0, 0, 0, 0][:4]
    check(_libc.prctl(option, *(ctypes.c_ulong(value) for value in padded)))


def enter_domain(order: dict[str, Any]) -> None:
    """Enter a Landlock domain: `attributes` in hex, `beneath` and `ports` with their accesses."""
    attributes = bytes.fromhex(str(order["attributes"]))
    ruleset = call(_CREATE_RULESET, attributes, ctypes.c_size_t(len(attributes)), 0)
    for path, access in order["beneath"]:
        place = os.open(path, os.O_PATH | os.O_CLOEXEC)
        rule = struct.pack("=Qi", access, place)
        call(_ADD_RULE, ruleset, _BENEATH, rule, 0)
        os.close(place)
    for port, access in order["ports"]:
        call(_ADD_RULE, ruleset, _PORT, struct.pack("=QQ", access, port), 0)
    call(_RESTRICT_SELF, ruleset, 0)
    os.close(ruleset)


def drop_capabilities() -> None:
    """What makes root more than an ordinary user."""
    for capability in range(64):
        if _libc.prctl(_DROP_BOUND, ctypes.c_ulong(capability), 0, 0, 0) < 0:
            break
    check(_libc.capset(struct.pack("=Ii", _CAPABILITY_VERSION, 0), bytes(24)))


def install_filter(program: bytes, guarded: bool, tell: int, wait: int) -> None:
    """The filter; with `guarded`, the supervisor gets the descriptor of its questions.

    The descriptor's number is written to `tell`; once `wait` has a byte the supervisor has it.
    """
    buffer = ctypes.create_string_buffer(program, len(program))
    filters = struct.pack("@HP", len(program) // 8, ctypes.addressof(buffer))
    listener = call(
        _SECCOMP[os.uname().machine], _SET_FILTER, _NEW_LISTENER if guarded else 0, filters
    )
    if guarded:
        os.write(tell, b"%d" % listener)
        if not os.read(wait, 1):
            raise OSError(errno.EPERM, "connections cannot be guarded")
        os.close(listener)


def set_limits(limits: dict[str, int]) -> None:
    for name, value in limits.items():
        kind = getattr(resource, name)
        hard = resource.getrlimit(kind)[1]
        if hard != resource.RLIM_INFINITY:
            value = min(value, hard)
        resource.setrlimit(kind, (value, value))


def become_program(order: dict[str, Any], supervisor: int, tell: int, wait: int) -> None:
    """In the child: give up everything, then run the program."""
    argv = order["argv"]
    assert isinstance(argv, list)
    try:
        os.setsid()
        control(_DEATH_SIGNAL, signal.SIGKILL)
        if os.getppid() != supervisor:
            os._exit(1)  # as below
        set_limits(order["limits"])
        os.chdir(str(order["cwd"]))
        enter_domain(order["inner"])
        drop_capabilities()
        program = bytes.fromhex(str(order["filter"]))
        install_filter(program, order["guard"] is not None, tell, wait)
        os.close(tell)
        os.close(wait)
        signal.pthread_sigmask(signal.SIG_SETMASK, set())
        os.execvp(argv[0], argv)
    except OSError as error:
        sys.stderr.write(f"{argv[0]}: {error.strerror}\n")
    finally:
        os._exit(127)


def is_shut_in() -> bool:
    """Whether no signal leads out of here, shown by one to our parent."""
    parent = os.getppid()
    try:
        # 0 would mean our own group.
        os.kill(parent or 1, 0)
    except PermissionError:
        return True
    except OSError:
        pass
    return False


def children(pid: int) -> list[int]:
    """All that descend from a process, as far as the kernel tells."""
    found: list[int] = []
    waiting = [pid]
    while waiting:
        one = waiting.pop()
        try:
            for task in os.scandir(f"/proc/{one}/task"):
                with open(f"{task.path}/children") as file:  # noqa: PTH123
                    young = [int(word) for word in file.read().split()]
                found += young
                waiting += young
        except OSError:
            continue
    return found


def kill_all(shut_in: bool) -> None:
    """Kill every descendant, and wait until all have gone: orphans become our children."""
    while True:
        try:
            if shut_in:
                os.kill(-1, signal.SIGKILL)
            else:
                for pid in children(os.getpid()):
                    os.kill(pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        try:
            os.waitpid(-1, 0)
        except ChildProcessError:
            return


def supervise(program: int, ask: int, end: int, shut_in: bool) -> int:
    """Wait for the program, then end all that it left; its exit code as a shell tells it.

    The signal `ask` is passed on to the program as SIGTERM, `end` ends everything.
    """
    code: int | None = None
    while code is None and (told := signal.sigwait({signal.SIGCHLD, ask, end})) != end:
        if told == ask:
            os.kill(program, signal.SIGTERM)
        else:
            code = reap(program)
    kill_all(shut_in)
    return 128 + 9 if code is None else code


def reap(program: int) -> int | None:
    """The program's exit code if it has ended; orphans that came to us are buried meanwhile."""
    while True:
        pid, status = os.waitpid(-1, os.WNOHANG)
        if pid == program:
            code = os.waitstatus_to_exitcode(status)
            return code if code >= 0 else 128 - code
        if pid == 0:
            return None


def guard(order: dict[str, Any], program: int, told: int, go: int) -> None:
    """Take over the questions of the program's filter, and answer them from a thread."""
    from guard import Guard, descriptor_of  # type: ignore[import-not-found]

    number = os.read(told, 20)
    if number:
        listener = descriptor_of(program, int(number))
        port, folders = order["guard"]
        _thread.start_new_thread(Guard(listener, port, folders).serve, ())
        os.write(go, b"+")


def main() -> None:
    order = marshal.loads(bytes.fromhex(sys.argv[-1]))
    ask, end = order["ask"], order["end"]
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGCHLD, ask, end})
    control(_DEATH_SIGNAL, end)
    if os.getppid() != order["supervisor"]:
        os._exit(1)  # it had died before the kernel was asked to tell us
    control(_SUBREAPER, 1)
    control(_NO_NEW_PRIVILEGES, 1)
    if order["outer"] is not None:
        enter_domain(order["outer"])
    told, tell = os.pipe()
    wait, go = os.pipe()
    supervisor = os.getpid()
    program = os.fork()
    if program == 0:
        os.close(told)
        os.close(go)
        become_program(order, supervisor, tell, wait)
    os.close(tell)
    os.close(wait)
    if order["guard"] is not None:
        try:
            guard(order, program, told, go)
        except OSError as error:
            sys.stderr.write(f"connections cannot be guarded: {error}\n")
    os.close(told)
    os.close(go)
    null = os.open(os.devnull, os.O_RDWR)
    # The program's pipes must close with the program.
    for descriptor in (0, 1, 2):
        os.dup2(null, descriptor)
    shut_in = order["outer"] is not None and is_shut_in()
    os._exit(supervise(program, ask, end, shut_in))
