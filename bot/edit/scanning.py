"""The walk that finds the scopes of a module: what each kind of node binds, and where."""

from __future__ import annotations

import ast
import re
import unicodedata
from collections.abc import Sequence
from typing import Literal

import libcst as cst

from bot.edit.names import last_name
from bot.edit.scopes import Kind, Mention, Scope, Scopes
from bot.edit.tree import Path, Spot, field_names

_LABELS: dict[type[cst.CSTNode], tuple[str, ...]] = {
    cst.Attribute: ("attr",),
    cst.Arg: ("keyword",),
    cst.MatchKeywordElement: ("key",),
}
_BINDING: dict[type[cst.CSTNode], str] = {
    cst.AssignTarget: "target",
    cst.AugAssign: "target",
    cst.AnnAssign: "target",
    cst.For: "target",
    cst.CompFor: "target",
    cst.Del: "target",
    cst.AsName: "name",
    cst.MatchAs: "name",
    cst.MatchStar: "name",
    cst.MatchMapping: "rest",
    cst.TypeVar: "name",
    cst.TypeVarTuple: "name",
    cst.ParamSpec: "name",
}
# Which arguments of a call are types, so that their strings are annotations.
_TYPED_ARGUMENTS = {"cast": slice(1), "TypeVar": slice(1, None), "NewType": slice(1, None)}
_COMPREHENSIONS = (cst.ListComp, cst.SetComp, cst.GeneratorExp, cst.DictComp)
_STRINGS = (cst.SimpleString, cst.ConcatenatedString)


# Where comments on types stand: behind a statement, the head of a block, a parameter.
_COMMENTED: dict[type[cst.CSTNode], tuple[tuple[str, ...], ...]] = {
    cst.SimpleStatementLine: (("trailing_whitespace", "comment"),),
    cst.SimpleStatementSuite: (("trailing_whitespace", "comment"),),
    cst.IndentedBlock: (("header", "comment"),),
    cst.Param: (
        ("comma", "whitespace_after", "first_line", "comment"),
        ("whitespace_after_param", "first_line", "comment"),
    ),
}
_TYPE_COMMENT = re.compile(r"#\s*type:(?!\s*ignore\b)\s*([^#]+)")


