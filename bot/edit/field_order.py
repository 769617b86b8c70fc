"""Whether a class takes a new field as its last one: those made from fields have rules of order."""

from __future__ import annotations

import libcst as cst

from bot.edit.names import last_name, top_level
from bot.edit.refusal import Refused
from bot.edit.tree import at_lines

# Decorators and bases that make `__init__` of the fields, by the last part of their name.
_MAKERS = frozenset(["dataclass", "define", "frozen", "mutable", "NamedTuple"])
_TYPED = _MAKERS | {"BaseModel", "TypedDict"}
_FACTORIES = frozenset(["field", "Field", "attrib", "ib"])


def refuse_unfit(module: cst.Module, owner: cst.ClassDef, new: cst.CSTNode) -> None:
    """Refused where the class, so it can be seen, does not take the field."""
    makers = _makers(owner)
    if isinstance(new, cst.Assign):
        if makers & _TYPED:
            raise Refused("unsupported", f"A field of {owner.name.value} needs a type.")
        return
    assert isinstance(new, cst.AnnAssign)
    if "TypedDict" in makers and new.value is not None:
        raise Refused("unsupported", f"A field of the TypedDict {owner.name.value} has no value.")
    if not makers & _MAKERS or _is_free(new) or _is_keyword_only(owner):
        return
    earlier = _with_default(module, owner)
    if earlier:
        name = new.target.value if isinstance(new.target, cst.Name) else ""
        raise Refused(
            "would_not_compile",
            f"{name} has no default, but a field before it has one, {at_lines(module, earlier)}; "
            "give it a default.",
        )


def _with_default(module: cst.Module, owner: cst.ClassDef) -> list[cst.CSTNode]:
    """Its fields with a default, and those of the bases in this module."""
    classes = {
        node.name.value: node for node in top_level(module) if isinstance(node, cst.ClassDef)
    }
    found: list[cst.CSTNode] = []
    pending, seen = [owner], {id(owner)}
    while pending:
        current = pending.pop()
        found += [
            node
            for node in top_level(current)
            if isinstance(node, cst.AnnAssign)
            and not _is_free(node, with_default=False)
            and _has_default(node)
        ]
        for argument in current.bases:
            base = (
                classes.get(argument.value.value) if isinstance(argument.value, cst.Name) else None
            )
            if base is not None and id(base) not in seen and _makers(base) & _MAKERS:
                seen.add(id(base))
                pending.append(base)
    return found


def _has_default(node: cst.AnnAssign) -> bool:
    options = _options(node.value)
    if options is None:
        return node.value is not None
    return bool(options.keys() & {"default", "default_factory", "factory"})


def _is_free(node: cst.AnnAssign, *, with_default: bool = True) -> bool:
    """Whether it may stand anywhere: no positional parameter of `__init__`, or with a default."""
    annotation = node.annotation.annotation
    while isinstance(annotation, cst.Subscript):
        annotation = annotation.value
    options = _options(node.value) or {}
    return (
        last_name(annotation) in ("ClassVar", "KW_ONLY")
        or options.get("init") == "False"
        or options.get("kw_only") == "True"
        or (with_default and _has_default(node))
    )


def _is_keyword_only(owner: cst.ClassDef) -> bool:
    """By its decorator, or behind `_: KW_ONLY`."""
    return any(
        (_options(decorator.decorator) or {}).get("kw_only") == "True"
        for decorator in owner.decorators
    ) or any(
        isinstance(node, cst.AnnAssign) and last_name(node.annotation.annotation) == "KW_ONLY"
        for node in top_level(owner)
    )


def _options(value: cst.CSTNode | None) -> dict[str, str] | None:
    """The keyword arguments of `field(…)` or of a decorator; None for any other value."""
    if not isinstance(value, cst.Call) or last_name(value.func) not in _FACTORIES | _MAKERS:
        return None
    return {
        argument.keyword.value: argument.value.value if isinstance(argument.value, cst.Name) else ""
        for argument in value.args
        if argument.keyword is not None
    }


def _makers(owner: cst.ClassDef) -> set[str]:
    """The last parts of the names of its decorators and bases."""
    values = [decorator.decorator for decorator in owner.decorators]
    values += [argument.value for argument in owner.bases]
    return {last_name(value.func if isinstance(value, cst.Call) else value) for value in values}
