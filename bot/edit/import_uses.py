"""Where a module uses the names that an import makes."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from bot.edit.exports import exported
from bot.edit.imports import Import, imported
from bot.edit.names import bound_by
from bot.edit.scopes import Mention, scan
from bot.edit.tree import Spot, node_at, walk


def uses_of(
    module: cst.Module, node: Import, names: set[tuple[str, str, str]]
) -> Iterator[tuple[str, list[cst.CSTNode]]]:
    """Those of `names` that `node` imports and the module uses, with the nodes that do."""
    found = scan(module)
    exports = exported(module)
    assert not isinstance(node.names, cst.ImportStar)
    for alias, one in zip(node.names, imported(node), strict=True):
        name = bound_by(alias)
        if one not in names:
            continue
        if one[0] == "__future__":
            if one[1] == "annotations" and (notes := _annotations(module)):
                yield "annotations", notes
            continue
        mentions = found.mentions_of(name, found.module)
        used = [m for m in mentions if not m.binds]
        is_dotted = not one[0] and "." in one[1] and not one[2]
        if is_dotted and _has_other(mentions, one[1]):
            # `import a.b` and `import a.c` make the same name.
            used = [m for m in used if _reaches(module, m, one[1].split("."))]
        nodes = [m.spot.node for m in used] + [
            s.node for s in exports if s.node.evaluated_value == name
        ]
        if nodes:
            yield (one[1] if is_dotted else name), nodes


def _annotations(module: cst.Module) -> list[cst.CSTNode]:
    """The annotations, whose meaning a `__future__` import changes; no other one does today."""
    spots = walk(Spot(module), lambda node: not isinstance(node, cst.Annotation))
    return [spot.node for spot in spots if isinstance(spot.node, cst.Annotation)]


def _has_other(mentions: list[Mention], imported_name: str) -> bool:
    return any(
        m.binds
        and isinstance(m.spot.node, cst.ImportAlias)
        and m.spot.node.evaluated_name != imported_name
        for m in mentions
    )


def _reaches(module: cst.Module, mention: Mention, parts: list[str]) -> bool:
    """Whether the attributes behind a mention go along this dotted name."""
    path = mention.spot.path
    for part in parts[1:]:
        path = path[:-1]
        outer = node_at(module, path)
        if not isinstance(outer, cst.Attribute) or outer.attr.value != part:
            return False
    return True
