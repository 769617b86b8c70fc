"""Drift of what is added: statements, blocks, helpers, annotations, docstrings, decorators."""

from __future__ import annotations

import ast
import random

import libcst as cst

from tests.helpers.drift.kind import (
    Drift,
    Place,
    blocks_of,
    code_start,
    function_at,
    insert_below_imports,
    on_function,
    on_module,
    parsed,
    statements_of,
    text_of,
)
from tests.helpers.drift.program import Files

EXTRA = ("checked = True", 'stage = "middle"', "assert __debug__ in (True, False)", "marker = None")
WRAPPERS = {
    "if __debug__ in (True, False):\n    pass\n": "",
    "try:\n    pass\nexcept KeyboardInterrupt:\n    raise\n": "",
    "with contextlib.suppress():\n    pass\n": "import contextlib\n",
}


def extra_statements(files: Files, place: Place, chance: random.Random) -> Drift | None:
    """Statements without effect, before two statements anywhere in the function."""
    function = _parsed(files, place)
    if function is None:
        return None
    texts = [text_of(line) for block in blocks_of(function) for line in _body(block)]
    spoken = [text for text in texts if any(word in text for word in place.words)]
    before = set(chance.sample(texts, min(2, len(texts))) + spoken[:1])
    extra = chance.sample(EXTRA, 2)

    class Insert(cst.CSTTransformer):
        def leave_IndentedBlock(
            self, original: cst.IndentedBlock, node: cst.IndentedBlock
        ) -> cst.IndentedBlock:
            body: list[cst.BaseStatement] = []
            for line in node.body:
                if text_of(line) in before and line in _body(node):
                    body += statements_of(extra[len(body) % 2])
                body.append(line)  # type: ignore[arg-type]
            return node.with_changes(body=body)

    return Drift(on_function(place, lambda node: node.visit(Insert())), place)


def wrapped_block(files: Files, place: Place, chance: random.Random) -> Drift | None:
    """The body inside an `if`, a `try` or a `with`."""
    if function_at(files, place) is None:
        return None
    wrapper = chance.choice(sorted(WRAPPERS))

    def wrap(node: cst.FunctionDef) -> cst.FunctionDef:
        body = list(node.body.body)
        at = code_start(body)
        outer = statements_of(wrapper)[0]
        outer = outer.with_changes(body=cst.IndentedBlock(body[at:]))
        return node.with_changes(body=node.body.with_changes(body=[*body[:at], outer]))

    inside = on_function(place, wrap)
    imported = WRAPPERS[wrapper]
    if not imported:
        return Drift(inside, place)
    outside = on_module(place.file, lambda module: insert_below_imports(module, imported))
    return Drift(lambda files: outside(inside(files)), place)


def extracted_helper(files: Files, place: Place, chance: random.Random) -> Drift | None:
    """The last statements of the function in a function of their own."""
    function = function_at(files, place)
    if function is None or len(function.body) < 3:
        return None
    at = chance.randrange(1 + (ast.get_docstring(function) is not None), len(function.body))
    first = ast.unparse(function.body[at])
    outer, _, name = place.name.rpartition(".")

    def extract(node: cst.FunctionDef) -> cst.CSTNode:
        body = list(node.body.body)
        split = next((i for i, line in enumerate(body) if text_of(line) == first), at)
        known = _names([node.params, *body[:split]], stored=True)
        names = [n for n in _names(body[split:], stored=False) if n in known]
        is_method = (bool(outer) and names[:1] == ["self"]) or "self" in names
        given = [n for n in names if n != "self"]
        call = f"{'self.' if is_method else ''}{name}_rest({', '.join(given)})"
        params = ", ".join((["self"] if is_method else []) + given)
        if outer and not is_method:
            return node
        rest = statements_of(f"def {name}_rest({params}):\n    pass\n\n\n")[0]
        rest = rest.with_changes(
            body=cst.IndentedBlock(body[split:]), leading_lines=node.leading_lines
        )
        body[split:] = statements_of(f"return {call}")
        return cst.FlattenSentinel(
            [rest, node.with_changes(body=node.body.with_changes(body=body))]
        )

    return Drift(on_function(place, extract), place)


def annotated(files: Files, place: Place, chance: random.Random) -> Drift | None:
    """Annotations at the parameters, the result, and assignments of plain names."""
    note = cst.Annotation(cst.Name("object"))

    class Annotate(cst.CSTTransformer):
        def leave_Param(self, original: cst.Param, node: cst.Param) -> cst.Param:
            skipped = node.name.value in ("self", "cls") or node.annotation is not None
            if skipped or not isinstance(node.star, str) or node.star:
                return node
            return node.with_changes(annotation=note, equal=cst.MaybeSentinel.DEFAULT)

        def visit_Lambda(self, node: cst.Lambda) -> bool:
            return False

        def leave_Assign(
            self, original: cst.Assign, node: cst.Assign
        ) -> cst.Assign | cst.AnnAssign:
            target = node.targets[0].target
            if len(node.targets) > 1 or not isinstance(target, cst.Name):
                return node
            return cst.AnnAssign(target, note, node.value)

    def change(node: cst.FunctionDef) -> cst.CSTNode:
        return node.with_changes(returns=note).visit(Annotate())

    return Drift(on_function(place, change), place) if function_at(files, place) else None


