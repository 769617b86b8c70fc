"""Leave arguments out that the tool does not take.

Answers errors of calls that pass more than the contract's parameters. The inserted code keeps the
arguments that the called tool knows, and leaves calls of unknown tools alone.
"""

from __future__ import annotations

from bot.diagnose.catalog import NotApplicable, Situation
from bot.diagnose.code import defines, free_name, literal
from bot.diagnose.contract import Tool
from bot.diagnose.dispatch import dispatch_shape
from bot.diagnose.evidence import tasks_where
from bot.records import Edit, ModificationSpec, ToolStep

FUNCTION = "keep_known_arguments"
CODE = '''{constant} = {table}


def {function}(name, arguments):
    """The arguments that the tool takes; all of them for a tool that is not in the contract."""
    known = {constant}.get(name, arguments)
    return {{key: value for key, value in arguments.items() if key in known}}
'''


class KeepKnownArguments:
    name = "keep-known-arguments"
    answers = ("tool_error", "harness_exception")
    seam = "dispatch_tool"

    def propose(self, situation: Situation) -> ModificationSpec | NotApplicable:
        seam = situation.seam(self.seam)
        assert seam is not None
        if defines(seam.module, FUNCTION):
            return NotApplicable(f"{seam.file} has {FUNCTION} already.")
        shape = dispatch_shape(seam)
        if shape is None:
            return NotApplicable(f"{seam.function} does not take a tool's name and arguments.")
        if not situation.tools:
            return NotApplicable("The table names no tool contract.")
        tasks = tasks_where(situation, lambda step: passes_surplus(step, situation.tool(step.name)))
        if not tasks:
            return NotApplicable("No failing call passes an argument that its tool does not take.")
        function = free_name(seam.module, FUNCTION)
        constant = free_name(seam.module, "TOOL_ARGUMENTS")
        table = {tool.name: [p.name for p in tool.parameters] for tool in situation.tools}
        return ModificationSpec(
            title="Leave arguments out that the tool does not take",
            pattern=situation.pattern.key,
            layer="action-realization",
            hypothesis=(
                "The model adds an argument out of habit; the call is right without it, but the "
                "tool refuses it as a whole."
            ),
            predicted_fixes=tasks,
            applicability="When a call holds arguments that the contract does not name.",
            origin=f"catalog:{self.name}",
            edits=[
                Edit(
                    op="add_function",
                    file=seam.file,
                    target=seam.function,
                    code=CODE.format(constant=constant, table=literal(table), function=function),
                    why="what each tool takes.",
                ),
                Edit(
                    op="insert_statements",
                    file=seam.file,
                    target=seam.function,
                    place="start",
                    code=f"{shape.arguments} = {function}({shape.name}, {shape.arguments})",
                    why="surplus arguments are left out before the tool is called.",
                ),
            ],
        )


def passes_surplus(step: ToolStep, tool: Tool | None) -> bool:
    """Whether a call passes arguments that its tool's contract does not name."""
    return tool is not None and bool(set(step.arguments) - {p.name for p in tool.parameters})


OPERATOR = KeepKnownArguments()
