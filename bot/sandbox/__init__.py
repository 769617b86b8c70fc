"""Isolated processes: the only place that starts foreign code."""

from bot.sandbox.choose import choose_sandbox
from bot.sandbox.errands import remove_tree, run_trusted, socket_answers, start_detached
from bot.sandbox.interface import Finished, ModelDoor, ProcessLimits, Running, Sandbox, View
from bot.sandbox.limits import ResourceLimits
from bot.sandbox.system import interpreter_paths

__all__ = [
    "Finished",
    "ModelDoor",
    "ProcessLimits",
    "ResourceLimits",
    "Running",
    "Sandbox",
    "View",
    "choose_sandbox",
    "interpreter_paths",
    "remove_tree",
    "run_trusted",
    "socket_answers",
    "start_detached",
]
