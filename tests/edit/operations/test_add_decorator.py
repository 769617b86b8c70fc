"""Add a decorator: before and after."""

import pytest

from tests.edit.making import block, edit_code, refusal

BEFORE = block("""
    import a

    # about f

    # more
    @one  # first
    # between
    @two(1)
    # of f
    async def f(): pass


    class A:
    \t# about g
    \tdef g(self): pass
""")


@pytest.mark.parametrize(
    ("fields", "old", "new"),
    [
        ({"target": "f"}, "@one", "@x(1)\n@one"),
        ({"target": "f", "place": "innermost"}, "# of f", "@x(1)\n# of f"),
        ({"target": "A.g"}, "\tdef", "\t@x(1)\n\tdef"),
        ({"target": "A.g", "place": "innermost"}, "\tdef", "\t@x(1)\n\tdef"),
        ({"target": "A"}, "class A", "@x(1)\nclass A"),
    ],
)
@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_where_it_goes(fields: dict[str, str], old: str, new: str, newline: str) -> None:
    before, after = (text.replace("\n", newline) for text in (BEFORE, BEFORE.replace(old, new, 1)))
    for code in ("x(1)", "@x(1)"):
        assert edit_code(before, {"op": "add_decorator", "code": code} | fields) == after


def test_comments_of_the_first_statement_and_of_the_code() -> None:
    edit = {"op": "add_decorator", "target": "f", "code": "# why\n@x  # so"}
    assert edit_code("# licence\n\n# f\ndef f(): pass", edit) == (
        "# licence\n\n# f\n# why\n@x  # so\ndef f(): pass"
    )
    assert edit_code("#!sh\ndef f(): pass", edit) == "#!sh\n# why\n@x  # so\ndef f(): pass"
    nested = "def f():\n  class f: pass\n"
    assert edit_code(nested, {**edit, "target": "f.f", "code": "x(\n  1)"}) == (
        "def f():\n  @x(\n    1)\n  class f: pass\n"
    )


@pytest.mark.parametrize("code", ["two( 0x1 )", "@one # second"])
def test_no_change(code: str) -> None:
    assert edit_code(BEFORE, {"op": "add_decorator", "target": "f", "code": code}) == BEFORE


def test_one_of_the_same_name_with_other_arguments_is_added() -> None:
    edit = {"op": "add_decorator", "target": "f", "code": "two(2)"}
    assert edit_code(BEFORE, edit) == BEFORE.replace("@one", "@two(2)\n@one")


def test_refusals() -> None:
    edit = {"op": "add_decorator", "target": "f", "code": "@x\n@y"}
    assert refusal(BEFORE, edit) == (
        "unsupported",
        "add_decorator takes one decorator: @x(1), or x(1).",
    )
    assert refusal(BEFORE, {**edit, "code": "@x\nclass B: pass"})[0] == "unsupported"
    assert refusal(BEFORE, {**edit, "code": "x = 1"})[0] == "would_not_compile"
    assert refusal(BEFORE, {**edit, "code": "x", "target": "g"})[0] == "not_found"
    assert refusal(BEFORE, {**edit, "code": "x", "place": "start"})[0] == "unsupported"
    twice = "def f(): pass\ndef f(): pass\n"
    assert refusal(twice, {**edit, "code": "x"})[0] == "ambiguous"
    second = edit_code(twice, {**edit, "code": "x", "target_number": 2})
    assert second == "def f(): pass\n@x\ndef f(): pass\n"
