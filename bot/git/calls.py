"""One call of git: no shell, a clean environment, errors as `RepositoryError`."""

from __future__ import annotations

import os
import shlex
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from bot.display import printable, scrub
from bot.errors import RepositoryError
from bot.git.environment import ALWAYS, command_line

if TYPE_CHECKING:
    import git

MINIMUM_VERSION = (2, 34)


@dataclass(frozen=True)
class Answer:
    """What one call of git gave; `stderr` is not yet scrubbed."""

    code: int
    stdout: bytes
    stderr: str


def load_gitpython() -> type[git.Repo]:
    """GitPython's `Repo`. RepositoryError when there is no git to call: it looks at import."""
    try:
        from git import Repo
    except ImportError:
        raise RepositoryError(
            "git cannot be run: it is not on PATH.",
            f"Install git {MINIMUM_VERSION[0]}.{MINIMUM_VERSION[1]} or newer and try again.",
        ) from None
    return Repo


def open_gitpython(git_dir: Path) -> git.Repo:
    """GitPython's view of the repository with this git directory. RepositoryError: it is none."""
    repo_type = load_gitpython()
    from git.exc import InvalidGitRepositoryError, NoSuchPathError

    try:
        repo = repo_type(git_dir, expand_vars=False)
    except (InvalidGitRepositoryError, NoSuchPathError):
        raise RepositoryError(
            f"{git_dir} is not a complete git directory.", "Run `git fsck` in it."
        ) from None
    # GitPython hands what it found in GIT_DIR and the like on to every child.
    repo.git.update_environment(**dict.fromkeys(list(repo.git.environment()), None))
    return repo


class Caller:
    """Calls git in one place of one repository; safe to use from several threads."""

    def __init__(self, wrapper: git.Git, folder: Path) -> None:
        self._wrapper = wrapper
        self.folder = folder

    def at(self, folder: Path) -> Caller:
        """The same caller in another folder."""
        return Caller(self._wrapper, folder)

    def answer(
        self, *args: str, input: bytes | None = None, env: Mapping[str, str] | None = None
    ) -> Answer:
        """Run `git ARGS` in the folder and give its exit code and output, whatever they are."""
        for argument in args:
            if "\0" in argument:
                raise RepositoryError("A NUL character cannot be passed to git.", "Remove it.")
        settings = {**ALWAYS, **(env or {})}
        # `-C`, because GitPython expands `$` and `~` in a working directory.
        command = command_line(("-C", str(self.folder), *args), settings, os.environ)
        if input is None:
            return self._execute(command, settings, None)
        with tempfile.TemporaryFile() as stream:
            stream.write(input)
            stream.seek(0)
            return self._execute(command, settings, stream)

    def _execute(
        self, command: list[str], settings: dict[str, str], stream: BinaryIO | None
    ) -> Answer:
        from git.exc import GitCommandNotFound

        try:
            code, stdout, stderr = self._wrapper.execute(
                command,
                istream=stream,
                with_extended_output=True,
                with_exceptions=False,
                stdout_as_string=False,
                strip_newline_in_stdout=False,
                shell=False,
                env=settings,
            )
        except GitCommandNotFound:
            raise RepositoryError(
                "git cannot be run: it is not on PATH.", "Install git and try again."
            ) from None
        return Answer(code, stdout, stderr)

    def run(
        self, *args: str, input: bytes | None = None, env: Mapping[str, str] | None = None
    ) -> bytes:
        """Like `answer`, giving stdout. RepositoryError with git's own words on failure."""
        answer = self.answer(*args, input=input, env=env)
        if answer.code != 0:
            raise failure(args, answer)
        return answer.stdout

    def line(self, *args: str, env: Mapping[str, str] | None = None) -> str:
        """The one line that a call prints, without its newline."""
        return os.fsdecode(self.run(*args, env=env)).removesuffix("\n")


def failure(args: tuple[str, ...], answer: Answer) -> RepositoryError:
    """The error that says what git said, in one line, without secrets."""
    name = next((argument for argument in args if not argument.startswith("-")), "git")
    said = scrub(printable(answer.stderr, 600))
    if "dubious ownership" in answer.stderr or "unsafe repository" in answer.stderr:
        return foreign_owner(answer.stderr)
    if ".lock'" in answer.stderr and "File exists" in answer.stderr:
        return RepositoryError(
            f"`git {name}` found a lock of another git process: {said}.",
            "Wait for that process to end; if there is none, remove the named file.",
        )
    if "external filter" in answer.stderr or "filter lfs failed" in answer.stderr:
        return RepositoryError(
            f"A filter of .gitattributes cannot run: {said}.",
            "Install what it needs (git-lfs, say), or take the filter out of git's configuration.",
        )
    return RepositoryError(
        f"`git {name}` failed (exit {answer.code}): {said or 'it gave no reason'}.",
        "Mend what git complains about, then run the command again.",
    )


def foreign_owner(stderr: str) -> RepositoryError:
    """The error for a repository of another user, with the line to type."""
    quoted = stderr.split("'")
    place = quoted[1] if len(quoted) > 2 else "."
    return RepositoryError(
        f"The repository {printable(place)} belongs to another user, so git refuses to use it.",
        f"If you trust it: git config --global --add safe.directory {shlex.quote(place)}",
    )
