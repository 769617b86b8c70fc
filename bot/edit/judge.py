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
import re
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
    _ctypes _frozen_importlib _frozen_importlib_external _interpreters _pickle _posixsubprocess
    _socket _ssl _xxsubinterpreters aiohttp antigravity anyio asyncio.subprocess asyncssh bdb
    builtins cProfile cffi cloudpickle code codeop ctypes dill distutils doctest dotenv ensurepip
    fabric ftplib http http.client http.server httpx imaplib imp importlib joblib jsonpickle keyring
    logging.config marshal multiprocessing netrc nntplib nt paramiko pdb pexpect pickle pip
    pkg_resources pkgutil plumbum poplib posix profile psutil pty pycurl pydoc requests runpy
    setuptools shelve shutil smtplib socket socketserver ssl subprocess telnetlib timeit trace trio
    urllib urllib.request urllib3 venv webbrowser websocket websockets wsgiref xmlrpc zipimport
    """
)
# Dangerous wherever they stand.
ATTRIBUTES = _words(
    """
    __base__ __bases__ __builtins__ __closure__ __code__ __getattribute__ __globals__ __import__
    __loader__ __mro__ __reduce__ __reduce_ex__ __spec__ __subclasses__ _getframe CodeType
    DatagramHandler ForwardRef FunctionType HTTPHandler ProcessPoolExecutor SMTPHandler
    SocketHandler SysLogHandler UnsafeLoader ag_frame cr_frame create_connection
    create_datagram_endpoint create_server create_subprocess_exec create_subprocess_shell
    create_unix_connection enable_load_extension environ environb execl execle execlp execlpe execv
    execve execvp execvpe f_builtins f_globals f_locals forkpty get_objects get_referents
    get_referrers get_type_hints getenv getenvb gi_frame load_extension meta_path open_connection
    open_unix_connection path_hooks posix_spawn posix_spawnp putenv read_pickle spawnl spawnle
    spawnlp spawnlpe spawnv spawnve spawnvp spawnvpe start_server start_unix_server
    subprocess_exec subprocess_shell tb_frame unsafe_load unsafe_load_all
    """
)
# Dangerous in a file that can reach `os` or `sys` by name; elsewhere ordinary words.
OS_ATTRIBUTES = _words("fork modules popen startfile system")
OS_NAMES = _words("os sys posix nt _os _sys")
# What other modules have imported: `inspect.builtins`, `from logging.handlers import pickle`.
INNER_MODULES = _words(
    "builtins ctypes importlib multiprocessing pickle runpy shutil socket subprocess"
)
# Arguments that make a harmless function run what it is given.
ARGUMENTS = frozenset(["allow_pickle", "eval_str"])
FIELD = re.compile(r"\{[^{}]*\}")
DUNDER = re.compile(r"\.\s*(__\w+__)")
ENVIRON = re.compile(r"/environ\b")
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
    facts = _Facts(nodes)
    for node in nodes:
        if isinstance(node, ast.Import):
            for alias in node.names:
                if _is_dangerous(alias.name):
                    yield "import " + alias.name
                elif alias.asname not in (None, "_" + alias.name) and alias.name in OS_NAMES:
                    yield "import " + alias.name + " as " + str(alias.asname)
        elif isinstance(node, ast.ImportFrom):
            yield from _imported(node)
        elif isinstance(node, ast.Name):
            yield from _named(node, facts)
        elif isinstance(node, ast.Attribute):
            yield from _attribute(node, facts)
        elif isinstance(node, ast.Call):
            yield from _by_name(node)
        elif isinstance(node, ast.keyword):
            if node.arg in ARGUMENTS and not _is_false(node.value):
                yield str(node.arg)
        elif isinstance(node, ast.Constant) and isinstance(node.value, (str, bytes)):
            if _hides(node.value):
                yield "the text " + repr(node.value[:80])
        elif type(node).__name__ == "MatchClass":
            # `case object(system=run)` reads an attribute, too.
            for name in node.kwd_attrs:  # type: ignore[attr-defined]
                if name == "__dict__" or _is_dangerous_word(name, facts):
                    yield name


class _Facts:
    """What the nodes of a tree say together."""

    def __init__(self, nodes: list[ast.AST]) -> None:
        self.reaches_os = any(_brings_os(node) for node in nodes)
        self.called: set[int] = set()  # the nodes that are called, or of which something is read
        self.bound: set[str] = set()
        self.imported: set[str] = set()
        for node in nodes:
            if isinstance(node, ast.Call):
                self.called.add(id(node.func))
                if getattr(node.func, "id", "") in ("getattr", "hasattr"):
                    # Which attribute is read is looked at in the call.
                    self.called.update(id(argument) for argument in node.args[:1])
            elif isinstance(node, ast.Attribute):
                self.called.add(id(node.value))
            elif isinstance(node, ast.arg):
                self.bound.add(node.arg)
            elif isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
                self.bound.add(node.id)
            elif isinstance(node, (ast.Import, ast.ImportFrom)):
                self.imported.update((a.asname or a.name).split(".")[0] for a in node.names)


def _named(node: ast.Name, facts: _Facts) -> Iterator[str]:
    if node.id in BUILTINS or node.id in ATTRIBUTES:
        yield node.id
    elif (
        node.id in BY_NAME | OS_NAMES | {"vars"}
        and isinstance(node.ctx, ast.Load)
        and id(node) not in facts.called
        and (node.id in BY_NAME or node.id not in facts.bound)
    ):
        # Under another name, or handed on, its use would not be seen.
        yield node.id + " as a value"


def _attribute(node: ast.Attribute, facts: _Facts) -> Iterator[str]:
    if node.attr == "__dict__":
        if not _is_self(node.value):
            yield node.attr
    elif _is_dangerous_word(node.attr, facts):
        yield node.attr
    elif node.attr in ("attrgetter", "methodcaller") and id(node) not in facts.called:
        yield node.attr + " as a value"
    elif node.attr.lstrip("_") in INNER_MODULES and _root(node) in facts.imported:
        # `asyncio.subprocess` has constants; its ways to start a program are known by name.
        if not (isinstance(node.value, ast.Name) and node.value.id == "asyncio"):
            yield "import " + node.attr
    elif node.attr in OS_NAMES and id(node) not in facts.called and _root(node) in facts.imported:
        yield node.attr + " as a value"


def _root(node: ast.expr) -> str:
    """`a` of `a.b.c`; empty where it begins with no name."""
    while isinstance(node, ast.Attribute):
        node = node.value
    return node.id if isinstance(node, ast.Name) else ""


def _is_dangerous_word(word: str, facts: _Facts) -> bool:
    return word in ATTRIBUTES or (facts.reaches_os and word in OS_ATTRIBUTES)


def _is_false(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and not node.value


def _hides(value: str | bytes) -> bool:
    """Whether a text names what is dangerous; ordinary words such as "system" say nothing."""
    text = value.decode("latin-1") if isinstance(value, bytes) else value
    known = ATTRIBUTES | BUILTINS | {"__dict__"}
    if text.startswith("__") and text in ATTRIBUTES | BUILTINS:
        return True
    # `"{0.__init__.__globals__}".format(x)`; `/proc/self/environ`.
    read = (name for field in FIELD.findall(text) for name in DUNDER.findall(field))
    return bool(ENVIRON.search(text)) or not known.isdisjoint(read)


def _brings_os(node: ast.AST) -> bool:
    if isinstance(node, ast.Import):
        return any(alias.name.split(".")[0] in OS_NAMES for alias in node.names)
    if isinstance(node, ast.ImportFrom):
        return any(alias.name in OS_NAMES for alias in node.names)
    return getattr(node, "id", getattr(node, "attr", "")) in OS_NAMES


def _is_dangerous(module: str) -> bool:
    # `urllib.parse` is harmless; `http` and `urllib` alone give access to the rest.
    return module in MODULES or (
        module.split(".")[0] in MODULES - {"urllib", "http"} and "." in module
    )


def _imported(node: ast.ImportFrom) -> Iterator[str]:
    module = "" if node.level else node.module or ""
    for alias in node.names:
        if alias.name.lstrip("_") in INNER_MODULES and not _is_dangerous(module):
            yield "import " + alias.name
        elif alias.name in BY_NAME and alias.asname not in (None, alias.name):
            yield alias.name + " as " + str(alias.asname)
        elif alias.name in OS_NAMES and alias.asname not in (None, alias.name):
            yield "import " + alias.name + " as " + str(alias.asname)
        elif _is_dangerous(module) and module not in ("http", "urllib"):
            yield "import " + module
        elif (
            _is_dangerous(module + "." + alias.name)
            or (module and alias.name in ATTRIBUTES)
            or (
                module in ("os", "sys", "types", "asyncio", "operator")
                and (alias.name == "*" or alias.name in OS_ATTRIBUTES)
            )
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
    # `getattr(*both)` has the name in what is spread.
    for name in [*(a for a in node.args[:1] if isinstance(a, ast.Starred)), *named]:
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
