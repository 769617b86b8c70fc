"""Send an action to the tool of the contract that its words and arguments fit.

Answers calls of tools that do not exist, and of tools that cannot take what they were given while
exactly one other tool can. The inserted code leaves every call alone that fits its own tool.
"""

from __future__ import annotations

import re
from typing import Any

from bot.diagnose.catalog import NotApplicable, Situation
from bot.diagnose.code import defines, free_name, literal
from bot.diagnose.contract import Tool
from bot.diagnose.dispatch import DispatchShape, dispatch_shape
from bot.diagnose.evidence import tasks_where
from bot.diagnose.operators.resolve_argument import value_words
from bot.diagnose.seams import Seam
from bot.records import Edit, ModificationSpec, ToolStep

FUNCTION = "resolve_tool"
CODE = '''{constant} = {table}


def {function}(name, arguments):
    """The name of the tool, and the arguments by its parameters, that an action fits.

    A call that fits its own tool stays as it is, and so does one with surplus or missing
    arguments, and one that fits no other tool completely, or several.
    """
    values = [str(value) for value in arguments.values()]
    # Words of a name that no tool has are hints for enumerated parameters.
    hints = [] if name in {constant} else re.split(r"[\\W_]+", name)
    found = {{tool: {assign}(tool, values, hints) for tool in {constant}}}
    if name in {constant} and (found[name] is not None or len(values) != len({constant}[name])):
        return name, arguments
    # One value alone tells too little of what is meant.
    fitting = [tool for tool in found if found[tool] is not None and len(found[tool]) > 1]
    return (fitting[0], found[fitting[0]]) if len(fitting) == 1 else (name, arguments)


def {assign}(tool, values, hints):
    """Values by the parameters of `tool`; None unless every value and parameter finds its match."""
    assigned, left = {{}}, list(values)
    for parameter, (pattern, known) in {constant}[tool].items():
        for value in left if pattern else [*left, *hints]:
            written = {{word[:5].lower() for word in re.split(r"[\\W_]+", value) if word}}
            if pattern:
                fitting = value if re.fullmatch(pattern, value) else None
            else:
                fitting = next((c for c, words in known.items() if written & set(words)), None)
            if fitting is not None:
                assigned[parameter] = fitting
                if value in left:
                    left.remove(value)
                break
    return assigned if not left and len(assigned) == len({constant}[tool]) else None
'''


class ResolveTool:
    name = "resolve-tool"
    answers = ("tool_error", "unparsed_action", "no_action", "missing_action")
    seam = "dispatch_tool"

    def propose(self, situation: Situation) -> ModificationSpec | NotApplicable:
        seam = situation.seam(self.seam)
        assert seam is not None
        if defines(seam.module, FUNCTION):
            return NotApplicable(f"{seam.file} has {FUNCTION} already.")
        shape = dispatch_shape(seam)
        if shape is None:
            return NotApplicable(f"{seam.function} does not take a tool's name and arguments.")
        table = parameter_table(situation.tools)
        tasks = tasks_where(situation, lambda step: fits_elsewhere(step, situation.tools))
        if len(table) < 2:
            return NotApplicable(
                "The contract has not two tools whose parameters are told apart by pattern or "
                "enumerated values."
            )
        if not tasks:
            return NotApplicable("No failing call names a tool that cannot take its arguments.")
        return self._spec(situation, seam, shape, table, tasks)

    def _spec(
        self,
        situation: Situation,
        seam: Seam,
        shape: DispatchShape,
        table: dict[str, Any],
        tasks: list[str],
    ) -> ModificationSpec:
        function = free_name(seam.module, FUNCTION)
        code = CODE.format(
            constant=free_name(seam.module, "TOOL_PARAMETERS"),
            table=literal(table),
            function=function,
            assign=free_name(seam.module, "assign_values"),
        )
        return ModificationSpec(
            title="Send an action to the tool that its arguments fit",
            pattern=situation.pattern.key,
            layer="action-realization",
            hypothesis=(
                "The model invents a tool's name, or picks one that cannot take what it was "
                "given; the arguments and the words of the name tell which tool is meant."
            ),
            predicted_fixes=tasks,
            applicability="When a call does not fill the parameters of the tool that it names.",
            origin=f"catalog:{self.name}",
            edits=[
                Edit(op="add_import", file=seam.file, code="import re", why=""),
                Edit(
                    op="add_function",
                    file=seam.file,
                    target=seam.function,
                    code=code,
                    why="what each tool takes, and which tool an action fits.",
                ),
                Edit(
                    op="insert_statements",
                    file=seam.file,
                    target=seam.function,
                    place="start",
                    code=(
                        f"{shape.name}, {shape.arguments} = "
                        f"{function}({shape.name}, {shape.arguments})"
                    ),
                    why="the tool is resolved before it is called.",
                ),
            ],
        )


def fits_elsewhere(step: ToolStep, tools: list[Tool]) -> bool:
    """Whether a call names no tool, or gives an identifier that its tool's pattern rules out."""
    tool = next((t for t in tools if t.name == step.name), None)
    if tool is None:
        return True
    return any(
        parameter.pattern
        and parameter.name in step.arguments
        and not re.search(parameter.pattern, str(step.arguments[parameter.name]))
        for parameter in tool.parameters
    )


def parameter_table(tools: list[Tool]) -> dict[str, dict[str, tuple[str, dict[str, list[str]]]]]:
    """Tool → required parameter → (pattern, value → stems); tools with other parameters left out.

    A parameter that is told by neither pattern nor values would fit anything.
    """
    table: dict[str, dict[str, tuple[str, dict[str, list[str]]]]] = {}
    for tool in tools:
        required = [p for p in tool.parameters if p.required]
        if not required or any(not p.pattern and not p.values for p in required):
            continue
        words = value_words(tool)
        table[tool.name] = {
            p.name: (
                (p.pattern or "").removeprefix("^").removesuffix("$") if not p.values else "",
                words.get(p.name, {}),
            )
            for p in required
        }
    return table


OPERATOR = ResolveTool()
