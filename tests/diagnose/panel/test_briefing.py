"""What the roles are shown: slices, runs in contrast, and the room that it takes."""

from __future__ import annotations

import asyncio

import pytest

from bot.diagnose.panel.briefing import brief
from bot.diagnose.panel.excerpts import passing_episodes
from bot.diagnose.panel.interface import Earlier, PanelSettings, Proposed
from bot.diagnose.panel.room import Piece, choose, name_left_out, tokens
from bot.diagnose.panel.run import run_panel
from bot.diagnose.panel.slices import read_code, touched
from bot.records import HarnessStep, ModelStep
from tests.diagnose.panel.library import (
    ACCEPT,
    CALM,
    FAILING,
    FILES,
    NARROW,
    PROPOSAL,
    Bench,
    edit,
    objecting,
    panel,
    right_field,
    situation,
    wrong_field,
)


def places(files: dict[str, str], **changes: object) -> list[str]:
    case = situation(files=files, **changes)  # type: ignore[arg-type]
    code = read_code([path for path in files if path.startswith("agent/")], case.read)
    return [definition.place for definition in touched(case, code)]


def test_seams_constants_callers_and_texts_are_touched() -> None:
    assert places(FILES) == [
        "agent/prompt.py:build",
        "agent/actions.py:parse",
        "agent/actions.py:dispatch",
        "agent/prompt.py:INSTRUCTIONS",
        "agent/loop.py:run",
        "agent/prompts/rules.md",
    ]


def test_the_component_comes_first_with_its_constants() -> None:
    assert places(FILES, component="agent/loop.py:run")[:2] == [
        "agent/loop.py:run",
        "agent/prompt.py:build",
    ]
    assert "agent/loop.py:LIMIT" in places(FILES, component="agent/loop.py:run")


def test_code_that_mentions_the_tool_comes_first() -> None:
    files = FILES | {"agent/fields.py": "FIELDS = {'read_loan': ['due', 'fee']}\nOTHER = 1\n"}
    found = places(files)
    assert found[0] == "agent/fields.py:FIELDS"
    assert "agent/fields.py:OTHER" not in found


def test_what_the_component_uses_is_touched() -> None:
    extra = (
        "class Box:\n    size = 1\n\n\ndef helper():\n    return 1\n\n\ndef far():\n    return 2\n"
    )
    extra += "\n\ndef act():\n    return helper(), Box\n"
    found = places(FILES | {"agent/extra.py": extra}, component="agent/extra.py:act")
    assert found[0] == "agent/extra.py:act"
    assert found[4:6] == ["agent/extra.py:Box", "agent/extra.py:helper"]  # behind the seams
    assert "agent/extra.py:far" not in found


def test_frames_at_the_events_are_touched() -> None:
    failing = [
        episode.model_copy(
            update={
                "steps": [
                    HarnessStep(
                        index=0,
                        event="exception",
                        type="KeyError",
                        frames=["agent/loop.py:run:11", "agent/loop.py:unrelated:20"],
                    )
                ]
            }
        )
        for episode in FAILING
    ]
    case = situation(failing=failing, component="model-text")
    case = type(case)(**{**vars(case), "at": lambda episode: {0}})
    code = read_code([path for path in FILES if path.startswith("agent/")], case.read)
    found = [definition.place for definition in touched(case, code)]
    assert found[:2] == ["agent/loop.py:unrelated", "agent/loop.py:run"]


def test_definitions_are_read_with_their_places() -> None:
    source = (
        "@wrap\ndef one():\n    return two()\n\n\nclass Box(Base):\n    size: int = 1\n\n"
        "    @property\n    def lid(self):\n        return self.open()\n\n\n"
        "A, B = 1, 2\nC: int = 3\n"
    )
    code = read_code(["a.py"], lambda path: source.encode())
    assert [(d.name, d.kind, d.start, d.end) for d in code.definitions.values()] == [
        ("one", "function", 1, 3),
        ("Box", "class", 6, 8),
        ("Box.lid", "function", 9, 11),
        ("C", "constant", 15, 15),
    ]
    assert code.definitions["a.py", "one"].calls == {"two"}
    assert code.definitions["a.py", "Box.lid"].source.startswith("    @property\n    def lid")
    assert [d.place for d in code.find("a.py:lid")] == ["a.py:Box.lid"]
    assert code.find("a.py:nothing") == code.find("b.py") == []


@pytest.mark.parametrize(
    "content",
    [b"def broken(:\n", b"\xff\xfe\x00", b"x = 1\0", b"(" * 5000, b"\xef\xbb\xbfx = 1\n", b""],
)
def test_any_file_can_be_read(content: bytes) -> None:
    code = read_code(["agent/odd.py"], lambda path: content)
    assert all(d.file == "agent/odd.py" for d in code.definitions.values())


