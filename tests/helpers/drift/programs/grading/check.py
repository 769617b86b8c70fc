from harness.grading import Grader, fold, grade_number, grade_range, grade_text, normalize

TEXTS = ["The Answer", "answer", "an answer, it is", "a B", "b", "Ünder a tree", "under TREE", ""]
NUMBERS = ["12", "it is 12.05", "first 3 then -4", "none", "1e3", "12.2", "11.95 12"]
PAIRS = [
    ("a, b, c", ["A", "b"]),
    ("b", ["a thing", "b"]),
    ("", []),
    ("x; y", ["x", "y"]),
    ("the cat, dog,", ["dog", "cat", "bird"]),
    ("12", 12),
    ("about 12.1", 12),
    ("the sum is 5 of 7", 5),
    ("Yes", "yes"),
    ("yes it is", "yes"),
    ("no", "yes"),
]


def session(strict, pairs):
    grader = Grader(strict=strict)
    marks = [grader.grade(answer, expected) for answer, expected in pairs]
    return marks, grader.verdict(), grader.worst()


def calls():
    for text in TEXTS:
        yield lambda t=text: (normalize(t), fold(t))
        for other in TEXTS:
            yield lambda t=text, o=other: grade_text(t, o)
    for text in NUMBERS:
        for number in (12, -4, 3, 1000, 0):
            yield lambda t=text, n=number: grade_number(t, n)
            yield lambda t=text, n=number: grade_range(t, n - 1, n + 1)
    for strict in (False, True):
        for count in range(len(PAIRS) + 1):
            yield lambda s=strict, n=count: session(s, PAIRS[:n])
            yield lambda s=strict, n=count: session(s, PAIRS[n:])
            yield lambda s=strict, n=count: session(s, PAIRS[n : n + 3])
    for answer, expected in PAIRS[:5]:
        yield lambda a=answer, e=expected: Grader().grade_order(a, e)
