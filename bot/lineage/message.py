"""The commit message of a repair: the diagnosis for people, trailers for programs.

The last paragraph holds nothing but trailers, so `git interpret-trailers --parse` gives back
exactly what was put in.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from bot.lineage.wording import BODY_WIDTH, one_line, write_body, write_subject

if TYPE_CHECKING:  # reading messages needs none of them, and they take long to import
    from fractions import Fraction

    from bot.records import Evidence, ModificationSpec, Pattern, Verdict

PREFIX = "Ecdysis-"
EVIDENCE_LINES = 8
NAMED_TASKS = 20
SPEC_LINE = re.compile(rf"^[ *>]*{PREFIX}Spec: (sha256:[0-9a-f]{{64}})\b", re.MULTILINE)
"""A spec that any message names; git and forges indent or quote what they squash."""
_AS_WRITTEN = {
    *("Generation", "Pattern", "Attribution", "Layer", "Origin", "Tasks", "Predicted-Fixes"),
    *("Spec", "Score", "Fixed", "Broken", "Noise-Band", "P-Value", "Trials", "Sandbox", "Base"),
    *("Reverts", "Rebased-From", "Picked-From", "Gate", "Decision"),
}
"""What need not be looked at twice, in thousands of messages: the bot's own, each on one line."""
_TRAILER = re.compile(r"([A-Za-z0-9][A-Za-z0-9-]*)\s*:\s?(.*)")


@dataclass(frozen=True)
class RepairMessage:
    """One repair in words: its spec, the pattern it answers, and paragraphs of explanation."""

    spec: ModificationSpec
    pattern: Pattern
    explanation: str
    transcript: str = ""  # of the panel behind it, as JSON Lines; kept as a note

    def write(self, generation: int | None, extra: Sequence[tuple[str, str]] = ()) -> str:
        """The whole message; `extra` trailers follow those of the repair.

        `generation` None: it belongs to none.
        """
        trailers = [*self.trailers(generation), *extra]
        blocks = [
            write_subject(self.spec.title, f"Answer {self.spec.pattern}"),
            write_body(self.explanation),
            "\n".join(self.evidence_lines()),
            "\n".join(f"{name}: {value}" for name, value in trailers if value),
        ]
        return "\n\n".join(block for block in blocks if block) + "\n"

    def evidence_lines(self) -> list[str]:
        """At most eight lines `  TASK step N   QUOTE`; a ninth says how many more there are."""
        evidence = self.pattern.evidence
        shown = [_evidence_line(item) for item in evidence[:EVIDENCE_LINES]]
        if len(evidence) > EVIDENCE_LINES:
            shown.append(f"  ... and {len(evidence) - EVIDENCE_LINES} more")
        return shown

    def trailers(self, generation: int | None) -> list[tuple[str, str]]:
        """Name and value of the trailers that every repair carries, in order."""
        spec, pattern = self.spec, self.pattern
        attribution = pattern.attribution
        values = {
            "Generation": "" if generation is None else str(generation),
            "Pattern": spec.pattern,
            "Attribution": f"{attribution.label} {attribution.probability:.2f}",
            "Layer": spec.layer,
            "Origin": spec.origin,
            "Tasks": str(pattern.distinct_tasks),
            "Predicted-Fixes": name_tasks(spec.predicted_fixes),
            "Spec": spec_digest(spec),
        }
        # Task ids may be many; each is short, and the list says how many it leaves out.
        limits = {"Predicted-Fixes": 2000}
        return [
            (PREFIX + name, one_line(value, limits.get(name, 240)))
            for name, value in values.items()
        ]


@dataclass(frozen=True)
class GenerationFigures:
    """The figures of a generation as a whole, from the accepting comparison.

    `before` and `after` are summed task values on the select split; None where not known.
    `reverts` is the digest of the spec that this generation leaves out of an earlier one.
    """

    verdict: Verdict
    sandbox: str
    before: Fraction | float | None = None
    after: Fraction | float | None = None
    reverts: str = ""

    def trailers(self, base: str) -> list[tuple[str, str]]:
        """Name and value of the trailers of the generation's last commit, in order.

        `Activated` counts the edits that are proven to have run, `Accommodation` those that serve
        only the tasks they were derived from; each of all the generation's edits.
        """
        verdict, of = self.verdict, self.verdict.accommodation
        score = ""
        if self.before is not None and self.after is not None:
            tasks = verdict.tasks
            score = f"{_number(self.before)}/{tasks} -> {_number(self.after)}/{tasks}"
        values = {
            "Score": score,
            "Fixed": str(len(verdict.fixed)),
            "Broken": str(len(verdict.broken)),
            "Noise-Band": "" if verdict.noise_band is None else _number(verdict.noise_band),
            "P-Value": "" if verdict.p_value is None else f"{verdict.p_value:.2g}",
            "Trials": str(verdict.trials),
            "Activated": _share(sum(verdict.activated), len(verdict.activated)),
            "Accommodation": "" if of is None else _share(len(of.narrow), of.edits),
            "Sandbox": self.sandbox,
            "Base": base,
            "Reverts": self.reverts,
        }
        return [(PREFIX + name, one_line(value)) for name, value in values.items() if value]


