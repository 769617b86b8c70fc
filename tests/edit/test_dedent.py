"""Code as it was cut out of a file, without its indentation."""

import pytest

from bot.edit.dedent import dedent_code


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("x = 1\n    y", "x = 1\n    y"),
        ("    x = 1\n      y", "x = 1\n  y"),
        ("\n\n  a\r\n\n \n  b\n", "a\n\n\nb"),
        ("\tif a:\n\t\tb", "if a:\n\tb"),
        ("    # c\n    x = 1", "# c\nx = 1"),
        # What lies inside a string is no indentation.
        ('    s = """a\n  b\n"""\n    return s', 's = """a\n  b\n"""\nreturn s'),
        ('  a = f"""\n{x}\n    """\n  b', 'a = f"""\n{x}\n    """\nb'),
        ('    x = """a\n      b"""; y = 2\n    z', 'x = """a\n      b"""; y = 2\nz'),
        # Nor do lines in brackets, and comments, say how deep the code is.
        ("    x = (\n  1)\n    y", "x = (\n1)\ny"),
        ("    a\n  # low\n    b", "a\n# low\nb"),
        # What is no code is taken by its lines.
        ("    'x\n      y", "'x\n  y"),
        ("    (\n      y", "(\n  y"),
    ],
)
def test_dedent(code: str, expected: str) -> None:
    assert dedent_code(code) == expected
