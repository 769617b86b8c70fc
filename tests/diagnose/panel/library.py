"""A small harness in memory, its train episodes, and a scripted panel: no language model."""

from __future__ import annotations

import hashlib
import json
import re
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from pydantic import BaseModel

from bot.config import HarnessTable
from bot.diagnose.catalog import Situation
from bot.diagnose.panel.answers import (
    Analysis,
    Citation,
    Critique,
    Objection,
    Option,
    Proposal,
    ProposedEdit,
    Ruling,
)
from bot.diagnose.panel.interface import Earlier, Tools, Trouble
from bot.edit.apply import Applied, apply_spec
from bot.edit.refusal import Refusal
from bot.gate.leakage import all_text, find_leak
from bot.llm.answers import Failed, T, Turn
from bot.records import (
    Attribution,
    Contrast,
    Episode,
    ModelStep,
    ModificationSpec,
    Pattern,
    Task,
    ToolStep,
)

FILES = {
    "agent/prompt.py": '''"""What the model is told."""

INSTRUCTIONS = "Use the tools."


def build(question: str) -> list[dict[str, str]]:
    """The conversation so far."""
    return [{"role": "system", "content": INSTRUCTIONS}, {"role": "user", "content": question}]
''',
    "agent/actions.py": '''"""Actions."""

from agent.shelf import open_shelf


def parse(reply: str):
    """A (name, arguments) pair, or None."""
    if "(" not in reply:
        return None
    name, _, inside = reply.partition("(")
    return name, inside.rstrip(")").split(", ")


def dispatch(name: str, arguments: list[str]) -> str:
    """What the tool gives back."""
    return open_shelf().run(name, arguments)
''',
    "agent/loop.py": '''"""The loop."""

from agent.actions import dispatch, parse
from agent.prompt import build

LIMIT = 3


def run(question, client):
    messages = build(question)
    for _ in range(LIMIT):
        action = parse(client.create(messages))
        if action is not None:
            return dispatch(*action)
    return None


def unrelated():
    return 1
''',
    "agent/prompts/rules.md": "Be polite.\n",
    "tools.json": json.dumps(
        {
            "tools": [
                {
                    "name": "read_loan",
                    "description": "Read one field of a loan.",
                    "parameters": {
                        "properties": {
                            "loan_id": {"pattern": "^L\\d{3}$"},
                            "field": {
                                "oneOf": [
                                    {"const": "due", "description": "when it is to come back"},
                                    {"const": "fee", "description": "what it costs to be late"},
                                ]
                            },
                        }
                    },
                }
            ]
        }
    ),
    "scoring.py": "def score(episode):\n    return 0\n",
}

TABLE = HarnessTable.model_validate(
    {
        "source": "library",
        "run": ["run", "{task}", "{episode}"],
        "score": ["score", "{task}", "{episode}"],
        "editable": ["agent/**"],
        "protected": ["scoring.py", "agent/shelf.py"],
        "contract": "tools.json",
        "seams": {
            "prompt": "agent.prompt:build",
            "parse_action": "agent.actions:parse",
            "dispatch_tool": "agent.actions:dispatch",
        },
        "splits": {"train": "train.jsonl", "select": "select.jsonl"},
    }
)


def wrong_field(task: str, said: str = "read_loan(L101, price)", **more: Any) -> Episode:
    """A failed episode: a field is asked for that the tool does not have."""
    return Episode(
        task_id=task,
        outcome="fail",
        end_reason="answer",
        answer="error: unknown field price",
        steps=[
            ModelStep(index=0, content=said, finish_reason="stop"),
            ToolStep(
                index=1,
                name="read_loan",
                arguments={"loan_id": "L101", "field": "price"},
                result="error: unknown field price",
                error=True,
            ),
        ],
        **more,
    )


