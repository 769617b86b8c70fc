"""YAML as a tree of what it holds, from the parser's events: nothing is constructed or expanded."""

from __future__ import annotations

from collections import Counter

import yaml
from yaml.resolver import Resolver

from bot.edit.refusal import Refused
from bot.edit.text.nodes import Malformed, Node, group, line_group

# libyaml, where it is built in, reads fifty times as fast.
_LOADER = getattr(yaml, "CBaseLoader", yaml.BaseLoader)
DEEPEST = 500


def read_yaml(text: str) -> Node:
    """The tree of a stream of documents. Raises Malformed; Refused where it is nested too deep."""
    try:
        return _Builder(text).build()
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        reason = getattr(error, "problem", None) or str(error).partition("\n")[0]
        if "nesting depth" in reason:
            raise _too_deep() from None
        raise Malformed(mark.line + 1 if mark else 1, reason) from None
    except UnicodeEncodeError:
        raise Malformed(1, "it is no UTF-8") from None


def _too_deep() -> Refused:
    return Refused("too_large", f"YAML that is nested over {DEEPEST} deep is not edited.")


class _Builder:
    """Takes the events one by one; `opened` are the nodes that are not closed yet."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._root = group("sequence")
        self._opened = [self._root]
        self._anchors: Counter[str] = Counter()
        self._resolver = Resolver()

    def build(self) -> Node:
        for event in yaml.parse(self._text, Loader=_LOADER):
            if isinstance(event, yaml.DocumentStartEvent):
                self._anchors.clear()
                self._open(group("document"))
            elif isinstance(event, yaml.CollectionStartEvent):
                self._collection(event)
            elif isinstance(event, yaml.ScalarEvent):
                self._scalar(event)
            elif isinstance(event, yaml.AliasEvent):
                self._alias(event)
            elif isinstance(event, yaml.CollectionEndEvent):
                closed = self._opened.pop()
                if not closed.children:
                    closed.stop = event.end_mark.index
            elif isinstance(event, yaml.DocumentEndEvent):
                self._opened.pop()
        return self._root

    def _open(self, node: Node, outer: Node | None = None) -> None:
        self._add(outer or node)
        self._opened.append(node)
        if len(self._opened) > DEEPEST:
            raise _too_deep()

    def _add(self, node: Node) -> None:
        holder = self._opened[-1]
        if holder.says != "mapping":
            holder.children.append(node)
        elif holder.children and len(holder.children[-1].children) == 1:
            holder.children[-1].children.append(node)
        else:
            holder.children.append(group("entry", group("key", node)))

    def _collection(self, event: yaml.CollectionStartEvent) -> None:
        start, stop = event.start_mark.index, event.end_mark.index
        node = Node(
            start, start, "mapping" if isinstance(event, yaml.MappingStartEvent) else "sequence"
        )
        outer = None
        if event.anchor or event.tag:
            outer = Node(start, stop, (event.tag, event.anchor), [node], chained=True)
        self._open(node, outer)
        self._anchors[event.anchor] += 1

    def _scalar(self, event: yaml.ScalarEvent) -> None:
        tag = event.tag or self._resolver.resolve(yaml.ScalarNode, event.value, event.implicit)
        start, stop = event.start_mark.index, event.end_mark.index
        if event.style in ("|", ">") or event.start_mark.line < event.end_mark.line:
            # A line may be added to what has several, or may have.
            node = line_group(("lines", tag), self._text, start, stop)
        else:
            node = Node(start, stop, (tag, event.value))
        self._add(node)
        self._anchors[event.anchor] += 1

    def _alias(self, event: yaml.AliasEvent) -> None:
        start = event.start_mark
        # An anchor may be given anew: from there on, its name means another node.
        which = self._anchors[event.anchor]
        if not which:
            raise Malformed(start.line + 1, f"found undefined alias {event.anchor!r}")
        self._add(Node(start.index, event.end_mark.index, ("*", event.anchor, which)))
