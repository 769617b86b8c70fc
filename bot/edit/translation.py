"""Edits that were made for one revision, said again for another one.

Target, anchor and code are followed to where their function, its statements and its names have
gone. What cannot be followed with certainty is refused: nothing is put where it only looks right.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, cast

import libcst as cst

from bot.edit.alignment import Alignment, align, body_of
from bot.edit.assignments import assignments_to
from bot.edit.blocks import Block, find_runs, lines_of, own_block
from bot.edit.calls import calls_of, is_callee
from bot.edit.code import parse_anchor, parse_expression, parse_statements
from bot.edit.expressions import find_expressions
from bot.edit.following import (
    Place,
    Revision,
    assigned_in,
    find_again,
    follow_globals,
    named_definitions,
)
from bot.edit.items import parse_item
from bot.edit.merge import Merge
from bot.edit.names import bindings, bound_names
from bot.edit.parameters import kind_in
from bot.edit.refusal import Refused
from bot.edit.schema import SCHEMAS
from bot.edit.shapes import own_names, rename_in, renamed, shape, used_names
from bot.edit.structure import flatten, is_docstring, same
from bot.edit.targets import definitions, find_target
from bot.edit.tree import Spot, Statement, walk

STATEMENTS = ("insert_statements", "replace_statements", "delete_statements")
CALLS = ("set_argument", "wrap_call")
ITEMS = ("append_to", "remove_from")
ADDITIONS = ("add_function", "add_import", "add_class")
Fields = dict[str, Any]


class Translator:
    """From `old` to `new`. `moved`: old path → new path of files that were renamed."""

    def __init__(self, old: Revision, new: Revision, moved: Mapping[str, str]) -> None:
        self._old, self._new, self._moved = old, new, moved

    def file(self, path: str) -> str:
        """What a file is called in the new revision."""
        return path if path in self._new.modules else self._moved.get(path, path)

    def translate(self, edit: Fields) -> Fields:
        """The edit for the new revision. Refused where that cannot be said with certainty."""
        place, rest = self._place(edit)
        found = self.places(edit)
        if not found:
            raise Refused("not_found", f"{place.name or place.file} is gone from the new base.")
        reasons: list[Refused] = []
        for candidate in found:
            try:
                return _Following(self._old, self._new, place, candidate).say(edit, rest)
            except Refused as refused:
                reasons.append(refused)
        raise reasons[0]

    def places(self, edit: Fields) -> list[Place]:
        """Where the definition that the edit targets may be, the likeliest first."""
        place, rest = self._place(edit)
        found = find_again(place, self._old, self._new, self.file(edit["file"]))
        if place.name or not rest or not assigned_in(self._old, rest):
            return found
        # A constant of the module: it may have gone to another one, and be imported from there.
        names = [
            follow_globals(self._old.modules[place.file], self._new.modules[p.file]).get(rest, rest)
            for p in found
        ]
        here = [
            p
            for p, name in zip(found, names, strict=True)
            if p.file in assigned_in(self._new, name)
        ]
        files = assigned_in(self._new, rest)
        return here or [
            Place(file, "", self._new.modules[file]) for file in files if len(files) == 1
        ]

    def _place(self, edit: Fields) -> tuple[Place, str]:
        module = self._old.modules[edit["file"]]
        scope, rest = _scope_of(module, edit)
        name = ".".join(scope)
        node = find_target(module, name, edit.get("target_number")).node
        return Place(edit["file"], name, node), rest


def _scope_of(module: cst.Module, edit: Fields) -> tuple[list[str], str]:
    """The definition that an edit's target lies in, and what it names inside of that."""
    parts = str(edit.get("target", "")).split(".") if edit.get("target") else []
    scope: list[str] = []
    spots = [Spot(module)]
    for position, part in enumerate(parts):
        spots = [s for spot in spots for s in definitions(spot) if _name(s) == part]
        if not spots:
            return scope, ".".join(parts[position:])
        scope.append(part)
    return scope, ""


def _name(spot: Spot) -> str:
    assert isinstance(spot.node, cst.FunctionDef | cst.ClassDef)
    return spot.node.name.value


