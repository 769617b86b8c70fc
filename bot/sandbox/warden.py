"""What ends the programs of a bot that was killed.

The kernel can end a child with its parent, but only one that has lived long enough to ask for it,
and bubblewrap asks late: a bot that is killed while a sandbox is being built leaves it behind.
So a small process outside waits for the bot's end, whatever it was, and then looks for those that
carry its mark.
"""

from __future__ import annotations

import os
import secrets
import sys
import threading

MARK = "ECDYSIS_PROCESS"
"""The variable by which processes are found again, whose child they may be by then."""

# The first look comes when all that the kernel ends by itself has gone. A process shows no
# variables while it becomes another program: it takes several looks without a find to be sure.
_SCRIPT = f"""
read -r nothing
quiet=0
while [ $quiet -lt 5 ]; do
    sleep 0.1
    quiet=$((quiet + 1))
    for found in $(grep -lsz "^{MARK}=$1" /proc/[0-9]*/environ); do
        pid=${{found#/proc/}}
        kill -9 "${{pid%/environ}}" 2>/dev/null
        quiet=0
    done
done
"""

_lock = threading.Lock()
_run = ""


def new_mark() -> str:
    """A value of `MARK` for one child; the first one starts the warden of this bot."""
    global _run
    with _lock:
        if not _run:
            _run = secrets.token_hex(8)
            if sys.platform.startswith("linux"):
                _start(_run)
    return f"{_run}-{secrets.token_hex(8)}"


def _start(run: str) -> None:
    """Start the warden; the other end of its input stays open as long as this process lives."""
    its_end, our_end = os.pipe()
    del our_end  # a number: it is never closed, and no child inherits it
    try:
        os.posix_spawn(
            "/bin/sh",
            ["sh", "-c", _SCRIPT, "ecdysis-warden", run],
            {"PATH": os.defpath},
            file_actions=[
                (os.POSIX_SPAWN_DUP2, its_end, 0),
                *((os.POSIX_SPAWN_OPEN, output, os.devnull, os.O_WRONLY, 0) for output in (1, 2)),
            ],
            setsid=True,
        )
    finally:
        os.close(its_end)
