"""Check the arguments of a tool call against what the tool declares."""

import json
import re
from typing import Any, NamedTuple

TYPES: dict[str, Any] = {"text": str, "number": (int, float), "flag": bool, "list": list}
LONGEST = 12
MOST_PROBLEMS = 3


class Problem(NamedTuple):
    path: str
    text: str


def check_type(path, value, wanted):
    if wanted not in TYPES:
        return [Problem(path, f"unknown type {wanted}")]
    if isinstance(value, bool) and wanted == "number":
        return [Problem(path, "a flag is no number")]
    if not isinstance(value, TYPES[wanted]):
        shown = json.dumps(value)[:LONGEST]
        return [Problem(path, f"{shown} is no {wanted}")]
    return []


def check_choice(path, value, choices):
    if value in choices:
        return []
    shown = json.dumps(value)[:LONGEST]
    return [Problem(path, f"{shown} is none of {', '.join(map(str, choices))}")]


def check_object(schema, value, path=""):
    problems = []
    for name, rule in schema.items():
        here = f"{path}.{name}" if path else name
        if name not in value:
            if rule.get("required"):
                problems.append(Problem(here, "missing"))
            continue
        problems.extend(check_value(rule, value[name], here))
    for name in value:
        if name not in schema:
            problems.append(Problem(name, "not known"))
    return problems


def check_record(schema, value, path=""):
    problems = []
    for name, rule in schema.items():
        here = f"{path}/{name}" if path else name
        if name not in value:
            if rule.get("required"):
                problems.append(Problem(here, "absent"))
            continue
        problems.extend(check_value(rule, value[name], here))
    return problems


def check_value(rule, value, path):
    problems = check_type(path, value, rule.get("type", "text"))
    if problems:
        return problems
    if "choices" in rule:
        problems += check_choice(path, value, rule["choices"])
    if "pattern" in rule and not re.fullmatch(rule["pattern"], str(value)):
        problems.append(Problem(path, "does not match"))
    if "most" in rule and len(value) > rule["most"]:
        problems.append(Problem(path, "too long"))
    return problems


def repair(schema, value):
    repaired = dict(value)
    for name, rule in schema.items():
        given = repaired.get(name)
        if given is None:
            if "default" in rule:
                repaired[name] = rule["default"]
            continue
        if rule.get("type") == "number" and isinstance(given, str):
            digits = given.strip()
            if digits.isdigit():
                repaired[name] = int(digits)
        if rule.get("type") == "flag" and isinstance(given, str):
            repaired[name] = given.lower() == "true"
    return repaired


def message(problems):
    if not problems:
        return "ok"
    lines = [f"{path}: {text}" for path, text in problems[:MOST_PROBLEMS]]
    rest = len(problems) - MOST_PROBLEMS
    if rest > 0:
        lines.append(f"and {rest} more")
    return "; ".join(lines)


def brief(problems):
    if not problems:
        return "fine"
    lines = [path for path, _ in problems[:MOST_PROBLEMS]]
    rest = len(problems) - MOST_PROBLEMS
    if rest > 0:
        lines.append(f"{rest} more")
    return ", ".join(lines)
