"""Compare an answer with what was expected."""

import math
import re
import unicodedata

TOLERANCE = 0.01
ARTICLES = {"a", "an", "the"}
PASS_MARK = 0.5


class Grader:
    def __init__(self, strict=False):
        self.strict = strict
        self.marks = []

    def grade(self, answer, expected):
        if isinstance(expected, (int, float)):
            mark = grade_number(answer, expected)
        elif isinstance(expected, list):
            mark = self.grade_list(answer, expected)
        else:
            mark = grade_text(answer, expected)
        if self.strict and mark < 1:
            mark = 0
        self.marks.append(mark)
        return mark

    def grade_list(self, answer, expected):
        parts = [part.strip() for part in answer.split(",")]
        found = 0
        for wanted in expected:
            if any(grade_text(part, wanted) == 1 for part in parts):
                found += 1
        if not expected:
            return 1.0
        return found / len(expected)

    def grade_order(self, answer, expected):
        parts = [part.strip() for part in answer.split(",")]
        found = 0
        for part, wanted in zip(parts, expected, strict=False):
            if grade_text(part, wanted) == 1:
                found += 1
        if not expected:
            return 1.0
        return found / max(len(expected), len(parts))

    def verdict(self):
        if not self.marks:
            return "none"
        mean = sum(self.marks) / len(self.marks)
        return "pass" if mean >= PASS_MARK else "fail"

    def worst(self):
        if not self.marks:
            return "none"
        low = min(self.marks)
        return "pass" if low >= PASS_MARK else "fail"


def normalize(text):
    text = unicodedata.normalize("NFKC", text).casefold()
    words = re.findall(r"\w+", text)
    kept = [word for word in words if word not in ARTICLES]
    return " ".join(kept)


def fold(text):
    text = unicodedata.normalize("NFKD", text).casefold()
    words = re.findall(r"\w+", text)
    kept = [word for word in words if len(word) > 1]
    return "-".join(kept)


def grade_text(answer, expected):
    one, other = normalize(answer), normalize(expected)
    if one == other:
        return 1.0
    if fold(answer) == fold(expected):
        return 0.9
    if other and other in one:
        return 0.5
    return 0.0


def grade_number(answer, expected):
    found = re.findall(r"-?\d+(?:\.\d+)?", answer)
    if not found:
        return 0.0
    value = float(found[-1])
    if math.isclose(value, expected, rel_tol=TOLERANCE):
        return 1.0
    return 0.0


def grade_range(answer, low, high):
    found = re.findall(r"-?\d+(?:\.\d+)?", answer)
    if not found:
        return 0.0
    value = float(found[0])
    if low <= value <= high:
        return 1.0
    return 0.0
