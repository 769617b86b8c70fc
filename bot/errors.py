"""What can go wrong for a user, each with its exit code, and the one scrubber for printed text.

Every error says what happened, where, and the next thing to type. `cli.main` is the only
place that prints them; no traceback reaches a user for bad input.
"""

from __future__ import annotations


class EcdysisError(Exception):
    """An expected failure: one sentence, the next step, a distinct exit code."""

    exit_code = 70

    def __init__(self, message: str, next_step: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.next_step = next_step

    def __str__(self) -> str:
        return f"{self.message} {self.next_step}".strip()


class NothingFound(EcdysisError):
    """Nothing was accepted or found; not a fault of the input."""

    exit_code = 1


class UsageError(EcdysisError):
    """The command line asks for something that does not exist or does not fit together."""

    exit_code = 2


class InputError(EcdysisError):
    """A file, table or spec that cannot be understood; names file and position."""

    exit_code = 3


class RepositoryError(EcdysisError):
    """The git repository is in a state in which the command cannot work safely."""

    exit_code = 4


class EndpointError(EcdysisError):
    """The model endpoint does not answer, refuses the key, or is not there."""

    exit_code = 5


class BudgetSpent(EcdysisError):
    """A hard cap of `[tool.ecdysis.budget]` is reached; what was done is kept."""

    exit_code = 6


class SandboxUnavailable(EcdysisError):
    """Isolation that was asked for cannot be had on this machine."""

    exit_code = 7


class GitHubError(EcdysisError):
    """GitHub refuses what was asked for, or cannot be reached; a run again goes on from there."""

    exit_code = 8


class Interrupted(EcdysisError):
    """The user pressed Ctrl-C; says what is kept."""

    exit_code = 130
