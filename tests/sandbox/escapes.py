"""Programs that try to get out, the promise that each would break, and how one sees that it did.

What counts is what is found outside: a file that changed, a datagram that arrived, a process that
lives. Only where something is read does the program's own word count, and it must know the secret.
"""

from __future__ import annotations

import ctypes
import os
import resource
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path

from bot.sandbox import Finished, ProcessLimits
from tests.sandbox.conftest import is_running
from tests.sandbox.scene import LIMITS, SECRET, Scene

HEAD = """
import json, os, sys, time
scene = json.loads(sys.argv[1])
folder, own, victim = scene["folder"], scene["own"], scene["victim"]
"""
NATIVE = """
import ctypes
libc = ctypes.CDLL(None, use_errno=True)
def call(*arguments):
    result = libc.syscall(*arguments)
    if result < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return result
"""

Evidence = Callable[[Scene, Finished], bool]


def read_secret(scene: Scene, done: Finished) -> bool:
    return SECRET.encode() in done.stdout


def said(word: str) -> Evidence:
    return lambda scene, done: word.encode() in done.stdout


def changed(name: str) -> Evidence:
    return lambda scene, done: scene.changed(name)


def told(what: str) -> Evidence:
    return lambda scene, done: scene.told(what)


def lives(scene: Scene, done: Finished) -> bool:
    """Whether a process with the scene's word among its arguments lives on."""
    until = time.monotonic() + 0.3
    while is_running(scene.word) and time.monotonic() < until:
        time.sleep(0.01)
    return is_running(scene.word)


@contextmanager
def nothing(scene: Scene) -> Iterator[None]:
    yield


@dataclass(frozen=True)
class Escape:
    """`evidence` tells, from outside, whether the program did what it wanted.

    `around` is entered while it runs, for what must be there beside the scene's files.
    """

    name: str
    promise: str
    program: str
    evidence: Evidence
    limits: ProcessLimits = LIMITS
    around: Callable[[Scene], AbstractContextManager[None]] = nothing
    as_root: bool = False  # even without a sandbox, only root can

    def text(self) -> str:
        """The whole program; what it does not use it does not wait for."""
        native = NATIVE if any(word in self.program for word in ("libc.", "call(")) else ""
        network = "import socket\n" if "socket." in self.program else ""
        return HEAD + native + network + self.program


libc = ctypes.CDLL(None, use_errno=True)


@contextmanager
def shared_memory(scene: Scene) -> Iterator[None]:
    """A System V segment with the secret; its key is the victim's process id."""
    libc.shmat.restype = ctypes.c_void_p
    segment = libc.shmget(scene.victim.pid, 4096, 0o1600)
    assert segment >= 0
    address = libc.shmat(segment, None, 0)
    ctypes.memmove(address, SECRET.encode(), len(SECRET))
    try:
        yield
    finally:
        libc.shmdt(ctypes.c_void_p(address))
        libc.shmctl(segment, 0, None)


@contextmanager
def shared_file(scene: Scene) -> Iterator[None]:
    path = Path("/dev/shm") / scene.word
    path.write_text(SECRET, encoding="ascii")
    try:
        yield
    finally:
        path.unlink()


@contextmanager
def kernel_key(scene: Scene) -> Iterator[None]:
    """The secret in the session's keyring."""
    add_key, keyctl = (248, 250) if os.uname().machine == "x86_64" else (217, 219)
    key = libc.syscall(add_key, b"user", scene.word.encode(), SECRET.encode(), len(SECRET), -3)
    assert key > 0
    try:
        yield
    finally:
        libc.syscall(keyctl, 9, key, -3)


@contextmanager
def open_file(scene: Scene) -> Iterator[None]:
    with (scene.folder / "home/.ssh/id").open() as file:
        os.set_inheritable(file.fileno(), True)
        yield


