"""In which state a repository is: what stops the bot, and what only deserves a word."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from bot.git.calls import Caller

_OPERATIONS = {
    "MERGE_HEAD": "a merge",
    "rebase-merge": "a rebase",
    "rebase-apply": "a rebase or `git am`",
    "CHERRY_PICK_HEAD": "a cherry-pick",
    "REVERT_HEAD": "a revert",
    "BISECT_LOG": "a bisection",
}


@dataclass(frozen=True)
class RepositoryState:
    """`branch` is None when HEAD is detached; `operation` names what a person has under way."""

    bare: bool
    shallow: bool
    unborn: bool
    branch: str | None
    operation: str | None

    def problems(self) -> list[str]:
        """One sentence for each thing that is out of the ordinary; none of them stops reading."""
        found = []
        if self.unborn:
            found.append("There are no commits yet, so there is nothing to evolve: commit first.")
        elif self.branch is None:
            found.append("HEAD is detached; generations start from the commit it names.")
        if self.shallow:
            found.append(
                "The clone is shallow; older generations may be out of sight "
                "(`git fetch --unshallow` brings them)."
            )
        if self.bare:
            found.append(
                "The repository is bare; it has no work tree, which the bot does not need."
            )
        if self.operation:
            found.append(
                f"{self.operation[0].upper()}{self.operation[1:]} is in progress; "
                "the bot works from the last commit and leaves it alone."
            )
        return found


def read_state(caller: Caller, worktree_git_dir: Path) -> RepositoryState:
    """The state as git and the files of the work tree's git directory tell it."""
    bare, shallow = caller.line(
        "rev-parse", "--is-bare-repository", "--is-shallow-repository"
    ).split("\n")
    head = caller.answer("symbolic-ref", "--quiet", "HEAD")
    branch = head.stdout.decode("utf-8", "replace").strip() if head.code == 0 else None
    unborn = caller.answer("rev-parse", "--verify", "--quiet", "HEAD^{commit}").code != 0
    operation = next(
        (what for name, what in _OPERATIONS.items() if (worktree_git_dir / name).exists()), None
    )
    return RepositoryState(
        bare=bare == "true",
        shallow=shallow == "true",
        unborn=unborn,
        branch=branch.removeprefix("refs/heads/") if branch else None,
        operation=operation,
    )
