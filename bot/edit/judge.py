"""What the harness's interpreter says of source code; its text runs there with `-I -S -c`.

Standard library only, and no syntax newer than Python 3.9. Reads a JSON list of
`{"source": base64, "whole": bool}` on standard input and writes a JSON list of
`{"parses", "compiles", "line", "message", "dangers": {what: count}}`. Nothing that it reads is
executed. `dangers` are ways to run code, reach the network or read secrets, counted on the syntax
tree. The list has the usual ways and the tricks around them; the sandbox is what holds.
"""

from __future__ import annotations

import ast
import base64
import json
import sys
import warnings
from collections import Counter
from collections.abc import Iterator
from typing import Any


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


BUILTINS = _words("exec eval compile __import__ globals locals breakpoint __builtins__")
MODULES = _words(
    """
    _pickle _posixsubprocess _socket aiohttp asyncio.subprocess bdb builtins cProfile cffi
    cloudpickle code codeop ctypes dill doctest ftplib http http.client http.server httpx imp
    importlib joblib marshal multiprocessing nntplib paramiko pdb pickle pkgutil posix pty requests
    runpy shelve shutil smtplib socket socketserver subprocess telnetlib timeit urllib
    urllib.request urllib3 webbrowser websocket websockets xmlrpc zipimport
    """
)
# Dangerous wherever they stand.
ATTRIBUTES = _words(
    """
    __base__ __bases__ __builtins__ __closure__ __code__ __getattribute__ __globals__ __import__
    __loader__ __mro__ __reduce__ __reduce_ex__ __subclasses__ _getframe CodeType cr_frame
    create_subprocess_exec create_subprocess_shell environ environb f_builtins f_globals f_locals
    getenv getenvb gi_frame open_connection putenv read_pickle subprocess_exec subprocess_shell
    tb_frame unsafe_load
    """
)
# Dangerous in a file that can reach `os` or `sys` by name; elsewhere ordinary words.
OS_ATTRIBUTES = _words(
    """
    execl execle execlp execlpe execv execve execvp execvpe fork forkpty modules popen posix_spawn
    posix_spawnp spawnl spawnle spawnlp spawnlpe spawnv spawnve spawnvp spawnvpe startfile system
    """
)
BY_NAME = frozenset(["getattr", "setattr", "delattr", "attrgetter", "methodcaller"])


def judge(source: bytes, whole: bool) -> dict[str, Any]:
    """Whether `source` parses and, as a whole file, compiles; where not; what is dangerous."""
    answer: dict[str, Any] = {"parses": False, "compiles": False, "line": None, "message": ""}
    answer["dangers"] = {}
    try:
        tree = ast.parse(source)
        answer["parses"] = True
        answer["dangers"] = dict(Counter(dangers(tree)))
        if whole:
            compile(source, "harness", "exec", dont_inherit=True)
            answer["compiles"] = True
    except SyntaxError as error:
        answer.update(line=error.lineno, message=error.msg)
    except (RecursionError, MemoryError):
        answer.update(message="it is nested too deep for this interpreter")
    except (ValueError, OverflowError, LookupError) as error:
        answer.update(message=str(error) or type(error).__name__)
    return answer


def dangers(tree: ast.AST) -> Iterator[str]:
    """A name for each dangerous thing in the tree."""
    nodes = list(ast.walk(tree))
    reaches_os = any(_brings_os(node) for node in nodes)
    for node in nodes:
        if isinstance(node, ast.Import):
            for alias in node.names:
                if _is_dangerous(alias.name):
                    yield "import " + alias.name
        elif isinstance(node, ast.ImportFrom) and not node.level:
            yield from _imported(node)
        elif isinstance(node, ast.Name):
            if node.id in BUILTINS or node.id in ATTRIBUTES:
                yield node.id
        elif isinstance(node, ast.Attribute):
            if _is_dangerous_attribute(node, reaches_os):
                yield node.attr
        elif isinstance(node, ast.Call):
            yield from _by_name(node)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            # Ordinary words such as "system" say nothing; `__import__` in a text does.
            hidden = node.value.startswith("__") and node.value in ATTRIBUTES | BUILTINS
            if hidden:
                yield "the text " + repr(node.value)


def _is_dangerous_attribute(node: ast.Attribute, reaches_os: bool) -> bool:
    if node.attr == "__dict__":
        return not _is_self(node.value)
    return node.attr in ATTRIBUTES or (reaches_os and node.attr in OS_ATTRIBUTES)


def _brings_os(node: ast.AST) -> bool:
    if isinstance(node, ast.Import):
        return any(alias.name.split(".")[0] in ("os", "sys", "posix", "nt") for alias in node.names)
    if isinstance(node, ast.ImportFrom):
        return any(alias.name in ("os", "sys", "posix", "nt") for alias in node.names)
    return isinstance(node, ast.Name) and node.id in ("os", "sys", "posix", "nt")


def _is_dangerous(module: str) -> bool:
    # `urllib.parse` is harmless; `http` and `urllib` alone give access to the rest.
    return module in MODULES or (
        module.split(".")[0] in MODULES - {"urllib", "http"} and "." in module
    )


def _imported(node: ast.ImportFrom) -> Iterator[str]:
    module = node.module or ""
    for alias in node.names:
        if _is_dangerous(module) and module not in ("http", "urllib"):
            yield "import " + module
        elif _is_dangerous(module + "." + alias.name) or (
            module in ("os", "sys", "types", "asyncio", "operator")
            and (alias.name == "*" or alias.name in ATTRIBUTES | OS_ATTRIBUTES)
        ):
            yield "import " + module + "." + alias.name


def _by_name(node: ast.Call) -> Iterator[str]:
    """Attributes reached by their name as a text: `getattr(os, "sys" + "tem")`."""
    function = node.func
    called = getattr(function, "id", getattr(function, "attr", ""))
    on_self = bool(node.args) and _is_self(node.args[0])
    if called == "vars" and isinstance(function, ast.Name) and not on_self:
        yield "vars"
    if called not in BY_NAME:
        return
    named = node.args[1:2] if called.endswith("attr") else node.args
    for name in named:
        if not isinstance(name, ast.Constant):
            yield called + " with a computed name"
        elif isinstance(name.value, str):
            for part in name.value.split("."):
                if part in BUILTINS or part in OS_ATTRIBUTES or part in ATTRIBUTES:
                    yield called + " of " + repr(part)


def _is_self(node: ast.expr) -> bool:
    return isinstance(node, ast.Name) and node.id in ("self", "cls")


def main() -> None:
    """Answer one request."""
    warnings.simplefilter("ignore")
    items = json.load(sys.stdin)
    json.dump([judge(base64.b64decode(i["source"]), i["whole"]) for i in items], sys.stdout)


if __name__ == "__main__":
    main()
