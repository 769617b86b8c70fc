"""The text of a pull request: a pure function of its facts.

It holds what a reviewer asks, in that order: what keeps failing, whose fault it is, what changed
and why, what came of it, what was said against it, how to see it for oneself.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

from bot.display import count, defuse, printable
from bot.publish.facts import GenerationFacts, RepairFacts, weaknesses
from bot.publish.markdown import block, code, paragraphs, prose, short_header, table
from bot.records import Inference, OtherModel, Verdict

LARGEST_BODY = 65_536
"""GitHub's limit in characters; counted here in bytes, which are never fewer."""
LONGEST_TITLE = 120
QUOTES = 4
ALTERNATIVES = 8
REASONS = 20
_MARKER = re.compile(
    r"<!-- ecdysis generation=([0-9]{1,6}) head=([0-9a-f]{40,64}) tree=([0-9a-f]{40,64}) -->"
)
_OMISSIONS = {
    "quotes": "the evidence quotes",
    "alternatives": "the rejected alternatives",
    "objections": "the objections",
    "explanations": "the explanations (they are the commits' messages)",
    "hunks": "the reasons per hunk",
    "flips": "the names of the flipped tasks",
}
"""What a body that would be too long leaves out, in this order."""


@dataclass(frozen=True)
class Marker:
    """What a body says for the next run: which generation, and which commit and tree it shows."""

    generation: int
    head: str
    tree: str

    def write(self) -> str:
        return f"<!-- ecdysis generation={self.generation} head={self.head} tree={self.tree} -->"


def read_marker(body: str | None) -> Marker | None:
    """The marker in the first line of a body that the bot wrote; None for anybody else's."""
    match = _MARKER.match(body or "")
    return Marker(int(match.group(1)), match.group(2), match.group(3)) if match else None


def write_title(facts: GenerationFacts) -> str:
    """`gen-0003: Tell the model which fields exist (and 1 more)`, at most 120 characters."""
    titles = [printable(defuse(printable(repair.title))) for repair in facts.repairs]
    more = f" (and {len(titles) - 1} more)" if len(titles) > 1 else ""
    head = f"gen-{facts.number:04d}: "
    return head + printable(titles[0], LONGEST_TITLE - len(head) - len(more)) + more


def write_body(facts: GenerationFacts) -> str:
    """The whole Markdown, within GitHub's limit; what had to be left out is said in a sentence."""
    left_out: list[str] = []
    for name in (None, *_OMISSIONS):
        if name is not None:
            left_out.append(name)
        body = _write(facts, left_out)
        if _fits(body):
            return body
    return _cut(body)


def _fits(body: str) -> bool:
    return len(body.encode()) <= LARGEST_BODY


def _cut(body: str) -> str:
    """Whole lines from the start, then a sentence; for bodies that are all names and titles."""
    end = "\n\n_The rest was left out: GitHub takes no longer text. `ecdysis show` has it all._\n"
    room = LARGEST_BODY - len(end.encode())
    kept = body.encode()[:room].decode("utf-8", "ignore")
    return kept.rpartition("\n")[0] + end


def _write(facts: GenerationFacts, left_out: Sequence[str]) -> str:
    marker = Marker(facts.number, facts.commit, facts.tree).write()
    parts = [f"{marker}\n{_opening(facts)}", *_warnings(facts)]
    if left_out:
        named = ", ".join(_OMISSIONS[name] for name in left_out)
        whole = f"`ecdysis show {facts.number} --diff` has everything"
        parts.append(f"_Left out, for GitHub takes no longer text: {named}. {whole}._")
    sections: list[tuple[str, Callable[[], list[str]]]] = [
        ("What keeps failing", lambda: _failing(facts, left_out)),
        ("Why the harness and not the model", lambda: _blame(facts, left_out)),
        ("What changed", lambda: _changes(facts, left_out)),
        ("Result", lambda: _result(facts, left_out)),
        ("What the Critic objected", lambda: _objections(facts, left_out)),
        ("Rejected alternatives", lambda: _alternatives(facts, left_out)),
        ("Reproduce", lambda: _reproduce(facts)),
    ]
    for head, write in sections:
        parts += [f"## {head}", *write()]
    parts += ["---", _steering(facts)]
    return "\n\n".join(part for part in parts if part) + "\n"


