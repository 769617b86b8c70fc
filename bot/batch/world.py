"""The environment process: the world that a harness's tools act on, one for each episode."""

from __future__ import annotations

import time
from collections.abc import Mapping
from pathlib import Path

from bot.display import printable, scrub
from bot.sandbox import ProcessLimits, Running, Sandbox, View, socket_answers

START_S = 20.0


class WorldFailed(Exception):
    """The environment did not come up; the episode is invalid."""


def start_world(
    sandbox: Sandbox,
    command: list[str],
    *,
    cwd: Path,
    env: Mapping[str, str],
    address: Path,
    limits: ProcessLimits,
    view: View,
) -> Running:
    """Start the environment and wait until its socket `address` takes connections.

    Raises WorldFailed when it ends, or does not listen in time.
    """
    address.unlink(missing_ok=True)
    process = sandbox.start(command, cwd=cwd, env=env, limits=limits, view=view)
    until = time.monotonic() + START_S
    pause = 0.002
    try:
        while True:
            if socket_answers(address):
                return process
            if not process.alive():
                said = process.stop().stderr.decode("utf-8", "replace")[-400:]
                raise WorldFailed(f"The environment ended at once: {scrub(printable(said))}")
            if time.monotonic() > until:
                raise WorldFailed(f"The environment did not listen within {START_S:g} s.")
            time.sleep(pause)
            pause = min(pause * 1.5, 0.05)
    except BaseException:
        process.stop()
        raise
