"""Follow an identifier of one kind to the kind that the tool means.

Answers errors of a tool that was given, say, an invoice number where it takes a client number,
when the contract tells the two kinds apart by pattern and says which call turns one into the
other.
"""

from __future__ import annotations

import ast
import re

from bot.diagnose.catalog import NotApplicable, Situation
from bot.diagnose.code import defines, free_name, literal
from bot.diagnose.contract import Tool
from bot.diagnose.dispatch import DispatchShape, dispatch_shape
from bot.diagnose.evidence import tasks_where
from bot.diagnose.seams import Seam
from bot.records import Edit, ModificationSpec, ToolStep

FUNCTION = "follow_identifiers"
Sources = dict[str, dict[str, dict[str, object]]]
"""Meant format → given format → tool, parameter and other arguments of the call between them."""

CODE = '''{patterns} = {pattern_table}
{formats} = {format_table}
{sources} = {source_table}


def {function}(name, arguments, call):
    """Where an identifier of another kind is passed, look up the one that the tool means.

    `call` runs a tool. The value stays as it is where no call of the contract leads from its
    kind to the kind that is meant.
    """
    followed = dict(arguments)
    for parameter, meant in {formats}.get(name, {{}}).items():
        value = str(arguments.get(parameter, ""))
        if re.fullmatch({patterns}[meant], value):
            continue
        for given, source in {sources}.get(meant, {{}}).items():
            if not re.fullmatch({patterns}[given], value):
                continue
            found = call(source["tool"], {{source["parameter"]: value, **source["arguments"]}})
            match = re.search(rf"(?<!\\w)(?:{{{patterns}[meant]}})(?!\\w)", str(found))
            if match:
                followed[parameter] = match.group(0)
                break
    return followed
'''


class FollowIdentifier:
    name = "follow-identifier"
    answers = ("tool_error", "wrong_argument", "wrong_answer")
    seam = "dispatch_tool"

    def propose(self, situation: Situation) -> ModificationSpec | NotApplicable:
        seam = situation.seam(self.seam)
        assert seam is not None
        if defines(seam.module, FUNCTION):
            return NotApplicable(f"{seam.file} has {FUNCTION} already.")
        shape = dispatch_shape(seam)
        if shape is None:
            return NotApplicable(f"{seam.function} does not take a tool's name and arguments.")
        if isinstance(seam.node, ast.AsyncFunctionDef):
            return NotApplicable(f"{seam.function} is asynchronous.")
        patterns = identifier_patterns(situation.tools)
        sources = identifier_sources(situation.tools, patterns)
        if not sources:
            return NotApplicable(
                "The contract declares no call that leads from one kind of identifier to another."
            )
        tasks = tasks_where(
            situation,
            lambda step: passes_other_kind(step, situation.tool(step.name), patterns, sources),
        )
        if not tasks:
            return NotApplicable("No failing call passes an identifier of another kind.")
        return self._spec(situation, seam, shape, patterns, sources, tasks)

    def _spec(
        self,
        situation: Situation,
        seam: Seam,
        shape: DispatchShape,
        patterns: dict[str, str],
        sources: Sources,
        tasks: list[str],
    ) -> ModificationSpec:
        function = free_name(seam.module, FUNCTION)
        formats = {
            tool.name: {p.name: p.format for p in tool.parameters if p.format in sources}
            for tool in situation.tools
        }
        code = CODE.format(
            function=function,
            patterns=free_name(seam.module, "IDENTIFIER_PATTERNS"),
            formats=free_name(seam.module, "IDENTIFIER_PARAMETERS"),
            sources=free_name(seam.module, "IDENTIFIER_SOURCES"),
            pattern_table=literal(patterns),
            format_table=literal({name: kinds for name, kinds in formats.items() if kinds}),
            source_table=literal(sources),
        )
        call = shape.call.format(tool="tool", arguments="values")
        return ModificationSpec(
            title="Follow an identifier to the kind that the tool means",
            pattern=situation.pattern.key,
            layer="action-realization",
            hypothesis=(
                "The model passes the identifier that the user named; the tool takes one of "
                "another kind, which a call of the contract would give."
            ),
            predicted_fixes=tasks,
            applicability=(
                "When an identifier does not match the pattern of its parameter but that of a "
                "kind from which the contract leads to it."
            ),
            origin=f"catalog:{self.name}",
            edits=[
                Edit(op="add_import", file=seam.file, code="import re", why=""),
                Edit(
                    op="add_function",
                    file=seam.file,
                    target=seam.function,
                    code=code,
                    why="kinds of identifiers, and the calls that lead from one to another.",
                ),
                Edit(
                    op="insert_statements",
                    file=seam.file,
                    target=seam.function,
                    place="start",
                    code=(
                        f"{shape.arguments} = {function}(\n"
                        f"    {shape.name}, {shape.arguments}, lambda tool, values: {call}\n)"
                    ),
                    why="an identifier of another kind is followed before the tool is called.",
                ),
            ],
        )


def passes_other_kind(
    step: ToolStep, tool: Tool | None, patterns: dict[str, str], sources: Sources
) -> bool:
    """Whether a call passes an identifier from which the contract leads to the kind it takes."""
    for parameter in tool.parameters if tool else ():
        value = str(step.arguments.get(parameter.name, ""))
        meant = parameter.format or ""
        if meant in sources and not re.fullmatch(patterns[meant], value):
            return any(re.fullmatch(patterns[given], value) for given in sources[meant])
    return False


def identifier_patterns(tools: list[Tool]) -> dict[str, str]:
    """Format → pattern without anchors, for the formats that have one and only one pattern."""
    found: dict[str, set[str]] = {}
    for tool in tools:
        for parameter in tool.parameters:
            if parameter.format and parameter.pattern:
                bare = parameter.pattern.removeprefix("^").removesuffix("$")
                found.setdefault(parameter.format, set()).add(bare)
    return {kind: next(iter(bare)) for kind, bare in found.items() if len(bare) == 1}


def identifier_sources(tools: list[Tool], patterns: dict[str, str]) -> Sources:
    """Meant format → given format → the call (tool, parameter, other arguments) between them."""
    sources: Sources = {}
    for tool in tools:
        keys = [p for p in tool.parameters if p.format in patterns]
        for value, meant in tool.returns.items():
            if len(keys) != 1 or meant not in patterns or keys[0].format == meant:
                continue
            chosen = [p for p in tool.parameters if any(v.const == value for v in p.values)]
            others = [p for p in tool.parameters if p.required and p not in (keys[0], *chosen[:1])]
            if others or (value and not chosen) or patterns[meant] == patterns[str(keys[0].format)]:
                continue
            arguments = {chosen[0].name: value} if value else {}
            sources.setdefault(meant, {})[str(keys[0].format)] = {
                "tool": tool.name,
                "parameter": keys[0].name,
                "arguments": arguments,
            }
    return sources


OPERATOR = FollowIdentifier()
