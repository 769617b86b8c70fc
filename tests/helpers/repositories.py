"""Real git repositories for tests, made by the git command line, apart from the code under test."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping
from pathlib import Path

import pytest

CONFIG = (
    "[user]\n\tname = Tester\n\temail = tester@example.invalid\n[init]\n\tdefaultBranch = main\n"
)


def clean_environment(home: Path) -> dict[str, str]:
    """An environment in which git sees only the configuration that a test writes into `home`."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    return {
        **kept,
        "HOME": str(home),
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_CONFIG_GLOBAL": str(home / "gitconfig"),
    }


def isolate_git(monkeypatch: pytest.MonkeyPatch, home: Path) -> None:
    """Let git see, in this test, only the configuration in `home / "gitconfig"`."""
    (home / "gitconfig").write_text(CONFIG, encoding="utf-8")
    for name in [name for name in os.environ if name.startswith("GIT_")]:
        monkeypatch.delenv(name)
    for name, value in clean_environment(home).items():
        monkeypatch.setenv(name, value)


def git(folder: Path, *args: str, input: bytes | None = None) -> str:
    """What `git ARGS` prints in `folder`; raises when it fails."""
    done = subprocess.run(
        ["git", *args], cwd=folder, input=input, capture_output=True, check=False, env=os.environ
    )
    if done.returncode != 0:
        raise AssertionError(f"git {args}: {done.stderr.decode(errors='replace')}")
    return done.stdout.decode("utf-8", "surrogateescape").removesuffix("\n")


def write_files(folder: Path, files: Mapping[str, bytes | str]) -> None:
    """Write each file, making its folders."""
    for name, content in files.items():
        file = folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content.encode() if isinstance(content, str) else content)


def make_repository(
    folder: Path, files: Mapping[str, bytes | str] | None = None, *options: str
) -> Path:
    """A repository in `folder` with one commit of `files` (none: no commit); `init` options."""
    folder.mkdir(parents=True, exist_ok=True)
    git(folder, "init", "--quiet", *options)
    if files is not None:
        write_files(folder, files)
        git(folder, "add", "--all")
        git(folder, "commit", "--quiet", "--allow-empty", "-m", "first")
    return folder


def user_state(folder: Path) -> dict[str, object]:
    """What must not change under the bot: HEAD, branch, index bytes, stash, status, work files."""
    git_dir = Path(git(folder, "rev-parse", "--absolute-git-dir"))
    index = git_dir / "index"
    return {
        "head": (git_dir / "HEAD").read_bytes(),
        "commit": git(folder, "rev-parse", "HEAD"),
        "index": index.read_bytes() if index.exists() else b"",
        "stash": git(folder, "stash", "list"),
        "status": git(folder, "--no-optional-locks", "status", "--porcelain=v2", "--branch"),
        "files": {
            str(path.relative_to(folder)): path.read_bytes()
            for path in sorted(folder.rglob("*"))
            if path.is_file() and ".git" not in path.relative_to(folder).parts
        },
    }
