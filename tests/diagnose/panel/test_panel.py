"""The protocol of one panel, with scripted roles: what they say is fixed, the rest is real."""

from __future__ import annotations

import asyncio

import pytest

from bot.diagnose.panel.answers import Critique, Proposal
from bot.diagnose.panel.interface import (
    ModelsFault,
    PanelFailed,
    PanelResult,
    PanelSettings,
    Proposed,
    Rejected,
    Trouble,
)
from bot.diagnose.panel.run import run_panel
from bot.llm.answers import Failed
from tests.diagnose.panel.library import (
    ACCEPT,
    ANALYSIS,
    CALM,
    FILES,
    NARROW,
    PROPOSAL,
    Bench,
    ScriptedPanel,
    cite,
    edit,
    objecting,
    panel,
    situation,
    wrong_field,
)


def run(script: ScriptedPanel, bench: Bench | None = None, **settings: int) -> PanelResult:
    tools = (bench or Bench()).tools()
    return asyncio.run(run_panel(situation(), tools, script, PanelSettings(**settings)))


def test_agreement_in_the_first_round() -> None:
    script, bench = panel(), Bench()
    result = run(script, bench)
    assert isinstance(result, Proposed)
    assert script.labels == ["1/analyst/1", "1/engineer/1", "1/critic/1", "1/moderator/1"]
    assert bench.calls == ["apply", "run_tests"]
    changed = bench.trees[result.tree]["agent/prompt.py"]
    assert changed == FILES["agent/prompt.py"].replace(
        '"Use the tools."', '"Use the tools. The fields of a loan are due and fee."'
    )
    spec = result.spec
    assert spec.title == "Tell the model which fields a loan has"
    assert spec.pattern == "tool_error/read_loan/unknown-field"
    assert spec.layer == "environment-contract"
    assert spec.predicted_fixes == ["task-0001", "task-0002"]
    assert spec.risk_tasks == ["task-0011"]
    assert spec.origin.startswith("panel:tool-error-read-loan-unknown-field-")
    assert result.words.explain() == (
        "Four runs asked for a field that does not exist.\n\n"
        "Cause: The prompt does not say which fields exist.\n\n"
        "Against it: A better model would guess the field.\n\n"
        "Not done: Map price to fee: it guesses."
    )


def test_narrowed_then_accepted() -> None:
    narrower = PROPOSAL.model_copy(
        update={"answers": ["It is one sentence."], "edits": edit(code='"due or fee"').edits}
    )
    script = panel(
        engineer=[PROPOSAL, narrower], critic=[objecting(), CALM], moderator=[NARROW, ACCEPT]
    )
    result = run(script)
    assert isinstance(result, Proposed)
    assert script.labels[4:] == ["2/engineer/1", "2/critic/1", "2/moderator/1"]
    assert result.spec.edits[0].code == '"due or fee"'
    (exchange,) = result.words.exchanges
    assert exchange.objection.kind == "harm"
    assert exchange.answer == "It is one sentence."
    assert result.words.rounds == 2
    # The Engineer hears what the Critic and the Moderator said.
    second = script.asked[4][1][1].content
    assert "It makes the prompt longer" in second
    assert "Name the fields only." in second


def test_the_moderator_can_send_it_back_to_the_analyst() -> None:
    again = NARROW.model_copy(update={"revise": "analysis"})
    script = panel(moderator=[again, ACCEPT])
    assert isinstance(run(script), Proposed)
    assert script.labels[4] == "2/analyst/1"


def test_models_fault() -> None:
    blames = ANALYSIS.model_copy(
        update={"fault": "model", "places": [], "cause": "The fields are named; it ignores them."}
    )
    ruling = NARROW.model_copy(update={"decision": "model", "reasons": "A person would not err."})
    script, bench = panel(analyst=[blames], moderator=[ruling]), Bench()
    result = run(script, bench)
    assert isinstance(result, ModelsFault)
    assert result.reasons == "A person would not err."
    assert result.words.analysis == blames
    assert script.labels == ["1/analyst/1", "1/critic/1", "1/moderator/1"]
    assert bench.calls == []


def test_nothing_can_be_accepted_where_the_model_is_blamed() -> None:
    blames = ANALYSIS.model_copy(update={"fault": "model", "places": []})
    result = run(panel(analyst=[blames]))
    assert isinstance(result, Rejected)
    assert result.kind == "form"
    assert "no edit on the table" in result.reasons


