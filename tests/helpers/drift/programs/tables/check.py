from harness.tables import (
    cell,
    duration,
    header,
    listing,
    size,
    table,
    truncate,
    truncate_lines,
    widths,
)

NAMES = ["name", "n", None]
ROWS = [["a", 1, None], ["bcd", 2.5, True], ["", 1000000, False], [None, 0.001, "x  "]]
MANY = [[f"row {n}", n / 3, n % 2 == 0] for n in range(9)]


def calls():
    for value in (None, 1.234, True, False, "text", 12, "", [1], -0.5, 1e20, float("nan")):
        yield lambda v=value: (cell(v), header(v))
    for rows in ([], ROWS, MANY, MANY[:5], MANY[:6]):
        for number in (False, True):
            yield lambda r=rows, n=number: table(NAMES, r, number=n)
            yield lambda r=rows, n=number: listing(NAMES, r, number=n)
    yield lambda: widths([["a", "bb"], ["ccc"]])
    for length in (0, 79, 80, 81, 200):
        text = "0123456789\n" * (length // 10)
        yield lambda t=text, n=length: truncate(t[:n])
        yield lambda t=text: truncate_lines(t)
        yield lambda t=text: (truncate(t, 7), truncate_lines(t, limit=3))
    for count in (0, 59, 60, 61, 1023, 1024, 5000, 3_000_000, 10**10, 10**13):
        yield lambda n=count: size(n)
        yield lambda n=count: duration(n)