def _opening(facts: GenerationFacts) -> str:
    repairs = count(len(facts.repairs), "repair")
    opening = f"Generation {facts.number} of this harness: {repairs}, a commit each."
    figures = _figures(facts)
    return f"{opening} On the hidden tasks: {figures}." if figures else opening


def _figures(facts: GenerationFacts) -> str:
    named = [
        ("Score", "{} passed"),
        ("Fixed", "{} fixed"),
        ("Broken", "{} broken"),
        ("Noise-Band", "noise band {}"),
        ("P-Value", "p = {}"),
    ]
    known = [(facts.figures.get(name), form) for name, form in named]
    return ", ".join(
        form.format(prose(value.replace("->", "→"), 40)) for value, form in known if value
    )


def _warnings(facts: GenerationFacts) -> list[str]:
    said = [f"- {prose(sentence)}" for sentence in weaknesses(facts)]
    warnings = ["> [!WARNING]\n> The evidence is weak:\n" + _quoted(said)] if said else []
    notes = [prose(note) for note in facts.notes]
    if facts.stacked_on is not None:
        notes.append(
            f"Stacked on #{facts.stacked_on}: this is for its branch {code(facts.target)}, and "
            "is pointed at the branch below when that one is merged."
        )
    if facts.reported_by:
        notes.append(
            f"The figures are those that {prose(facts.reported_by)} reported; the edits were "
            "applied again here to the base and give the same tree."
        )
    return [*warnings, *notes]


def _quoted(lines: Iterable[str]) -> str:
    return "\n".join(f"> {line}" for line in lines)


def _failing(facts: GenerationFacts, left_out: Sequence[str]) -> list[str]:
    answering: dict[str, list[str]] = {}
    for number, repair in enumerate(facts.repairs, 1):
        answering.setdefault(repair.key, []).append(str(number))
    rows, quotes = [], []
    for repair in {repair.key: repair for repair in reversed(facts.repairs)}.values():
        numbers = ", ".join(answering[repair.key])
        pattern = repair.pattern
        if pattern is None:
            tasks = prose(repair.trailers.get("Tasks", "?"), 20)
            rows.append([code(repair.key), code(_layer(repair)), tasks, "?", "?", numbers])
            continue
        counts = (pattern.distinct_tasks, pattern.failed_episodes, pattern.passed_episodes)
        rows.append([code(pattern.key), code(pattern.layer), *map(str, counts), numbers])
        lines = [
            f"{printable(item.task_id, 60)} step {item.step}   {printable(item.quote, 200)}"
            for item in pattern.evidence[:QUOTES]
        ]
        if lines and facts.quotes and "quotes" not in left_out:
            more = len(pattern.evidence) - len(lines)
            lines += [f"... and {more} more"] if more > 0 else []
            quotes.append(f"{code(pattern.key)} in train episodes:\n\n{block(lines)}")
    head = ["Pattern", "Layer", "Tasks", "Failed episodes", "Passed episodes", "Repair"]
    return [table(head, rows[::-1]), *quotes[::-1]]


def _layer(repair: RepairFacts) -> str:
    return repair.trailers.get("Layer", "unknown")


def _blame(facts: GenerationFacts, left_out: Sequence[str]) -> list[str]:
    parts = []
    for number, repair in enumerate(facts.repairs, 1):
        label, _, probability = repair.trailers.get("Attribution", "unknown").partition(" ")
        reasons: Sequence[str] = []
        if repair.pattern is not None:
            attribution = repair.pattern.attribution
            label, probability = attribution.label, f"{attribution.probability:.2f}"
            reasons = attribution.reasons[:REASONS]
        verdict = {
            "harness": f"the harness, with probability {prose(probability, 10)}",
            "undetermined": f"undetermined (harness with probability {prose(probability, 10)}): "
            "the batch alone cannot tell, so the hidden tasks decide",
        }.get(label, f"{prose(label, 40)} {prose(probability, 10)}".strip())
        parts.append(f"**{number}. {prose(repair.title)}** Attribution: {verdict}.")
        parts.append("\n".join(f"- {prose(reason)}" for reason in reasons))
        if "explanations" not in left_out:
            parts += paragraphs(repair.explanation)
    return parts


