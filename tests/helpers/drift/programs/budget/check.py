from harness.budget import estimate, price, rehearse, simulate

CALLS = [
    ("small", 100_000, 2_000),
    ("large", 20_000, 5_000),
    ("other", 10, 10),
    ("large", 1_000, 100),
    ("small", 5_000_000, 0),
    ("large", 0, 90_000),
]


def calls():
    for model, asked, answered in CALLS:
        yield lambda m=model, a=asked, b=answered: str(price(m, a, b))
        yield lambda m=model, a=asked, b=answered: str(estimate(m, a, b))
    for limit in ("0", "0.17", "0.5", "1.2", "2", "40"):
        for count in range(len(CALLS) + 1):
            yield lambda x=limit, n=count: simulate(x, CALLS[:n])
            yield lambda x=limit, n=count: rehearse(x, CALLS[:n])
