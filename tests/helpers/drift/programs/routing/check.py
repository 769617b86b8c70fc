from harness.routing import (
    choose,
    choose_fast,
    cost,
    escalate,
    plan,
    plan_urgent,
    relax,
    score,
    spend,
    urgency,
)

TASKS = [
    "list files",
    "Prove it, now!",
    "refactor and debug the parser, then rename the module someday",
    "a rather long task without any word that is known here",
    "print later",
    "",
    "DEBUG",
    "do it today",
    "list what to refactor, print and rename it!",
]
MODELS = [("tiny", "small", "large"), ("large", "tiny"), ("small",), (), ("other",)]


def calls():
    for task in TASKS:
        yield lambda t=task: (score(t), urgency(t))
        for models in MODELS:
            yield lambda t=task, m=models: choose(t, m)
            yield lambda t=task, m=models: choose_fast(t, m)
    for model in ("tiny", "small", "large", "none"):
        yield lambda m=model: cost(m)
        for count in (0, 1, 2, 3, 4):
            yield lambda m=model, n=count: escalate(m, n)
            yield lambda m=model, n=count: relax(m, n)
    for models in MODELS:
        yield lambda m=models: plan(TASKS, m)
        yield lambda m=models: plan_urgent(TASKS, m)
    for limit in (0, 2, 12, 60, 500):
        yield lambda n=limit: spend(plan(TASKS), n)
        yield lambda n=limit: spend(plan_urgent(TASKS), limit=n)
