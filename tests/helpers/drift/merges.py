"""What `git cherry-pick` says to a change on another base, for many changes quickly."""

from __future__ import annotations

import subprocess
from collections.abc import Mapping
from pathlib import Path

from tests.helpers.repositories import CONFIG, clean_environment

Files = Mapping[str, str]


class Merges:
    """A repository in `folder` of one base, and any number of commits upon it."""

    def __init__(self, folder: Path, base: Files) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "gitconfig").write_text(CONFIG, encoding="utf-8")
        self._folder = folder
        self._environment = clean_environment(folder)
        self._git("init", "--quiet", "work")
        self._folder = folder / "work"
        self._base = self._commit(base, None)

    def commit(self, files: Files) -> str:
        """A commit on the base with exactly these files."""
        return self._commit(files, self._base)

    def conflict(self, change: str, onto: str) -> bool:
        """Whether cherry-picking `change` on `onto`, both commits on the base, conflicts.

        The merge is the one that cherry-pick makes: base, `onto` and `change` are its three sides.
        """
        return self._git("merge-tree", "--write-tree", onto, change, may_fail=True) != 0

    def cherry_pick_conflicts(self, change: str, onto: str) -> bool:
        """The same by `git cherry-pick` itself, in the work tree."""
        self._git("checkout", "--quiet", "--force", "--detach", onto)
        conflicts = self._git("cherry-pick", change, may_fail=True) != 0
        self._git("reset", "--quiet", "--hard")
        return conflicts

    def _commit(self, files: Files, parent: str | None) -> str:
        lines = [b"commit refs/heads/new\n", b"committer T <t@example.invalid> 0 +0000\n"]
        lines += [b"data 1\nx\n", f"from {parent}\n".encode() if parent else b"", b"deleteall\n"]
        for path, text in files.items():
            content = text.encode("utf-8", "surrogateescape")
            lines += [f"M 644 inline {path}\ndata {len(content)}\n".encode(), content, b"\n"]
        self._git("fast-import", "--quiet", "--force", input=b"".join(lines))
        return (self._folder / ".git/refs/heads/new").read_text(encoding="utf-8").strip()

    def _git(self, *args: str, input: bytes = b"", may_fail: bool = False) -> int:
        done = subprocess.run(
            ["git", *args],
            cwd=self._folder,
            input=input,
            capture_output=True,
            check=False,
            env=self._environment,
        )
        if done.returncode not in ((0, 1) if may_fail else (0,)):
            raise AssertionError(f"git {args}: {done.stderr.decode(errors='replace')}")
        return done.returncode
