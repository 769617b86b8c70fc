"""Random edits of the parts of real expressions: defaults, arguments, calls, items."""

from __future__ import annotations

import ast
import random
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from tests.edit.making import edit_bytes

NEW = "probe_value(  'x' )"
WRAPPERS = ("probe", "probe(lambda: ...)", "... or probe", "[probe,\n ...]")
DISPLAYS = (ast.List, ast.Tuple, ast.Set, ast.Dict)
COMMAS = ("append_to", "remove_from", "set_argument")


@dataclass(frozen=True)
class Text:
    """A file's bytes without its mark, and where its lines start in the whole file."""

    content: bytes
    lines: list[int]

    def span(self, node: Any) -> tuple[int, int]:
        return (
            self.lines[node.lineno - 1] + node.col_offset,
            self.lines[node.end_lineno - 1] + node.end_col_offset,
        )

    def of(self, node: Any) -> str:
        text = self.content.decode("utf-8", "replace")
        return ast.get_source_segment(text, node, padded=True) or "None"


Part = tuple[dict[str, Any], int | None, int | None]


def part_trials(
    text: Text, name: str, function: Any, tree: ast.Module, chance: random.Random
) -> Iterator[Part]:
    """An edit, and where (in bytes) it may change something; None: it only adds."""
    yield from _default(text, name, function.args, chance)
    nodes = list(_outside_texts(function))
    calls = [node for node in nodes if isinstance(node, ast.Call)]
    if calls:
        has_texts = any(isinstance(node, ast.JoinedStr) for node in ast.walk(function))
        yield from _call(text, name, [] if has_texts else calls, chance.choice(calls), chance)
    shown = [node for node in nodes if isinstance(node, DISPLAYS) and _is_read(node)]
    if shown:
        display = chance.choice(shown)
        place = {"target": name, "anchor": text.of(display)}
        yield from _items(text, place, display, chance)
    for statement in chance.sample(tree.body, len(tree.body)):
        value = getattr(statement, "value", None)
        names = getattr(statement, "targets", [None])
        if isinstance(value, DISPLAYS) and len(names) == 1 and isinstance(names[0], ast.Name):
            yield from _items(text, {"target": names[0].id}, value, chance)
            break


def _outside_texts(node: ast.AST) -> Iterator[ast.AST]:
    """The nodes but those in f-strings, whose places Python 3.11 does not tell."""
    for child in ast.iter_child_nodes(node):
        if not isinstance(child, ast.JoinedStr):
            yield child
            yield from _outside_texts(child)


def _is_read(node: Any) -> bool:
    # `a[:, 1]` holds a tuple that is no expression by itself.
    if any(isinstance(item, ast.Slice) for item in getattr(node, "elts", [])):
        return False
    return isinstance(getattr(node, "ctx", ast.Load()), ast.Load)


def _default(text: Text, name: str, args: ast.arguments, chance: random.Random) -> Iterator[Part]:
    # The last one without a default, and those with one: others would break the order.
    count = len(args.defaults) + 1
    positional = [*args.posonlyargs, *args.args][-count:]
    defaults: list[Any] = [None, *args.defaults][-len(positional) :] if positional else []
    pairs = [
        *zip(positional, defaults, strict=True),
        *zip(args.kwonlyargs, args.kw_defaults, strict=True),
    ]
    if pairs:
        argument, old = chance.choice(pairs)
        edit = {"op": "set_default", "target": name, "parameter": argument.arg, "code": NEW}
        yield (edit, *(text.span(old) if old else (None, None)))


def _call(
    text: Text, name: str, calls: list[ast.Call], call: ast.Call, chance: random.Random
) -> Iterator[Part]:
    """Edits of a call. `calls` are all of the function, for the number; [] where not all are."""
    of = chance.choice([lambda node: node, lambda node: node.func])
    anchor = text.of(of(call))
    alike = [one for one in calls if ast.dump(of(one)) == ast.dump(of(call))]
    alike.sort(key=lambda one: (text.span(one)[0], -text.span(one)[1]))
    number = alike.index(call) + 1 if len(alike) > 1 else None
    keywords = [keyword for keyword in call.keywords if keyword.arg]
    edit = {"op": "set_argument", "target": name, "anchor": anchor, "code": NEW, "number": number}
    yield edit | {"keyword": "probe"}, None, None
    if keywords:
        keyword = chance.choice(keywords)
        yield (edit | {"keyword": keyword.arg}, *text.span(keyword.value))
    for code in WRAPPERS:
        wrap = {"op": "wrap_call", "target": name, "anchor": anchor, "code": code, "number": number}
        yield (wrap, *text.span(call))


def _items(
    text: Text, place: dict[str, str], display: Any, chance: random.Random
) -> Iterator[Part]:
    is_dict = isinstance(display, ast.Dict)
    starts = (
        [key or value for key, value in zip(display.keys, display.values, strict=True)]
        if is_dict
        else (display.elts)
    )
    ends = display.values if is_dict else display.elts
    first, last = text.span(display)
    new = f"'probe': {NEW}" if is_dict else NEW
    # The brackets may change with the last item: `set()`, `(x,)`.
    start = text.span(ends[-1])[1] if ends else first
    yield {"op": "append_to", "code": new} | place, start, last
    if not ends:
        return
    index = chance.randrange(len(ends))
    dumps = [ast.dump(one) for one in starts]
    if dumps.count(dumps[index]) > 1:
        return
    code = text.of(starts[index])
    if is_dict and display.keys[index] is None:
        code = f"**{code}"
    start = text.span(ends[index - 1])[1] if index else first
    stop = text.span(starts[index + 1])[0] if index + 1 < len(ends) else last
    if len(ends) == 1:
        start, stop = first, last
    elif len(ends) == 2:
        # A tuple of one needs a comma.
        stop = last
    yield {"op": "remove_from", "code": code} | place, start, stop


def check_part(source: bytes, result: bytes, edit: dict[str, Any]) -> None:
    """Assert that the edit did what it says."""
    after = ast.dump(ast.parse(result))
    if edit["op"] == "wrap_call":
        code = edit["code"] if "..." in edit["code"] else f"{edit['code']}(...)"
        head, _, tail = ast.dump(ast.parse(code, mode="eval").body).partition(
            ast.dump(ast.Constant(...))
        )
        assert head in after, edit
        assert tail in after, edit
    elif edit["op"] != "remove_from":
        assert ast.dump(ast.parse(NEW, mode="eval").body) in after, edit
    if edit["op"] == "append_to":
        undo = {"op": "remove_from"} | {k: v for k, v in edit.items() if k not in ("op", "anchor")}
        if "anchor" not in edit:
            assert edit_bytes(result, undo) == source, edit
    if edit["op"] == "remove_from":
        gone = ast.dump(ast.parse(f"({edit['code'].lstrip('*')}\n)", mode="eval").body)
        assert after.count(gone) < ast.dump(ast.parse(source)).count(gone), edit
