"""Add a field: before and after."""

import pytest

from tests.edit.making import block, edit_code, refusal

BEFORE = block('''
    @dataclass(frozen=True)
    class A:
        """Doc."""

        name: str
        limit: int = 3  # most
        """How many."""

        # about f
        def f(self): pass

        other = f
''')


@pytest.mark.parametrize("code", ["new: int = 5", "new: int = field(default=5)  # why"])
@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_behind_the_last_field(code: str, newline: str) -> None:
    edit = {"op": "add_field", "target": "A", "code": code}
    after = BEFORE.replace('many."""\n', f'many."""\n    {code}\n')
    assert edit_code(BEFORE.replace("\n", newline), edit) == after.replace("\n", newline)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("class A: pass\n", "class A:\n    new = 5\n"),
        ("class A: ...  # later", "class A:  # later\n    new = 5"),
        ("class A(Enum):\n\tone = 1\n", "class A(Enum):\n\tone = 1\n\tnew = 5\n"),
        ('class A:\n\t"""Doc."""\n', 'class A:\n\t"""Doc."""\n\n\tnew = 5\n'),
        ('class A:\n\t"""Doc."""\n\tpass\n', 'class A:\n\t"""Doc."""\n\n\tnew = 5\n'),
        ('class A:\n\n  "Doc."\n\n\n  @x\n  def f(self): pass\n',
         'class A:\n\n  "Doc."\n\n  new = 5\n\n\n  @x\n  def f(self): pass\n'),
        ("class A:\n  # about f\n  async def f(self): pass\n",
         "class A:\n  new = 5\n\n  # about f\n  async def f(self): pass\n"),
        ("class A:\n  x = 1; y = 2  # both\n", "class A:\n  x = 1; y = 2  # both\n  new = 5\n"),
        ("class A:\n  x = 1\n  class Meta: pass\n",
         "class A:\n  x = 1\n  new = 5\n\n  class Meta: pass\n"),
    ],
)  # fmt: skip
def test_in_a_class_of_another_kind(before: str, after: str) -> None:
    assert edit_code(before, {"op": "add_field", "target": "A", "code": "new = 5"}) == after


@pytest.mark.parametrize(
    "head",
    [
        "@dataclass(kw_only=True)\nclass A:\n    x: int = 1\n",
        "@dataclass\nclass A:\n    x: ClassVar[int] = 1\n",
        "@dataclass\nclass A:\n    x: int = field(init=False, default=1)\n",
        "@dataclass\nclass A:\n    x: int = field(repr=False)\n",
        "@dataclass\nclass A:\n    _: KW_ONLY\n    x: int = 1\n",
        "class A(BaseModel):\n    x: int = 1\n",
        "class A(Base):\n    x: int = 1\n",
    ],
)
def test_without_a_default_where_none_is_needed(head: str) -> None:
    edit = {"op": "add_field", "target": "A", "code": "new: int"}
    assert edit_code(head, edit) == f"{head}    new: int\n"


@pytest.mark.parametrize(
    "head",
    [
        "@dataclass\nclass A:\n    x: int = 1\n",
        "@dataclasses.dataclass()\nclass A:\n    x: int = field(default_factory=int)\n",
        "class A(typing.NamedTuple):\n    x: int = 1\n",
        "@dataclass\nclass B:\n    x: int = 1\n\n@dataclass\nclass A(B):\n    y: int\n",
    ],
)
def test_without_a_default_behind_one_with_a_default_is_refused(head: str) -> None:
    kind, message = refusal(head, {"op": "add_field", "target": "A", "code": "new: int"})
    assert kind == "would_not_compile"
    assert message == (
        "new has no default, but a field before it has one, at line 3; give it a default."
        if "NamedTuple" not in head
        else "new has no default, but a field before it has one, at line 2; give it a default."
    )


@pytest.mark.parametrize("code", ["limit: int = 0x3", "name : 'str'", "other = f"])
def test_no_change(code: str) -> None:
    before = BEFORE.replace("name: str", "name: 'str'")
    assert edit_code(before, {"op": "add_field", "target": "A", "code": code}) == before


def test_refusals() -> None:
    edit = {"op": "add_field", "target": "A", "code": "limit: int = 4"}
    assert refusal(BEFORE, edit) == (
        "conflict",
        "limit exists in A already, at line 6, with other code; choose another name, or replace "
        "that.",
    )
    assert refusal(BEFORE, {**edit, "code": "x = 1"}) == (
        "unsupported",
        "A field of A needs a type.",
    )
    typed = "class A(TypedDict):\n    x: int\n"
    assert refusal(typed, {**edit, "code": "y: int = 1"})[1] == (
        "A field of the TypedDict A has no value."
    )
    for code in ("x = y = 1", "x.y = 1", "pass", "x = 1; y = 2", "x, y = 1, 2"):
        assert refusal(BEFORE, {**edit, "code": code}) == (
            "unsupported",
            "add_field takes one field: name: type = value, or name = value.",
        )
