"""What an edit may not bring into a harness: new ways to run code, reach the network, read secrets.

Counted on the syntax tree of the file before and after; what the file did already is no news.
The list names the usual ways and the attribute tricks around them; the sandbox is what holds.
"""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator

_CALLS = frozenset(
    {"exec", "eval", "compile", "__import__", "globals", "locals", "vars", "breakpoint"}
)
_MODULES = frozenset(
    [
        "asyncio.subprocess",
        "code",
        "codeop",
        "ctypes",
        "cffi",
        "ftplib",
        "http",
        "importlib",
        "marshal",
        "multiprocessing",
        "pickle",
        "pty",
        "requests",
        "runpy",
        "shelve",
        "shutil",
        "smtplib",
        "socket",
        "socketserver",
        "subprocess",
        "telnetlib",
        "urllib",
        "webbrowser",
        "xmlrpc",
    ]
)
_ATTRIBUTES = frozenset(
    [
        "__builtins__",
        "__class__",
        "__bases__",
        "__mro__",
        "__subclasses__",
        "__globals__",
        "__code__",
        "__loader__",
        "__dict__",
        "__import__",
        "environ",
        "environb",
        "getenv",
        "putenv",
        "system",
        "popen",
        "spawnl",
        "spawnv",
        "execv",
        "execve",
        "fork",
        "posix_spawn",
        "modules",
    ]
)


def new_dangers(before: bytes, after: bytes) -> list[str]:
    """Names of dangerous things that `after` does more often than `before`, sorted."""
    return sorted((Counter(_dangers(after)) - Counter(_dangers(before))).keys())


def _dangers(source: bytes) -> Iterator[str]:
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            for alias in node.names:
                if alias.name in _MODULES or alias.name.split(".")[0] in _MODULES:
                    yield f"import {alias.name}"
        elif isinstance(node, ast.ImportFrom):
            module = node.module or ""
            if module in _MODULES or module.split(".")[0] in _MODULES:
                yield f"import {module}"
            for alias in node.names:
                if module in ("os", "sys", "builtins") and (
                    alias.name in _ATTRIBUTES or alias.name in _CALLS or alias.name == "*"
                ):
                    yield f"import {module}.{alias.name}"
        elif isinstance(node, ast.Name) and (node.id in _CALLS or node.id in _ATTRIBUTES):
            yield node.id
        elif isinstance(node, ast.Attribute) and node.attr in _ATTRIBUTES:
            yield node.attr
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            text = node.value.strip()
            if text in _CALLS or (
                text.startswith("__") and text.endswith("__") and text in _ATTRIBUTES
            ):
                yield f"the text {text!r}"
        elif (
            isinstance(node, ast.Call)
            and isinstance(node.func, ast.Name)
            and node.func.id in ("getattr", "setattr", "delattr")
            and len(node.args) > 1
            and not isinstance(node.args[1], ast.Constant)
        ):
            yield f"{node.func.id} with a computed name"
