from harness.loop import Stop, run_replay, run_scripted

SCRIPTS = [
    [],
    ["finish"],
    ["add 1 2", "multiply 3 4", "finish well"],
    ["add -1 x", "add 5", "add 5", "add 5", "add 5", "add 5", "add 5", "finish"],
    ["fly", "fly", "finish"],
    ["fly", "swim", "walk", "run", "multiply 2"],
    ["wait", "wait", "add 1", "wait", "wait", "wait", "finish"],
    ["multiply", "", " ", "finish  now "],
    ["add " + "9 " * 40, "add 1", "finish"],
]


def calls():
    for script in SCRIPTS:
        for budget in (10, 40, 100):
            yield lambda s=script, b=budget: run_scripted(s, budget=b)
            yield lambda s=script, b=budget: run_replay(s, b)
        yield lambda s=script: run_scripted(s, "other task")
    yield lambda: str(Stop("why")) + Stop("x").reason
