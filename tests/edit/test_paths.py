"""Which files an edit may name."""

import pytest

from bot.edit.paths import EditablePaths
from bot.edit.refusal import Refused

PATHS = EditablePaths(
    ["harness/**/*.py", "prompts/*", "**/*.md"], ["harness/scoring.py", "Desk/**"]
)


@pytest.mark.parametrize(
    "path", ["harness/a.py", "harness/x/y/a.py", "prompts/p.txt", "a.md", "x/y.md", ".github/a.md"]
)
def test_editable(path: str) -> None:
    PATHS.check(path)


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        ("harness/a.txt", "not_editable"),
        ("prompts/x/p.txt", "not_editable"),
        ("Harness/a.py", "not_editable"),
        ("harness/../a.py", "not_editable"),
        ("/harness/a.py", "not_editable"),
        ("harness//a.py", "not_editable"),
        ("harness/./a.py", "not_editable"),
        ("harness/ a.py", "not_editable"),
        ("harness./a.py", "not_editable"),
        ("harness\\a.py", "not_editable"),
        ("C:/harness/a.py", "not_editable"),
        ("harness/a.py\n", "not_editable"),
        ("harness/a\u202e.py", "not_editable"),
        ("harness/\u200d.git/a.md", "not_editable"),
        ("", "not_editable"),
        ("x" * 2000 + ".md", "not_editable"),
        (".git/a.md", "not_editable"),
        ("a/.gitattributes", "not_editable"),
        (".GitModules", "not_editable"),
        ("x/.GIT/a.md", "not_editable"),
        ("git~1/a.md", "not_editable"),
        (".github/workflows/a.md", "workflow"),
        (".GitHub/Workflows/x/a.md", "workflow"),
        ("harness/scoring.py", "protected"),
        ("harness/SCORING.py", "protected"),
        ("harness/ſcoring.py", "protected"),
        ("desk/a.md", "protected"),
    ],
)
def test_refused(path: str, kind: str) -> None:
    with pytest.raises(Refused) as refused:
        PATHS.check(path)
    assert refused.value.kind == kind


def test_the_refusal_says_what_is_editable() -> None:
    with pytest.raises(Refused, match=r"lib/a.py is not editable in the table, which has: a/\*\*"):
        EditablePaths(["a/**"], []).check("lib/a.py")