def right_field(task: str) -> Episode:
    return Episode(
        task_id=task,
        outcome="pass",
        answer="monday",
        steps=[
            ModelStep(index=0, content="read_loan(L101, due)"),
            ToolStep(
                index=1,
                name="read_loan",
                arguments={"loan_id": "L101", "field": "due"},
                result="monday",
            ),
        ],
    )


FAILING = [wrong_field(f"task-000{n}") for n in range(1, 5)]
PASSING = [right_field(f"task-001{n}") for n in range(1, 4)]


def situation(
    key: str = "tool_error/read_loan/unknown-field",
    *,
    failing: Sequence[Episode] = FAILING,
    passing: Sequence[Episode] = PASSING,
    files: Mapping[str, str] = FILES,
    **changes: Any,
) -> Situation:
    values: dict[str, Any] = {
        "key": key,
        "kind": "tool_error",
        "component": "read_loan",
        "template": "error: unknown field <word>",
        "layer": "environment-contract",
        "distinct_tasks": len(failing),
        "failed_episodes": len(failing),
        "passed_episodes": 0,
        "failed_events": len(failing),
        "passed_events": 0,
        "contrast": Contrast(p_value=0.01),
        "attribution": Attribution(label="harness", probability=0.8, reasons=["Many tasks."]),
        "promotion": "repair",
        "evidence": [],
    }
    return Situation(
        pattern=Pattern(**(values | changes)),
        episodes=[*passing, *failing],
        showing=list(failing),
        table=TABLE,
        read=lambda path: files[path].encode() if path in files else None,
        tasks={
            episode.task_id: Task(
                task_id=episode.task_id,
                input={"message": "What does L101 cost?"},
                expected={"answer": "287 crowns"},
            )
            for episode in [*failing, *passing]
        },
        at=lambda episode: {
            step.index for step in episode.steps if isinstance(step, ToolStep) and step.error
        },
    )


@cache
def apply_once(files: str, edits: str) -> Applied | Refusal:
    """Real edits; each only once, because the child processes take their time."""
    base = {path: text.encode() for path, text in json.loads(files).items()}
    spec = ModificationSpec(
        title="x",
        pattern="x",
        layer="procedural-skill",
        hypothesis="x",
        origin="x",
        edits=json.loads(edits)["edits"],
    )
    return apply_spec(
        spec,
        base.get,
        editable=TABLE.editable,
        protected=TABLE.never_edited(),
        python=sys.executable,
    )


@dataclass
class Bench:
    """Real edits on the files in memory. `failing` decides what the harness's tests say."""

    failing: Callable[[dict[str, str]], Trouble | None] = lambda files: None
    files: Mapping[str, str] = field(default_factory=lambda: FILES)
    trees: dict[str, dict[str, str]] = field(default_factory=dict)
    calls: list[str] = field(default_factory=list)

    def apply(self, spec: ModificationSpec) -> str | Trouble:
        self.calls.append("apply")
        done = apply_once(json.dumps(dict(self.files)), spec.model_dump_json(include={"edits"}))
        if isinstance(done, Refusal):
            return Trouble(done.message)
        if not done.files:
            return Trouble("It changes nothing.")
        files = dict(self.files) | {path: text.decode() for path, text in done.files.items()}
        tree = hashlib.sha1(json.dumps(files, sort_keys=True).encode()).hexdigest()
        self.trees[tree] = files
        return tree

    def run_tests(self, tree: str) -> Trouble | None:
        self.calls.append("run_tests")
        return self.failing(self.trees[tree])

    def tools(self, case: Situation | None = None, earlier: Sequence[Earlier] = ()) -> Tools:
        tasks = list((case or situation()).tasks.values())
        known = "\n".join(self.files.values())
        return Tools(
            files=[path for path in self.files if path.startswith("agent/")],
            operations="set_constant: needs file, target, code",
            apply=self.apply,
            run_tests=self.run_tests,
            find_leak=lambda spec: find_leak(all_text(spec), tasks, [], known),
            earlier=earlier,
        )


Reply = BaseModel | Failed | Callable[[str, Sequence[Turn]], Any]


