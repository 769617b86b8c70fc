"""Does a level hold here? A child at that level tries to get out, and must not.

That a program is installed or a kernel call exists says little: containers, profiles and settings
forbid one thing or another. So what counts is what a child manages to do.
"""

from __future__ import annotations

import json
import os
import socket
import tempfile
from contextlib import ExitStack, suppress
from pathlib import Path

from bot.sandbox.interface import ModelDoor, ProcessLimits, Sandbox, View
from bot.sandbox.system import interpreter_paths, own_interpreter

INNER_PORT = 1024
LIMITS = ProcessLimits(wall_s=10, memory_mb=1024, file_mb=1, disk_mb=16)

# Prints a JSON list of what it managed.
_CHILD = """
import os, socket, sys
own, secret, outside, bot, tcp, udp, door = sys.argv[1:]
done = []
def attempt(what, deed):
    try:
        deed()
    except OSError:
        return
    done.append(what)
def connect(port, host="127.0.0.1"):
    with socket.socket() as client:
        client.settimeout(2)
        client.connect((host, int(port)))
def shout():
    with socket.socket(type=socket.SOCK_DGRAM) as client:
        client.sendto(b"x", ("127.0.0.1", int(udp)))
attempt("own", lambda: open(own + "/file", "w").close())
attempt("model", lambda: connect(door))
attempt("reads", lambda: open(secret).read())
attempt("names", lambda: os.stat(secret))
attempt("writes", lambda: open(outside, "w").close())
attempt("signals", lambda: os.kill(int(bot), 0))
attempt("processes-unseen", lambda: open("/proc/%s/environ" % bot).read(1))
attempt("tcp-ports", lambda: connect(tcp))
attempt("network", lambda: connect(door, "127.0.0.2"))
attempt("udp", shout)
print("[%s]" % ", ".join('"%s"' % what for what in done))
"""


def find_problem(sandbox: Sandbox) -> str:
    """Why the level does not hold on this machine, in words; empty where it does."""
    with ExitStack() as stack:
        place = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="ecdysis-probe-")))
        own, secret, outside = place / "own", place / "secret", place / "outside"
        own.mkdir()
        secret.write_text("canary", encoding="ascii")
        tcp, udp, door = _listeners(sandbox, place, stack)
        model = ModelDoor(_port(door), place / "door" if sandbox.own_network else None)
        arguments = (own, secret, outside, os.getpid(), _port(tcp), _port(udp), model.port)
        python = own_interpreter()
        done = sandbox.run(
            [str(python), "-I", "-S", "-c", _CHILD, *map(str, arguments)],
            cwd=own,
            env={"PATH": os.defpath},
            limits=LIMITS,
            view=View(readable=interpreter_paths(python), writable=(own,), model=model),
        )
        # A write to memory of its own, a datagram in a network of its own are no way out.
        arrived = {"writes"} if outside.exists() else set()
        arrived |= {"udp"} if _has_received(udp) else set()
    try:
        managed = set(json.loads(done.stdout)) - {"writes", "udp"} | arrived
    except (ValueError, TypeError):
        said = done.stderr.decode("utf-8", "replace").strip().splitlines()
        return said[-1][-300:] if said else f"a first process ended with {done.code}"
    if not managed >= {"own", "model"}:
        return "a process in it cannot write to its own folder, or not reach the model"
    broken = sorted(managed & sandbox.promises)
    return f"a process in it got out ({', '.join(broken)})" if broken else ""


def _listeners(
    sandbox: Sandbox, place: Path, stack: ExitStack
) -> tuple[socket.socket, socket.socket, socket.socket]:
    """Of TCP, of UDP, and what stands for the model's proxy."""
    tcp = stack.enter_context(socket.create_server(("127.0.0.1", 0)))
    udp = stack.enter_context(socket.socket(type=socket.SOCK_DGRAM))
    udp.bind(("127.0.0.1", 0))
    if sandbox.own_network:
        door = stack.enter_context(socket.socket(socket.AF_UNIX))
        door.bind(str(place / "door"))
        door.listen()
        return tcp, udp, door
    while True:
        door = stack.enter_context(socket.create_server(("127.0.0.1", 0)))
        with suppress(OSError):  # the same port at another address of this machine
            stack.enter_context(socket.create_server(("127.0.0.2", _port(door))))
            return tcp, udp, door


def _has_received(receiver: socket.socket) -> bool:
    receiver.setblocking(False)
    with suppress(OSError):
        return bool(receiver.recv(1))
    return False


def _port(listener: socket.socket) -> int:
    """The port of an internet socket, any that is free in a sandbox for a Unix socket."""
    name = listener.getsockname()
    return int(name[1]) if isinstance(name, tuple) else INNER_PORT