class _Following:
    """One definition and what it has become."""

    def __init__(self, old: Revision, new: Revision, here: Place, there: Place) -> None:
        self._before, self._after = old.modules[here.file], new.modules[there.file]
        self._here, self._there = here, there
        self._alignment: Alignment = align(here.node, there.node)
        self._globals = follow_globals(self._before, self._after)
        self._names = self._globals | {
            name: other for name, other in self._alignment.names().items() if name != other
        }
        if here.name and here.file == there.file:
            last, now = here.name.rpartition(".")[2], there.name.rpartition(".")[2]
            if last != now:
                self._names[last] = now

    def say(self, edit: Fields, rest: str) -> Fields:
        """The edit in the words of the new revision."""
        said = edit | {"file": self._there.file}
        inside = ".".join(self._names.get(part, part) for part in rest.split(".")) if rest else ""
        said["target"] = ".".join(part for part in (self._there.name, inside) if part)
        if said["target"] != edit.get("target", ""):
            said["target_number"] = None
        said["code"] = self._code(edit)
        if edit.get("anchor"):
            said["anchor"] = self._renamed(edit, edit["anchor"], is_anchor=True)
        if edit["op"] in ("replace_function", "replace_function_body"):
            return self._whole(edit, said)
        if edit["op"] == "set_constant":
            self._check_value(edit, said)
        if edit["op"] == "set_default":
            self._follow_parameter(edit, said)
        if edit["op"] == "insert_statements" and edit.get("place") in ("start", "end"):
            self._check_end(edit)
        if edit.get("anchor") and edit["op"] in (*STATEMENTS, "replace_expression", *CALLS, *ITEMS):
            return self._anchored(edit, said)
        return said

    # --- names -------------------------------------------------------------------------------

    def _code(self, edit: Fields) -> str:
        if not edit.get("code"):
            return str(edit.get("code", ""))
        self._check_names(edit)
        return self._renamed(edit, edit["code"])

    def _check_names(self, edit: Fields) -> None:
        """Refuse code whose names mean nothing, or something else, where it is to go."""
        nodes = self._parse(edit, edit["code"])
        used = used_names(nodes)
        unclear = sorted(used & self._alignment.undecided())
        if unclear:
            raise Refused(
                "conflict", f"It cannot be told what {unclear[0]} has become in {self._where}."
            )
        before, after = bindings(self._before), bindings(self._after)
        known = own_names(self._there.node) | set(after)
        brought = {name for node in flatten(nodes) for name in bound_names(node)}
        if edit["op"] in ADDITIONS:
            known |= brought
        lost = sorted(
            name
            for name in used & set(before)
            if self._names.get(name, name) not in known and name not in own_names(self._here.node)
        )
        if lost:
            raise Refused("conflict", f"{lost[0]} is not known in {self._there.file}.")
        taken = sorted(
            (brought - own_names(self._here.node) - set(before))
            & own_names(self._there.node) - set(self._names.values())
        )
        if taken and edit["op"] in STATEMENTS:
            raise Refused("conflict", f"{taken[0]} is something else in {self._where} now.")

    def _parse(self, edit: Fields, code: str, *, is_anchor: bool = False) -> list[cst.CSTNode]:
        """The code as statements, or as an expression; [] where it is neither by itself."""
        kind = SCHEMAS[edit["op"]].brings
        try:
            if kind == "expression" or (is_anchor and edit["op"] not in STATEMENTS):
                return [parse_expression(code, self._before)]
            if kind == "item":
                return [parse_item(code, self._before)]
            if kind != "statements" and not is_anchor:
                return []
            return list(parse_statements(code, self._before))
        except Refused:
            return []

    def _renamed(self, edit: Fields, code: str, *, is_anchor: bool = False) -> str:
        nodes = self._parse(edit, code, is_anchor=is_anchor)
        names = {old: new for old, new in self._names.items() if old in used_names(nodes)}
        if not nodes or not names:
            return code
        nodes = [rename_in(node, names) for node in nodes]
        return "".join(self._before.code_for_node(node) for node in nodes).strip("\n")

    # --- places ------------------------------------------------------------------------------

    @property
    def _where(self) -> str:
        return self._there.name or self._there.file

    def _anchored(self, edit: Fields, said: Fields) -> Fields:
        """Choose the place that the anchor's place has become."""
        ours = self._occurrences(self._here.node, self._before, edit, edit["anchor"])
        theirs = self._occurrences(self._there.node, self._after, said, said["anchor"])
        if not ours:
            return said
        number = edit.get("number")
        mine = ours[number - 1 if number else 0]
        said["number"] = None
        if not theirs:
            return self._elsewhere(edit, said, len(ours))
        if len(ours) == len(theirs) == 1:
            return said
        wanted = self._alignment.pairs.get(id(mine[0]))
        beside = [other for other in ours if other[0] is mine[0]]
        after = [other for other in theirs if other[0] is wanted]
        if wanted is None or len(beside) != len(after):
            raise Refused(
                "ambiguous",
                f"The anchor stands {len(theirs)} times in {self._where} now, and it cannot be "
                "told which of them it was.",
            )
        chosen = after[[other[1] for other in beside].index(mine[1])]
        if len(theirs) > 1:
            said["number"] = [other[1] for other in theirs].index(chosen[1]) + 1
        return said

    def _occurrences(
        self, scope: cst.CSTNode, module: cst.Module, edit: Fields, anchor: str
    ) -> list[tuple[cst.CSTNode, int]]:
        """The statement around each place of the anchor, and the place's own identity."""
        spot = Spot(scope)
        if edit["op"] in STATEMENTS:
            runs = find_runs(spot, parse_anchor(anchor, module))
            return [(run.statements[0], id(run.statements[0])) for run in runs]
        expression = parse_expression(anchor, module)
        if edit["op"] in CALLS and is_callee(expression):
            found = calls_of(spot, expression)
        elif edit["op"] in ITEMS and is_callee(expression):
            found = assignments_to(spot, expression)
        else:
            found = find_expressions(spot, expression)
        wanted = {id(expression.node) for expression in found}
        around: dict[int, cst.CSTNode] = {}
        for other in walk(spot, lambda node: True):
            if isinstance(other.node, cst.BaseSmallStatement | cst.BaseCompoundStatement):
                for inside in walk(other, lambda node: True):
                    if id(inside.node) in wanted:
                        around[id(inside.node)] = other.node
        return [(around.get(id(e.node), scope), id(e.node)) for e in found]

    def _elsewhere(self, edit: Fields, said: Fields, times: int) -> Fields:
        """The anchor has left its function: follow it where it stands once before and after."""
        before = self._occurrences(self._before, self._before, edit, edit["anchor"])
        after = self._occurrences(self._after, self._after, said, said["anchor"])
        if times == len(before) == len(after) == 1 and edit.get("anchor"):
            outside = used_names(self._parse(edit, edit["code"])) & own_names(self._here.node)
            for name, node in named_definitions(Spot(self._after)):
                inside = any(spot.node is after[0][0] for spot in walk(Spot(node), lambda n: True))
                if inside and isinstance(node, cst.FunctionDef):
                    missing = sorted(outside - own_names(node))
                    if missing:
                        raise Refused("conflict", f"{missing[0]} is not known in {name}.")
                    said["target"] = name
            return said
        anchor = str(edit["anchor"]).strip().split("\n")[0]
        raise Refused("not_found", f"{anchor[:80]!r} is gone from {self._where}.")

    def _check_end(self, edit: Fields) -> None:
        """Refuse to add at an end that is another one now."""
        old, new = body_of(self._here.node), body_of(self._there.node)
        place = 0 if edit["place"] == "start" else -1
        if not old or not new or edit["place"] == "start":
            return
        jumps = cst.Return | cst.Raise | cst.Continue | cst.Break
        if self._alignment.pairs.get(id(old[place])) is not new[place] and isinstance(
            new[place], jumps
        ):
            raise Refused("conflict", f"{self._where} ends otherwise now.")

    def _check_value(self, edit: Fields, said: Fields) -> None:
        """Refuse to overwrite a value that the new base has changed."""
        name = str(edit["target"]).rpartition(".")[2]
        now = str(said["target"]).rpartition(".")[2]
        old, new = _value(self._here.node, name), _value(self._there.node, now)
        wanted = parse_expression(said["code"], self._after)
        if old is None or new is None or same(new, wanted):
            return
        if shape(old, renamed(self._names)) != shape(new, str):
            raise Refused("conflict", f"{now} has another value in the new base already.")

    def _follow_parameter(self, edit: Fields, said: Fields) -> None:
        """Name the parameter as it is called now; refuse to overwrite a default of the new base."""
        name, here, there = str(edit["parameter"]), self._here.node, self._there.node
        now = self._names.get(name, name)
        said["parameter"] = now
        if not isinstance(here, cst.FunctionDef) or not isinstance(there, cst.FunctionDef):
            return
        _, old = kind_in(here.params, name)
        _, new = kind_in(there.params, now)
        if old is None or new is None:
            return
        wanted = parse_expression(said["code"], self._after)
        changed = shape(old.default, renamed(self._names)) != shape(new.default, str)
        if changed and not same(new.default, wanted):
            raise Refused("conflict", f"{now} has another default in the new base already.")

    # --- whole functions -----------------------------------------------------------------------

    def _whole(self, edit: Fields, said: Fields) -> Fields:
        """A function that is replaced: what the new base has changed in it stays."""
        here, there = self._here.node, self._there.node
        if not isinstance(here, cst.FunctionDef) or not isinstance(there, cst.FunctionDef):
            raise Refused("unsupported", f"{self._where} is a class, not a function.")
        code = parse_statements(said["code"], self._after)
        new_lines: Sequence[Statement] = code
        if edit["op"] == "replace_function":
            function = code[0]
            if len(code) != 1 or not isinstance(function, cst.FunctionDef):
                raise Refused("unsupported", "replace_function takes the code of one function.")
            if self._same_head(here, there):
                said["code"] = self._as_text([function])
                if self._same_body(here, there):
                    return said
            elif not self._same_head(here, function):
                raise Refused(
                    "conflict",
                    f"The edit and the new base both change how {self._where} is called.",
                )
            new_lines = lines_of(cast(Block, own_block(Spot(function)).node))
        elif self._same_body(here, there):
            return said
        base = lines_of(cast(Block, own_block(Spot(here)).node))
        theirs = lines_of(cast(Block, own_block(Spot(there)).node))
        merged = Merge(self._names, self._where).lines(
            _undocumented(base), _undocumented(new_lines), _undocumented(theirs)
        )
        if edit["op"] == "replace_function" and self._same_head(here, there):
            body = cast(cst.FunctionDef, code[0]).body
            if isinstance(body, cst.IndentedBlock):
                kept = [line for line in body.body[:1] if _is_documentation(line)]
                whole = code[0].with_changes(body=body.with_changes(body=[*kept, *merged]))
                return said | {"code": self._as_text([whole])}
        return said | {"op": "replace_function_body", "code": self._as_text(merged)}

    def _same_head(self, one: cst.FunctionDef, other: cst.FunctionDef) -> bool:
        names = renamed(self._names) if one is self._here.node else str
        return shape(one.params, names) == shape(other.params, str)

    def _same_body(self, one: cst.FunctionDef, other: cst.FunctionDef) -> bool:
        names = renamed(self._names)
        return [shape(x, names) for x in body_of(one)] == [shape(x, str) for x in body_of(other)]

    def _as_text(self, lines: Sequence[Statement]) -> str:
        return "".join(self._after.code_for_node(line) for line in lines).strip("\r\n")


def _undocumented(lines: Sequence[Statement]) -> list[Statement]:
    return [line for i, line in enumerate(lines) if i or not _is_documentation(line)]


def _is_documentation(line: cst.CSTNode) -> bool:
    return (
        isinstance(line, cst.SimpleStatementLine)
        and len(line.body) == 1
        and is_docstring(line.body[0])
    )


def _value(scope: cst.CSTNode, name: str) -> cst.BaseExpression | None:
    """The value that a module or class gives a name by a plain assignment of its own."""
    for statement in body_of(scope):
        if isinstance(statement, cst.Assign | cst.AnnAssign) and name in bound_names(statement):
            return statement.value
    return None
