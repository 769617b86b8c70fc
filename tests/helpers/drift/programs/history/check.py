from harness.history import (
    Memory,
    compact,
    drop_repeats,
    fingerprint,
    mark_repeats,
    squeeze,
    tokens,
    total,
)

ROLES = ["system", "user", "tool", "assistant", "tool", "tool", "assistant", "user", "TOOL"]


def talk(count, length):
    return [
        {"role": ROLES[n % 9], "content": f"{n % 4}, " + "some words! " * length}
        for n in range(count)
    ]


def long_results(role, length):
    results = [{"role": role, "content": f"{n} " + "result line " * length} for n in range(2)]
    return [*talk(2, 1), *results, *talk(5, 1)]


def remember(quietly, window):
    memory = Memory(window)
    for message in talk(9, 4):
        (memory.add_quietly if quietly else memory.add)(message["role"], message["content"])
    return memory.state()


def calls():
    for count in (0, 1, 3, 5, 9, 20):
        for length in (0, 1, 4, 9):
            for form in (total, compact, squeeze, drop_repeats, mark_repeats):
                yield lambda f=form, a=count, b=length: f(talk(a, b))
            yield lambda a=count, b=length: compact(talk(a, b), window=70)
            yield lambda a=count, b=length: squeeze(talk(a, b), 70)
    for role in ("tool", "assistant", "user", "system"):
        for length in (2, 3, 9, 30):
            yield lambda r=role, n=length: compact(long_results(r, n))
            yield lambda r=role, n=length: squeeze(long_results(r, n))
    for window in (20, 80, 200):
        yield lambda w=window: remember(False, w)
        yield lambda w=window: remember(True, w)
    yield lambda: tokens("a, b... c_d e-f")
    yield lambda: fingerprint({"role": "User", "content": " x "})
