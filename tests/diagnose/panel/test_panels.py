"""Panels side by side: order, shared prefix, determinism, and going on after a kill."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Sequence
from pathlib import Path

import pytest

from bot.diagnose.panel.briefing import slug
from bot.diagnose.panel.interface import (
    Earlier,
    ModelsFault,
    PanelFailed,
    PanelResult,
    PanelSettings,
    Proposed,
    Rejected,
)
from bot.diagnose.panel.run import run_panel, run_panels
from bot.errors import SandboxUnavailable
from bot.llm.answers import Failed, T, Turn
from bot.llm.transcript import Transcript, replaying
from tests.diagnose.panel.library import (
    ACCEPT,
    ANALYSIS,
    CALM,
    NARROW,
    PROPOSAL,
    Bench,
    ScriptedPanel,
    edit,
    objecting,
    panel,
    situation,
)

KEYS = ["tool_error/read_loan/unknown-field", "wrong_answer/model-text/x", "loop/read_loan/y"]


def run_all(script: object, bench: Bench | None = None, **settings: int) -> list[PanelResult]:
    cases = [situation(key) for key in KEYS]
    return asyncio.run(
        run_panels(cases, (bench or Bench()).tools(), script, PanelSettings(**settings))  # type: ignore[arg-type]
    )


def winding() -> ScriptedPanel:
    """A talk with everything in it: an edit that does not apply, an objection, two rounds."""
    return panel(
        engineer=[edit(target="RULES"), PROPOSAL],
        critic=[objecting(), CALM],
        moderator=[NARROW, ACCEPT],
    )


class Late:
    """Answers as `script` does, in another order of time at each seed."""

    def __init__(self, script: ScriptedPanel, seed: int) -> None:
        self.script, self.chance, self.busy, self.most = script, random.Random(seed), 0, 0

    async def __call__(self, label: str, turns: Sequence[Turn], answer: type[T]) -> T | Failed:
        self.busy += 1
        self.most = max(self.most, self.busy)
        await asyncio.sleep(self.chance.random() / 100)
        self.busy -= 1
        return await self.script(label, turns, answer)


def test_results_come_in_the_order_of_the_patterns() -> None:
    blames = ANALYSIS.model_copy(update={"fault": "model", "places": []})

    def verdict(label: str, turns: Sequence[Turn]) -> object:
        return blames if label.startswith("wrong-answer") else ANALYSIS

    def ruling(label: str, turns: Sequence[Turn]) -> object:
        if label.startswith("loop"):
            return Failed("timeout", "No answer; try later.")
        is_model = label.startswith("wrong-answer")
        return ACCEPT.model_copy(update={"decision": "model" if is_model else "accept"})

    results = run_all(Late(panel(analyst=[verdict], moderator=[ruling]), 1))
    assert [type(result) for result in results] == [Proposed, ModelsFault, PanelFailed]
    assert [result.pattern for result in results] == KEYS


def test_the_same_answers_give_the_same_questions() -> None:
    asked = []
    for seed in (1, 2):
        late = Late(winding(), seed)
        results = run_all(late)
        assert all(isinstance(result, Proposed) for result in results)
        assert late.most > 1  # side by side
        asked.append((sorted(late.script.asked, key=lambda one: one[0]), results))
    assert asked[0] == asked[1]
    labels = [label for label, _ in asked[0][0]]
    assert len(labels) == len(set(labels)) == 3 * 8


def test_every_question_begins_alike() -> None:
    script = winding()
    run_all(script, rounds=3)
    messages = [turns[1].content for _, turns in script.asked]
    assert len({turns[0] for _, turns in script.asked}) == 1
    end = messages[0].index("# The failure pattern")
    assert "INSTRUCTIONS" in messages[0][:end]
    assert {message[:end] for message in messages} == {messages[0][:end]}
    # Of one pattern, each question goes on where the one before it began to speak to its role.
    own = [m for (label, _), m in zip(script.asked, messages, strict=True) if "loop" in label]
    head = own[0][: own[0].index("# Your role")]
    assert all(message.startswith(head) for message in own)


def test_the_others_wait_for_the_first_answer() -> None:
    script = panel()
    late = Late(script, 1)
    run_all(late)
    first = slug(KEYS[0])
    assert script.asked[0][0] == f"{first}/1/analyst/1"


def test_so_many_panels_at_a_time() -> None:
    late = Late(panel(), 3)
    run_all(late, parallel=1)
    assert late.most == 1


def test_labels_carry_the_run_and_are_never_the_same_for_two_patterns() -> None:
    assert slug("A/b c", "gen-2").startswith("gen-2-a-b-c-")
    assert slug("a/b") != slug("a-b")
    assert "/" not in slug("../../x\n\0/é")


def test_an_error_of_a_tool_is_raised_as_it_is() -> None:
    class Broken(Bench):
        def run_tests(self, tree: str) -> None:
            raise SandboxUnavailable("No sandbox.", "Install one.")

    with pytest.raises(SandboxUnavailable, match="No sandbox"):
        run_all(panel(), Broken())


def test_without_patterns_nothing_is_asked() -> None:
    script = panel()
    assert asyncio.run(run_panels([], Bench().tools(), script, PanelSettings())) == []
    assert script.asked == []


def test_earlier_rejections_are_shown_those_of_the_pattern_first() -> None:
    script = panel()
    earlier = [Earlier("other", "screened", "Map price."), Earlier(KEYS[0], "gate", "Say fee.")]
    tools = Bench().tools(earlier=earlier)
    asyncio.run(run_panel(situation(KEYS[0]), tools, script, PanelSettings()))
    message = script.asked[0][1][1].content
    assert 0 < message.index("gate: Say fee.") < message.index("screened: Map price.")


class Killed(BaseException):
    """The process dies."""


class Dying:
    """Answers `calls` questions, and then dies."""

    def __init__(self, script: ScriptedPanel, calls: int) -> None:
        self.script, self.calls = script, calls

    async def __call__(self, label: str, turns: Sequence[Turn], answer: type[T]) -> T | Failed:
        if len(self.script.asked) == self.calls:
            raise Killed
        return await self.script(label, turns, answer)


@pytest.mark.parametrize("survived", range(8))
def test_a_killed_panel_goes_on_after_its_last_answer(survived: int, tmp_path: Path) -> None:
    case, whole = situation(), winding()
    wanted = asyncio.run(run_panel(case, Bench().tools(), whole, PanelSettings()))
    assert isinstance(wanted, Proposed)
    assert len(whole.asked) == 8
    path = tmp_path / "transcript.jsonl"
    with Transcript.open(path) as transcript:
        talk = run_panel(
            case,
            Bench().tools(),
            replaying(transcript, Dying(winding(), survived)),
            PanelSettings(),
        )
        with pytest.raises(Killed):
            asyncio.run(talk)
    # The script gives its answers by their number: those that are recorded are not asked again.
    rest = winding()
    for role in ("analyst", "engineer", "critic", "moderator"):
        done = sum(f"/{role}/" in label for label, _ in whole.asked[:survived])
        replies = getattr(rest, role)
        setattr(rest, role, replies[min(done, len(replies) - 1) :])
    with Transcript.open(path) as transcript:
        ask = replaying(transcript, rest)
        assert asyncio.run(run_panel(case, Bench().tools(), ask, PanelSettings())) == wanted
        assert rest.labels == whole.labels[survived:]
        kept = transcript.to_text()
    # And once more without anyone to ask.
    offline = replaying(Transcript.from_text(kept), None)
    assert asyncio.run(run_panel(case, Bench().tools(), offline, PanelSettings())) == wanted
    part = replaying(Transcript.from_text("".join(kept.splitlines(True)[:survived])), None)
    cut_off = asyncio.run(run_panel(case, Bench().tools(), part, PanelSettings()))
    assert isinstance(cut_off, PanelFailed)
    assert cut_off.kind == "unreachable"


def test_a_rejection_is_replayed_too() -> None:
    transcript = Transcript()
    ask = replaying(transcript, panel(engineer=[edit(target="RULES")]))
    first = asyncio.run(run_panel(situation(), Bench().tools(), ask, PanelSettings()))
    assert isinstance(first, Rejected)
    again = replaying(Transcript.from_text(transcript.to_text()), None)
    assert asyncio.run(run_panel(situation(), Bench().tools(), again, PanelSettings())) == first
