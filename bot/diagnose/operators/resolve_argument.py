"""Resolve an argument value that the tool does not know to the one whose description it fits.

Answers tool errors of tools whose contract enumerates the values of a parameter with words. The
inserted code compares word stems; where no value, or more than one, fits best, the argument goes
to the tool as it is.
"""

from __future__ import annotations

from bot.diagnose.catalog import NotApplicable, Situation
from bot.diagnose.code import defines, free_name, literal
from bot.diagnose.contract import Tool
from bot.diagnose.dispatch import DispatchShape, dispatch_shape
from bot.diagnose.evidence import tasks_where
from bot.diagnose.phrasing import stems
from bot.diagnose.seams import Seam
from bot.records import Edit, ModificationSpec, ToolStep

FUNCTION = "resolve_arguments"
CODE = '''{constant} = {table}


def {function}(name, arguments):
    """Replace a value that the tool does not know by the one whose description it fits.

    Words are compared by their first five letters. Where no value or several fit best, the
    argument stays as it is.
    """
    resolved = dict(arguments)
    for parameter, known in {constant}.get(name, {{}}).items():
        value = str(arguments.get(parameter, ""))
        if parameter not in arguments or value in known:
            continue
        written = {{word[:5].lower() for word in re.split(r"[\\W_]+", value) if word}}
        fits = {{choice: len(written.intersection(words)) for choice, words in known.items()}}
        best = [choice for choice, fit in fits.items() if fit and fit == max(fits.values())]
        if len(best) == 1:
            resolved[parameter] = best[0]
    return resolved
'''


class ResolveArgument:
    name = "resolve-argument"
    answers = ("tool_error", "wrong_argument")
    seam = "dispatch_tool"

    def propose(self, situation: Situation) -> ModificationSpec | NotApplicable:
        seam = situation.seam(self.seam)
        assert seam is not None
        if defines(seam.module, FUNCTION):
            return NotApplicable(f"{seam.file} has {FUNCTION} already.")
        shape = dispatch_shape(seam)
        if shape is None:
            return NotApplicable(f"{seam.function} does not take a tool's name and arguments.")
        tool = situation.tool(situation.pattern.component)
        if tool is None:
            return NotApplicable("The pattern is not at a tool of the contract.")
        if not value_words(tool):
            return NotApplicable(f"The contract enumerates no values for {tool.name}.")
        tasks = tasks_where(situation, lambda step: names_unknown_value(step, tool))
        if not tasks:
            return NotApplicable(f"No failing call names a value that {tool.name} does not know.")
        table = {t.name: words for t in situation.tools if (words := value_words(t))}
        return self._spec(situation, seam, shape, table, tasks)

    def _spec(
        self,
        situation: Situation,
        seam: Seam,
        shape: DispatchShape,
        table: dict[str, dict[str, dict[str, list[str]]]],
        tasks: list[str],
    ) -> ModificationSpec:
        function = free_name(seam.module, FUNCTION)
        constant = free_name(seam.module, "ARGUMENT_VALUES")
        return ModificationSpec(
            title="Resolve argument values by the words of the tool contract",
            pattern=situation.pattern.key,
            layer="action-realization",
            hypothesis=(
                "The model names a value in the user's words; the tool knows it under another "
                "name, which the contract's description gives away."
            ),
            predicted_fixes=tasks,
            applicability="When a value of an enumerated parameter is not one that the tool knows.",
            origin=f"catalog:{self.name}",
            edits=[
                Edit(op="add_import", file=seam.file, code="import re", why=""),
                Edit(
                    op="add_function",
                    file=seam.file,
                    target=seam.function,
                    code=CODE.format(constant=constant, table=literal(table), function=function),
                    why="values that a tool does not know are matched by the contract's words.",
                ),
                Edit(
                    op="insert_statements",
                    file=seam.file,
                    target=seam.function,
                    place="start",
                    code=f"{shape.arguments} = {function}({shape.name}, {shape.arguments})",
                    why="arguments are resolved before the tool is called.",
                ),
            ],
        )


def names_unknown_value(step: ToolStep, tool: Tool) -> bool:
    """Whether a call gives an enumerated parameter of the tool a value that is not on its list."""
    return step.name == tool.name and any(
        parameter.values
        and parameter.name in step.arguments
        and str(step.arguments[parameter.name]) not in {v.const for v in parameter.values}
        for parameter in tool.parameters
    )


def value_words(tool: Tool) -> dict[str, dict[str, list[str]]]:
    """Parameter → value → stems of its name and description; stems of several values dropped."""
    table: dict[str, dict[str, list[str]]] = {}
    for parameter in tool.parameters:
        found = {v.const: stems(v.const) | stems(v.description) for v in parameter.values}
        shared = {
            stem
            for stem in set().union(*found.values())
            if sum(stem in words for words in found.values()) > 1
        }
        if found:
            table[parameter.name] = {
                const: sorted((words - shared) | stems(const)) for const, words in found.items()
            }
    return table


OPERATOR = ResolveArgument()
