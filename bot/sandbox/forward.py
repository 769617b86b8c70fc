"""Lead a port of loopback to a Unix socket, and become a program that calls it.

Runs inside a sandbox that has a network of its own: `forward.py PORT SOCKET COMMAND...`. It is on
the way of every start: even the modules `socket` and `contextlib` would double the time it takes.
"""

import _thread
import os
import sys
from _socket import AF_UNIX, IPPROTO_TCP, SHUT_WR, TCP_NODELAY, socket

BLOCK = 1 << 16


def carry(source: socket, target: socket) -> None:
    """Copy until the source ends, then tell the target so."""
    try:
        while block := source.recv(BLOCK):
            target.sendall(block)
    except OSError:
        pass
    try:  # noqa: SIM105
        target.shutdown(SHUT_WR)
    except OSError:
        pass


def connect(client: socket, address: str) -> None:
    """One connection: both ways, until both have ended."""
    server = socket(AF_UNIX)
    try:
        server.connect(address)
    except OSError:
        client.close()
        return
    client.setsockopt(IPPROTO_TCP, TCP_NODELAY, 1)
    _thread.start_new_thread(carry, (client, server))
    carry(server, client)


def serve(listener: socket, address: str) -> None:
    """Take connections for as long as the sandbox stands."""
    null = os.open(os.devnull, os.O_RDWR)
    # The program's pipes must close with the program.
    for descriptor in (0, 1, 2):
        os.dup2(null, descriptor)
    while True:
        descriptor, _ = listener._accept()  # type: ignore[attr-defined]
        _thread.start_new_thread(connect, (socket(fileno=descriptor), address))


def main() -> None:
    port, address, *command = sys.argv[1:]
    listener = socket()
    listener.bind(("127.0.0.1", int(port)))
    listener.listen(128)
    # Forked twice: the program has no child that it did not start.
    started = os.fork()
    if started == 0:
        if os.fork() == 0:
            os.setsid()
            serve(listener, address)
        os._exit(0)
    os.waitpid(started, 0)
    listener.close()
    try:
        os.execvp(command[0], command)
    except OSError as error:
        sys.stderr.write(f"{command[0]}: {error.strerror}\n")
        os._exit(127)


if __name__ == "__main__":
    main()
