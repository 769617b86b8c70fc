"""The harness's code as definitions, and which of them a pattern's evidence touches.

Nothing is run: the code is parsed. What cannot be parsed is shown as text, or left out.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import PurePosixPath
from typing import Literal

from bot.diagnose.catalog import Situation
from bot.diagnose.panel.fence import cut
from bot.records import HarnessStep

LONGEST_SLICE = 8000
LONGEST_FILE = 200_000
_WORD = re.compile(r"\w+")

Key = tuple[str, str]
"""(file, dotted name); the name is empty for a file that is no Python."""


@dataclass(frozen=True)
class Definition:
    """A function, a class's head, a constant, or a whole text file. Lines count from 1."""

    file: str
    name: str
    kind: Literal["function", "class", "constant", "text"]
    start: int
    end: int
    source: str
    words: frozenset[str]  # every word of its source
    calls: frozenset[str]  # the last names of what it calls

    @property
    def key(self) -> Key:
        return self.file, self.name

    @property
    def place(self) -> str:
        return f"{self.file}:{self.name}" if self.name else self.file


@dataclass(frozen=True)
class Code:
    """The definitions of the files that edits may touch, in the order of files and lines."""

    definitions: dict[Key, Definition] = field(default_factory=dict)
    imports: dict[str, str] = field(default_factory=dict)  # file → its import statements

    def files(self) -> list[str]:
        return list(dict.fromkeys(file for file, _ in [*self.definitions, *_keys(self.imports)]))

    def outline(self) -> str:
        """One line a file: what it defines."""
        rows = []
        for file in self.files():
            names = [name for where, name in self.definitions if where == file and name]
            rows.append(f"{file}: {', '.join(names)}" if names else file)
        return "\n".join(rows)

    def find(self, place: str) -> list[Definition]:
        """What `file`, `file:definition` or a definition's name alone means; none where nothing."""
        file, _, name = place.partition(":")
        if name:
            exact = self.definitions.get((file, name))
            if exact is not None:
                return [exact]
            return [
                d for d in self.definitions.values() if d.file == file and _last(d.name) == name
            ]
        here = [d for d in self.definitions.values() if d.file == place]
        return here or [d for d in self.definitions.values() if place in (d.name, _last(d.name))]


def read_code(files: Iterable[str], read: Callable[[str], bytes | None]) -> Code:
    """The definitions in `files`, which are paths of the base revision."""
    code = Code()
    for file in sorted(set(files)):
        content = read(file)
        if content is None or len(content) > LONGEST_FILE or b"\0" in content:
            continue
        source = content.decode("utf-8-sig", "replace")
        module = _parse(source) if file.endswith(".py") else None
        if module is None:
            lines = source.count("\n") + 1
            found = [_definition(file, "", "text", 1, lines, source, ())]
        else:
            found = list(_definitions(file, module, source.split("\n")))
            imports = [n for n in module.body if isinstance(n, ast.Import | ast.ImportFrom)]
            code.imports[file] = "\n".join(ast.unparse(node) for node in imports)
        # Of several definitions of one name the last one counts, as in Python.
        code.definitions.update({d.key: d for d in found})
    return code


def touched(situation: Situation, code: Code) -> list[Definition]:
    """What the pattern's evidence touches, the likeliest first.

    The component and the frames at its events; what mentions the component's name; the seams; then
    what those use, the prompt texts that they mention, and their callers.
    """
    named = _named(situation, code)
    seams = [seam for seam in map(situation.seam, situation.table.seams) if seam is not None]
    centre = _unique([*named, *(d for s in seams for d in code.find(f"{s.file}:{s.function}"))])
    used = _used(centre, code)
    texts = [d for d in code.definitions.values() if d.kind == "text"]
    mentioned = [d for d in texts if _is_mentioned(d.file, centre)]
    callers = [
        d
        for d in code.definitions.values()
        if d.kind == "function" and any(_last(c.name) in d.calls for c in centre if c.name)
    ]
    return _unique([*centre, *used, *mentioned, *callers, *texts])


