import base64
import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.display import Progress, count, printable, remember_secret, scrub, show_seconds


@pytest.mark.parametrize(
    ("hostile", "shown"),
    [
        ("\x1b[31mred\x1b[0m", "red"),
        ("a\x1b]0;title\x07b", "ab"),
        ("a\x1b]8;;http://x\x1b\\link", "alink"),
        ("line\r\nnext", "line next"),
        ("safe\u202egnp.exe", "safegnp.exe"),
        ("nul\x00bell\x07", "nulbell"),
        ("\x9b31mc1", "31mc1"),
    ],
)
def test_printable_takes_out_what_a_terminal_would_obey(hostile: str, shown: str) -> None:
    assert printable(hostile) == shown


@given(st.text())
def test_printable_never_leaves_a_control_character(text: str) -> None:
    for lines in (False, True):
        shown = printable(text, lines=lines)
        assert all(char in "\n\t" or char >= " " for char in shown)
        assert "\x1b" not in shown
        assert not any("\x7f" <= char <= "\x9f" for char in shown)


def test_limit_marks_the_cut() -> None:
    assert printable("abcdef", 4) == "abc…"
    assert printable("abcd", 4) == "abcd"


@pytest.mark.parametrize(
    "secret",
    [
        "ghp_" + "a1" * 18,
        "github_pat_" + "A1b2" * 10,
        "sk-proj-" + "x9" * 12,
        "AKIA" + "ABCD1234" * 2,
        "hf_" + "Q1" * 15,
        "-----BEGIN RSA PRIVATE KEY-----\nMIIE\n-----END RSA PRIVATE KEY-----",
    ],
)
def test_scrub_removes_what_looks_like_a_secret(secret: str) -> None:
    scrubbed = scrub(f"before {secret} after")
    assert scrubbed == "before [secret] after"


def test_scrub_removes_credentials_in_urls_and_headers() -> None:
    assert scrub("https://me:hunter22@host/x") == "https://[secret]@host/x"
    assert scrub("Authorization: Bearer abcdefgh1234") == "Authorization: Bearer [secret]"


def test_a_remembered_secret_goes_in_its_base64_form_too() -> None:
    remember_secret("open-sesame-77")
    encoded = base64.b64encode(b"open-sesame-77").decode()
    assert scrub(f"open-sesame-77 {encoded}") == "[secret] [secret]"


def test_progress_is_silent_for_short_work_and_prints_lines_elsewhere() -> None:
    stream = io.StringIO()
    with Progress("episodes", 3, stream=stream) as progress:
        progress.advance()
    assert stream.getvalue() == ""


def test_words() -> None:
    assert count(1, "task") == "1 task"
    assert count(2, "reply", "replies") == "2 replies"
    assert show_seconds(8.2) == "8s"
    assert show_seconds(185) == "3m05s"
    assert show_seconds(7800) == "2h10m"