def test_passing_runs_in_contrast_the_most_telling_first() -> None:
    other_trial = right_field("task-0001").model_copy(update={"trial": 1})
    no_call = right_field("task-0020").model_copy(update={"steps": [ModelStep(content="x")]})
    shows_it = wrong_field("task-0030").model_copy(update={"outcome": "pass"})
    case = situation(
        passing=[no_call, right_field("task-0011"), other_trial, shows_it], passed_episodes=1
    )
    found = [(episode.task_id, episode.trial) for episode in passing_episodes(case, 9)]
    assert found == [("task-0030", 0), ("task-0001", 1), ("task-0011", 0), ("task-0020", 0)]


def test_pieces_are_chosen_by_importance() -> None:
    pieces = [Piece("a", "x" * 40), Piece("b", "x" * 400), Piece("c", "x" * 40), Piece("c", "")]
    chosen, left_out = choose(pieces, 22)
    assert [piece.name for piece in chosen] == ["a", "c"]
    assert [piece.name for piece in left_out] == ["b", "c"]
    assert name_left_out([*left_out, *left_out]) == "Left out for want of room: b x2, c x2."


def test_tokens_are_not_underestimated_for_other_scripts() -> None:
    assert tokens("abcd" * 10) == 10
    assert tokens("注文番号") == 4


LONG = "a word and another " * 3000


@pytest.mark.parametrize("prompt_tokens", [3000, 6000, 16_000])
def test_every_question_stays_within_its_room(prompt_tokens: int) -> None:
    big = "\n\n".join(
        f"def parse_{n}(reply):\n    return build({LONG[: n * 100]!r})" for n in range(150)
    )
    files = FILES | {
        "agent/big.py": big,
        **{f"agent/prompts/{n}.md": LONG[: n * 200] for n in range(40)},
    }
    failing = [
        wrong_field(f"task-{n:04d}", said=f"read_loan(L101, price) {LONG}") for n in range(1, 40)
    ]
    for episode in failing:
        episode.steps[2:] = [ModelStep(index=n, content=LONG) for n in range(2, 60)]
    passing = [right_field(f"task-{n:04d}") for n in range(100, 140)]
    case = situation(failing=failing, passing=passing, files=files, template=LONG)
    earlier = [Earlier("p", "gate", LONG[: n * 50]) for n in range(60)]
    bench = Bench(files=files)
    script = panel(
        engineer=[PROPOSAL],
        critic=[objecting(blocking=False)],
        moderator=[NARROW.model_copy(update={"revise": "analysis"})] * 5 + [ACCEPT],
    )
    case.tasks["task-0100"].input["message"] = LONG
    evidence = script.analyst[0].evidence  # type: ignore[union-attr]
    critic = objecting(blocking=False).objections[0].model_copy(update={"evidence": evidence})
    script.critic = [CALM.model_copy(update={"objections": [critic], "at_risk": ["task-0100"]})]
    settings = PanelSettings(rounds=6, prompt_tokens=prompt_tokens)
    result = asyncio.run(run_panel(case, bench.tools(case, earlier), script, settings))
    assert isinstance(result, Proposed), result
    for label, turns in script.asked:
        used = sum(tokens(turn.content) for turn in turns)
        assert used <= prompt_tokens, label
    first, last = script.asked[0][1][1].content, script.asked[-1][1][1].content
    assert used > prompt_tokens * 0.4  # and the room is used
    assert "INSTRUCTIONS = " in first
    assert "unknown field price" in first
    assert "Left out for want of room:" in first
    # The Moderator sees the edit, whatever else there was no room for.
    assert "The fields of a loan are due and fee." in last
    assert "what the engineer in round 6 said" in last


def test_an_edit_that_nobody_could_read_is_not_taken() -> None:
    huge = edit(code='"' + "x" * 5000 + '"')
    script = panel(engineer=[huge, PROPOSAL])
    settings = PanelSettings(prompt_tokens=4000)
    result = asyncio.run(run_panel(situation(), Bench().tools(), script, settings))
    assert isinstance(result, Proposed)
    assert "Make a smaller edit." in script.asked[2][1][3].content


def test_only_what_edits_may_touch_and_the_contract_are_shown() -> None:
    (briefing,) = brief([situation()], Bench().tools(), PanelSettings())
    assert "def score" not in briefing.shared + briefing.own
    assert "read_loan(loan_id, field): Read one field of a loan." in briefing.shared
    assert "field: one of due (when it is to come back), fee" in briefing.shared
    assert "seam prompt: agent/prompt.py:build" in briefing.shared
