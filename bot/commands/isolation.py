"""The sandbox of a command: as asked for on the command line, else in the table."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from bot.config import HarnessTable
    from bot.sandbox import Sandbox


def open_sandbox(asked: str | None, table: HarnessTable) -> Sandbox:
    """A sandbox for this command; says so where it is weak. Raises SandboxUnavailable."""
    from bot.display import say
    from bot.sandbox import choose_sandbox
    from bot.sandbox.levels import LIMITS

    sandbox = choose_sandbox(asked or table.sandbox)
    if sandbox.level == LIMITS.name:
        say(
            "Isolation is weak here: harness code can read your files and reach the network. "
            "`ecdysis doctor` says what would be better."
        )
    return sandbox