@dataclass
class ScriptedPanel:
    """Answers by role, one after another, the last one again and again. No language model."""

    analyst: list[Reply]
    engineer: list[Reply]
    critic: list[Reply]
    moderator: list[Reply]
    asked: list[tuple[str, list[Turn]]] = field(default_factory=list)

    async def __call__(self, label: str, turns: Sequence[Turn], answer: type[T]) -> T | Failed:
        pattern, _, role, _ = label.split("/")
        before = [
            said for said, _ in self.asked if said.startswith(pattern) and f"/{role}/" in said
        ]
        self.asked.append((label, list(turns)))
        replies: list[Reply] = getattr(self, role)
        reply = replies[min(len(before), len(replies) - 1)]
        said = reply(label, turns) if not isinstance(reply, BaseModel | Failed) else reply
        assert isinstance(said, answer | Failed)
        return said

    @property
    def labels(self) -> list[str]:
        """Without the pattern: `1/analyst/1`."""
        return [label.partition("/")[2] for label, _ in self.asked]


def cite(task: str, quote: str = "unknown field price", step: int = 1) -> Citation:
    return Citation(task_id=task, trial=0, step=step, quote=quote)


ANALYSIS = Analysis(
    fault="harness",
    cause="The prompt does not say which fields exist.",
    layer="environment-contract",
    places=["agent/prompt.py:INSTRUCTIONS"],
    evidence=[cite("task-0001"), cite("task-0002")],
    other_side="A better model would guess the field.",
)
PROPOSAL = Proposal(
    hypothesis="Told the fields, the model asks for one that exists.",
    applicability="In every conversation.",
    edits=[
        ProposedEdit(
            op="set_constant",
            file="agent/prompt.py",
            target="INSTRUCTIONS",
            anchor="",
            code='"Use the tools. The fields of a loan are due and fee."',
            options=[],
            why="the fields are named.",
        )
    ],
    answers=[],
    alternatives=["Map price to fee: it guesses."],
)
CALM = Critique(objections=[], at_risk=["task-0011"])
ACCEPT = Ruling(
    decision="accept",
    reasons="The cause is shown.",
    answers=[],
    revise="edit",
    subject="Tell the model which fields a loan has",
    body="Four runs asked for a field that does not exist.",
)
NARROW = ACCEPT.model_copy(
    update={"decision": "narrow", "reasons": "Name the fields only.", "subject": "", "body": ""}
)


def objecting(blocking: bool = True) -> Critique:
    objection = Objection(
        kind="harm",
        words="It makes the prompt longer for runs that pass.",
        blocking=blocking,
        evidence=[cite("task-0011", "monday")],
    )
    return Critique(objections=[objection], at_risk=[])


def edit(**changes: Any) -> Proposal:
    """The usual proposal with another edit."""
    options = [Option(name=k, value=v) for k, v in changes.pop("options", {}).items()]
    changed = PROPOSAL.edits[0].model_copy(update={**changes, "options": options})
    return PROPOSAL.model_copy(update={"edits": [changed]})


def panel(**changes: list[Reply]) -> ScriptedPanel:
    usual: dict[str, list[Reply]] = {
        "analyst": [ANALYSIS],
        "engineer": [PROPOSAL],
        "critic": [CALM],
        "moderator": [ACCEPT],
    }
    return ScriptedPanel(**(usual | changes))


def outside_fences(text: str) -> str:
    """A message without what stands between marks; asserts that the marks pair up."""
    marks = set(re.findall(r"<data ([0-9a-f]{20}) ", text))
    assert len(marks) == 1, marks
    (mark,) = marks
    opened = text.count(f"<data {mark} ")
    outside, sections = re.subn(
        rf"^<data {mark} [^<>\n]*>\n.*?\n</data {mark}>$", "", text, flags=re.DOTALL | re.MULTILINE
    )
    assert sections == opened == text.count(f"</data {mark}>")
    assert mark not in outside
    return outside