def documented(files: Files, place: Place, chance: random.Random) -> Drift | None:
    """A docstring, in place of one that is there."""
    if function_at(files, place) is None:
        return None
    text = '"""Do this step.\n\n    Called once for each turn.\n    """'

    def change(node: cst.FunctionDef) -> cst.FunctionDef:
        body = list(node.body.body)
        rest = body[code_start(body[:1]) :]
        lines = [*statements_of(text), *rest]
        return node.with_changes(body=node.body.with_changes(body=lines))

    return Drift(on_function(place, change), place)


def decorated(files: Files, place: Place, chance: random.Random) -> Drift | None:
    if function_at(files, place) is None:
        return None
    line = cst.Decorator(cst.Name("watched"))
    inside = on_function(place, lambda node: node.with_changes(decorators=[*node.decorators, line]))
    code = "\n\ndef watched(function):\n    return function\n"
    outside = on_module(place.file, lambda module: insert_below_imports(module, code))
    return Drift(lambda files: outside(inside(files)), place)


def made_async(files: Files, place: Place, chance: random.Random) -> Drift | None:
    """The function, and whatever calls it, becomes `async`."""
    if function_at(files, place) is None:
        return None

    def change(files: Files) -> Files:
        waiting = {place.name.rpartition(".")[2]}
        modules = {path: text for path, text in files.items() if text and path != "check.py"}
        while True:
            trees = [ast.parse(text) for text in modules.values()]
            callers = {name for tree in trees for name in _callers(tree, waiting)}
            if callers <= waiting:
                break
            waiting |= callers
        new = {p: parsed(t).visit(_Await(waiting)).code for p, t in modules.items()}
        return {**files, **new}

    return Drift(change, place)


class _Await(cst.CSTTransformer):
    def __init__(self, names: set[str]) -> None:
        super().__init__()
        self._names = names

    def leave_FunctionDef(
        self, original: cst.FunctionDef, node: cst.FunctionDef
    ) -> cst.FunctionDef:
        if node.name.value not in self._names:
            return node
        return node.with_changes(asynchronous=cst.Asynchronous())

    def leave_Call(self, original: cst.Call, node: cst.Call) -> cst.BaseExpression:
        name = node.func.attr if isinstance(node.func, cst.Attribute) else node.func
        if not isinstance(name, cst.Name) or name.value not in self._names:
            return node
        return cst.Await(node, lpar=[cst.LeftParen()], rpar=[cst.RightParen()])

    def leave_Assign(self, original: cst.Assign, node: cst.Assign) -> cst.Assign:
        return node.with_changes(value=_bare(node.value))

    def leave_Return(self, original: cst.Return, node: cst.Return) -> cst.Return:
        return node.with_changes(value=_bare(node.value))


def _bare(value: cst.BaseExpression | None) -> cst.BaseExpression | None:
    return value.with_changes(lpar=[], rpar=[]) if isinstance(value, cst.Await) else value


def _callers(tree: ast.AST, names: set[str]) -> list[str]:
    return [
        function.name
        for function in ast.walk(tree)
        if isinstance(function, ast.FunctionDef)
        for call in ast.walk(function)
        if isinstance(call, ast.Call)
        and getattr(call.func, "attr", getattr(call.func, "id", "")) in names
    ]


def _parsed(files: Files, place: Place) -> cst.FunctionDef | None:
    found: list[cst.FunctionDef] = []

    def keep(node: cst.FunctionDef) -> cst.FunctionDef:
        found.append(node)
        return node

    on_function(place, keep)(files)
    return found[0] if found and isinstance(found[0], cst.FunctionDef) else None


def _body(block: cst.IndentedBlock) -> list[cst.BaseStatement]:
    """The statements of a block that others may stand before: not its docstring."""
    return list(block.body[code_start(block.body) :])  # type: ignore[arg-type]


def _names(nodes: list[cst.CSTNode], *, stored: bool) -> list[str]:
    """Plain names in the code of nodes, in order: parameters and stored ones, or all."""
    names = []
    for node in nodes:
        if isinstance(node, cst.Parameters):
            tree = ast.parse(f"def _({cst.Module([]).code_for_node(node)}): pass")
            names += [n.arg for n in ast.walk(tree) if isinstance(n, ast.arg)]
            continue
        for name in ast.walk(ast.parse(text_of(node))):
            if isinstance(name, ast.Name) and (isinstance(name.ctx, ast.Store) or not stored):
                names.append(name.id)
    return list(dict.fromkeys(names))
