"""What can be said against a change of files without running it, whoever made it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from bot.edit.apply import increased, is_python, new_dangers, too_dangerous
from bot.edit.interpreter import EMPTY, HarnessInterpreter, Source
from bot.edit.text_dangers import text_dangers


def review_files(
    before: Mapping[str, bytes], after: Mapping[str, bytes], *, python: str, allow: Sequence[str]
) -> str | None:
    """One sentence about the first file that breaks, or that brings a danger; or None.

    `before` and `after` hold the files that differ, path to content; `python` is the harness's
    interpreter and `allow` names dangers that are accepted.
    """
    paths = [path for path in after if is_python(path)]
    old = [Source(before[path]) if path in before else EMPTY for path in paths]
    judged = HarnessInterpreter(python).judge([*old, *(Source(after[path]) for path in paths)])
    for path, was, now in zip(paths, judged[: len(paths)], judged[len(paths) :], strict=True):
        if was.compiles and not now.compiles:
            return f"{path} does not compile: {now.reason}."
        new = new_dangers(was, now, allow)
        if new:
            return too_dangerous(path, new)
    for path in after:
        if not is_python(path):
            counts = text_dangers(path, before.get(path, b""), after[path])
            new = increased(*counts, allow)
            if new:
                return too_dangerous(path, new)
    return None
