"""Who commits, and whether commits are signed."""

from __future__ import annotations

import os
from dataclasses import dataclass

from bot.git.calls import Caller

BOT_NAME = "Ecdysis bot"
BOT_EMAIL = "ecdysis-bot@users.noreply.localhost"


@dataclass(frozen=True)
class Identity:
    """Name and address of author and committer; `configured` is False for the bot's own."""

    name: str
    email: str
    configured: bool
    sign: bool

    def settings(self) -> dict[str, str]:
        """The variables that make `git commit-tree` use this identity."""
        return {
            f"GIT_{role}_{field}": value
            for role in ("AUTHOR", "COMMITTER")
            for field, value in (("NAME", self.name), ("EMAIL", self.email))
        }


def read_identity(caller: Caller) -> Identity:
    """The user's identity, where one was set on purpose; else the bot's.

    Set on purpose means both name and address, in `GIT_COMMITTER_*` or in git's configuration;
    git's own guess from the host's name is never used.
    """
    answer = caller.answer(
        *("config", "-z", "--get-regexp", r"^(user\.name|user\.email|commit\.gpgsign)$")
    )
    config: dict[str, str] = {}
    for item in answer.stdout.decode("utf-8", "replace").split("\0"):
        key, _, value = item.partition("\n")
        config[key.lower()] = value.strip() if "\n" in item else "true"
    sign = config.get("commit.gpgsign", "").lower() in ("true", "yes", "on", "1")
    given = (os.environ.get("GIT_COMMITTER_NAME"), os.environ.get("GIT_COMMITTER_EMAIL"))
    for name, email in (given, (config.get("user.name"), config.get("user.email"))):
        if name and email:
            return Identity(name, email, configured=True, sign=sign)
    return Identity(BOT_NAME, BOT_EMAIL, configured=False, sign=sign)
