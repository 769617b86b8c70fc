"""Set a constant: before and after."""

import pytest

from tests.edit.making import edit_code, refusal

BEFORE = """\
# limits
LIMIT = 3  # tries
NAMES = (
    "a",  # first
)
size: int


class Settings:
    limit: int = 3
    other = LIMIT

    class Inner:
        deep = 1


if LIMIT:
    FLAG = True
A = B = 1
C, D = 1, 2
"""


@pytest.mark.parametrize(
    ("target", "code", "old", "new"),
    [
        ("LIMIT", "5", "LIMIT = 3", "LIMIT = 5"),
        ("LIMIT", "5 if x else 6", "LIMIT = 3", "LIMIT = 5 if x else 6"),
        ("LIMIT", "a +\nb", "LIMIT = 3", "LIMIT = (a +\nb)"),
        ("LIMIT", "1, 2", "LIMIT = 3", "LIMIT = 1, 2"),
        ("NAMES", "()", '(\n    "a",  # first\n)', "()"),
        ("size", "4", "size: int", "size: int = 4"),
        ("Settings.limit", "4", "limit: int = 3", "limit: int = 4"),
        ("Settings.Inner.deep", "'x'", "deep = 1", "deep = 'x'"),
        ("FLAG", "False", "FLAG = True", "FLAG = False"),
    ],
)
def test_before_and_after(target: str, code: str, old: str, new: str) -> None:
    edit = {"op": "set_constant", "target": target, "code": code}
    assert edit_code(BEFORE, edit) == BEFORE.replace(old, new)


@pytest.mark.parametrize(("target", "code"), [("LIMIT", "0x3"), ("NAMES", "('a',)")])
def test_no_change(target: str, code: str) -> None:
    assert edit_code(BEFORE, {"op": "set_constant", "target": target, "code": code}) == BEFORE


@pytest.mark.parametrize(
    ("target", "kind", "message"),
    [
        ("LIMITS", "not_found", "This file assigns no 'LIMITS'. The nearest names are LIMIT."),
        ("Settings.size", "not_found", "Settings assigns no 'size'."),
        ("Setting.limit", "not_found", "There is no Setting in this file. The nearest names are "
         "Settings, Settings.Inner."),
        ("A", "unsupported", "A is not set by a plain assignment in this file."),
        ("D", "unsupported", "D is not set by a plain assignment in this file."),
    ],
)  # fmt: skip
def test_refusals(target: str, kind: str, message: str) -> None:
    edit = {"op": "set_constant", "target": target, "code": "1"}
    assert refusal(BEFORE, edit) == (kind, message)


def test_several_assignments() -> None:
    before = "X = 1\nif a:\n    X = 2\nX += 3\n"
    edit = {"op": "set_constant", "target": "X", "code": "9"}
    assert refusal(before, edit) == (
        "ambiguous",
        "X is assigned 3 times in this file, at lines 1, 3 and 4: give a larger anchor, a "
        "narrower target, or say which with number, from 1.",
    )
    assert edit_code(before, {**edit, "number": 2}) == before.replace("X = 2", "X = 9")
    assert refusal(before, {**edit, "number": 3})[0] == "unsupported"
