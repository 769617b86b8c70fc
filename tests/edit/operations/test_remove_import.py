"""Remove an import: before and after."""

import pytest

from tests.edit.making import block, edit_code, refusal

BEFORE = block('''
    #!/bin/sh
    """Doc."""

    from __future__ import annotations

    import json
    import os.path  # paths

    # installed
    import click
    import yaml
    # for b
    from a import b, c as d, (
''').replace(", (\n", "\n") + block("""
    from pathlib import (
        Path,  # of files
        PurePath,  # of others
    )


    def f(): pass
""")


def removed(before: str, code: str, **fields: object) -> str:
    return edit_code(before, {"op": "remove_import", "code": code} | fields)


@pytest.mark.parametrize(
    ("code", "old", "new"),
    [
        ("from __future__ import annotations", "from __future__ import annotations\n\n", ""),
        ("import json", "import json\n", ""),
        ("import os.path", "import os.path  # paths\n", ""),
        ("import click", "import click\n", ""),
        ("import yaml", "import yaml\n", ""),
        ("from a import b", "b, c as d", "c as d"),
        ("from a import c as d", "b, c as d", "b"),
        ("from a import c as d, b", "# for b\nfrom a import b, c as d\n", ""),
        ("from pathlib import Path", "    Path,  # of files\n", ""),
        ("from pathlib import PurePath", "    PurePath,  # of others\n", ""),
        ("import json, yaml", "import json\n", ""),
    ],
)
@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_what_goes(code: str, old: str, new: str, newline: str) -> None:
    after = BEFORE.replace(old, new, 1)
    if code == "import json, yaml":
        after = after.replace("import yaml\n", "")
    if code.endswith("d, b"):
        # Its comment headed a group that goes on.
        after = BEFORE.replace(old, "# for b\n", 1)
    assert removed(BEFORE.replace("\n", newline), code) == after.replace("\n", newline)


@pytest.mark.parametrize(
    ("before", "code", "after"),
    [
        ("import a\n\nx = 1\n", "import a", "x = 1\n"),
        ("import a\n", "import a", "\n"),
        ("# licence\n\nimport a\n\n\ndef f(): pass\n", "import a",
         "# licence\n\n\ndef f(): pass\n"),
        ('"""Doc."""\n\nimport a\n\n\nx = 1\n', "import a", '"""Doc."""\n\n\nx = 1\n'),
        ("import a; import b; x = 1\n", "import a", "import b; x = 1\n"),
        ("x = 1; import a\n", "import a", "x = 1\n"),
        ("x = 1; import a;\n", "import a", "x = 1;\n"),
        ("if x:\n\timport a  # why\n\ny = 1\n", "import a", "if x:\n\tpass\n\ny = 1\n"),
        ("if x: import a\n", "import a", "if x: pass\n"),
        ("try:\n  # why\n  import a\nexcept ImportError:\n  b = 1\n", "import a",
         "try:\n  # why\n  pass\nexcept ImportError:\n  b = 1\n"),
        ("try:\n  import a\nexcept ImportError:\n  import b as a\n", "import b as a",
         "try:\n  import a\nexcept ImportError:\n  pass\n"),
        ("from a import (b, c)\n", "from a import c", "from a import (b)\n"),
        ("from a import (\n  b,\n  c\n)\n", "from a import c", "from a import (\n  b\n)\n"),
        ("from a import (\n  b,  # B\n  c  # C\n)\n", "from a import b",
         "from a import (\n  c  # C\n)\n"),
        ("import a\nimport a\n", "import a", "\n"),
        ("import a\nif x:\n  import a\n  import b\n", "import a", "if x:\n  import b\n"),
        ("import a\nif x:\n  import a\n  try: import a\n  finally: y\n", "import a",
         "if x:\n  try: pass\n  finally: y\n"),
        ("import a.b, a.c\na.c.x\n", "import a.b", "import a.c\na.c.x\n"),
        ("from . import a\n", "from . import a", "\n"),
        ("import a\ndef f(a): return a\n", "import a", "def f(a): return a\n"),
    ],
)  # fmt: skip
def test_in_a_module_of_another_kind(before: str, code: str, after: str) -> None:
    assert removed(before, code) == after


def test_a_used_name_on_demand() -> None:
    before = "import a\nfrom b import *\na.x\n"
    assert removed(before, "import a", unused_only=False) == "from b import *\na.x\n"
    assert removed(before, "from b import *", unused_only=False) == "import a\na.x\n"


@pytest.mark.parametrize("code", ["import a", "from b import d", "import b", "from .b import c"])
def test_no_change(code: str) -> None:
    before = "import a as x, a.b as y\nfrom b import c as d\ndef f():\n  import a\n"
    assert removed(before, code) == before


@pytest.mark.parametrize(
    ("before", "line"),
    [
        ("import a\n\na.x\n", 3),
        ("import a\ndef f():\n  return [a for _ in x]\n", 3),
        ("import a\n__all__ = ['b', 'a']\n", 2),
        ("import a\nx: 'a.B' = 1\n", 2),
        ("import a\nx = a = 1\na\n", 3),
        ("import a.b\na.c\n", 2),
        ("import a.b, a.c\na.b.x\n", 2),
    ],
)
def test_a_used_name_is_refused(before: str, line: int) -> None:
    code = "import a.b" if "a.b" in before else "import a"
    name = code.removeprefix("import ")
    assert refusal(before, {"op": "remove_import", "code": code}) == (
        "conflict",
        f"{name} is still used at line {line}; with unused_only: false, the import is removed "
        "anyway.",
    )


def test_refusals() -> None:
    edit = {"op": "remove_import", "code": "from b import *"}
    assert refusal("from b import *\n", edit) == (
        "conflict",
        "It cannot be told which names at line 1 come from the star; with unused_only: false, "
        "the import is removed anyway.",
    )
    assert refusal("", {**edit, "code": "x = 1"}) == (
        "unsupported",
        "remove_import takes one import statement.",
    )
