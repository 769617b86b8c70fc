"""Find the action in a reply that holds more than the action.

Answers replies that the harness could not parse although they hold a call in the harness's own
syntax: inside a code fence, behind a sentence, or with something written after it.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable

from bot.diagnose.catalog import NotApplicable, Situation
from bot.diagnose.code import defines, free_name, literal, predicted
from bot.diagnose.seams import Seam
from bot.diagnose.syntax import Syntax, learn_syntax
from bot.records import Edit, Episode, ModelStep, ModificationSpec, ToolStep

FUNCTION = "find_action"
CODE = '''{constant} = {names}


def {function}(reply):
    """The first call of a known tool in a reply that holds more than a call."""
    if re.fullmatch({whole}, reply.strip()):
        return reply
    for name in sorted({constant}, key=len, reverse=True):
        match = re.search({pattern}, reply)
        if match:
            return match.group(0).strip()
    return reply
'''


class ExtractAction:
    name = "extract-action"
    answers = ("unparsed_action", "no_action", "premature_end", "wrong_answer")
    seam = "parse_action"

    def propose(self, situation: Situation) -> ModificationSpec | NotApplicable:
        seam = situation.seam(self.seam)
        assert seam is not None
        if defines(seam.module, FUNCTION):
            return NotApplicable(f"{seam.file} has {FUNCTION} already.")
        if not situation.tools:
            return NotApplicable("The table names no tool contract, so no call can be told.")
        syntax = learn_syntax(situation.episodes)
        if syntax is None or syntax.name_key is not None or not syntax.closing:
            return NotApplicable("The harness's actions are not calls with a closing bracket.")
        names = [tool.name for tool in situation.tools]
        hidden = [e for e in situation.showing if holds_unread_call(e, names, syntax)]
        if not hidden:
            return NotApplicable("No failing reply holds a call that the harness overlooked.")
        reply = _reply_parameter(seam)
        if reply is None:
            return NotApplicable(f"{seam.function} takes no single text.")
        return self._spec(situation, seam, syntax, names, reply)

    def _spec(
        self, situation: Situation, seam: Seam, syntax: Syntax, names: list[str], reply: str
    ) -> ModificationSpec:
        function = free_name(seam.module, FUNCTION)
        constant = free_name(seam.module, "ACTION_NAMES")
        prefix = re.escape(syntax.prefix).replace('"', '\\"')
        opening, closing = re.escape(syntax.opening), re.escape(syntax.closing)
        pattern = f'r"{prefix}(?<!\\w)" + re.escape(name) + r"{opening}[^{closing}\\n]*{closing}"'
        return ModificationSpec(
            title="Find the action in a reply that says more",
            pattern=situation.pattern.key,
            layer="action-realization",
            hypothesis=(
                "The reply holds a valid call, but the harness expects nothing around it and so "
                "reads no action."
            ),
            predicted_fixes=predicted(situation),
            applicability="When a reply holds a call of a known tool with other text around it.",
            origin=f"catalog:{self.name}",
            edits=[
                Edit(op="add_import", file=seam.file, code="import re", why=""),
                Edit(
                    op="add_function",
                    file=seam.file,
                    target=seam.function,
                    code=CODE.format(
                        constant=constant,
                        names=literal(names),
                        function=function,
                        pattern=pattern,
                        whole=f'r"{prefix}\\w+{opening}.*{closing}"',
                    ),
                    why="the first call of a known tool is cut out of the reply.",
                ),
                Edit(
                    op="insert_statements",
                    file=seam.file,
                    target=seam.function,
                    place="start",
                    code=f"{reply} = {function}({reply})",
                    why="parsing starts from the call.",
                ),
            ],
        )


def holds_unread_call(episode: Episode, names: Iterable[str], syntax: Syntax) -> bool:
    """Whether a model reply holds a call of a known tool that no tool step followed."""
    following = [*episode.steps[1:], None]
    for step, after in zip(episode.steps, following, strict=True):
        if not isinstance(step, ModelStep) or not step.content or isinstance(after, ToolStep):
            continue
        text = step.content
        if any(f"{syntax.prefix}{name}{syntax.opening}" in text for name in names):
            return True
    return False


def _reply_parameter(seam: Seam) -> str | None:
    """The parameter that takes the reply: the only one, or the only one annotated `str`."""
    parameters = seam.parameters
    if len(parameters) == 1:
        return parameters[0].arg
    texts = [p.arg for p in parameters if p.annotation and ast.unparse(p.annotation) == "str"]
    return texts[0] if len(texts) == 1 else None


OPERATOR = ExtractAction()
