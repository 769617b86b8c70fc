"""What an honest program needs works at every level."""

import sys
from dataclasses import replace
from pathlib import Path

import pytest

from bot.sandbox import ProcessLimits, Sandbox
from tests.sandbox.conftest import ENV, PYTHON, seeing

LIMITS = ProcessLimits(wall_s=20, memory_mb=1024, file_mb=8)

NEEDS = {
    "move a file": "os.makedirs('a/b'); open('a/b/f', 'w').close(); os.rename('a/b/f', 'f')",
    "move a folder": "os.makedirs('a/b/c'); os.rename('a/b/c', 'c'); os.rmdir('c')",
    "link": "open('f', 'w').write('x'); os.symlink('f', 's'); os.link('f', 'h'); open('s').read()",
    "copy with modes and times": "open('f', 'w').close(); shutil.copy2('f', 'g')",
    "make it executable": """
open("f", "w").write("#!/bin/sh\\nexit 3\\n")
os.chmod("f", 0o755)
assert subprocess.run(["./f"]).returncode == 3
""",
    "temporary files": "import tempfile; tempfile.NamedTemporaryFile().write(b'x')",
    "a home": "open(os.path.expanduser('~/.settings'), 'w').write('x')",
    "a pipeline": "assert subprocess.getoutput('echo abc | tr a-c A-C') == 'ABC'",
    "a shell with its tools": "subprocess.run('ls -l . && sort /etc/passwd | head -1', shell=True)",
    "threads": """
import threading
threads = [threading.Thread(target=print, args=(n,)) for n in range(20)]
[t.start() for t in threads]
[t.join() for t in threads]
""",
    "an event loop": "import asyncio; asyncio.run(asyncio.sleep(0.01))",
    "a child of the event loop": """
import asyncio
async def main():
    child = await asyncio.create_subprocess_exec("true")
    assert await child.wait() == 0
asyncio.run(main())
""",
    "child processes": """
import multiprocessing
child = multiprocessing.get_context("fork").Process(target=print)
child.start()
child.join()
assert child.exitcode == 0
""",
    "end a child": """
child = subprocess.Popen(["sleep", "100"])
child.terminate()
assert child.wait() == -15
""",
    "random numbers and time": "os.urandom(8); import uuid, datetime; uuid.uuid4()",
    "a time zone": "import zoneinfo, datetime; datetime.datetime.now(zoneinfo.ZoneInfo('UTC'))",
    "SQLite": "import sqlite3; sqlite3.connect('d').execute('create table t (x)')",
    "certificates": "import ssl; ssl.create_default_context()",
    "the number of processors": "assert os.cpu_count() >= 1",
    "the user's name": "import getpass; getpass.getuser()",
    "a local socket pair": "import socket; a, b = socket.socketpair(); a.send(b'x'); b.recv(1)",
    "a server of its own": """
import socket
with socket.create_server("s", family=socket.AF_UNIX) as server:
    client = socket.socket(socket.AF_UNIX)
    client.connect("s")
    server.accept()[0].send(b"x")
    assert client.recv(1) == b"x"
    client = socket.socket(socket.AF_UNIX)
    client.connect(os.path.abspath("s"))
try:
    client.connect("no-such")
except OSError:
    pass
""",
    "null and full": "open(os.devnull, 'w').write('x'); open('/dev/zero', 'rb').read(4)",
    "limits of its own": "import resource; resource.setrlimit(resource.RLIMIT_NOFILE, (50, 60))",
}


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="levels of Linux")
@pytest.mark.parametrize("need", NEEDS)
def test_a_need(sandbox: Sandbox, need: str, tmp_path: Path) -> None:
    code = "import os, shutil, subprocess\n" + NEEDS[need]
    done = sandbox.run(
        [PYTHON, "-c", code],
        cwd=tmp_path,
        env={**ENV, "HOME": str(tmp_path), "TMPDIR": str(tmp_path)},
        limits=LIMITS,
        view=replace(seeing(tmp_path), sockets=(tmp_path,)),
    )
    assert (done.code, done.stderr) == (0, b"")
