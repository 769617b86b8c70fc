"""Edit a text that is not Python: before and after."""

import pytest

from bot.edit.refusal import Refused
from tests.edit.making import edit_bytes, edit_code, refusal

BEFORE = "# Rules\n\n- Be brief.\n- Be kind.\n\nThe end."


def edited(before: str, **edit: object) -> str:
    return edit_code(before, {"op": "edit_text", **edit}, file="prompt.md")


@pytest.mark.parametrize(
    ("edit", "after"),
    [
        ({"anchor": "brief", "code": "very brief"}, BEFORE.replace("brief", "very brief")),
        ({"anchor": "- Be brief.\n- Be kind.", "code": "- Be."},
         BEFORE.replace("- Be brief.\n- Be kind.", "- Be.")),
        ({"place": "after", "anchor": "brief", "code": "- Be right."},
         BEFORE.replace("brief.\n", "brief.\n- Be right.\n")),
        ({"place": "before", "anchor": "kind.", "code": "- Be right.\n"},
         BEFORE.replace("- Be kind", "- Be right.\n- Be kind")),
        ({"place": "start", "code": "Title"}, "Title\n" + BEFORE),
        ({"place": "end", "code": "Really.\nYes."}, BEFORE + "\nReally.\nYes."),
    ],
)  # fmt: skip
def test_before_and_after(edit: dict[str, str], after: str) -> None:
    assert edited(BEFORE, **edit) == after


def test_line_ends_are_those_of_the_file() -> None:
    before = BEFORE.replace("\n", "\r\n")
    edit = {"anchor": "brief.\n- Be", "code": "brief.\n-\n- Be"}
    assert edited(before, **edit) == before.replace("brief.\r\n- Be", "brief.\r\n-\r\n- Be")
    assert edited("a\r", place="end", code="b\nc") == "a\rb\rc\r"


@pytest.mark.parametrize(
    "edit",
    [
        {"anchor": "long", "code": "brief"},
        {"place": "after", "anchor": "brief", "code": "- Be kind."},
        {"place": "before", "anchor": "kind", "code": "- Be brief."},
        {"place": "start", "code": "# Rules"},
        {"place": "end", "code": "The end.\n"},
        {"anchor": "brief", "code": "brief"},
    ],
)
def test_no_change(edit: dict[str, str]) -> None:
    assert edited(BEFORE, **edit) == BEFORE


@pytest.mark.parametrize(
    ("edit", "kind", "message"),
    [
        ({"anchor": "- Be", "code": "x"}, "ambiguous",
         "The anchor '- Be' stands 2 times in prompt.md, at lines 3 and 4: give a larger anchor, "
         "or say which with number, from 1."),
        ({"anchor": "- Be bried.", "code": "x"}, "not_found",
         "There is no text '- Be bried.' in prompt.md. The nearest are line 3: '- Be brief.'; "
         "line 4: '- Be kind.'."),
        ({"place": "end", "code": "- Be kind."}, "conflict",
         "These lines stand at line 4 already, not where they are to go."),
        ({"code": "x"}, "unsupported",
         "edit_text: place 'replace' needs an anchor. It takes file, code; may have place, anchor, "
         "number."),
    ],
)  # fmt: skip
def test_refusals(edit: dict[str, str], kind: str, message: str) -> None:
    assert refusal(BEFORE, {"op": "edit_text", **edit}, file="prompt.md") == (kind, message)


def test_number_chooses() -> None:
    assert edited(BEFORE, anchor="- Be", code="* Be", number=2) == BEFORE.replace(
        "- Be kind", "* Be kind"
    )


def test_bytes_that_are_no_utf_8_stay() -> None:
    edit = {"op": "edit_text", "anchor": "b", "code": "é"}
    assert edit_bytes(b"\xef\xbb\xbfa\xff\tb", edit, file="a.txt") == b"\xef\xbb\xbfa\xff\t\xc3\xa9"
    with pytest.raises(Refused, match="is no text"):
        edit_bytes(b"a\0b", edit, file="a.bin")
