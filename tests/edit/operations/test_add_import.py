"""Add an import: before and after."""

import pytest

from tests.edit.making import block, edit_code, refusal

BEFORE = block('''
    """Doc."""

    from __future__ import annotations

    import json
    import sys
    from pathlib import Path

    # installed
    import click
    from pydantic import BaseModel

    from bot.errors import InputError

    X = 1
''')


def added(before: str, code: str) -> str:
    return edit_code(before, {"op": "add_import", "code": code})


@pytest.mark.parametrize(
    ("code", "old", "new"),
    [
        ("import re", "import sys", "import re\nimport sys"),
        ("import abc", "import json", "import abc\nimport json"),
        ("import zlib", "import sys\n", "import sys\nimport zlib\n"),
        ("from os import path", "from pathlib", "from os import path\nfrom pathlib"),
        ("from typing import Any", "import Path\n", "import Path\nfrom typing import Any\n"),
        ("import attrs", "# installed\n", "import attrs\n# installed\n"),
        ("from . import own", "InputError\n", "InputError\n\nfrom . import own\n"),
        (
            "from __future__ import generator_stop",
            "annotations\n",
            "annotations\nfrom __future__ import generator_stop\n",
        ),
        ("from pathlib import Path, PurePath", "Path\n", "Path\nfrom pathlib import PurePath\n"),
    ],
)
def test_in_its_group_where_the_alphabet_puts_it(code: str, old: str, new: str) -> None:
    assert added(BEFORE, code) == BEFORE.replace(old, new, 1)


@pytest.mark.parametrize(
    ("before", "code", "after"),
    [
        ("", "import re", "import re\n"),
        ("#!/bin/sh\n# licence\n\n# about x\nx = 1\n", "import re",
         "#!/bin/sh\n# licence\n\nimport re\n\n# about x\nx = 1\n"),
        ('"""Doc."""\ndef f(): pass\n', "import re",
         '"""Doc."""\n\nimport re\n\n\ndef f(): pass\n'),
        ("__version__ = '1'\nimport os\n\nos.x()\n", "import re",
         "__version__ = '1'\nimport os\nimport re\n\nos.x()\n"),
        ('"""Doc."""; x = 1\n', "from __future__ import annotations",
         '"""Doc."""\n\nfrom __future__ import annotations\n\nx = 1\n'),
        ("import a; import b\nx = 1\n", "import c", "import a; import b\nimport c\nx = 1\n"),
        ("if x:\n    import re\n", "import re", "import re\n\nif x:\n    import re\n"),
        ("b'no docstring'\n", "import re", "import re\n\nb'no docstring'\n"),
    ],
)  # fmt: skip
def test_in_a_module_of_another_kind(before: str, code: str, after: str) -> None:
    assert added(before, code) == after


@pytest.mark.parametrize(
    ("before", "code"),
    [
        (BEFORE, "import json  # again"),
        (BEFORE, "from pathlib import (Path)"),
        ("try:\n    import re\nexcept ImportError:\n    raise\n", "import re"),
        ("import a.b as c, d\n", "import d"),
        ("from . import x\n", "from .  import x"),
    ],
)
def test_no_change(before: str, code: str) -> None:
    assert added(before, code) == before


def test_a_name_that_means_something_else_is_refused() -> None:
    assert refusal("x = 1\nre = 2\n", {"op": "add_import", "code": "import re"}) == (
        "conflict",
        "re means something else at line 2; import it `as` another name.",
    )
    assert refusal("from a import re\n", {"op": "add_import", "code": "import re"})[0] == "conflict"
    assert added("import os.path\n", "import os.sub") == "import os.path\nimport os.sub\n"


@pytest.mark.parametrize("code", ["x = 1", "import a; import b", "import a\nimport b"])
def test_other_code_is_refused(code: str) -> None:
    edit = {"op": "add_import", "code": code}
    assert refusal(BEFORE, edit) == ("unsupported", "add_import takes one import statement.")
