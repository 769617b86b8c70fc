"""Whether what a role says is so. Each check gives None, or what is wrong in words for the role."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from bot.diagnose.panel.answers import Analysis, Citation, Critique, Ruling
from bot.diagnose.panel.briefing import Briefing
from bot.diagnose.panel.excerpts import step_text
from bot.diagnose.panel.fence import clean
from bot.diagnose.panel.interface import RejectionKind
from bot.display import printable
from bot.records import Episode

SHORTEST_QUOTE = 4


@dataclass(frozen=True)
class Fault:
    kind: RejectionKind
    text: str


def check_analysis(analysis: Analysis, briefing: Briefing) -> Fault | None:
    """The evidence exists, is of the pattern and of enough tasks; the places are in the code."""
    wrong = check_citations(analysis.evidence, briefing)
    if wrong is not None:
        return wrong
    cited = cited_tasks(analysis, briefing)
    if len(cited) < briefing.evidence_tasks:
        return Fault(
            "evidence",
            f"The evidence is of {len(cited)} tasks that fail with the pattern; it must be of "
            f"{briefing.evidence_tasks}.",
        )
    if not any(
        citation.step in briefing.situation.at(episode)
        for citation, episode in _cited(analysis.evidence, briefing)
        if episode.outcome == "fail"
    ):
        return Fault("evidence", "No cited step is one at which the pattern's event is.")
    if analysis.fault == "harness":
        if not analysis.places:
            return Fault("form", "An analysis that blames the harness must name a place.")
        for place in analysis.places:
            if not briefing.code.find(place):
                return Fault("form", f"There is no {place!r} in the files that edits may touch.")
    return None


def check_critique(critique: Critique, briefing: Briefing) -> Fault | None:
    """Its citations exist; the tasks at risk are passing ones."""
    for objection in critique.objections:
        wrong = check_citations(objection.evidence, briefing)
        if wrong is not None:
            return wrong
    passing = {name for (name, _), e in briefing.episodes.items() if e.outcome == "pass"}
    for task in critique.at_risk:
        if task not in passing:
            return Fault("evidence", f"at_risk: {task!r} is no task that passes.")
    return None


def check_ruling(ruling: Ruling, critique: Critique | None, on_table: bool) -> Fault | None:
    """What is accepted is on the table, has words, and no blocking objection is unanswered."""
    if ruling.decision != "accept":
        return None
    if not on_table:
        return Fault("form", "There is no edit on the table that could be accepted.")
    objections = critique.objections if critique else []
    if any(o.blocking for o in objections) and len(ruling.answers) < len(objections):
        return Fault(
            "form",
            f"There are {len(objections)} objections, and some block: to accept, answer each.",
        )
    if not (printable(ruling.subject).strip() and printable(ruling.body).strip()):
        return Fault("form", "What is accepted needs the subject and the body of its commit.")
    return None


def check_citations(citations: Iterable[Citation], briefing: Briefing) -> Fault | None:
    """Every cited step exists, and its quote stands in it, spaces aside."""
    for citation in citations:
        where = f"task {citation.task_id!r}, trial {citation.trial}"
        episode = briefing.episodes.get((citation.task_id, citation.trial))
        if episode is None:
            return Fault("evidence", f"There is no recorded run of {where}.")
        step = next((s for s in episode.steps if s.index == citation.step), None)
        if step is None:
            return Fault("evidence", f"The run of {where} has no step {citation.step}.")
        said, quote = plain(step_text(step)), plain(clean(citation.quote))
        if len(quote) < SHORTEST_QUOTE and quote != said:
            return Fault("evidence", f"The quote {citation.quote!r} is too short to show anything.")
        if quote not in said:
            return Fault(
                "evidence",
                f"Step {citation.step} of {where} does not say {citation.quote!r}. Copy the quote "
                "from that step, without what the prompt adds to it.",
            )
    return None


def cited_tasks(analysis: Analysis, briefing: Briefing) -> list[str]:
    """Ids of the tasks that fail with the pattern and that the evidence is of, each once."""
    showing = {episode.task_id for episode in briefing.situation.showing}
    return list(
        dict.fromkeys(
            episode.task_id
            for _, episode in _cited(analysis.evidence, briefing)
            if episode.task_id in showing and episode.outcome == "fail"
        )
    )


def risk_tasks(critique: Critique, briefing: Briefing) -> list[str]:
    """Ids of the passing tasks that the Critic names."""
    named = set(critique.at_risk)
    return list(
        dict.fromkeys(e.task_id for (name, _), e in briefing.episodes.items() if name in named)
    )


def plain(text: str) -> str:
    """`text` with single spaces."""
    return " ".join(text.split())


def _cited(citations: Sequence[Citation], briefing: Briefing) -> list[tuple[Citation, Episode]]:
    return [(c, briefing.episodes[c.task_id, c.trial]) for c in citations]
