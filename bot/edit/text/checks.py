"""Whether a change leaves a text well-formed, and what is outside of it as it was."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from pathlib import PurePosixPath

from bot.edit.refusal import Refused
from bot.edit.text.change import Change
from bot.edit.text.lines import line_at
from bot.edit.text.nodes import Malformed, Node, differing, repeated_keys

# Suffix → what the format is called, and its reader: `module:function`. Imported when a file of
# the kind is edited, as the parsers take longer to load than most edits take.
_JINJA = ("Jinja", "jinja_tree:read_jinja")
_LINES = ("JSON Lines", "json_tree:read_json_lines")
_MARKDOWN = ("Markdown", "markdown_tree:read_markdown")
_YAML = ("YAML", "yaml_tree:read_yaml")
_FORMATS = {
    ".j2": _JINJA,
    ".jinja": _JINJA,
    ".jinja2": _JINJA,
    ".json": ("JSON", "json_tree:read_json"),
    ".jsonl": _LINES,
    ".markdown": _MARKDOWN,
    ".md": _MARKDOWN,
    ".ndjson": _LINES,
    ".toml": ("TOML", "toml_tree:read_toml"),
    ".yaml": _YAML,
    ".yml": _YAML,
}


def check_change(path: str, change: Change) -> None:
    """Refused where the change breaks the file, or reaches beyond what it changes.

    A file of an unknown kind, or that is not well-formed before, is not checked: the change may
    be what repairs it.
    """
    name, reader = _FORMATS.get(PurePosixPath(path).suffix.lower(), ("", ""))
    if not reader:
        return
    module, _, function = reader.partition(":")
    read: Callable[[str], Node] = getattr(import_module(f"bot.edit.text.{module}"), function)
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
    documents = [_documents(before), _documents(after)]
    if (documents[0] > 1) != (documents[1] > 1):
        # Whoever reads the one document of a file fails at a second one.
        raise Refused(
            "conflict",
            f"{path} would hold {documents[1]} {name} documents where it holds {documents[0]}, "
            "which what reads it may not expect: leave out, or keep, the line ---.",
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


def _documents(root: Node) -> int:
    """How many documents a text holds; none where its format knows no such thing."""
    return sum(child.says == "document" for child in root.children)
