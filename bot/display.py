"""What may reach a person's terminal, log or a stored text, and the progress line on stderr.

Trajectories and model answers are hostile text: control characters, ANSI and bidirectional
overrides never reach a terminal raw, and nothing that looks like a secret is printed or stored.
"""

from __future__ import annotations

import base64
import os
import re
import sys
import time
import unicodedata
from datetime import UTC, datetime
from types import TracebackType
from typing import TextIO

_SECRET = re.compile(
    r"""
    gh[pousr]_[A-Za-z0-9]{20,} | github_pat_[A-Za-z0-9_]{20,}   # GitHub
    | sk-[A-Za-z0-9_-]{16,}                                     # OpenAI and alike
    | xox[abprs]-[A-Za-z0-9-]{10,}                              # Slack
    | AKIA[0-9A-Z]{16}                                          # AWS key id
    | AIza[0-9A-Za-z_-]{30,}                                    # Google
    | hf_[A-Za-z0-9]{20,}
    # JWT; without an upper bound a long text of "eyJ" would take its length squared
    | eyJ[A-Za-z0-9_-]{10,2000}\.[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{5,}
    | -----BEGIN[ ][A-Z ]*PRIVATE[ ]KEY-----.*?(?:-----END[ ][A-Z ]*PRIVATE[ ]KEY-----|\Z)
    """,
    re.VERBOSE | re.DOTALL,
)
_URL_CREDENTIALS = re.compile(r"(?<=://)[^/\s:@]+:[^/\s@]+(?=@)")
_AUTHORIZATION = re.compile(r"(?i)\b(bearer|basic)\s+[A-Za-z0-9._~+/=-]{8,}")
_ESCAPE_SEQUENCE = re.compile(
    r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)?|.)", re.DOTALL
)
_HIDDEN = {"Cc", "Cf", "Cs", "Co", "Zl", "Zp"}
# What a forge acts on wherever it stands.
_MENTION = re.compile(r"(?<!\w)@(?=[\w-])")
_ISSUE = re.compile(r"#(?=\d)")
_ISSUE_GH = re.compile(r"\b(GH)-(?=\d)", re.IGNORECASE)
_ISSUE_URL = re.compile(r"/(issues|pulls?|merge_requests|discussions|commit)/(?=\w)")
_SKIP_CI = re.compile(
    r"\[\s*((?:skip|no)[ -](?:ci|actions)|(?:ci|actions)[ -]skip)\s*\]", re.IGNORECASE
)

_known_secrets: set[str] = set()


def remember_secret(secret: str) -> None:
    """From now on `scrub` removes this value and its base64 form."""
    if len(secret) >= 6:
        _known_secrets.add(secret)
        _known_secrets.add(base64.b64encode(secret.encode()).decode())


def scrub(text: str) -> str:
    """`text` with everything that is, or looks like, a secret replaced by `[secret]`."""
    for secret in sorted(_known_secrets, key=len, reverse=True):
        text = text.replace(secret, "[secret]")
    text = _SECRET.sub("[secret]", text)
    text = _URL_CREDENTIALS.sub("[secret]", text)
    return _AUTHORIZATION.sub(lambda match: f"{match.group(1)} [secret]", text)


def printable(text: str, limit: int | None = None, *, lines: bool = False) -> str:
    """`text` without control, ANSI and bidirectional characters; one line unless `lines`.

    With `limit`, at most that many characters, the cut marked by `…`.
    """
    if text.isprintable() and "  " not in text and text.strip() == text:
        return text if limit is None or len(text) <= limit else text[: max(limit - 1, 0)] + "…"
    if "\x1b" in text:
        text = _ESCAPE_SEQUENCE.sub("", text)
    if not lines:
        text = " ".join(text.split())
    if not text.isprintable():  # else nothing is hidden, and most texts are like that
        text = "".join(
            char
            for char in text
            if (lines and char in "\n\t") or unicodedata.category(char) not in _HIDDEN
        )
    if limit is not None and len(text) > limit:
        text = text[: max(limit - 1, 0)] + "…"
    return text


def defuse(text: str) -> str:
    """`text` without secrets and control characters, its references and mentions broken up."""
    text = scrub(printable(text, lines=True))
    text = _SKIP_CI.sub(r"(\1)", text)
    text = _ISSUE_URL.sub(r"/\1/ ", text)
    text = _ISSUE.sub("# ", text)
    text = _ISSUE_GH.sub(r"\1 ", text)
    return _MENTION.sub("@ ", text)


def count(number: int, noun: str, plural: str | None = None) -> str:
    """`1 task`, `2 tasks`."""
    return f"{number} {noun if number == 1 else plural or noun + 's'}"


def show_seconds(seconds: float) -> str:
    """`8s`, `3m05s`, `2h10m`."""
    whole = round(seconds)
    if whole < 60:
        return f"{whole}s"
    if whole < 3600:
        return f"{whole // 60}m{whole % 60:02d}s"
    return f"{whole // 3600}h{whole % 3600 // 60:02d}m"


def show_day(when: int) -> str:
    """Seconds since 1970 as a date, UTC."""
    try:
        return datetime.fromtimestamp(when, UTC).strftime("%Y-%m-%d")
    except (ValueError, OverflowError, OSError):
        return "no date"


class Progress:
    """One line on stderr that says what is going on; silent for the first `delay` seconds.

    On a terminal the line is redrawn; elsewhere (CI logs) a line is printed every 15 s.
    `--quiet` and `--json` do not change it: stdout is never written.
    """

    def __init__(
        self,
        what: str,
        total: int | None = None,
        *,
        delay: float = 1.0,
        stream: TextIO | None = None,
        quiet: bool = False,
    ) -> None:
        self.what, self.total, self.done, self.note = what, total, 0, ""
        self._stream = stream or sys.stderr
        self._live = self._stream.isatty() and os.environ.get("TERM") != "dumb"
        self._started = time.monotonic()
        self._next = self._started + (delay if self._live else max(delay, 5.0))
        self._drawn = False
        self._quiet = quiet or bool(os.environ.get("ECDYSIS_QUIET"))

    def __enter__(self) -> Progress:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._clear()

    def advance(self, by: int = 1, note: str | None = None) -> None:
        """`by` more of `total` are done; `note` stands behind the count."""
        self.update(self.done + by, note)

    def update(self, done: int, note: str | None = None) -> None:
        self.done = done
        if note is not None:
            self.note = note
        now = time.monotonic()
        if self._quiet or now < self._next:
            return
        self._next = now + (0.1 if self._live else 15.0)
        line = self._line(now - self._started)
        if self._live:
            self._stream.write(f"\r\x1b[K{printable(line, 100)}")
        else:
            self._stream.write(printable(line) + "\n")
        self._stream.flush()
        self._drawn = True

    def _line(self, elapsed: float) -> str:
        line = f"{self.what}: {self.done}"
        if self.total:
            line += f"/{self.total}"
            if 0 < self.done < self.total:
                left = elapsed / self.done * (self.total - self.done)
                line += f", {show_seconds(left)} left"
        return f"{line} {self.note}".rstrip()

    def _clear(self) -> None:
        if self._drawn and self._live:
            self._stream.write("\r\x1b[K")
            self._stream.flush()


def say(text: str) -> None:
    """One line on stderr: what the bot is doing now."""
    if not os.environ.get("ECDYSIS_QUIET"):
        print(scrub(printable(text)), file=sys.stderr, flush=True)