@pytest.mark.parametrize(
    ("citation", "complaint"),
    [
        (cite("task-0999"), "There is no recorded run of task 'task-0999', trial 0."),
        (cite("task-0002", step=7), "has no step 7"),
        (cite("task-0002", "unknown field colour"), "does not say 'unknown field colour'"),
        (cite("task-0002", "u"), "too short"),
        (cite("task-0002", "step 1 tool error"), "does not say"),
    ],
)
def test_invented_evidence_is_told_and_refused(citation: object, complaint: str) -> None:
    invented = ANALYSIS.model_copy(update={"evidence": [cite("task-0001"), citation]})
    script = panel(analyst=[invented])
    result = run(script, attempts=2)
    assert isinstance(result, Rejected)
    assert result.kind == "evidence"
    assert complaint in result.reasons
    assert script.labels == ["1/analyst/1", "1/analyst/2"]
    question, own, correction = script.asked[1][1][1:]
    assert question == script.asked[0][1][1]
    assert own.content == invented.model_dump_json()
    assert complaint in correction.content


def test_a_corrected_citation_is_taken() -> None:
    invented = ANALYSIS.model_copy(update={"evidence": [cite("task-0001"), cite("task-0009")]})
    script = panel(analyst=[invented, ANALYSIS])
    assert isinstance(run(script), Proposed)
    assert script.labels[:3] == ["1/analyst/1", "1/analyst/2", "1/engineer/1"]


def test_a_quote_may_be_spaced_otherwise() -> None:
    spaced = [cite("task-0001", "unknown\n  field price"), cite("task-0002")]
    script = panel(analyst=[ANALYSIS.model_copy(update={"evidence": spaced})])
    assert isinstance(run(script), Proposed)


def test_an_empty_reply_can_be_cited() -> None:
    failing = [wrong_field(task, said="") for task in ("task-0001", "task-0002")]
    case = situation(failing=failing, kind="empty_reply", component="model-text")
    case = type(case)(**{**vars(case), "at": lambda episode: {0}})
    evidence = [cite(episode.task_id, "(nothing)", 0) for episode in failing]
    script = panel(analyst=[ANALYSIS.model_copy(update={"evidence": evidence})])
    result = asyncio.run(run_panel(case, Bench().tools(), script, PanelSettings()))
    assert isinstance(result, Proposed)
    assert (
        "step 0 model stop  <- the pattern's event\n    (nothing)" in script.asked[0][1][1].content
    )


@pytest.mark.parametrize(
    ("evidence", "complaint"),
    [
        ([cite("task-0001"), cite("task-0001")], "of 1 tasks that fail"),
        ([cite("task-0011", "monday"), cite("task-0012", "monday")], "of 0 tasks that fail"),
        (
            [cite("task-0001", "read_loan", 0), cite("task-0002", "read_loan", 0)],
            "No cited step is one at which the pattern's event is.",
        ),
    ],
)
def test_evidence_must_be_of_the_pattern(evidence: object, complaint: str) -> None:
    result = run(panel(analyst=[ANALYSIS.model_copy(update={"evidence": evidence})]))
    assert isinstance(result, Rejected)
    assert result.kind == "evidence"
    assert complaint in result.reasons


def test_places_must_be_in_the_code() -> None:
    lost = ANALYSIS.model_copy(update={"places": ["agent/prompt.py:RULES"]})
    result = run(panel(analyst=[lost]))
    assert isinstance(result, Rejected)
    assert result.kind == "form"
    assert "There is no 'agent/prompt.py:RULES'" in result.reasons


def test_the_critics_evidence_is_checked_too() -> None:
    invented = objecting().objections[0].model_copy(update={"evidence": [cite("task-0404")]})
    result = run(panel(critic=[Critique(objections=[invented], at_risk=[])]))
    assert isinstance(result, Rejected)
    assert "the critic did not get it right" in result.reasons.lower()
    result = run(panel(critic=[CALM.model_copy(update={"at_risk": ["task-0001"]})]))
    assert isinstance(result, Rejected)
    assert "is no task that passes" in result.reasons


def test_the_engineer_hears_why_it_does_not_apply() -> None:
    script = panel(engineer=[edit(target="RULES"), edit(code='"never ended'), PROPOSAL])
    bench = Bench()
    result = run(script, bench)
    assert isinstance(result, Proposed)
    assert script.labels[1:5] == [
        "1/engineer/1",
        "1/engineer/2",
        "1/engineer/3",
        "1/critic/1",
    ]
    assert "RULES" in script.asked[2][1][3].content
    assert "does not parse" in script.asked[3][1][3].content
    assert bench.calls == ["apply", "apply", "apply", "run_tests"]


def test_what_never_applies_is_rejected() -> None:
    result = run(panel(engineer=[edit(target="RULES")]))
    assert isinstance(result, Rejected)
    assert result.kind == "does_not_apply"
    assert result.words.analysis == ANALYSIS


def test_failing_tests_go_back_to_the_engineer() -> None:
    def polite(files: dict[str, str]) -> Trouble | None:
        says = "/tmp/run-17/tree/tests/test_prompt.py: not polite, in 0.013s"
        return None if "please" in files["agent/prompt.py"] else Trouble(says)

    script = panel(engineer=[PROPOSAL, edit(code='"Use due or fee, please."')])
    result = run(script, Bench(polite))
    assert isinstance(result, Proposed)
    said = script.asked[2][1][3].content
    assert "own tests fail: .../tests/test_prompt.py: not polite, in some time" in said
    never = run(panel(), Bench(polite))
    assert isinstance(never, Rejected)
    assert never.kind == "tests_fail"


