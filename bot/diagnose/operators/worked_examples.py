"""Show the model a worked example for every tool and field of the contract.

Answers patterns in which the model's text is no valid action, or calls a tool in a way that the
contract rules out. The requests and calls are composed from the tool contract alone; the way of
writing them is learnt from actions of the train episodes that the harness did parse. Where the
harness builds chat messages, the examples become turns of the chat: small models follow turns
that they seem to have taken far better than a description.
"""

from __future__ import annotations

import ast

from bot.diagnose.catalog import NotApplicable, Situation
from bot.diagnose.code import defines, free_name, literal, predicted
from bot.diagnose.phrasing import worked_calls
from bot.diagnose.seams import Seam
from bot.diagnose.syntax import learn_syntax
from bot.records import Edit, ModificationSpec

FUNCTION = "add_worked_examples"
MOST_EXAMPLES = 40

AS_MESSAGES = '''

def {function}(messages):
    """Put a worked example of every tool and field before the conversation's first turn."""
    turns = []
    for request, action in {constant}:
        turns.append({{"role": "user", "content": request}})
        turns.append({{"role": "assistant", "content": action}})
    first = 0
    while first < len(messages) and messages[first]["role"] in ("system", "developer"):
        first += 1
    return [*messages[:first], *turns, *messages[first:]]
'''

AS_TEXT = '''

def {function}(prompt):
    """Put a worked example of every tool and field behind the prompt."""
    examples = [f"{{request}}\\n{{action}}" for request, action in {constant}]
    return "\\n\\n".join([prompt, "Examples:", *examples])
'''


class WorkedExamples:
    name = "worked-examples"
    answers = (
        "unparsed_action",
        "no_action",
        "premature_end",
        "empty_reply",
        "wrong_answer",
        "missing_action",
        "tool_error",
        "wrong_argument",
        "repeated_action",
    )
    seam = "prompt"

    def propose(self, situation: Situation) -> ModificationSpec | NotApplicable:
        seam = situation.seam(self.seam)
        assert seam is not None
        if defines(seam.module, FUNCTION):
            return NotApplicable(f"{seam.file} has {FUNCTION} already.")
        if not situation.tools:
            return NotApplicable("The table names no tool contract to take examples from.")
        syntax = learn_syntax(situation.episodes)
        if syntax is None:
            return NotApplicable("No train episode shows how a parsed action is written.")
        kind = returned_kind(seam)
        if kind is None:
            return NotApplicable(
                f"{seam.function} does not say whether it returns a text or messages."
            )
        returned = [n.value for n in ast.walk(seam.node) if isinstance(n, ast.Return) and n.value]
        if len(returned) != 1:
            return NotApplicable(f"{seam.function} has {len(returned)} returns, not one.")
        calls = [call for tool in situation.tools for call in worked_calls(tool)][:MOST_EXAMPLES]
        pairs = [(call.request, syntax.write(call.tool, call.arguments)) for call in calls]
        return self._spec(situation, seam, kind, ast.unparse(returned[0]), pairs)

    def _spec(
        self,
        situation: Situation,
        seam: Seam,
        kind: str,
        returned: str,
        pairs: list[tuple[str, str]],
    ) -> ModificationSpec:
        function = free_name(seam.module, FUNCTION)
        constant = free_name(seam.module, "WORKED_EXAMPLES")
        form = AS_MESSAGES if kind == "messages" else AS_TEXT
        code = f"{constant} = {literal(pairs)}\n" + form.format(
            function=function, constant=constant
        )
        return ModificationSpec(
            title="Show the model a worked example per tool and field",
            pattern=situation.pattern.key,
            layer="procedural-skill",
            hypothesis=(
                "The prompt describes the tools but hardly shows how a request becomes an action, "
                "so the model answers in prose or guesses names."
            ),
            predicted_fixes=predicted(situation),
            applicability="In every episode: the examples are part of the prompt.",
            origin=f"catalog:{self.name}",
            edits=[
                Edit(
                    op="add_function",
                    file=seam.file,
                    target=seam.function,
                    code=code,
                    why=f"{len(pairs)} example requests with their actions, from the contract.",
                ),
                Edit(
                    op="replace_expression",
                    file=seam.file,
                    target=seam.function,
                    anchor=returned,
                    code=f"{function}({returned})",
                    why="the examples join the prompt.",
                ),
            ],
        )


def returned_kind(seam: Seam) -> str | None:
    """`text` or `messages`, by the seam's annotation, else by what it returns; None if unclear."""
    annotation = ast.unparse(seam.node.returns) if seam.node.returns else ""
    if annotation == "str":
        return "text"
    if annotation.lower().startswith(("list[", "list", "sequence[")):
        return "messages"
    values = [n.value for n in ast.walk(seam.node) if isinstance(n, ast.Return) and n.value]
    if values and all(isinstance(v, ast.List) for v in values):
        return "messages"
    if values and all(_is_text(v) for v in values):
        return "text"
    return None


def _is_text(value: ast.expr) -> bool:
    if isinstance(value, ast.JoinedStr):
        return True
    if isinstance(value, ast.Constant):
        return isinstance(value.value, str)
    if isinstance(value, ast.BinOp):
        return _is_text(value.left) or _is_text(value.right)
    return (
        isinstance(value, ast.Call)
        and isinstance(value.func, ast.Attribute)
        and value.func.attr in ("format", "join", "strip", "replace", "substitute")
    )


OPERATOR = WorkedExamples()
