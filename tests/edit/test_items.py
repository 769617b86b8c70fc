"""Appending and removing over generated layouts: what is meant, and that comments stay."""

import ast
import re

from hypothesis import given, settings
from hypothesis import strategies as st

from tests.edit.making import edit_code

GAPS = st.sampled_from(
    ["", "", " ", "\n    ", "\n\n    ", "  # c\n    ", "\n    # c\n    ", "  # c\n    # d\n\n    "]
)
KINDS = {"list": "[]", "tuple": "()", "set": "{}", "dict": "{}", "call": ("dict(", ")")}


def items(kind: str, names: list[str]) -> list[str]:
    if kind == "dict":
        return [f"'{name}': {name}" for name in names]
    return [f"{name}={name}" for name in names] if kind == "call" else names


@st.composite
def literals(draw: st.DrawFn) -> tuple[str, str, list[str]]:
    """Kind, text with numbered comments, names of the items."""
    kind = draw(st.sampled_from(sorted(KINDS)))
    names = [f"v{i}" for i in range(draw(st.integers(int(kind == "set"), 4)))]
    gap = GAPS if draw(st.booleans()) else st.just("\n    ")
    opening, closing = KINDS[kind]
    text = opening
    for index, item in enumerate(items(kind, names)):
        needed = index < len(names) - 1 or (kind == "tuple" and len(names) == 1)
        text += draw(gap) + item + ("," if needed or draw(st.booleans()) else "")
    text += draw(gap) + closing
    numbers = iter(range(100))
    return kind, re.sub("# .", lambda found: f"{found[0]}{next(numbers)}", text), names


def meaning(kind: str, names: list[str]) -> str:
    opening, closing = KINDS[kind]
    text = opening + "".join(f"{item}," for item in items(kind, names)) + closing
    return ast.dump(ast.parse("set()" if (kind, names) == ("set", []) else text, mode="eval").body)


def value(source: str) -> str:
    found = ast.parse(source).body[0]
    assert isinstance(found, ast.If)
    assigned = found.body[0]
    assert isinstance(assigned, ast.Assign)
    return ast.dump(assigned.value)


def comments(text: str) -> list[str]:
    return re.findall("# [a-z]\\d*", text)


@settings(deadline=None, max_examples=100)
@given(literals(), st.sampled_from(["\n", "\r\n"]))
def test_what_is_appended_can_be_removed(literal: tuple[str, str, list[str]], newline: str) -> None:
    kind, text, names = literal
    before = f"if a:\n\tX = {text}  # x\n".replace("\n", newline)
    code = "'n': n" if kind in ("dict", "call") else "n"
    edit = {"op": "append_to", "target": "X", "code": code}
    after = edit_code(before, edit)
    assert value(after) == meaning(kind, [*names, "n"])
    assert comments(after) == comments(before)
    again = edit_code(after, edit | {"op": "remove_from"})
    assert comments(again) == comments(before)
    if len(names) > 1:
        assert again == before


@settings(deadline=None, max_examples=100)
@given(literals(), st.data())
def test_what_stands_beside_a_removed_item_stays(
    literal: tuple[str, str, list[str]], data: st.DataObject
) -> None:
    kind, text, names = literal
    if not names:
        return
    name = data.draw(st.sampled_from(names))
    before = f"if a:\n\tX = {text}  # x\n"
    key = f"'{name}'" if kind in ("dict", "call") else name
    after = edit_code(before, {"op": "remove_from", "target": "X", "code": key})
    index = names.index(name)
    assert value(after) == meaning(kind, [other for other in names if other != name])
    # Only what stands between its neighbours may go, and of that nothing on the lines of others.
    start = before.rindex(names[index - 1]) if index else 0
    stop = before.index(names[index + 1]) if index + 1 < len(names) else len(before)
    gone = [comment for comment in comments(before) if comment not in comments(after)]
    assert all(comment in comments(before[start:stop]) for comment in gone)
    line_of_last = re.match(r"[^\n]*(# \w+)", before[start:]) if index else None
    assert not line_of_last or line_of_last[1] not in gone
    below = before[before.rindex(name) : stop].partition("\n")[2]
    assert not [comment for comment in comments(below) if comment in gone]
