"""Files that declare an encoding which they are not in."""

import pytest

from bot.edit.refusal import Refused
from tests.edit.making import edit_bytes

IMPORT = {"op": "add_import", "code": "import re"}


@pytest.mark.parametrize(
    "content",
    [
        b"\xef\xbb\xbf# coding: utf8\nX = 1\n",  # the mark takes only the spelling utf-8
        b"\xef\xbb\xbf# coding: latin-1\nX = 1\n",
        b"# coding: no-such-thing\nX = 1\n",
        b"# coding: ascii\nX = '\xc3\xa9'\n",
        b"X = '\xe9'\n",
    ],
)
def test_an_encoding_that_is_not_so(content: bytes) -> None:
    with pytest.raises(Refused, match="is not in the encoding that it declares") as refused:
        edit_bytes(content, IMPORT)
    assert refused.value.kind == "unparseable"


def test_an_encoding_that_is_so() -> None:
    content = b"# coding: latin-1\nX = '\xe9'\n"
    assert edit_bytes(content, IMPORT) == b"# coding: latin-1\nimport re\n\nX = '\xe9'\n"
