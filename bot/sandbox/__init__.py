"""Isolated processes: the only place that starts foreign code."""

from bot.sandbox.process import (
    Finished,
    ProcessLimits,
    Running,
    Sandbox,
    choose_sandbox,
    run_trusted,
    socket_answers,
    start_detached,
)

__all__ = [
    "Finished",
    "ProcessLimits",
    "Running",
    "Sandbox",
    "choose_sandbox",
    "run_trusted",
    "socket_answers",
    "start_detached",
]
