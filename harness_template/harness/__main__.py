"""`python -m harness TASK EPISODE`: run one task, write its episode."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

from harness.client import Desk
from harness.loop import ROOT, run

if __name__ == "__main__":
    task_file, episode_file = sys.argv[1:3]
    task = json.loads(Path(task_file).read_text(encoding="utf-8"))
    contract = json.loads((ROOT / "desk" / "contract.json").read_text(encoding="utf-8"))
    episode = run(task, Desk(os.environ["ECDYSIS_ENVIRONMENT"]), contract["tools"])
    Path(episode_file).write_text(json.dumps(episode), encoding="utf-8")
