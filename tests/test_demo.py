"""The demo with the real model, as a new user runs it. Minutes, not seconds: slow."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from bot.git.repository import Repository


@pytest.mark.slow
def test_a_real_model_fails_and_its_harness_gets_repaired(tmp_path: Path) -> None:
    folder = tmp_path / "desk"
    done = subprocess.run(
        [sys.executable, "-m", "bot", "demo", str(folder), "--json"],
        env=os.environ | {"ECDYSIS_CACHE": str(tmp_path / "cache")},
        capture_output=True,
        text=True,
        check=False,
        timeout=1500,
    )
    assert done.returncode == 0, done.stderr
    report = json.loads(done.stdout)
    print(json.dumps({k: v for k, v in report.items() if k not in ("left", "rejected")}))
    assert report["test"]["evolved"] - report["test"]["seed"] >= 0.4
    assert report["select"]["evolved"] > report["select"]["seed"]
    assert len({repair["origin"] for repair in report["repairs"]}) >= 2
    assert all(rejection["reason"] for rejection in report["rejected"])
    repository = Repository.open(folder)
    assert repository.uncommitted() == []
    branches = sorted(repository.refs("refs/heads/ecdysis/"))
    assert len(branches) == report["generations"]
    changed = repository.git("diff", "--name-only", "HEAD", branches[-1]).split()
    assert changed
    assert all(path.startswith("harness/") for path in changed)
    assert repository.git("fsck", "--strict", "--no-dangling") == ""
