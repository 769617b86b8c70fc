"""What a hostile program would like to get at: real files, and a process that others can reach."""

from __future__ import annotations

import contextlib
import json
import resource
import secrets
import shutil
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from bot.sandbox import Finished, ModelDoor, ProcessLimits, Sandbox
from tests.sandbox.conftest import ENV, PYTHON, seeing

SECRET = "canary-4711"
LIMITS = ProcessLimits(
    wall_s=6, memory_mb=256, file_mb=4, processes=20, open_files=64, output_mb=1, disk_mb=16
)

FILES = {
    "home/.ssh/id": SECRET,
    "repository/.git/hooks/pre-commit": "exit 0\n",
    "repository/.git/ecdysis/runs/k/episodes.jsonl": '{"outcome":"fail"}\n',
    "repository/tasks/train.jsonl": '{"task_id":"t1","expected":"blue"}\n',
    "cache/environments/k/built.json": "{}",
    "cache/environments/k/venv/lib/site-packages/left.txt": "",
    "work/t0/score.py": "print('fail')\n",
    "work/p1/task.json": json.dumps({"task_id": "t1", "expected": SECRET}),
    "work/2/work/notes": SECRET,
    "work/2/state/orders": "none cancelled\n",
}

VICTIM = """
import json, os, selectors, signal, socket, sys
folder = sys.argv[1]
kept = "memory-" + sys.argv[2][::-1]
def tell(what):
    with open(folder + "/events", "a") as log:
        log.write(what + "\\n")
signal.signal(signal.SIGUSR1, lambda *_: tell("signal"))
tcp, udp = socket.create_server(("127.0.0.1", 0)), socket.socket(type=socket.SOCK_DGRAM)
# The same port at another address of this machine: where the model's proxy is not.
other = socket.create_server(("127.0.0.2", 0))
door = socket.create_server(("127.0.0.1", other.getsockname()[1]))
udp.bind(("127.0.0.1", 0))
unix, hidden = socket.socket(socket.AF_UNIX), socket.socket(socket.AF_UNIX)
unix.bind(folder + "/s")
hidden.bind("\\0" + folder)
names = {tcp: "tcp", other: "other", door: "door", udp: "udp", unix: "unix", hidden: "abstract"}
selector = selectors.DefaultSelector()
for one in names:
    if one is not udp:
        one.listen()
    selector.register(one, selectors.EVENT_READ)
print(json.dumps({name: one.getsockname()[1] for one, name in names.items()
                  if one.family == socket.AF_INET}), flush=True)
while True:
    for key, _ in selector.select():
        one = key.fileobj
        if one is udp:
            tell("udp " + udp.recv(100).decode())
            continue
        client, _ = one.accept()
        client.settimeout(1)
        try:
            tell(names[one] + " " + client.recv(100).decode())
        except OSError:
            tell(names[one])
        client.close()
"""


@dataclass
class Scene:
    """Folders, and the process that is a victim. `own` is where the hostile program may write.

    `word` tells what a program starts from all other processes.
    """

    folder: Path
    own: Path
    victim: subprocess.Popen[str]
    ports: dict[str, int]
    word: str = ""

    def reset(self) -> None:
        """Every file as it was at first, no events, an empty `own`."""
        for top in {name.split("/")[0] for name in FILES}:
            shutil.rmtree(self.folder / top, ignore_errors=True)
        for name, content in FILES.items():
            path = self.folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(content, encoding="utf-8")
            path.chmod(0o600)
        (self.folder / "events").write_text("", encoding="utf-8")
        if self.own.exists():  # nested too deep for Python
            subprocess.run(["rm", "-rf", str(self.own)], check=True)
        self.word = secrets.token_hex(8)
        resource.prlimit(self.victim.pid, resource.RLIMIT_NOFILE, (1024, 8192))
        self.own.mkdir()

    def read(self, name: str) -> str:
        with contextlib.suppress(OSError):
            return (self.folder / name).read_text(encoding="utf-8", errors="replace")
        return ""

    def told(self, what: str) -> bool:
        """Whether the victim noticed something; asked twice, it has seen all that came before."""
        for _ in range(2):
            word = f"last-{secrets.token_hex(4)}"
            with socket.socket(type=socket.SOCK_DGRAM) as sender:
                sender.sendto(word.encode(), ("127.0.0.1", self.ports["udp"]))
            until = time.monotonic() + 5
            while word not in self.read("events"):
                assert time.monotonic() < until
                time.sleep(0.002)
        return what in self.read("events")

    def changed(self, name: str) -> bool:
        return self.read(name) != FILES[name]

    def facts(self) -> dict[str, Any]:
        """What the program is told, as a real one might find it out."""
        return {
            "folder": str(self.folder),
            "own": str(self.own),
            "victim": self.victim.pid,
            "word": self.word,
            **self.ports,
        }

    def run(self, sandbox: Sandbox | None, program: str, limits: ProcessLimits) -> Finished:
        """Run a hostile program; without a sandbox it is an ordinary child of ours."""
        argv = [PYTHON, "-I", "-S", "-c", program, json.dumps(self.facts())]
        if sandbox is None:
            return run_free(argv, self.own)
        door = None if sandbox.own_network else ModelDoor(self.ports["door"])
        view = replace(seeing(self.own), model=door, sockets=(self.own,))
        return sandbox.run(argv, cwd=self.own, env=ENV, limits=limits, view=view)


def run_free(argv: list[str], cwd: Path) -> Finished:
    """As a program is run by who thinks of nothing."""
    began = time.monotonic()
    # Files, not pipes: what it leaves behind would hold those open.
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        code = subprocess.run(
            argv,
            cwd=cwd,
            stdout=out,
            stderr=err,
            close_fds=False,
            check=False,
            start_new_session=True,
        ).returncode
        wall_s = time.monotonic() - began
        out.seek(0)
        err.seek(0)
        return Finished(code, False, out.read(), err.read(), wall_s)


@contextlib.contextmanager
def open_scene(folder: Path) -> Iterator[Scene]:
    """A scene whose victim runs."""
    victim = subprocess.Popen(
        [PYTHON, "-I", "-S", "-c", VICTIM, str(folder), SECRET[::-1]],
        env={**ENV, "A_KEY": SECRET},
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        assert victim.stdout is not None
        ports = json.loads(victim.stdout.readline())
        yield Scene(folder, folder / "work" / "1", victim, ports)
    finally:
        victim.kill()
        victim.wait()
        victim.stdout.close()