def _changes(facts: GenerationFacts, left_out: Sequence[str]) -> list[str]:
    parts = []
    for number, repair in enumerate(facts.repairs, 1):
        origin = code(repair.trailers.get("Origin", "unknown"))
        parts.append(f"**{number}. {prose(repair.title)}** ({repair.commit[:10]}, {origin})")
        if "hunks" in left_out:
            continue
        lines = []
        for hunk in repair.hunks:
            reasons = " ".join(prose(reason, 600) for reason in hunk.reasons)
            lines.append(f"- {code(hunk.file)} {code(short_header(hunk.header))}: {reasons}")
        parts.append("\n".join(lines) or "_The diff is not in this clone._")
    return parts


def _result(facts: GenerationFacts, left_out: Sequence[str]) -> list[str]:
    verdict, figures = facts.verdict, facts.figures
    parts = [prose(verdict.reason)] if verdict and verdict.reason else []
    if verdict is None and "Score" not in figures:
        parts.append("These repairs were not measured together. `/ecdysis retry` asks for it.")
    rows = [
        ("Hidden tasks passed", prose(figures.get("Score", "not known").replace("->", "→"), 40)),
        ("Fixed", _flips(verdict.fixed if verdict else None, figures.get("Fixed"), left_out)),
        ("Broken", _flips(verdict.broken if verdict else None, figures.get("Broken"), left_out)),
        ("Noise band", _known(figures.get("Noise-Band"), "net flips of the unchanged harness")),
        ("Chance of such a gain", _known(figures.get("P-Value"), "exact, paired, one-sided")),
        ("Trials per task", _known(figures.get("Trials"))),
        ("Activation", _activation(facts)),
        ("Accommodation", _accommodation(facts)),
        ("Replay", _replay(verdict)),
        ("An episode costs", _inference(verdict.inference) if verdict else "not known"),
        ("Cost of this decision", _cost(verdict)),
        ("Isolation", code(facts.sandbox)),
    ]
    parts.append(table(["", ""], [(f"**{name}**", value) for name, value in rows if value]))
    others = verdict.other_models if verdict else []
    if others:
        head = ["Other model", "Tasks", "Before", "After", "Fixed", "Broken"]
        parts.append(table(head, [_other_model(other, left_out) for other in others]))
    return parts


def _known(value: str | None, meaning: str = "") -> str:
    if not value:
        return "not known"
    return f"{prose(value, 40)} ({meaning})" if meaning else prose(value, 40)


def _flips(tasks: Sequence[str] | None, number: str | None, left_out: Sequence[str]) -> str:
    """How many tasks, and every one of them by name."""
    if tasks is None:
        return _known(number)
    if not tasks or "flips" in left_out:
        return str(len(tasks))
    return f"{len(tasks)}: " + ", ".join(code(task, 80) for task in tasks)


def _activation(facts: GenerationFacts) -> str:
    activated = facts.verdict.activated if facts.verdict else []
    if activated:
        return f"{sum(activated)} of {count(len(activated), 'edit')} ran in an episode"
    stated = facts.figures.get("Activated")
    return f"{prose(stated, 40)} edits ran in an episode" if stated else "not measured"


def _accommodation(facts: GenerationFacts) -> str:
    """Whether the edits serve one task or model instead of the harness."""
    of = facts.verdict.accommodation if facts.verdict else None
    if of is None:
        stated = facts.figures.get("Accommodation")
        narrow = "edits serve only the tasks that they were derived from"
        return f"{prose(stated, 40)} {narrow}" if stated else "not measured"
    said = [
        f"{len(of.narrow)} of {count(of.edits, 'edit')} serve only the tasks that they were "
        f"derived from ({of.other_tasks} others were looked at)"
    ]
    said += [f"takes away: {prose(what, 200)}" for what in of.shrunk[:REASONS]]
    said += [f"looks like a task: {prose(what, 200)}" for what in of.flags[:REASONS]]
    return "; ".join(said)


