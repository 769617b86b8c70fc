"""The bot's own errands: pip and venv, a server that outlives the command, a socket's answer."""

from __future__ import annotations

import contextlib
import os
import shutil
import socket
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from bot.sandbox.interface import Finished, ProcessLimits
from bot.sandbox.limits import MarkedChild
from bot.sandbox.process import Order

PLAIN = {"PATH": os.defpath}


def run_trusted(
    argv: Sequence[str],
    *,
    cwd: Path,
    env: Mapping[str, str],
    wall_s: float,
    while_running: Callable[[], None] | None = None,
) -> Finished:
    """One of the bot's own errands (pip, venv). `while_running` is called every 0.2 s."""
    limits = ProcessLimits(wall_s, memory_mb=1 << 20, file_mb=1 << 16, processes=4096)
    with MarkedChild(Order(argv, cwd, env, limits)) as child:
        until = time.monotonic() + wall_s
        while not child.wait(min(0.2, wall_s)):
            if while_running is not None:
                while_running()
            if time.monotonic() > until:
                return child.finish(timed_out=True)
        return child.finish(timed_out=False)


def remove_tree(folder: Path) -> None:
    """Remove a folder that foreign code wrote into, whatever it did to it."""
    with contextlib.suppress(RecursionError):
        shutil.rmtree(folder, ignore_errors=True)
    if folder.exists():
        # Nested deeper than Python goes, or closed to its owner.
        for command in (["chmod", "-R", "u+rwX", "--"], ["rm", "-rf", "--"]):
            run_trusted([*command, str(folder)], cwd=Path("/"), env=PLAIN, wall_s=60)


def start_detached(
    argv: Sequence[str], *, env: Mapping[str, str], log: Path
) -> Callable[[], bytes]:
    """Start a server of the bot's own that outlives this command; its stderr goes to `log`.

    The function that comes back waits for the server's first line.
    """
    with log.open("wb") as errors:
        process = subprocess.Popen(
            argv,
            env=env,
            cwd="/",
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=errors,
            start_new_session=True,
        )
    assert process.stdout is not None
    return process.stdout.readline


def socket_answers(address: Path) -> bool:
    """Whether a process listens on the Unix socket."""
    if not address.exists():
        return False
    with socket.socket(socket.AF_UNIX) as probe:
        try:
            probe.connect(str(address))
        except OSError:
            return False
        return True