class Scanner:
    """Goes through a module and fills `found`."""

    def __init__(self, module: cst.Module) -> None:
        top = Scope("module", Spot(module), None)
        self.found = Scopes(top, [top])
        self._is_annotation = False

    def below(self, spot: Spot, scope: Scope, without: Sequence[str] = ()) -> None:
        """Everything in the fields of a node, but for some of them."""
        for name in field_names(type(spot.node)):
            if name not in without:
                self._field(spot, name, scope)

    def _field(self, spot: Spot, name: str, scope: Scope) -> None:
        value = getattr(spot.node, name)
        if isinstance(value, cst.CSTNode):
            self._visit(Spot(value, (*spot.path, (name, None))), scope)
        elif isinstance(value, list | tuple):
            for index, item in enumerate(value):
                if isinstance(item, cst.CSTNode):
                    self._visit(Spot(item, (*spot.path, (name, index))), scope)

    def _visit(self, spot: Spot, scope: Scope) -> None:
        node = spot.node
        for way in _COMMENTED.get(type(node), ()):
            self._type_comment(spot, way, scope)
        if isinstance(node, cst.Name):
            self._mention(node.value, spot, scope)
        elif isinstance(node, cst.FunctionDef):
            self._function(spot, node, scope)
        elif isinstance(node, cst.ClassDef):
            self._class(spot, node, scope)
        elif isinstance(node, cst.Lambda):
            self._lambda(spot, node, scope)
        elif isinstance(node, _COMPREHENSIONS):
            self._comprehension(spot, node, scope)
        elif isinstance(node, cst.NamedExpr):
            self._named(spot, scope)
        elif isinstance(node, cst.Import | cst.ImportFrom):
            self._import(spot, node, scope)
        elif isinstance(node, cst.Global | cst.Nonlocal):
            self._declaration(spot, node, scope)
        elif isinstance(node, cst.TypeAlias):
            self._mention(node.name.value, _child(spot, "name"), scope, binds=True)
            inner = self._types(spot, node, scope)
            self._field(spot, "value", inner)
        elif isinstance(node, cst.Annotation):
            self._annotation(spot, scope)
        elif isinstance(node, _STRINGS):
            self._string(spot, scope)
        else:
            self._other(spot, scope)

    def _other(self, spot: Spot, scope: Scope) -> None:
        node = spot.node
        kind = type(node)
        if kind in _BINDING:
            target = _child(spot, _BINDING[kind])
            self._assign(target, scope)
            self.below(spot, scope, (_BINDING[kind],))
            return
        if isinstance(node, cst.Call):
            self._call(spot, node, scope)
            return
        if isinstance(node, cst.Attribute):
            self.found.attributes.append((spot, scope))
        if isinstance(node, cst.Subscript) and last_name(node.value) == "Literal":
            before, self._is_annotation = self._is_annotation, False
            self.below(spot, scope)
            self._is_annotation = before
            return
        if isinstance(node, cst.FormattedStringExpression) and node.equal is not None:
            count = len(self.found.mentions)
            self.below(spot, scope)
            self.found.printed += self.found.mentions[count:]
            return
        self.below(spot, scope, _LABELS.get(kind, ()))

    def _mention(self, name: str, spot: Spot, scope: Scope, *, binds: bool = False) -> None:
        # To Python, names are the same that are spelt with other forms of the same letters.
        name = unicodedata.normalize("NFKC", name)
        self.found.mentions.append(Mention(name, spot, scope, binds))

    def _assign(self, spot: Spot, scope: Scope) -> None:
        """What is assigned to: names are bound; others (`a.b`, `a[0]`) are read."""
        if isinstance(spot.node, cst.Name):
            self._mention(spot.node.value, spot, scope, binds=True)
        elif isinstance(spot.node, cst.Tuple | cst.List):
            for index in range(len(spot.node.elements)):
                path: Path = (*spot.path, ("elements", index), ("value", None))
                self._assign(Spot(spot.node.elements[index].value, path), scope)
        # `case _` and `case *_` have no name.
        elif isinstance(spot.node, cst.CSTNode):
            self._visit(spot, scope)

    def _inner(self, kind: Kind, spot: Spot, outer: Scope) -> Scope:
        scope = Scope(kind, spot, outer)
        self.found.all.append(scope)
        return scope

    def _types(
        self, spot: Spot, node: cst.FunctionDef | cst.ClassDef | cst.TypeAlias, scope: Scope
    ) -> Scope:
        """The scope of the type parameters; the one around where there are none."""
        if node.type_parameters is None:
            return scope
        inner = self._inner("types", spot, scope)
        self._field(spot, "type_parameters", inner)
        return inner

    def _function(self, spot: Spot, node: cst.FunctionDef, scope: Scope) -> None:
        self._mention(node.name.value, _child(spot, "name"), scope, binds=True)
        self._field(spot, "decorators", scope)
        types = self._types(spot, node, scope)
        inner = self._inner("function", spot, types)
        self._parameters(_child(spot, "params"), inner, scope, types)
        self._field(spot, "returns", types)
        self._field(spot, "body", inner)
        for index, line in enumerate(getattr(node.body.body[0], "leading_lines", ())):
            # The types of a signature may stand on the first line below it.
            path: Path = (("body", None), ("body", 0), ("leading_lines", index))
            self._type_comment(Spot(line, (*spot.path, *path)), ("comment",), types)

    def _lambda(self, spot: Spot, node: cst.Lambda, scope: Scope) -> None:
        inner = self._inner("function", spot, scope)
        self._parameters(_child(spot, "params"), inner, scope, scope)
        self._field(spot, "body", inner)

    def _parameters(self, spot: Spot, inner: Scope, scope: Scope, types: Scope) -> None:
        for name in field_names(cst.Parameters):
            value = getattr(spot.node, name)
            is_many = isinstance(value, list | tuple)
            for index, item in enumerate(value if is_many else [value]):
                if isinstance(item, cst.Param):
                    one = Spot(item, (*spot.path, (name, index if is_many else None)))
                    for way in _COMMENTED[cst.Param]:
                        self._type_comment(one, way, types)
                    self._mention(item.name.value, _child(one, "name"), inner, binds=True)
                    self._field(one, "annotation", types)
                    self._field(one, "default", scope)

    def _class(self, spot: Spot, node: cst.ClassDef, scope: Scope) -> None:
        self._mention(node.name.value, _child(spot, "name"), scope, binds=True)
        self._field(spot, "decorators", scope)
        types = self._types(spot, node, scope)
        self._field(spot, "bases", types)
        self._field(spot, "keywords", types)
        self._field(spot, "body", self._inner("class", spot, types))

    def _comprehension(self, spot: Spot, node: cst.BaseComp, scope: Scope) -> None:
        inner = self._inner("comprehension", spot, scope)
        first = _child(spot, "for_in")
        # The outermost iterable is evaluated outside.
        self._field(first, "iter", scope)
        self._assign(_child(first, "target"), inner)
        self.below(first, inner, ("iter", "target"))
        self.below(spot, inner, ("for_in",))

    def _named(self, spot: Spot, scope: Scope) -> None:
        owner = scope
        while owner.kind == "comprehension" and owner.outer is not None:
            owner = owner.outer
        self._assign(_child(spot, "target"), owner)
        if owner is not scope:
            # Inside, the name means that of the scope around, too.
            scope.declared[spot.node.target.value] = (  # type: ignore[attr-defined]
                "global" if owner.kind == "module" else "nonlocal"
            )
        self._field(spot, "value", scope)

    def _import(self, spot: Spot, node: cst.Import | cst.ImportFrom, scope: Scope) -> None:
        if isinstance(node.names, cst.ImportStar):
            self.found.stars.append(spot)
            return
        for index, alias in enumerate(node.names):
            one = Spot(alias, (*spot.path, ("names", index)))
            if alias.asname is not None:
                self._assign(Spot(alias.asname.name, (*one.path, *_ASNAME)), scope)
            else:
                self._mention(alias.evaluated_name.split(".")[0], one, scope, binds=True)

    def _declaration(self, spot: Spot, node: cst.Global | cst.Nonlocal, scope: Scope) -> None:
        for index, item in enumerate(node.names):
            scope.declared[item.name.value] = (
                "global" if isinstance(node, cst.Global) else "nonlocal"
            )
            path: Path = (*spot.path, ("names", index), ("name", None))
            self._mention(item.name.value, Spot(item.name, path), scope)

    def _annotation(self, spot: Spot, scope: Scope) -> None:
        before, self._is_annotation = self._is_annotation, True
        self._field(spot, "annotation", scope)
        self._is_annotation = before

    def _call(self, spot: Spot, node: cst.Call, scope: Scope) -> None:
        self.found.calls.append((spot, scope))
        self._field(spot, "func", scope)
        typed = _TYPED_ARGUMENTS.get(last_name(node.func), slice(0))
        before = self._is_annotation
        positions = range(len(node.args))[typed]
        for index, arg in enumerate(node.args):
            self._is_annotation = before or index in positions
            self._visit(Spot(arg.value, (*spot.path, ("args", index), ("value", None))), scope)
        self._is_annotation = before

    def _string(self, spot: Spot, scope: Scope) -> None:
        """An annotation in quotes mentions the names of the expression that it holds."""
        if not self._is_annotation:
            self.below(spot, scope)
            return
        for name in sorted(names_in_text(spot.node)):
            self._mention(name, spot, scope)

    def _type_comment(self, spot: Spot, way: tuple[str, ...], scope: Scope) -> None:
        """A comment that type checkers read mentions the names in it."""
        node: object = spot.node
        for name in way:
            node = getattr(node, name, None)
        if isinstance(node, cst.Comment):
            path: Path = (*spot.path, *((name, None) for name in way))
            for name in sorted(names_in_comment(node)):
                self._mention(name, Spot(node, path), scope)


