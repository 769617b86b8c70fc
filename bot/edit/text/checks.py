"""Whether a change leaves a text well-formed, and what is outside of it as it was."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import PurePosixPath

from bot.edit.refusal import Refused
from bot.edit.text.change import Change
from bot.edit.text.jinja_tree import read_jinja
from bot.edit.text.json_tree import read_json, read_json_lines
from bot.edit.text.lines import line_at
from bot.edit.text.markdown_tree import read_markdown
from bot.edit.text.nodes import Malformed, Node, differing, repeated_keys
from bot.edit.text.toml_tree import read_toml
from bot.edit.text.yaml_tree import read_yaml

_FORMATS: dict[str, tuple[str, Callable[[str], Node]]] = {
    ".j2": ("Jinja", read_jinja),
    ".jinja": ("Jinja", read_jinja),
    ".jinja2": ("Jinja", read_jinja),
    ".json": ("JSON", read_json),
    ".jsonl": ("JSON Lines", read_json_lines),
    ".markdown": ("Markdown", read_markdown),
    ".md": ("Markdown", read_markdown),
    ".ndjson": ("JSON Lines", read_json_lines),
    ".toml": ("TOML", read_toml),
    ".yaml": ("YAML", read_yaml),
    ".yml": ("YAML", read_yaml),
}


def check_change(path: str, change: Change) -> None:
    """Refused where the change breaks the file, or reaches beyond what it changes.

    A file of an unknown kind, or that is not well-formed before, is not checked: the change may
    be what repairs it.
    """
    name, read = _FORMATS.get(PurePosixPath(path).suffix.lower(), ("", None))
    if read is None:
        return
    try:
        before = read(change.before)
    except Malformed:
        return
    try:
        after = read(change.after)
    except Malformed as error:
        raise Refused(
            "would_not_compile",
            f"{path} would not be well-formed {name}: line {error.line}: {error}.",
        ) from None
    place = differing(before, after, change.start, change.stop, change.stop_after)
    if place is not None:
        raise Refused(
            "conflict",
            f"Line {line_at(change.before, place)} of {path}, outside of the edit's place, would "
            f"mean something else in {name}: see to the indentation, brackets and marks in the "
            "code, or give a larger anchor.",
        )
    known = repeated_keys(before)
    for said, nodes in repeated_keys(after).items():
        if len(nodes) > len(known.get(said, [])):
            key = nodes[-1]
            text, line = change.after[key.start : key.stop], line_at(change.after, key.start)
            raise Refused(
                "conflict",
                f"The key {text[:80]} would stand twice in one place of {path}, see line {line}.",
            )