def _named(situation: Situation, code: Code) -> Iterator[Definition]:
    """What the component names, where the events' frames are, and what mentions the tool."""
    component = situation.pattern.component
    if ":" in component:
        yield from code.find(component)
    for episode in situation.showing:
        places = situation.at(episode)
        for step in episode.steps:
            if isinstance(step, HarnessStep) and step.index in places:
                for frame in reversed(step.frames):
                    yield from code.find(frame.rpartition(":")[0])
    if ":" not in component and component != "model-text":
        words = set(_WORD.findall(component))
        yield from (d for d in code.definitions.values() if words and words <= d.words)


def _used(centre: Sequence[Definition], code: Code) -> list[Definition]:
    """Constants and classes that the definitions name, functions that they call: own file first."""

    def uses(definition: Definition, other: Definition) -> bool:
        if other.kind == "function":
            return _last(other.name) in definition.calls
        return other.kind != "text" and other.name in definition.words

    pairs = [(d, o) for d in centre for o in code.definitions.values() if uses(d, o)]
    own = [other for definition, other in pairs if other.file == definition.file]
    return [*own, *(other for _, other in pairs)]


def _is_mentioned(file: str, definitions: Sequence[Definition]) -> bool:
    path = PurePosixPath(file)
    return any(path.name in d.source or path.stem in d.words for d in definitions)


def _definitions(file: str, module: ast.Module, lines: list[str]) -> Iterator[Definition]:
    for node in module.body:
        yield from _of_statement(file, node, lines, "")


def _of_statement(file: str, node: ast.stmt, lines: list[str], outer: str) -> Iterator[Definition]:
    end = node.end_lineno or node.lineno
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
        start = min([node.lineno, *(d.lineno for d in node.decorator_list)])
        source = "\n".join(lines[start - 1 : end])
        yield _definition(file, outer + node.name, "function", start, end, source, ast.walk(node))
    elif isinstance(node, ast.ClassDef):
        start = min([node.lineno, *(d.lineno for d in node.decorator_list)])
        methods = [n for n in node.body if isinstance(n, ast.FunctionDef | ast.AsyncFunctionDef)]
        first = [min([n.lineno, *(d.lineno for d in n.decorator_list)]) for n in methods]
        head = max(min([*(number - 1 for number in first), end]), node.lineno)
        source = "\n".join(lines[start - 1 : head])
        yield _definition(file, outer + node.name, "class", start, head, source, ())
        for method in methods:
            yield from _of_statement(file, method, lines, f"{outer}{node.name}.")
    elif isinstance(node, ast.Assign | ast.AnnAssign):
        targets = node.targets if isinstance(node, ast.Assign) else [node.target]
        source = "\n".join(lines[node.lineno - 1 : end])
        for target in targets:
            if isinstance(target, ast.Name):
                yield _definition(file, target.id, "constant", node.lineno, end, source, ())


def _definition(
    file: str,
    name: str,
    kind: Literal["function", "class", "constant", "text"],
    start: int,
    end: int,
    source: str,
    nodes: Iterable[ast.AST],
) -> Definition:
    called = {_called(node.func) for node in nodes if isinstance(node, ast.Call)}
    return Definition(
        file,
        name,
        kind,
        start,
        end,
        cut(source, LONGEST_SLICE),
        frozenset(_WORD.findall(source)),
        frozenset(called - {""}),
    )


def _called(function: ast.expr) -> str:
    if isinstance(function, ast.Attribute):
        return function.attr
    return function.id if isinstance(function, ast.Name) else ""


def _parse(source: str) -> ast.Module | None:
    try:
        return ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def _last(dotted: str) -> str:
    return dotted.rpartition(".")[2]


def _unique(definitions: Iterable[Definition]) -> list[Definition]:
    return list({d.key: d for d in definitions}.values())


def _keys(files: Iterable[str]) -> list[Key]:
    return [(file, "") for file in files]
