"""From the Engineer's answer to a spec, and whether the spec can be put on the table."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass

from bot.diagnose.panel.answers import Analysis, Proposal
from bot.diagnose.panel.briefing import Briefing
from bot.diagnose.panel.checks import Fault, cited_tasks
from bot.diagnose.panel.fence import cut
from bot.diagnose.panel.interface import Tools, Trouble
from bot.diagnose.panel.telling import steady
from bot.display import printable
from bot.records import Edit, ModificationSpec

LONGEST_TROUBLE = 2500


@dataclass(frozen=True)
class OnTable:
    """A spec that applies and passes the tests."""

    spec: ModificationSpec
    tree: str


def try_spec(spec: ModificationSpec, tools: Tools) -> OnTable | Fault:
    """The spec with its tree if it leaks nothing, applies and passes the harness's tests."""
    leak = tools.find_leak(spec)
    if leak is not None:
        return Fault("leak", leak)
    tree = tools.apply(spec)
    if isinstance(tree, Trouble):
        return Fault("does_not_apply", f"The edits cannot be made: {_short(tree)}")
    failing = tools.run_tests(tree)
    if failing is not None:
        return Fault("tests_fail", f"The harness's own tests fail: {_short(failing)}")
    return OnTable(spec, tree)


def edits_of(proposal: Proposal) -> list[Edit]:
    """The edits that an Engineer's answer asks for."""
    return [
        Edit.model_validate(
            {option.name: option.value for option in edit.options}
            | edit.model_dump(exclude={"options"})
        )
        for edit in proposal.edits
    ]


def make_spec(proposal: Proposal, analysis: Analysis, briefing: Briefing) -> ModificationSpec:
    """The spec that the Engineer proposes; its title and risks are not known yet."""
    edits = edits_of(proposal)
    content = json.dumps([edit.model_dump(mode="json") for edit in edits], sort_keys=True)
    digest = hashlib.sha256(content.encode("utf-8", "surrogatepass")).hexdigest()
    pattern = briefing.situation.pattern.key
    return ModificationSpec(
        title=printable(f"Answer {pattern}", 72),
        pattern=pattern,
        layer=analysis.layer,
        hypothesis=proposal.hypothesis,
        predicted_fixes=cited_tasks(analysis, briefing),
        applicability=proposal.applicability,
        origin=f"panel:{briefing.slug}/{digest[:8]}",
        edits=edits,
    )


def _short(trouble: Trouble) -> str:
    return cut(steady(trouble.text), LONGEST_TROUBLE)
