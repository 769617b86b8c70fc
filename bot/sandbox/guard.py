"""The supervisor's answers to connect(2): it makes the connection itself, or refuses.

Landlock knows TCP ports but not addresses, and Unix sockets not at all. So the program's filter
hands each connect(2) to the supervisor, which reads the address once, judges what it read, and
connects the program's socket to that: what the program changes afterwards changes nothing.
Loaded by `confine.py`; standard library only. See seccomp_unotify(2).
"""

# Importing pathlib would double the time to start.
# ruff: noqa: PTH115, PTH118, PTH123

import ctypes
import errno
import os
import select
import struct

_RECEIVE, _SEND, _IS_VALID = 0xC0502100, 0xC0182101, 0x40082102
_NOTICE = struct.Struct("=QII iIQ 6Q")
_OPEN_BENEATH, _NO_LINKS = 437, 0x04  # openat2(2)
_GET_DESCRIPTOR = 438  # pidfd_getfd(2)
_UNIX, _INTERNET = 1, 2
_LONGEST = 128  # of any address
_libc = ctypes.CDLL(None, use_errno=True)


class Guard:
    """Lets through `127.0.0.1:port`, where `port` is not 0, and Unix sockets beneath `folders`."""

    def __init__(self, listener: int, port: int, folders: list[str]) -> None:
        self._listener, self._port = listener, port
        self._folders = [os.path.realpath(folder) for folder in folders]

    def serve(self) -> None:
        """Answer until the last process of the program has ended."""
        poller = select.poll()
        poller.register(self._listener, select.POLLIN)
        while any(event & select.POLLIN for _, event in poller.poll()):
            notice = ctypes.create_string_buffer(_NOTICE.size)
            if _libc.ioctl(self._listener, ctypes.c_ulong(_RECEIVE), notice) < 0:
                continue  # who asked has died meanwhile
            number, thread, _, _, _, _, *arguments = _NOTICE.unpack(notice.raw)
            try:
                code = self._connect(number, thread, *arguments[:3])
            except (OSError, ValueError):
                code = errno.EACCES
            answer = ctypes.create_string_buffer(struct.pack("=QqiI", number, 0, -code, 0), 24)
            _libc.ioctl(self._listener, ctypes.c_ulong(_SEND), answer)

    def _connect(self, number: int, thread: int, socket: int, at: int, length: int) -> int:
        """The error number of what was asked for, 0 for success."""
        memory = os.open(f"/proc/{thread}/mem", os.O_RDONLY)
        try:
            address = os.pread(memory, min(length, _LONGEST), at)
        finally:
            os.close(memory)
        allowed, held = self._judge(thread, address)
        try:
            # Only now is it certain that we looked at who asked, not at a later process.
            valid = _libc.ioctl(self._listener, ctypes.c_ulong(_IS_VALID), _word(number))
            if allowed is None or valid < 0:
                return errno.EACCES
            own = descriptor_of(thread, socket)
            try:
                failed = _libc.connect(own, allowed, len(allowed)) < 0
                return ctypes.get_errno() if failed else 0
            finally:
                os.close(own)
        finally:
            if held >= 0:
                os.close(held)

    def _judge(self, thread: int, address: bytes) -> tuple[bytes | None, int]:
        """The address to connect to, None to refuse; and a descriptor to be closed after that."""
        family = struct.unpack_from("=H", address)[0]
        if family == _INTERNET:
            port, host = struct.unpack_from(">H4s", address, 2)
            allowed = self._port and port == self._port and host == b"\x7f\0\0\1"
            return (address[:16] if allowed else None), -1
        name = address[2:].split(b"\0")[0]
        if family != _UNIX or not name:  # an abstract name begins with a NUL
            return None, -1
        path = os.path.realpath(os.path.join(os.readlink(f"/proc/{thread}/cwd"), name.decode()))
        held = _open_without_links(path)
        # The socket that was opened is the one that is connected to, wherever its path leads now.
        real = os.readlink(f"/proc/self/fd/{held}")
        if not any(real.startswith(folder + "/") for folder in self._folders):
            return None, held
        return struct.pack("=H", _UNIX) + f"/proc/self/fd/{held}".encode() + b"\0", held


def _open_without_links(path: str) -> int:
    """A descriptor that stands for a path none of whose parts is a link."""
    how = struct.pack("=QQQ", os.O_PATH | os.O_CLOEXEC, 0, _NO_LINKS)
    held = _libc.syscall(_OPEN_BENEATH, -100, path.encode(), how, ctypes.c_size_t(len(how)))
    if held < 0:
        raise OSError(ctypes.get_errno(), path)
    return int(held)


def descriptor_of(thread: int, descriptor: int) -> int:
    """Our own descriptor of what another process has open."""
    with open(f"/proc/{thread}/status") as status:
        group = next(int(line.split()[1]) for line in status if line.startswith("Tgid:"))
    process = os.pidfd_open(group)
    try:
        own = _libc.syscall(_GET_DESCRIPTOR, process, descriptor, 0)
        if own < 0:
            raise OSError(ctypes.get_errno(), "pidfd_getfd")
        return int(own)
    finally:
        os.close(process)


def _word(number: int) -> ctypes.Array[ctypes.c_char]:
    return ctypes.create_string_buffer(struct.pack("=Q", number), 8)
