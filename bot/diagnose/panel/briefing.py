"""What every role of a panel is shown before the talk: the harness first, then the pattern.

The part about the harness is the same, byte for byte, for all patterns of a run and all roles, and
stands first: servers that cache prompt prefixes read it once. Everything is within the room that
the settings give, by importance, and says what it leaves out.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from bot.diagnose.catalog import Situation
from bot.diagnose.panel.describe import describe_pattern, describe_tool
from bot.diagnose.panel.excerpts import excerpt, failing_episodes, passing_episodes, shown_name
from bot.diagnose.panel.fence import Fence
from bot.diagnose.panel.interface import Earlier, PanelSettings, Tools
from bot.diagnose.panel.prompt_files import prompt
from bot.diagnose.panel.room import Piece, choose, name_left_out, tokens
from bot.diagnose.panel.shown import Shown, as_piece, in_order
from bot.diagnose.panel.slices import Code, Definition, read_code, touched
from bot.display import printable
from bot.records import Episode

# Parts of the room that is left beside the rules and the role's own words.
SHARED, OWN = 0.40, 0.35
LEAST_ROOM = 600
HEADINGS = 400
RUNS = 5  # so many recorded runs there is room for, whatever their length
MOST_PLACES = 12
EVIDENCE_TASKS = 2


@dataclass(frozen=True)
class Briefing:
    """One panel's material. `shared` and then `own` begin every message to a role."""

    situation: Situation
    code: Code
    fence: Fence
    shared: str
    own: str
    failing: tuple[Episode, ...]
    slug: str
    talk_room: int  # tokens for what the roles have said

    @cached_property
    def episodes(self) -> dict[tuple[str, int], Episode]:
        """The train episodes by the name that is shown of their task, and trial."""
        return {(shown_name(e.task_id), e.trial): e for e in self.situation.episodes}

    @property
    def evidence_tasks(self) -> int:
        """From how many failing tasks the evidence must come."""
        return min(EVIDENCE_TASKS, len(self.failing)) or 1


def brief(situations: Sequence[Situation], tools: Tools, settings: PanelSettings) -> list[Briefing]:
    """The briefings of all panels of a run; the situations are of one base revision."""
    if not situations:
        return []
    code = read_code(tools.files, situations[0].read)
    room = talk_and_material_room(tools, settings)
    touches = [touched(situation, code) for situation in situations]
    overview, contract, slices = _harness(situations, touches, code, int(room * SHARED))
    materials = [
        _Material.collect(situation, touch, slices, tools.earlier, settings, int(room * OWN))
        for situation, touch in zip(situations, touches, strict=True)
    ]
    fence = Fence.around(
        [overview, contract, *(p.text for p in slices.chosen), *(m.text for m in materials)]
    )
    table = situations[0].table
    shared = prompt(
        "harness",
        source=table.source,
        editable=", ".join(table.editable),
        overview=fence.wrap("files and what they define; seams", overview, code=True),
        contract=fence.wrap("the tools of the agent", contract, code=True) if contract else "",
        code=fence.wrap("code", slices.write(code), code=True),
        left_out=name_left_out(slices.left_out),
    )
    return [
        Briefing(
            situation=situation,
            code=code,
            fence=fence,
            shared=shared,
            own=material.write(fence, code),
            failing=material.failing_episodes,
            slug=slug(situation.pattern.key, settings.run),
            talk_room=int(room * (1 - SHARED - OWN)),
        )
        for situation, material in zip(situations, materials, strict=True)
    ]


def slug(key: str, run: str = "") -> str:
    """A pattern's name in labels: letters, digits and dashes, never the same for two keys."""
    digest = hashlib.sha256(key.encode("utf-8", "surrogatepass")).hexdigest()[:8]
    return "-".join(part for part in (_dashed(run), _dashed(key), digest) if part)


def _dashed(text: str) -> str:
    return re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")[:48].strip("-")


def talk_and_material_room(tools: Tools, settings: PanelSettings) -> int:
    """Tokens of a prompt beside the rules and the longest role's words."""
    fixed = tokens(prompt("system")) + tokens(prompt("engineer", operations=tools.operations))
    return max(settings.prompt_tokens - fixed - HEADINGS, LEAST_ROOM)