_ASNAME: Path = (("asname", None), ("name", None))


def names_in_text(node: cst.CSTNode) -> set[str]:
    """The names of the expression that a string holds; none where it holds no expression."""
    assert isinstance(node, _STRINGS)
    try:
        text = node.evaluated_value
    except (ValueError, SyntaxError, RecursionError, MemoryError):
        return set()
    return _names(text, "eval") if isinstance(text, str) else set()


def names_in_comment(node: cst.Comment) -> set[str]:
    """The names in a comment `# type: list[A]` or `# type: (A) -> B`; none in others."""
    text = node.value[slice(*type_in_comment(node))]
    return _names(text, "func_type") if text.startswith("(") else _names(text, "eval")


def type_in_comment(node: cst.Comment) -> tuple[int, int]:
    """Where in a comment the type stands that it gives; an empty span if it gives none."""
    found = _TYPE_COMMENT.match(node.value)
    return found.span(1) if found else (0, 0)


def _names(text: str, mode: Literal["eval", "func_type"]) -> set[str]:
    try:
        parsed: ast.AST = ast.parse(text.strip(), mode=mode)
    except (ValueError, SyntaxError, RecursionError, MemoryError):
        return set()
    return {inner.id for inner in ast.walk(parsed) if isinstance(inner, ast.Name)}


def _child(spot: Spot, name: str) -> Spot:
    return Spot(getattr(spot.node, name), (*spot.path, (name, None)))
