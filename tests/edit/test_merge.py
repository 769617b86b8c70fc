"""Three versions of a block into one."""

import libcst as cst
import pytest

from bot.edit.merge import Merge
from bot.edit.refusal import Refused

BASE = "a = 1\nif a:\n    b = 2\n    c = 3\nd = 4\n"


def merged(ours: str, theirs: str, base: str = BASE, **names: str) -> str:
    three = [list(cst.parse_module(code).body) for code in (base, ours, theirs)]
    lines = Merge(names, "f").lines(*three)  # type: ignore[arg-type]
    return cst.Module(lines).code


@pytest.mark.parametrize(
    ("ours", "theirs", "result"),
    [
        (BASE, BASE, BASE),
        (BASE.replace("1", "9"), BASE, BASE.replace("1", "9")),
        (BASE, BASE.replace("1", "9"), BASE.replace("1", "9")),
        (
            BASE.replace("1", "9"),
            BASE.replace("4", "8"),
            "a = 9\nif a:\n    b = 2\n    c = 3\nd = 8\n",
        ),
        # Neighbours, in one block and in an inner one.
        (
            BASE.replace("2", "9"),
            BASE.replace("3", "8"),
            "a = 1\nif a:\n    b = 9\n    c = 8\nd = 4\n",
        ),
        # A line is added next to one that the other side has changed.
        (
            BASE.replace("a = 1\n", "a = 1\nx = 0\n"),
            BASE.replace("1", "9"),
            "a = 9\nx = 0\n" + BASE[6:],
        ),
        (
            BASE.replace("1", "9"),
            BASE.replace("a = 1\n", "a = 1\nx = 0\n"),
            "a = 9\nx = 0\n" + BASE[6:],
        ),
        # The same change on both sides.
        (BASE.replace("1", "9"), BASE.replace("1", "9"), BASE.replace("1", "9")),
        # Removed here, untouched there.
        (
            BASE.replace("d = 4\n", ""),
            BASE.replace("1", "9"),
            "a = 9\nif a:\n    b = 2\n    c = 3\n",
        ),
        # Layout and comments of the new base stay.
        (
            BASE.replace("4", "9"),
            BASE.replace("a = 1", "a  =  1  # one"),
            "a  =  1  # one\nif a:\n    b = 2\n    c = 3\nd = 9\n",
        ),
    ],
)
def test_changes_of_both_sides(ours: str, theirs: str, result: str) -> None:
    assert merged(ours, theirs) == result


@pytest.mark.parametrize(
    ("ours", "theirs"),
    [
        (BASE.replace("1", "9"), BASE.replace("1", "8")),
        (BASE.replace("d = 4\n", ""), BASE.replace("4", "8")),
        (BASE.replace("if a", "if b"), BASE.replace("2", "9")),
        (BASE + "x = 1\n", BASE + "y = 1\n"),
    ],
)
def test_one_place_that_both_change(ours: str, theirs: str) -> None:
    with pytest.raises(Refused, match="both change"):
        merged(ours, theirs)


def test_names_of_the_new_base() -> None:
    theirs = BASE.replace("b =", "z =")
    ours = theirs.replace("4", "9")
    assert merged(ours, theirs, b="z") == ours