def _harness(
    situations: Sequence[Situation],
    touches: Sequence[Sequence[Definition]],
    code: Code,
    room: int,
) -> tuple[str, str, Shown]:
    """Overview, tool contract and slices; of those, what is first for any pattern comes first."""
    first = situations[0]
    seams = [(name, first.seam(name)) for name in first.table.seams]
    rows = [f"seam {name}: {seam.file}:{seam.function}" for name, seam in seams if seam]
    overview, _ = choose(
        [Piece("", row) for row in [*rows, *code.outline().split("\n")]], room // 4
    )
    named = {situation.pattern.component for situation in situations}
    tools = sorted(first.tools, key=lambda tool: tool.name not in named)
    contract, _ = choose([Piece(tool.name, describe_tool(tool)) for tool in tools], room // 4)
    spent = sum(tokens(piece.text) + 1 for piece in [*overview, *contract])
    ranks: dict[tuple[str, str], int] = {}
    for touch in touches:
        for rank, definition in enumerate(touch):
            ranks[definition.key] = min(rank, ranks.get(definition.key, rank))
    wanted = {definition.key: definition for touch in touches for definition in touch}
    ordered = sorted(wanted.values(), key=lambda d: (ranks[d.key], *in_order(d)))
    slices = Shown.choose(ordered, room - spent)
    return (
        "\n".join(piece.text for piece in overview),
        "\n".join(piece.text for piece in contract),
        slices,
    )


@dataclass(frozen=True)
class _Material:
    """What is shown of one pattern alone."""

    facts: str
    places: str
    slices: Shown
    failing: tuple[Piece, ...]
    passing: tuple[Piece, ...]
    earlier: tuple[Piece, ...]
    left_out: tuple[Piece, ...]
    failing_episodes: tuple[Episode, ...]

    @property
    def text(self) -> str:
        pieces = [*self.slices.chosen, *self.failing, *self.passing, *self.earlier]
        return "\n".join([self.facts, self.places, *(piece.text for piece in pieces)])

    @classmethod
    def collect(
        cls,
        situation: Situation,
        touch: Sequence[Definition],
        shared: Shown,
        earlier: Sequence[Earlier],
        settings: PanelSettings,
        room: int,
    ) -> _Material:
        """By importance: a failing run, a passing one, code, rejections, the other runs."""
        facts = describe_pattern(situation.pattern, len(situation.episodes))
        places = printable(", ".join(d.place for d in touch[:MOST_PLACES])) or "none that is known"
        room -= tokens(facts) + tokens(places)
        failing = failing_episodes(situation, settings.failing)
        passing = passing_episodes(situation, settings.passing)
        each = room // RUNS
        bad = [excerpt(situation, episode, each) for episode in failing]
        good = [excerpt(situation, episode, each) for episode in passing]
        known = [
            Piece("an earlier rejection", f"{one.kind}: {one.words}")
            for one in sorted(earlier, key=lambda one: one.pattern != situation.pattern.key)
        ]
        missing = [definition for definition in touch if definition not in shared.shown]
        code = [as_piece(definition) for definition in missing]
        order = [*bad[:2], *good[:1], *code[:2], *known[:4], *bad[2:], *good[1:], *code[2:]]
        chosen, left_out = choose([*order, *known[4:]], room)
        held = set(map(id, chosen))
        shown = [d for d, piece in zip(missing, code, strict=True) if id(piece) in held]
        return cls(
            facts=facts,
            places=places,
            slices=Shown(tuple(shown), tuple(p for p in code if id(p) in held), ()),
            failing=tuple(piece for piece in bad if id(piece) in held),
            passing=tuple(piece for piece in good if id(piece) in held),
            earlier=tuple(piece for piece in known if id(piece) in held),
            left_out=tuple(left_out),
            failing_episodes=tuple(
                e for e, piece in zip(failing, bad, strict=True) if id(piece) in held
            ),
        )

    def write(self, fence: Fence, code: Code) -> str:
        def section(what: str, pieces: Sequence[Piece]) -> str:
            text = "\n\n".join(piece.text for piece in pieces)
            return fence.wrap(what, text) if text else f"({what}: none)"

        more = self.slices.write(code)
        return prompt(
            "pattern",
            facts=fence.wrap("the pattern", self.facts),
            places=self.places,
            code=fence.wrap("more code", more, code=True) if more else "",
            failing=section("recorded runs that fail with the pattern", self.failing),
            passing=section("recorded runs that pass", self.passing),
            earlier=section("earlier repairs that were rejected", self.earlier),
            left_out=name_left_out(self.left_out),
        )
