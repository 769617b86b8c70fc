"""Find the action in what a model has written."""

import json
import re
import textwrap

FENCE = "```"
DEFAULT_TOOL = "shell"
KNOWN = {"shell", "edit", "finish"}


def strip_fence(text):
    """What stands between the fences, else the text itself."""
    lines = text.strip().splitlines()
    if lines and lines[0].startswith(FENCE):
        lines = lines[1:]
    if lines and lines[-1].startswith(FENCE):
        lines = lines[:-1]
    return "\n".join(lines)


def strip_quotes(text):
    lines = text.strip().splitlines()
    if lines and lines[0].startswith('"""'):
        lines = lines[1:]
    if lines and lines[-1].startswith('"""'):
        lines = lines[:-1]
    return "\n".join(lines)


def parse_json(text):
    body = strip_fence(text)
    try:
        value = json.loads(body)
    except ValueError:
        return None
    if not isinstance(value, dict):
        return None
    return {"tool": value.get("tool", DEFAULT_TOOL), "args": value.get("args", {})}


def parse_tagged(text):
    found = re.search(r"<tool name=\"(\w+)\">(.*?)</tool>", text, re.DOTALL)
    if found is None:
        return None
    name, body = found.groups()
    if name not in KNOWN:
        return None
    args = {}
    for line in textwrap.dedent(body).strip().splitlines():
        key, _, value = line.partition(":")
        args[key.strip()] = value.strip()
    return {"tool": name, "args": args}


def parse_lines(text):
    args = {}
    for line in text.splitlines():
        key, _, value = line.partition("=")
        args[key.strip()] = value.strip()
    if not args:
        return None
    name = args.pop("tool", DEFAULT_TOOL)
    if name not in KNOWN:
        return None
    return {"tool": name, "args": args}


class Parser:
    """Tries one form after the other."""

    def __init__(self, strict=False):
        self.strict = strict
        self.seen = []

    def parse(self, text):
        for form in (parse_json, parse_tagged, parse_lines):
            action = form(text)
            if action is not None:
                self.seen.append(form.__name__ if self.strict else "form")
                return action
        return {"tool": "finish", "args": {}}

    def peek(self, text):
        for form in (parse_json, parse_tagged, parse_lines):
            action = form(text)
            if action is not None:
                return action
        return {"tool": "finish", "args": {}}

    def describe(self):
        count = len(self.seen)
        if count == 0:
            return "nothing parsed"
        return f"parsed {count}"