@contextmanager
def visitor(scene: Scene) -> Iterator[None]:
    """Somebody on the machine who connects to the port that the program writes down."""
    note = scene.own / "port"

    def visit() -> None:
        until = time.monotonic() + 3
        while time.monotonic() < until:
            with suppress(OSError, ValueError):
                socket.create_connection(("127.0.0.1", int(note.read_text()))).close()
                return
            time.sleep(0.02)

    thread = threading.Thread(target=visit, daemon=True)
    thread.start()
    yield


WRITE_MUCH = """
for number in range(40):
    with open(str(number), "wb") as file:
        file.write(b"x" * (1 << 20))
"""

ESCAPES = [
    # --- reads ----------------------------------------------------------------------------
    Escape("read a key", "reads", "print(open(folder + '/home/.ssh/id').read())", read_secret),
    Escape(
        "read a key through a link",
        "reads",
        "os.symlink(folder + '/home/.ssh/id', 'notes'); print(open('notes').read())",
        read_secret,
    ),
    Escape(
        "read a key under a second name",
        "reads",
        "os.link(folder + '/home/.ssh/id', 'notes'); print(open('notes').read())",
        read_secret,
    ),
    Escape(
        "read a key by leaving the folder",
        "reads",
        "os.chdir('../..'); print(open('home/.ssh/id').read())",
        read_secret,
    ),
    Escape(
        "read a key through another process's root",
        "reads",
        "print(open(f'/proc/{victim}/root{folder}/home/.ssh/id').read())",
        read_secret,
    ),
    Escape(
        "read the expected answer",
        "reads",
        "print(*(open(f'../{p}/task.json').read() for p in os.listdir('..') if p[0] == 'p'))",
        read_secret,
    ),
    Escape(
        "read another episode", "reads", "print(open(own + '/../2/work/notes').read())", read_secret
    ),
    Escape(
        "find out which files exist",
        "names",
        "os.stat(folder + '/home/.ssh/id'); print('found')",
        said("found"),
    ),
    # --- other processes ------------------------------------------------------------------
    Escape(
        "read every environment",
        "processes-unseen",
        """
for number in os.listdir("/proc"):
    try:
        print(open(f"/proc/{number}/environ").read())
    except OSError:
        pass
""",
        read_secret,
    ),
    Escape(
        "list what others were started with",
        "processes-unseen",
        "print(open(f'/proc/{victim}/cmdline').read().split(chr(0))[-2][::-1])",
        read_secret,
    ),
    Escape(
        "read another process's memory",
        "processes-unseen",
        """
for line in open(f"/proc/{victim}/maps"):
    if "[heap]" in line or " rw-p " in line:
        begin, end = (int(word, 16) for word in line.split()[0].split("-"))
        with open(f"/proc/{victim}/mem", "rb") as memory:
            memory.seek(begin)
            found = memory.read(end - begin)
        at = found.find(b"memory-" + b"canary")
        if at >= 0:
            print(found[at:at + 30])
            break
""",
        read_secret,
    ),
    Escape(
        "trace another process",
        "signals",
        """
libc.ptrace.argtypes = [ctypes.c_long] * 4
if libc.ptrace(0x4206, victim, 0, 0) == 0:  # PTRACE_SEIZE
    print("attached")
""",
        said("attached"),
    ),
    Escape("signal another process", "signals", "os.kill(victim, 10)", told("signal")),
    Escape(
        "signal another process by a descriptor",
        "signals",
        "import signal; signal.pidfd_send_signal(os.pidfd_open(victim), 10)",
        told("signal"),
    ),
    Escape(
        "change another process's limits",
        "signals",
        "import resource; resource.prlimit(victim, 7, (512, 8192))",
        lambda scene, done: resource.prlimit(scene.victim.pid, 7)[0] == 512,
    ),
    # --- writes ---------------------------------------------------------------------------
    Escape(
        "write beside its folder",
        "writes",
        "open(own + '/../stray', 'w').write('x')",
        lambda scene, done: (scene.own.parent / "stray").exists(),
    ),
    Escape(
        "plant a hook",
        "writes",
        "open(folder + '/repository/.git/hooks/pre-commit', 'w').write('echo owned')",
        changed("repository/.git/hooks/pre-commit"),
    ),
    Escape(
        "patch the scorer",
        "writes",
        "open(folder + '/work/t0/score.py', 'w').write('print(1)')",
        changed("work/t0/score.py"),
    ),
    Escape(
        "replace the scorer",
        "writes",
        "open('s', 'w').write('print(1)'); os.rename('s', folder + '/work/t0/score.py')",
        changed("work/t0/score.py"),
    ),
    Escape(
        "put a link in the scorer's place",
        "writes",
        "os.symlink(own, folder + '/work/t0/l'); os.rename(folder + '/work/t0/l', "
        "folder + '/work/t0/score.py')",
        changed("work/t0/score.py"),
    ),
    Escape(
        "change the tasks",
        "writes",
        "open(folder + '/repository/tasks/train.jsonl', 'a').write('{}')",
        changed("repository/tasks/train.jsonl"),
    ),
    Escape(
        "write a score into the record",
        "writes",
        "open(folder + '/repository/.git/ecdysis/runs/k/episodes.jsonl', 'w')"
        '.write(\'{"outcome":"pass"}\')',
        changed("repository/.git/ecdysis/runs/k/episodes.jsonl"),
    ),
    Escape(
        "poison the cache",
        "writes",
        "open(folder + '/cache/environments/k/built.json', 'w').write('x')",
        changed("cache/environments/k/built.json"),
    ),
    Escape(
        "leave a start-up file in the interpreter's environment",
        "writes",
        "open(folder + '/cache/environments/k/venv/lib/site-packages/sitecustomize.py', 'w')",
        lambda scene, done: (
            scene.folder / "cache/environments/k/venv/lib/site-packages/sitecustomize.py"
        ).exists(),
    ),
    Escape(
        "change the world's state",
        "writes",
        "open(folder + '/work/2/state/orders', 'w').write('all cancelled')",
        changed("work/2/state/orders"),
    ),
    Escape(
        "empty a file",
        "writes",
        "os.truncate(folder + '/work/2/work/notes', 0)",
        changed("work/2/work/notes"),
    ),
    Escape(
        "remove a file",
        "writes",
        "os.remove(folder + '/work/2/work/notes')",
        changed("work/2/work/notes"),
    ),
    Escape(
        "carry a file away",
        "writes",
        "os.rename(folder + '/work/2/work/notes', own + '/notes')",
        changed("work/2/work/notes"),
    ),
    Escape(
        "open a file for others",
        "modes",
        "os.chmod(folder + '/home/.ssh/id', 0o666)",
        lambda scene, done: (scene.folder / "home/.ssh/id").stat().st_mode & 0o777 == 0o666,
    ),
    # --- networks -------------------------------------------------------------------------
    Escape(
        "connect by TCP",
        "tcp-ports",
        "socket.create_connection(('127.0.0.1', scene['tcp'])).send(b'hello')",
        told("tcp hello"),
    ),
    Escape(
        "connect by another TCP",
        "tcp-ports",
        "s = socket.socket(2, 1, 262); s.connect(('127.0.0.1', scene['tcp'])); s.send(b'hello')",
        told("tcp hello"),
    ),
    Escape(
        "connect by TCP while sending",
        "tcp-ports",
        "s = socket.socket(); s.sendto(b'hello', 0x20000000, ('127.0.0.1', scene['tcp']))",
        told("tcp"),
    ),
    Escape(
        "listen for others",
        "tcp-ports",
        """
s = socket.socket()
s.settimeout(0.4)
s.bind(("127.0.0.1", 0))
s.listen()
with open("note", "w") as note:
    note.write(str(s.getsockname()[1]))
os.rename("note", "port")
s.accept()
print("visited")
""",
        said("visited"),
        around=visitor,
    ),
    Escape(
        "connect to the model's port elsewhere",
        "network",
        "socket.create_connection(('127.0.0.2', scene['other'])).send(b'hello')",
        told("other hello"),
    ),
    Escape(
        "send a datagram",
        "udp",
        "socket.socket(type=socket.SOCK_DGRAM).sendto(b'hello', ('127.0.0.1', scene['udp']))",
        told("udp hello"),
    ),
    Escape(
        "speak to the virtual machine's host",
        "udp",
        "socket.socket(40, socket.SOCK_STREAM); print('made')",
        said("made"),
    ),
    Escape(
        "connect to a Unix socket",
        "unix-sockets",
        "s = socket.socket(socket.AF_UNIX); s.connect(folder + '/s'); s.send(b'hello')",
        told("unix hello"),
    ),
    Escape(
        "connect to a Unix socket through a link",
        "unix-sockets",
        """
os.symlink(folder, "l")
s = socket.socket(socket.AF_UNIX)
s.connect("l/s")
s.send(b"hello")
""",
        told("unix hello"),
    ),
    Escape(
        "swap a link while it is followed",
        "unix-sockets",
        """
mine = socket.create_server("mine", family=socket.AF_UNIX, backlog=1000)
swapper = os.fork()
if swapper == 0:
    while True:
        for target in ("mine", folder + "/s"):
            os.symlink(target, "new")
            os.rename("new", "l")
until = time.monotonic() + 0.4
while time.monotonic() < until:
    time.sleep(0.001)
    try:
        s = socket.socket(socket.AF_UNIX)
        s.connect("l")
        s.send(b"hello")
    except OSError:
        pass
    s.close()
os.kill(swapper, 9)
""",
        told("unix hello"),
    ),
    Escape(
        "swap an address while it is read",
        "network",
        """
import _thread, struct
address = bytearray(struct.pack("=H", 2) + struct.pack(">H4s8x", scene["other"], b"\\x7f\\0\\0\\1"))
shared = (ctypes.c_char * 16).from_buffer(address)
def swap():
    while True:
        address[7] = 3 - address[7]
_thread.start_new_thread(swap, ())
until = time.monotonic() + 0.3
while time.monotonic() < until:
    s = socket.socket()
    if libc.connect(s.fileno(), shared, 16) == 0 and s.getpeername()[0] == "127.0.0.2":
        s.send(b"hello")
        break
    s.close()
""",
        told("other hello"),
    ),
    Escape(
        "connect to an abstract Unix socket",
        "abstract-sockets",
        "s = socket.socket(socket.AF_UNIX); s.connect('\\0' + folder); s.send(b'hello')",
        told("abstract hello"),
    ),
    # --- what the kernel shares -----------------------------------------------------------
    Escape(
        "read shared memory",
        "shared-memory",
        """
libc.shmat.restype = ctypes.c_void_p
segment = libc.shmget(victim, 4096, 0)
if segment >= 0:
    print(ctypes.string_at(libc.shmat(segment, None, 0o10000), 20))
""",
        read_secret,
        around=shared_memory,
    ),
    Escape(
        "read shared memory that is a file",
        "reads",
        "print(open('/dev/shm/' + scene['word']).read())",
        read_secret,
        around=shared_file,
    ),
    Escape(
        "read a key that the kernel keeps",
        "shared-memory",
        """
keyctl = 250 if os.uname().machine == "x86_64" else 219
key = call(keyctl, 10, -3, b"user", scene["word"].encode(), 0)
found = ctypes.create_string_buffer(100)
call(keyctl, 11, key, found, 100)
print(found.value)
""",
        read_secret,
        around=kernel_key,
    ),
    Escape(
        "make namespaces",
        "kernel",
        "if libc.unshare(0x10020000) == 0: print('made')",
        said("made"),
    ),
    Escape(
        "set up io_uring",
        "kernel",
        "call(425, 1, ctypes.create_string_buffer(200)); print('made')",
        said("made"),
    ),
    Escape(
        "set what the kernel does at a crash",
        "writes",
        "os.open('/proc/sys/kernel/core_pattern', os.O_WRONLY); print('opened')",
        said("opened"),
        as_root=True,
    ),
    Escape(
        "read the users' passwords",
        "reads",
        "print(open('/etc/shadow').read())",
        said("root:"),
        as_root=True,
    ),
    # --- what it is started with ----------------------------------------------------------
    Escape(
        "find a key in its variables",
        "variables",
        "print(os.environ['A_KEY'])",
        read_secret,
    ),
    Escape(
        "read from a descriptor that was left open",
        "variables",
        """
for number in range(3, 64):
    try:
        print(os.read(number, 100))
    except OSError:
        pass
""",
        read_secret,
        around=open_file,
    ),
    # --- what it uses up ------------------------------------------------------------------
    Escape(
        "take its time",
        "time",
        "time.sleep(0.8); print('late')",
        said("late"),
        limits=replace(LIMITS, wall_s=0.3),
    ),
    Escape(
        "flood the output",
        "output",
        "for _ in range(3000): print('y' * 1023)",
        lambda scene, done: len(done.stdout) > 2 << 20,
    ),
    Escape("take memory", "memory", "x = b'x' * (400 << 20); print('held')", said("held")),
    Escape(
        "take memory in many processes",
        "memory-together",
        """
for _ in range(4):
    if os.fork() == 0:
        x = b"x" * (100 << 20)
        time.sleep(0.7)
        os._exit(0)
codes = [os.waitpid(-1, 0)[1] for _ in range(4)]
print("held" if not any(codes) else codes)
""",
        said("held"),
    ),
    Escape(
        "write a large file",
        "files",
        """
with open("large", "wb") as file:
    for _ in range(8):
        file.write(b"x" * (1 << 20))
""",
        lambda scene, done: (scene.own / "large").stat().st_size > 4 << 20,
    ),
    Escape(
        "open many files",
        "files",
        "x = [os.open('/usr', os.O_RDONLY) for _ in range(200)]; print('held')",
        said("held"),
    ),
    Escape(
        "fork without end",
        "processes",
        """
for _ in range(60):
    if os.fork() == 0:
        time.sleep(0.7)
        os._exit(0)
time.sleep(0.7)
print("held")
""",
        said("held"),
    ),
    Escape(
        "fill the disk",
        "disk",
        WRITE_MUCH + "time.sleep(0.7)\nprint('held')",
        said("held"),
    ),
    Escape(
        "fill the disk with files that nobody sees",
        "disk",
        """
held = []
for number in range(30):
    held.append(open("x", "wb"))
    held[-1].write(b"x" * (1 << 20))
    held[-1].flush()
    os.remove("x")
time.sleep(0.7)
print("held")
""",
        said("held"),
    ),
    Escape(
        "fill the disk where no path leads",
        "disk",
        """
for _ in range(30):
    os.mkdir("d" * 200)
    os.chdir("d" * 200)
"""
        + WRITE_MUCH
        + "time.sleep(0.7)\nprint('held')",
        said("held"),
    ),
    # --- what stays -----------------------------------------------------------------------
    Escape(
        "leave a child",
        "group",
        "os.spawnlp(os.P_NOWAIT, 'sh', 'sh', '-c', 'sleep 2; :', scene['word'])",
        lives,
    ),
    Escape(
        "leave a daemon that nothing leads to",
        "leftovers",
        """
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        os.execve("/bin/sh", ["sh", "-c", "sleep 2; :", scene["word"]], {})
    os._exit(0)
time.sleep(0.2)
""",
        lives,
    ),
    Escape(
        "leave a daemon under a parent of its own",
        "leftovers",
        """
if os.fork() == 0:
    os.setsid()
    libc.prctl(36, 1, 0, 0, 0)
    if os.fork() == 0:
        os.setsid()
        os.execve("/bin/sh", ["sh", "-c", "sleep 2; :", scene["word"]], {})
    time.sleep(3)
time.sleep(0.2)
""",
        lives,
    ),
]
