from harness.dispatch import Result, Tools, clip, preview, shorten, show

LONG = "abcdefghij" * 6
LINES = [
    ("get", ""),
    ("get", "a"),
    ("get", "zz"),
    ("put", f"b {LONG}"),
    ("put", "'two words' x"),
    ("put", ""),
    ("get", "b"),
    ("drop", "a"),
    ("drop", "a"),
    ("drop", ""),
    ("note", "think first"),
    ("fly", "away"),
]


def session(step):
    tools = Tools({"a": 1, "c": "see"})
    shown = [step(tools, name, line) for name, line in LINES]
    return shown, tools.history, sorted(tools.store.items())


def calls():
    for number in range(len(LINES)):
        for store in ({}, {"a": 1, "b": LONG}):
            yield lambda n=number, s=store: show(Tools(s).run(*LINES[n]))
            yield lambda n=number, s=store: preview(Tools(s).rehearse(*LINES[n]))
    yield lambda: session(lambda tools, *line: show(tools.run(*line)))
    yield lambda: session(lambda tools, *line: preview(tools.rehearse(*line)))
    for text in ("", "short", LONG, LONG[:40], LONG[:41]):
        yield lambda t=text: (clip(t), shorten(t))
        yield lambda t=text: show(Result(t, failed=True, details={"b": 1, "a": 2}))
        yield lambda t=text: preview(Result(t, failed=True, details={"b": 1, "a": 2}))
