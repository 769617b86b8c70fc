"""Send an action to the tool of the contract that its words and arguments fit.

Answers calls of tools that do not exist, and of tools that cannot take what they were given while
exactly one other tool can. The inserted code leaves every call alone that fits its own tool.
"""

from __future__ import annotations

from typing import Any

from bot.diagnose.catalog import NotApplicable, Situation
from bot.diagnose.code import free_name, literal, predicted
from bot.diagnose.contract import Tool
from bot.diagnose.dispatch import DispatchShape, dispatch_shape
from bot.diagnose.operators.resolve_argument import value_words
from bot.diagnose.seams import Seam
from bot.records import Edit, ModificationSpec

CODE = '''{constant} = {table}


def {function}(name, arguments):
    """The name of the tool, and the arguments by its parameters, that an action fits best.

    A call that fits its own tool stays as it is, and so does one that fits no tool, or several
    equally well.
    """
    values = [str(value) for value in arguments.values()]
    if {fit}(name, values, name) == len({constant}.get(name, ())):
        return name, arguments
    fits = {{tool: {fit}(tool, values, name) for tool in {constant}}}
    best = [tool for tool, fit in fits.items() if fit and fit == max(fits.values())]
    if len(best) != 1:
        return name, arguments
    return best[0], {assign}(best[0], values, name)


def {assign}(tool, values, name):
    """Values of an action by the parameters of `tool` that they fit, each used once.

    An enumerated parameter that no value fits takes a hint from the action's name.
    """
    assigned, left = {{}}, list(values)
    for parameter, (pattern, known) in {constant}[tool].items():
        hints = left if pattern else [*left, *re.split(r"[\\W_]+", name)]
        for value in hints:
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
    return assigned


def {fit}(tool, values, name):
    """How many parameters of `tool` the values of an action fill."""
    return len({assign}(tool, values, name)) if tool in {constant} else -1
'''


class ResolveTool:
    name = "resolve-tool"
    answers = ("tool_error", "unparsed_action", "no_action", "missing_action")
    seam = "dispatch_tool"

    def propose(self, situation: Situation) -> ModificationSpec | NotApplicable:
        seam = situation.seam(self.seam)
        assert seam is not None
        shape = dispatch_shape(seam)
        if shape is None:
            return NotApplicable(f"{seam.function} does not take a tool's name and arguments.")
        table = parameter_table(situation.tools)
        if len(table) < 2:
            return NotApplicable(
                "The contract has not two tools whose parameters are told apart by pattern or "
                "enumerated values."
            )
        return self._spec(situation, seam, shape, table)

    def _spec(
        self, situation: Situation, seam: Seam, shape: DispatchShape, table: dict[str, Any]
    ) -> ModificationSpec:
        function = free_name(seam.module, "resolve_tool")
        code = CODE.format(
            constant=free_name(seam.module, "TOOL_PARAMETERS"),
            table=literal(table),
            function=function,
            fit=free_name(seam.module, "count_fitting"),
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
            predicted_fixes=predicted(situation),
            applicability="When a call does not fill the parameters of the tool that it names.",
            origin=f"catalog:{self.name}",
            edits=[
                Edit(op="add_import", file=seam.file, code="import re", why=""),
                Edit(
                    op="add_function",
                    file=seam.file,
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
