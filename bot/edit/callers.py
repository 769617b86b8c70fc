"""Who calls a function of a module, as far as the module's own code tells."""

from __future__ import annotations

from dataclasses import dataclass, field

import libcst as cst

from bot.edit.names import last_name
from bot.edit.scopes import Mention, Scope, Scopes
from bot.edit.tree import Path, Spot, node_at


@dataclass(frozen=True)
class CallSite:
    """A call of the function; `bound` first parameters are not passed by it (`self`)."""

    spot: Spot
    scope: Scope
    bound: int

    @property
    def call(self) -> cst.Call:
        assert isinstance(self.spot.node, cst.Call)
        return self.spot.node


@dataclass
class Callers:
    """`unknown` are calls that may be of the function (`x.f()`), `values` places that pass it on.

    `definitions` are all statements that bind its name in its scope; `overrides` are methods of
    the same name in classes above and below.
    """

    calls: list[CallSite] = field(default_factory=list)
    unknown: list[Spot] = field(default_factory=list)
    values: list[Spot] = field(default_factory=list)
    definitions: list[cst.CSTNode] = field(default_factory=list)
    overrides: list[cst.CSTNode] = field(default_factory=list)


def callers_of(module: cst.Module, found: Scopes, target: Spot) -> Callers:
    """The callers of a function or method."""
    function = target.node
    assert isinstance(function, cst.FunctionDef)
    owner = _without_types(found.of(target.path).outer)
    name = function.name.value
    meant = owner.meaning(name) or owner
    bindings = [m for m in found.mentions_of(name, meant) if m.binds]
    callers = Callers(definitions=[m.spot.node for m in bindings])
    if owner.kind != "class":
        for mention in found.mentions_of(name, meant):
            _add_mention(module, callers, mention, 0)
        return callers
    _add_attributes(found, callers, owner, function, module)
    callers.overrides = [
        mention.spot.node
        for scope in _relatives(found, owner)
        if scope is not owner and name in scope.bound
        for mention in found.mentions_of(name, scope)
        if mention.binds
    ]
    if name in ("__init__", "__new__"):
        _add_constructions(module, found, callers, owner)
    return callers


def _add_mention(module: cst.Module, callers: Callers, mention: Mention, bound: int) -> None:
    spot = mention.spot
    if mention.binds or not isinstance(spot.node, cst.Name) or _is_declaration(spot.path):
        return
    call = call_around(module, spot)
    if call is None:
        callers.values.append(spot)
    else:
        callers.calls.append(CallSite(call, mention.scope, bound))


def call_around(module: cst.Module, spot: Spot) -> Spot | None:
    """The call whose function an expression is."""
    if spot.path[-1:] != (("func", None),):
        return None
    path = spot.path[:-1]
    return Spot(node_at(module, path), path)


def _is_declaration(path: Path) -> bool:
    """Whether it is the name in `global x`."""
    return len(path) > 1 and path[-2][0] == "names"


def _without_types(scope: Scope | None) -> Scope:
    assert scope is not None
    return _without_types(scope.outer) if scope.kind == "types" else scope


def _add_attributes(
    found: Scopes, callers: Callers, owner: Scope, function: cst.FunctionDef, module: cst.Module
) -> None:
    kind = kind_of(function)
    for spot, scope in found.attributes:
        node = spot.node
        assert isinstance(node, cst.Attribute)
        if node.attr.value != function.name.value:
            continue
        receiver = _receiver(found, node.value, scope, owner)
        call = call_around(module, spot)
        if receiver is None:
            callers.unknown += [call] if call is not None else []
        elif call is None:
            callers.values.append(spot)
        else:
            is_bound = kind == "class" or (kind == "instance" and receiver == "instance")
            callers.calls.append(CallSite(call, scope, int(is_bound)))


def kind_of(function: cst.FunctionDef) -> str:
    """`static`, `class` or `instance`, by its decorators (and its name)."""
    names = {decorator_name(decorator) for decorator in function.decorators}
    if "staticmethod" in names:
        return "static"
    implicit = ("__new__", "__init_subclass__", "__class_getitem__")
    return "class" if "classmethod" in names or function.name.value in implicit else "instance"


def decorator_name(decorator: cst.Decorator) -> str:
    """The last part of its name: `b` of `@a.b(c)`; empty where it has none."""
    node = decorator.decorator
    return last_name(node.func if isinstance(node, cst.Call) else node)


def _receiver(found: Scopes, node: cst.BaseExpression, scope: Scope, owner: Scope) -> str | None:
    """`instance` or `class` for an object that surely is one of the class, or the class."""
    if not isinstance(node, cst.Name):
        return None
    meant = scope.meaning(node.value)
    if meant is None:
        return None
    if node.value == class_name(owner) and meant is _around(owner).meaning(node.value):
        return "class"
    method = meant.spot.node
    if (
        not isinstance(method, cst.FunctionDef)
        or meant.kind != "function"
        or _without_types(meant.outer) is not owner
    ):
        return None
    first = [*method.params.posonly_params, *method.params.params][:1]
    kind = kind_of(method)
    if not first or first[0].name.value != node.value or kind == "static":
        return None
    bindings = [m for m in found.mentions_of(node.value, meant) if m.binds]
    return kind if len(bindings) == 1 else None


def class_name(scope: Scope) -> str:
    """The name of the class whose scope it is."""
    assert isinstance(scope.spot.node, cst.ClassDef)
    return scope.spot.node.name.value


def _around(owner: Scope) -> Scope:
    """The scope in which a class is defined."""
    return _without_types(owner.outer)


def _bases(scope: Scope, classes: list[Scope]) -> list[Scope]:
    """The classes of this module that a class names as its bases."""
    assert isinstance(scope.spot.node, cst.ClassDef)
    names = {a.value.value for a in scope.spot.node.bases if isinstance(a.value, cst.Name)}
    return [other for other in classes if class_name(other) in names]


def _relatives(found: Scopes, owner: Scope, *, below_only: bool = False) -> list[Scope]:
    """The classes above and below a class, by the names of bases."""
    classes = [scope for scope in found.all if scope.kind == "class"]
    bases = {id(scope): _bases(scope, classes) for scope in classes}
    related = [owner]
    for one in related:
        below = [scope for scope in classes if one in bases[id(scope)]]
        above = [] if below_only else bases[id(one)]
        related += [scope for scope in (*below, *above) if scope not in related]
    return related


def _add_constructions(module: cst.Module, found: Scopes, callers: Callers, owner: Scope) -> None:
    """The calls of the class itself, and of `cls` in its class methods."""
    for scope in _relatives(found, owner, below_only=True):
        name = class_name(scope)
        meant = _around(scope).meaning(name)
        for mention in found.mentions if meant is None else found.mentions_of(name, meant):
            call = call_around(module, mention.spot)
            if call is None or mention.name != name:
                continue
            if scope is owner:
                callers.calls.append(CallSite(call, mention.scope, 1))
            else:
                callers.unknown.append(call)
    for spot, scope in found.calls:
        assert isinstance(spot.node, cst.Call)
        func = spot.node.func
        is_class = isinstance(func, cst.Name) and func.value == class_name(owner)
        if not is_class and _receiver(found, func, scope, owner) == "class":
            callers.calls.append(CallSite(spot, scope, 1))
