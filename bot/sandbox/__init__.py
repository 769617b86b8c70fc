"""Isolated processes: the only place that starts foreign code."""

from bot.sandbox.errands import run_trusted, socket_answers, start_detached
from bot.sandbox.process import Finished, ProcessLimits, Running, Sandbox, choose_sandbox

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