def test_a_spec_that_changes_nothing_is_not_taken() -> None:
    result = run(panel(engineer=[edit(code='"Use the tools."')]), attempts=1)
    assert isinstance(result, Rejected)
    assert "It changes nothing." in result.reasons


@pytest.mark.parametrize(
    "proposal",
    [
        edit(code='"Ask about task-0003 first."'),
        edit(code='"It is 287 crowns."'),
        # In a field of its own, where an operation brings code besides `code`.
        edit(
            op="add_parameter",
            target="build",
            code="price",
            options={"argument": "'287 crowns'"},
        ),
    ],
)
def test_what_leaks_is_not_even_applied(proposal: Proposal) -> None:
    bench = Bench()
    result = run(panel(engineer=[proposal]), bench)
    assert isinstance(result, Rejected)
    assert result.kind == "leak"
    assert bench.calls == []


def test_options_become_fields_of_the_edit() -> None:
    added = edit(
        op="insert_statements",
        target="build",
        code="question = question.strip()",
        options={"place": "before", "anchor": "ignored", "number": "1"},
        anchor='return [{"role": "system", "content": INSTRUCTIONS}, '
        '{"role": "user", "content": question}]',
        file="agent/prompt.py",
    )
    bench = Bench()
    result = run(panel(engineer=[added]), bench)
    assert isinstance(result, Proposed)
    assert "question = question.strip()\n    return" in bench.trees[result.tree]["agent/prompt.py"]


def test_an_engineer_without_an_edit() -> None:
    none = PROPOSAL.model_copy(update={"edits": []})
    reject = NARROW.model_copy(update={"decision": "reject", "reasons": "Nothing to do."})
    script, bench = panel(engineer=[none], moderator=[reject]), Bench()
    result = run(script, bench)
    assert isinstance(result, Rejected)
    assert (result.kind, result.reasons) == ("no_edit", "Nothing to do.")
    assert bench.calls == []


def test_an_edit_of_an_earlier_round_does_not_stay_on_the_table() -> None:
    none = PROPOSAL.model_copy(update={"edits": []})
    result = run(panel(engineer=[PROPOSAL, none], moderator=[NARROW, ACCEPT]))
    assert isinstance(result, Rejected)
    assert "no edit on the table" in result.reasons


def test_the_moderator_rejects() -> None:
    reject = NARROW.model_copy(update={"decision": "reject", "reasons": "One task only."})
    result = run(panel(moderator=[reject]))
    assert isinstance(result, Rejected)
    assert (result.kind, result.reasons) == ("moderator", "One task only.")


def test_the_limit_of_rounds() -> None:
    script = panel(moderator=[NARROW])
    result = run(script, rounds=2)
    assert isinstance(result, Rejected)
    assert result.kind == "no_agreement"
    assert result.reasons == "No agreement after 2 rounds: Name the fields only."
    assert script.labels[-1] == "2/moderator/1"
    assert "round 1 of 2." in script.asked[3][1][1].content
    assert script.asked[-1][1][1].content.endswith("2 of 2. What is narrowed now is dropped.")


@pytest.mark.parametrize("empty", ["", "  ", "\u200b\u202e"])
@pytest.mark.parametrize("name", ["subject", "body"])
def test_what_is_accepted_needs_words(name: str, empty: str) -> None:
    result = run(panel(moderator=[ACCEPT.model_copy(update={name: empty})]))
    assert isinstance(result, Rejected)
    assert "needs the subject and the body" in result.reasons


def test_blocking_objections_must_be_answered() -> None:
    answered = ACCEPT.model_copy(update={"answers": ["By one sentence; that is little."]})
    script = panel(critic=[objecting()], moderator=[ACCEPT, answered])
    result = run(script)
    assert isinstance(result, Proposed)
    assert script.labels[3:] == ["1/moderator/1", "1/moderator/2"]
    assert result.words.exchanges[0].answer == "By one sentence; that is little."
    assert isinstance(run(panel(critic=[objecting(blocking=False)])), Proposed)


KINDS = [
    *("empty", "truncated", "not_json", "wrong_schema", "html", "tool_calls", "repetition"),
    *("refused", "too_long", "budget", "timeout", "unreachable", "rejected"),
]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("role", ["analyst", "engineer", "critic", "moderator"])
def test_a_role_without_an_answer(role: str, kind: str) -> None:
    script = panel(**{role: [Failed(kind, "The server is away; try later.")]})
    result = run(script)
    assert isinstance(result, PanelFailed)
    assert (result.kind, result.role, result.round) == (kind, role, 1)
    assert result.reason == "The server is away; try later."
    assert script.labels[-1] == f"1/{role}/1"
