"""Ask the model once more where its reply held no action, with a reminder of the syntax.

Edits the function that calls the model and then parses its reply. The reminder holds one example
action, written from the contract in the syntax that parsed actions show.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from bot.diagnose.catalog import NotApplicable, Situation
from bot.diagnose.code import defines, free_name, predicted, quote
from bot.diagnose.phrasing import worked_calls
from bot.diagnose.seams import Seam
from bot.diagnose.syntax import learn_syntax
from bot.records import Edit, ModificationSpec

CONSTANT = "ASK_AGAIN"


@dataclass(frozen=True)
class Exchange:
    """Where a harness asks the model and reads its reply: two assignments of one function."""

    file: str
    function: str
    module: ast.Module
    ask: ast.Assign
    parse: ast.Assign


class AskAgain:
    name = "ask-again"
    answers = ("unparsed_action", "no_action", "premature_end", "empty_reply")
    seam = "parse_action"

    def propose(self, situation: Situation) -> ModificationSpec | NotApplicable:
        parse, model = situation.seam("parse_action"), situation.seam("model_call")
        assert parse is not None
        if model is None:
            return NotApplicable("The table names no usable seam 'model_call'.")
        if not gives_none(parse):
            return NotApplicable(f"{parse.function} does not give None where there is no action.")
        syntax = learn_syntax(situation.episodes)
        if syntax is None or not situation.tools:
            return NotApplicable("No parsed action or no contract shows how an action is written.")
        exchange = find_exchange(situation, parse, model)
        if exchange is None:
            return NotApplicable("No function assigns a model reply and then its parsed action.")
        if defines(exchange.module, CONSTANT):
            return NotApplicable(f"{exchange.file} has {CONSTANT} already.")
        example = next(iter(worked_calls(situation.tools[0])))
        reminder = (
            "That was no valid action. Reply with one action and nothing else, like this: "
            + syntax.write(example.tool, example.arguments)
        )
        return self._spec(situation, exchange, reminder)

    def _spec(self, situation: Situation, exchange: Exchange, reminder: str) -> ModificationSpec:
        constant = free_name(exchange.module, CONSTANT)
        call, parsed = exchange.ask.value, exchange.parse.value
        inner = call.value if isinstance(call, ast.Await) else call
        assert isinstance(inner, ast.Call)
        assert isinstance(parsed, ast.Call)
        reply_text = ast.unparse(parsed.args[0])
        again = (
            f"[*{ast.unparse(inner.args[0])}, "
            f'{{"role": "assistant", "content": {reply_text}}}, '
            f'{{"role": "user", "content": {constant}}}]'
        )
        rest = [ast.unparse(arg) for arg in inner.args[1:]]
        rest += [
            f"{k.arg}={ast.unparse(k.value)}" if k.arg else f"**{ast.unparse(k.value)}"
            for k in inner.keywords
        ]
        new_call = f"{ast.unparse(inner.func)}({', '.join([again, *rest])})"
        if isinstance(call, ast.Await):
            new_call = f"await {new_call}"
        action = ast.unparse(exchange.parse.targets[0])
        code = (
            f"if {action} is None:\n"
            f"    {ast.unparse(exchange.ask.targets[0])} = {new_call}\n"
            f"    {ast.unparse(exchange.parse)}\n"
        )
        return ModificationSpec(
            title="Ask once more where a reply holds no action",
            pattern=situation.pattern.key,
            layer="trajectory-regulation",
            hypothesis=(
                "The loop gives up at the first reply that is no action, although the model "
                "may write one when it is told what was wrong."
            ),
            predicted_fixes=predicted(situation),
            applicability="When a reply could not be parsed; at most once a step.",
            origin=f"catalog:{self.name}",
            edits=[
                Edit(
                    op="add_function",
                    file=exchange.file,
                    target=exchange.function,
                    code=f"{constant} = {quote(reminder)}",
                    why="a reminder of how an action is written.",
                ),
                Edit(
                    op="insert_statements",
                    file=exchange.file,
                    target=exchange.function,
                    place="after",
                    anchor=ast.unparse(exchange.parse),
                    code=code,
                    why="the model is asked once more before the episode ends.",
                ),
            ],
        )


def gives_none(seam: Seam) -> bool:
    """Whether a function says, by annotation or by a bare return, that it may give None."""
    annotation = ast.unparse(seam.node.returns) if seam.node.returns else ""
    if "None" in annotation or "Optional" in annotation:
        return True
    returns = [node for node in ast.walk(seam.node) if isinstance(node, ast.Return)]
    return any(r.value is None or ast.unparse(r.value) == "None" for r in returns)


def find_exchange(situation: Situation, parse: Seam, model: Seam) -> Exchange | None:
    """The one function, in the files of the seams, that asks and parses; None where unclear."""
    seams = [situation.seam(name) for name in situation.table.seams]
    modules = {seam.file: seam.module for seam in seams if seam is not None}
    found = [
        Exchange(file, function, module, ask, read)
        for file, module in sorted(modules.items())
        for function, node in _functions(module)
        for ask, read in _pairs(node, model.node.name, parse.node.name)
    ]
    return found[0] if len(found) == 1 else None


def _functions(
    module: ast.Module,
) -> Iterator[tuple[str, ast.FunctionDef | ast.AsyncFunctionDef]]:
    for node in module.body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield node.name, node
        elif isinstance(node, ast.ClassDef):
            for inner in node.body:
                if isinstance(inner, ast.FunctionDef | ast.AsyncFunctionDef):
                    yield f"{node.name}.{inner.name}", inner


def _pairs(function: ast.AST, model: str, parse: str) -> Iterator[tuple[ast.Assign, ast.Assign]]:
    """Assignments of a model call and of a parse, in one block and in this order."""
    for node in ast.walk(function):
        for body in (getattr(node, "body", None), getattr(node, "orelse", None)):
            if not isinstance(body, list):
                continue
            calls = [(s, _called(s.value)) for s in body if _plain_assign(s)]
            asks = [s for s, name in calls if name == model]
            reads = [s for s, name in calls if name == parse]
            if len(asks) == 1 and len(reads) == 1 and asks[0].lineno < reads[0].lineno:
                yield asks[0], reads[0]


def _plain_assign(statement: ast.stmt) -> bool:
    return (
        isinstance(statement, ast.Assign)
        and len(statement.targets) == 1
        and isinstance(statement.targets[0], ast.Name)
    )


def _called(value: ast.expr) -> str | None:
    """The name of the function that a value calls with at least one positional argument."""
    if isinstance(value, ast.Await):
        value = value.value
    if not isinstance(value, ast.Call) or not value.args:
        return None
    function = value.func
    if isinstance(function, ast.Attribute):
        return function.attr
    return function.id if isinstance(function, ast.Name) else None


OPERATOR = AskAgain()