def write_spec_message(spec: ModificationSpec) -> str:
    """The message of a spec that is applied on its own: no batch, no figures."""
    reasons = " ".join(f"{edit.file}: {edit.why}" for edit in spec.edits if edit.why)
    trailers = {
        "Pattern": spec.pattern,
        "Layer": spec.layer,
        "Origin": spec.origin,
        "Spec": spec_digest(spec),
    }
    blocks = [
        write_subject(spec.title, f"Answer {spec.pattern}"),
        write_body(f"{spec.hypothesis}\n\n{reasons}"),
        "\n".join(f"{PREFIX}{name}: {one_line(value)}" for name, value in trailers.items()),
    ]
    return "\n\n".join(block for block in blocks if block) + "\n"


# What a repair says of itself, whatever it stands on.
_OWN = ("Pattern", "Attribution", "Layer", "Origin", "Tasks", "Predicted-Fixes")


def write_moved_message(
    message: ParsedMessage, spec: ModificationSpec, more: Mapping[str, str]
) -> str:
    """The message of a repair that was moved to another base; `more` trailers say from where.

    Its figures were measured on the old one and are left out.
    """
    trailers = {name: value for name, value in message.trailers.items() if name in _OWN}
    trailers |= {"Spec": spec_digest(spec), **more}
    blocks = [
        message.title,
        message.body,
        "\n".join(f"{PREFIX}{name}: {one_line(value, 2000)}" for name, value in trailers.items()),
    ]
    return "\n\n".join(block for block in blocks if block) + "\n"


class ParsedMessage(NamedTuple):
    """A message taken apart; trailer names without `Ecdysis-`, foreign trailers left out."""

    title: str
    body: str
    trailers: dict[str, str]


def parse_message(text: str) -> ParsedMessage:
    """Title, body and the bot's trailers of any commit message; never raises."""
    text = text.replace("\r\n", "\n").strip("\n")
    above, _, last = text.rpartition("\n\n")
    trailers = _own_trailers(last) if above else None
    title, _, body = (text if trailers is None else above).partition("\n")
    return ParsedMessage(title, body.strip("\n"), trailers or {})


def _own_trailers(paragraph: str) -> dict[str, str] | None:
    """The bot's trailers of a paragraph that holds nothing but trailers; None for any other."""
    lines = f"\n{paragraph}".split(f"\n{PREFIX}")
    odd = " \n" in paragraph or ":  " in paragraph or "\t" in paragraph or paragraph[-1:] == " "
    if not odd and len(lines) == paragraph.count("\n") + 2:
        try:
            trailers = dict([line.split(": ", 1) for line in lines[1:]])
        except ValueError:  # there is no value
            trailers = {}
        if trailers and trailers.keys() <= _AS_WRITTEN:
            return trailers
    found = _read_trailers(paragraph.split("\n"))
    if found is None:
        return None
    start = len(PREFIX)
    return {name[start:]: value for name, value in found if name[:start].lower() == PREFIX.lower()}


def _read_trailers(lines: Sequence[str]) -> list[tuple[str, str]] | None:
    """The trailers of a paragraph that holds nothing else; None for any other paragraph."""
    found: list[tuple[str, str]] = []
    for line in lines:
        if line[:1] in (" ", "\t") and found:
            name, value = found[-1]
            found[-1] = (name, f"{value} {line.strip()}")
            continue
        match = _TRAILER.fullmatch(line)
        if match is None:
            return None
        found.append((match.group(1), match.group(2).strip()))
    return found or None


def canonical_json(value: object) -> bytes:
    """JSON with sorted keys and no spaces: equal values have equal bytes."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), allow_nan=False).encode()


def spec_bytes(spec: ModificationSpec) -> bytes:
    """The canonical JSON of a spec, as it is stored and digested."""
    return canonical_json(spec.model_dump(mode="json"))


def spec_digest(spec: ModificationSpec) -> str:
    """`sha256:` and the digest of the canonical JSON of a spec."""
    import hashlib

    return "sha256:" + hashlib.sha256(spec_bytes(spec)).hexdigest()


def name_tasks(tasks: Sequence[str]) -> str:
    """Task ids with commas between; at most twenty, then how many more."""
    named = ", ".join(one_line(task, 80) for task in tasks[:NAMED_TASKS])
    more = len(tasks) - NAMED_TASKS
    return f"{named} and {more} more" if more > 0 else named


def _evidence_line(item: Evidence) -> str:
    head = f"  {one_line(item.task_id, 40)} step {item.step}   "
    return head + one_line(item.quote, max(BODY_WIDTH - len(head), 24))


def _share(part: int, whole: int) -> str:
    """`4/5` edits; empty where there are none."""
    return f"{part}/{whole}" if whole else ""


def _number(value: Fraction | float) -> str:
    """`21` or `20.67`."""
    number = float(value)
    return f"{number:.0f}" if number == int(number) else f"{number:.2f}"
