"""Raise the token limit of a reply where replies are cut.

Doubles the constant that the model call uses as its limit.
"""

from __future__ import annotations

import ast

from bot.diagnose.catalog import NotApplicable, Situation
from bot.diagnose.code import predicted
from bot.diagnose.seams import Seam
from bot.records import Edit, ModificationSpec

_KEYS = frozenset({"max_tokens", "max_completion_tokens", "max_output_tokens", "max_new_tokens"})


class RaiseReplyLimit:
    name = "raise-reply-limit"
    answers = ("truncated_reply",)
    seam = "model_call"

    def propose(self, situation: Situation) -> ModificationSpec | NotApplicable:
        seam = situation.seam(self.seam)
        assert seam is not None
        constant = limit_constant(seam)
        if constant is None:
            return NotApplicable(f"{seam.function} takes its token limit from no constant.")
        name, value = constant
        return ModificationSpec(
            title="Raise the token limit of a reply",
            pattern=situation.pattern.key,
            layer="action-realization",
            hypothesis=f"Replies end at the limit of {value} tokens before the action is whole.",
            predicted_fixes=predicted(situation),
            applicability="In every model call; only replies that were cut become longer.",
            origin=f"catalog:{self.name}",
            edits=[
                Edit(
                    op="set_constant",
                    file=seam.file,
                    target=name,
                    code=str(value * 2),
                    why=f"twice the tokens: {value * 2}.",
                )
            ],
        )


def limit_constant(seam: Seam) -> tuple[str, int] | None:
    """Name and value of the module's constant that the function uses as its token limit."""
    used = {
        value.id
        for node in ast.walk(seam.node)
        for key, value in _entries(node)
        if key in _KEYS and isinstance(value, ast.Name)
    }
    for statement in seam.module.body:
        target = statement.targets[0] if isinstance(statement, ast.Assign) else None
        if (
            isinstance(statement, ast.Assign)
            and len(statement.targets) == 1
            and isinstance(target, ast.Name)
            and target.id in used
            and isinstance(statement.value, ast.Constant)
            and type(statement.value.value) is int
        ):
            return target.id, statement.value.value
    return None


def _entries(node: ast.AST) -> list[tuple[str, ast.expr]]:
    """Keyword arguments of a call and entries of a dict, by name."""
    if isinstance(node, ast.Call):
        return [(k.arg, k.value) for k in node.keywords if k.arg]
    if isinstance(node, ast.Dict):
        return [
            (key.value, value)
            for key, value in zip(node.keys, node.values, strict=True)
            if isinstance(key, ast.Constant) and isinstance(key.value, str)
        ]
    return []


OPERATOR = RaiseReplyLimit()
