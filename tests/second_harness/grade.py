"""`python grade.py TASK EPISODE`: right if the answer is the expected number."""

import json
import sys

task, episode = (json.load(open(path, encoding="utf-8")) for path in sys.argv[1:3])
try:
    right = abs(float(episode.get("answer") or "") - task["expected"]["answer"]) < 1e-6
except ValueError:
    right = False
outcome = "pass" if right else "fail"
print(json.dumps({"score": float(right), "outcome": outcome, "score_breakdown": {}}))
