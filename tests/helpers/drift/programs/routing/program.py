"""Choose a model for a task, and the next one when it fails."""

import functools
import re
from operator import itemgetter

ORDER = ["tiny", "small", "large"]
LONG = 40
HARD_WORDS = ("prove", "refactor", "debug")
EASY_WORDS = ("list", "print", "rename")


def score(task):
    words = re.findall(r"[a-z]+", task.lower())
    points = 0
    if len(task) > LONG:
        points += 1
    points += sum(2 for word in words if word in HARD_WORDS)
    points -= sum(1 for word in words if word in EASY_WORDS)
    return points


def urgency(task):
    words = re.findall(r"[a-z]+", task.lower())
    points = 0
    if task.endswith("!"):
        points += 1
    points += sum(2 for word in words if word in ("now", "today"))
    points -= sum(1 for word in words if word in ("later", "someday"))
    return points


def choose(task, available):
    ranked = [model for model in ORDER if model in available]
    if not ranked:
        raise ValueError("no model")
    points = score(task)
    if points <= 0:
        return ranked[0]
    if points == 1:
        return ranked[len(ranked) // 2]
    return ranked[-1]


def choose_fast(task, available):
    ranked = [model for model in ORDER if model in available]
    if not ranked:
        raise ValueError("no model")
    points = urgency(task)
    if points <= 0:
        return ranked[-1]
    if points == 1:
        return ranked[len(ranked) // 2]
    return ranked[0]


def escalate(model, failures):
    place = ORDER.index(model)
    if failures == 0:
        return model
    if place + 1 < len(ORDER):
        return ORDER[place + 1]
    return None


def relax(model, successes):
    place = ORDER.index(model)
    if successes < 3:
        return model
    if place > 0:
        return ORDER[place - 1]
    return None


@functools.cache
def cost(model):
    base = {"tiny": 1, "small": 5}.get(model, 25)
    return base * 2


def plan(tasks, available=("tiny", "small", "large")):
    chosen = []
    for number, task in enumerate(tasks):
        model = choose(task, available)
        chosen.append({"task": number, "model": model, "cost": cost(model)})
    chosen.sort(key=itemgetter("cost"))
    return chosen


def plan_urgent(tasks, available=("tiny", "small", "large")):
    chosen = []
    for number, task in enumerate(tasks):
        model = choose_fast(task, available)
        chosen.append({"task": number, "model": model, "cost": cost(model)})
    chosen.sort(key=itemgetter("task"), reverse=True)
    return chosen


def spend(chosen, limit=60):
    left = limit
    kept = []
    for entry in chosen:
        if entry["cost"] > left:
            break
        left -= entry["cost"]
        kept.append(entry["task"])
    return kept, left
