"""Replace a function or its body: before and after."""

import pytest

from tests.edit.making import block, edit_code, refusal

BEFORE = block('''
    import os


    # about ask
    @trace
    # between
    async def ask(
        text: str,  # what
        *,
        times: int = 3,
    ) -> str:  # noqa: D103
        """Ask."""
        return text  # as it is


    class Box:
        @property
        def size(self): return 1  # one

        @size.setter
        def size(self, value):
            self.value = value
''')
BODY = '    """Ask."""\n    return text  # as it is\n'


def test_replace_function_keeps_decorators_comments_and_async() -> None:
    code = "def ask(text: str, *, times: int = 3) -> str:\n    return text * times"
    after = edit_code(BEFORE, {"op": "replace_function", "target": "ask", "code": code})
    assert after == BEFORE.replace(BODY, "    return text * times\n")


def test_replace_function_without_what_is_not_to_be_kept() -> None:
    edit = {
        "op": "replace_function",
        "target": "ask",
        "code": "def ask(text):\n    return text",
        "keep_decorators": False,
        "keep_async": False,
        "keep_comments": False,
    }
    after = edit_code(BEFORE, edit)
    assert after.startswith("import os\n\n\ndef ask(text):\n    return text\n\n\nclass Box:")


def test_replace_function_with_its_own_decorators_and_comments() -> None:
    code = "# new\n@other\nasync def ask(text: str, *, times: int = 3) -> str:\n    return 1"
    after = edit_code(BEFORE, {"op": "replace_function", "target": "ask", "code": code})
    assert after.startswith(
        "import os\n\n\n# new\n@other\nasync def ask(\n    text: str,  # what\n"
    )


def test_a_lost_signature_comment_is_refused() -> None:
    edit = {"op": "replace_function", "target": "ask", "code": "def ask(text, more): pass"}
    assert refusal(BEFORE, edit) == (
        "conflict",
        "The new signature of ask has lost the comment '# what'; repeat it in the code, or say "
        "keep_comments: false.",
    )


def test_replace_function_refuses_other_code() -> None:
    edit = {"op": "replace_function", "target": "ask"}
    assert refusal(BEFORE, {**edit, "code": "x = 1"}) == (
        "unsupported",
        "replace_function takes the code of one function.",
    )
    assert refusal(BEFORE, {**edit, "code": "def tell(): pass"})[1] == (
        "The code defines tell, not ask; replace_function keeps the name."
    )
    box = {"op": "replace_function", "target": "Box", "code": "def Box(): pass"}
    assert refusal(BEFORE, box)[1] == "Box is a class, not a function."


def test_of_property_and_setter_one_is_chosen() -> None:
    edit = {"op": "replace_function", "target": "Box.size", "code": "def size(self): return 2"}
    assert refusal(BEFORE, edit) == (
        "ambiguous",
        "Box.size is defined 2 times, at lines 18 and 21: say which with target_number, from 1.",
    )
    after = BEFORE.replace("return 1  # one", "return 2")
    assert edit_code(BEFORE, {**edit, "target_number": 1}) == after


def test_no_change_of_the_function() -> None:
    code = "def ask(text: str, *, times: int=3) -> str:\n    'Ask.'\n    return text"
    assert edit_code(BEFORE, {"op": "replace_function", "target": "ask", "code": code}) == BEFORE


@pytest.mark.parametrize(
    ("target", "code", "old", "new"),
    [
        ("ask", "return 1", BODY, '    """Ask."""\n    return 1\n'),
        ("ask", "'''New.'''\nreturn 1", BODY, "    '''New.'''\n    return 1\n"),
        (
            "ask",
            "  if text:\n    return 1\n",
            BODY,
            '    """Ask."""\n    if text:\n        return 1\n',
        ),
    ],
)
def test_replace_function_body(target: str, code: str, old: str, new: str) -> None:
    edit = {"op": "replace_function_body", "target": target, "code": code}
    assert edit_code(BEFORE, edit) == BEFORE.replace(old, new)


def test_a_body_on_the_line_of_its_function() -> None:
    edit = {"op": "replace_function_body", "target": "Box.size", "target_number": 1}
    after = BEFORE.replace(
        "def size(self): return 1  # one", "def size(self):  # one\n        return 2"
    )
    assert edit_code(BEFORE, {**edit, "code": "return 2"}) == after


def test_a_docstring_that_shares_its_line() -> None:
    before = 'def f():\n    """Doc."""; x = 1\n    return x\n'
    edit = {"op": "replace_function_body", "target": "f", "code": "return 2"}
    assert edit_code(before, edit) == 'def f():\n    """Doc."""\n    return 2\n'


def test_no_change_of_the_body() -> None:
    edit = {"op": "replace_function_body", "target": "ask", "code": "return  text # other"}
    assert edit_code(BEFORE, edit) == BEFORE
    assert edit_code(BEFORE, {**edit, "code": "'Ask.'\nreturn text"}) == BEFORE


def test_a_missing_target_names_the_nearest() -> None:
    edit = {"op": "replace_function_body", "target": "size", "code": "return 1"}
    assert refusal(BEFORE, edit) == (
        "not_found",
        "There is no size in this file. The nearest names are Box.size.",
    )
    far = {**edit, "target": "nothing_alike"}
    assert refusal(BEFORE, far)[1] == (
        "There is no nothing_alike in this file, which defines ask, Box, Box.size."
    )