def _replay(verdict: Verdict | None) -> str:
    if verdict is None or not (verdict.reused or verdict.rerun or verdict.diverged):
        return ""
    return (
        f"{verdict.reused} train episodes decided from the record, {verdict.rerun} run again, "
        f"{verdict.diverged} diverged"
    )


def _inference(inference: Inference) -> str:
    pairs = [
        (inference.tokens_before, inference.tokens_after, "tokens"),
        (inference.calls_before, inference.calls_after, "model calls"),
        (inference.seconds_before, inference.seconds_after, "s"),
    ]
    known = [
        f"{before:g} → {after:g} {unit}"
        for before, after, unit in pairs
        if before is not None and after is not None
    ]
    return ", ".join(known) or "not measured"


def _cost(verdict: Verdict | None) -> str:
    if verdict is None or not verdict.cost.model_calls:
        return "not recorded"
    cost = verdict.cost
    return f"{cost.model_calls:,} model calls, {cost.tokens:,} tokens, {cost.wall_s:,.0f} s"


def _other_model(other: OtherModel, left_out: Sequence[str]) -> list[str]:
    return [
        code(other.model),
        str(other.tasks),
        f"{other.before:g}",
        f"{other.after:g}",
        _flips(other.fixed, None, left_out),
        _flips(other.broken, None, left_out),
    ]


def _objections(facts: GenerationFacts, left_out: Sequence[str]) -> list[str]:
    if "objections" in left_out:
        return ["_Left out._"]
    lines = [
        f"- Repair {number} {prose(objection)}"
        for number, repair in enumerate(facts.repairs, 1)
        for objection in repair.objections
    ]
    if lines:
        return ["\n".join(lines)]
    origins = [repair.trailers.get("Origin", "") for repair in facts.repairs]
    if all(origin.startswith("catalog:") for origin in origins):
        return ["No Critic took part: the catalog proposed these repairs, without a model."]
    return ["No objection is on record."]


def _alternatives(facts: GenerationFacts, left_out: Sequence[str]) -> list[str]:
    if "alternatives" in left_out:
        return ["_Left out._"]
    found = {one: None for repair in facts.repairs for one in repair.alternatives}
    lines = []
    for one in list(found)[:ALTERNATIVES]:
        origin = f" ({code(one.origin)})" if one.origin else ""
        reason = f": {prose(one.reason, 400)}" if one.reason else ""
        lines.append(f"- {prose(one.title, 200)}{origin}{reason}")
    if len(found) > ALTERNATIVES:
        lines.append(f"- and {len(found) - ALTERNATIVES} more")
    return ["\n".join(lines) or "None is on record for these patterns."]


def write_explanation(facts: GenerationFacts, number: int) -> str:
    """The answer to `/ecdysis explain N`: the diagnosis and the evidence of one repair."""
    repair = facts.repairs[number - 1]
    alone = replace(facts, repairs=[repair])
    parts = [*_failing(alone, ()), *_blame(alone, ()), *_changes(alone, ())]
    return printable("\n\n".join(part for part in parts if part), LARGEST_BODY // 2, lines=True)


def _reproduce(facts: GenerationFacts) -> list[str]:
    fetch = f"git fetch origin {facts.branch}"
    return [
        block([f"{fetch} && ecdysis gate {facts.base[:12]} {facts.commit[:12]}"], "bash"),
        "It runs both revisions on the hidden tasks afresh. Models are not deterministic: expect "
        "figures like these, not these.",
    ]


def _steering(facts: GenerationFacts) -> str:
    return (
        "<sub>People with write access steer this with comments: `/ecdysis drop N` takes repair N "
        "out, `/ecdysis explain N` answers with its evidence, `/ecdysis retry` asks for another "
        "try. Edited comments are not read. Closing this pull request is a decision: the repairs "
        "are recorded as rejected, with your words. The bot never overwrites commits that others "
        "push to this branch. A pull request that was opened with `GITHUB_TOKEN` starts no "
        "workflows by itself, or they wait for approval; with the token of a GitHub App they "
        "start.</sub>"
    )
