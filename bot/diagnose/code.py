"""Python text that operators write into a harness: names that are free, literals that read well."""

from __future__ import annotations

import ast
import builtins
import json

from bot.diagnose.catalog import Situation


def defines(module: ast.Module, name: str) -> bool:
    """Whether a module has a top-level function or constant of that name.

    An operator that finds its own name has been at work there before.
    """
    for node in module.body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            names = [node.name]
        elif isinstance(node, ast.Assign):
            names = [t.id for t in node.targets if isinstance(t, ast.Name)]
        else:
            continue
        if name in names:
            return True
    return False


def free_name(module: ast.Module, wanted: str) -> str:
    """`wanted`, or `wanted_2`, `_3`, … where the module uses that name already."""
    used = {node.id for node in ast.walk(module) if isinstance(node, ast.Name)}
    used |= {
        node.name
        for node in ast.walk(module)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)
    }
    used |= {node.arg for node in ast.walk(module) if isinstance(node, ast.arg)}
    used |= {
        (alias.asname or alias.name).split(".")[0]
        for node in ast.walk(module)
        if isinstance(node, ast.Import | ast.ImportFrom)
        for alias in node.names
    }
    used |= set(dir(builtins))
    names = [wanted, *(f"{wanted}_{number}" for number in range(2, 1000))]
    return next(name for name in names if name not in used)


def quote(text: str) -> str:
    """A double-quoted Python literal, in ASCII where the text is."""
    return json.dumps(text, ensure_ascii=False)


def literal(value: object, indent: int = 0) -> str:
    """A nested dict, list, tuple or text as Python source, one entry a line where it is long."""
    pad, inner = " " * indent, " " * (indent + 4)
    if isinstance(value, dict):
        flat = "{" + ", ".join(f"{literal(k)}: {literal(v)}" for k, v in value.items()) + "}"
        if len(flat) + indent <= 88 and "\n" not in flat:
            return flat
        rows = [f"{inner}{literal(k)}: {literal(v, indent + 4)}," for k, v in value.items()]
        return "{\n" + "\n".join(rows) + f"\n{pad}}}"
    if isinstance(value, list | tuple):
        opening, closing = ("[", "]") if isinstance(value, list) else ("(", ")")
        comma = "," if isinstance(value, tuple) and len(value) == 1 else ""
        flat = opening + ", ".join(literal(v) for v in value) + comma + closing
        if len(flat) + indent <= 88 and "\n" not in flat:
            return flat
        rows = [f"{inner}{literal(v, indent + 4)}," for v in value]
        return f"{opening}\n" + "\n".join(rows) + f"\n{pad}{closing}"
    return quote(value) if isinstance(value, str) else repr(value)


def predicted(situation: Situation) -> list[str]:
    """The train tasks whose failed episodes show the pattern, each once, in order."""
    return list(dict.fromkeys(episode.task_id for episode in situation.showing))
