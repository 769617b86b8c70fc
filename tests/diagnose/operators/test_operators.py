"""Each operator before and after, and on harnesses where it does not apply."""

import ast
import re
from pathlib import Path
from typing import Any

import pytest

from bot.diagnose.catalog import NotApplicable, Operator, operators, propose
from bot.diagnose.operators.ask_again import OPERATOR as ask_again
from bot.diagnose.operators.extract_action import OPERATOR as extract_action
from bot.diagnose.operators.follow_identifier import OPERATOR as follow_identifier
from bot.diagnose.operators.keep_known_arguments import OPERATOR as keep_known_arguments
from bot.diagnose.operators.raise_reply_limit import OPERATOR as raise_reply_limit
from bot.diagnose.operators.resolve_argument import OPERATOR as resolve_argument
from bot.diagnose.operators.resolve_tool import OPERATOR as resolve_tool
from bot.diagnose.operators.worked_examples import OPERATOR as worked_examples
from tests.diagnose.operators.conftest import LIBRARY, Propose, call, reply, situation


def refused(operator: Operator, *args: Any, **kwargs: Any) -> str:
    answer = operator.propose(situation(*args, **kwargs))
    assert isinstance(answer, NotApplicable), answer
    return answer.reason


def without_types(path: str, text: str) -> dict[str, str]:
    return LIBRARY | {path: text}


def test_the_catalog_offers_at_least_eight_operators() -> None:
    names = [operator.name for operator in operators()]
    assert len(names) == len(set(names)) >= 8


def test_operators_hold_no_word_of_the_starter_harness() -> None:
    """Names of its tools, fields and values; they must come from the contract."""
    root = Path(__file__).resolve().parents[3]
    words = {"lookup", "cancel_order", "customer", "shipping", "smollm", "desk", "loyalty"}
    for path in (root / "bot" / "diagnose").rglob("*.py"):
        found = words & set(re.findall(r"[a-z_]+", path.read_text(encoding="utf-8").lower()))
        assert not found, (path, found)


# --- worked-examples ----------------------------------------------------------------------


def test_worked_examples_become_turns_of_the_chat(applied: Propose) -> None:
    case = situation([reply("Sure!")], kind="unparsed_action", component="model-text")
    after = applied(worked_examples, case)["agent/prompt.py"]
    names: dict[str, Any] = {}
    exec(after, names)
    messages = names["build"]("Who?")
    assert [m["role"] for m in messages[:3]] == ["system", "user", "assistant"]
    assert messages[1]["content"] == "What is the due of loan L101?"
    assert messages[2]["content"] == "read_loan(L101, due)"
    assert messages[-1] == {"role": "user", "content": "Who?"}
    assert len(messages) == 2 + 2 * 4
    assert ast.get_docstring(ast.parse(after)) == "What the model is told."


def test_worked_examples_go_behind_a_prompt_that_is_text(applied: Propose) -> None:
    files = without_types(
        "agent/prompt.py", 'def build(question: str) -> str:\n    return f"Answer: {question}"\n'
    )
    case = situation([reply("Sure!")], kind="no_action", component="model-text", files=files)
    names: dict[str, Any] = {}
    exec(applied(worked_examples, case)["agent/prompt.py"], names)
    assert names["build"]("Who?").startswith("Answer: Who?\n\nExamples:\n\nWhat is the due of loan")


def test_worked_examples_do_not_apply() -> None:
    kind = {"kind": "unparsed_action", "component": "model-text"}
    assert "no tool contract" in refused(worked_examples, [reply("Sure!")], contract=None, **kind)
    unclear = without_types("agent/prompt.py", "def build(q):\n    return q\n")
    assert "text or messages" in refused(worked_examples, [reply("?")], files=unclear, **kind)
    twice = without_types(
        "agent/prompt.py", "def build(q) -> str:\n    if q:\n        return q\n    return ''\n"
    )
    assert "2 returns" in refused(worked_examples, [reply("?")], files=twice, **kind)


# --- resolve-argument ---------------------------------------------------------------------


def test_resolve_argument_acts_before_the_tool_is_called(applied: Propose) -> None:
    wrong = call("read_loan", {"loan_id": "L101", "field": "amount"}, error=True)
    after = applied(resolve_argument, situation([wrong]))["agent/actions.py"]
    assert run_dispatch(after, "read_loan", {"loan_id": "L1", "field": "amount"}) == (
        "read_loan",
        {"loan_id": "L1", "field": "fee"},
    )
    assert "# Runs a tool.\ndef dispatch(" in after
    assert after.index("import re") < after.index("def parse")


def test_resolve_argument_does_not_apply() -> None:
    known = call("read_loan", {"loan_id": "L101", "field": "fee"}, error=True)
    assert "No failing call names a value" in refused(resolve_argument, [known])
    assert "not at a tool" in refused(resolve_argument, [known], component="model-text")
    odd = without_types("agent/actions.py", "def parse(r):\n    pass\ndef dispatch(x):\n    pass\n")
    assert "does not take a tool's name" in refused(resolve_argument, [known], files=odd)


# --- follow-identifier --------------------------------------------------------------------


def test_follow_identifier_looks_the_meant_one_up(applied: Propose) -> None:
    wrong = call("read_reader", {"reader_id": "L101", "field": "phone"}, error=True)
    after = applied(follow_identifier, situation([wrong], component="read_reader"))
    shelf = Shelf({"read_loan": "R007"})
    names: dict[str, Any] = {}
    exec(after["agent/actions.py"], names)
    names["dispatch"](shelf, "read_reader", {"reader_id": "L101", "field": "phone"})
    assert shelf.calls == [
        ("read_loan", {"loan_id": "L101", "field": "reader"}),
        ("read_reader", {"reader_id": "R007", "field": "phone"}),
    ]


def test_follow_identifier_does_not_apply() -> None:
    right = call("read_reader", {"reader_id": "R001", "field": "phone"}, error=True)
    assert "No failing call" in refused(follow_identifier, [right], component="read_reader")
    plain = LIBRARY | {"tools.json": '{"tools": [{"name": "a", "parameters": {}}]}'}
    assert "declares no call" in refused(follow_identifier, [right], files=plain)


# --- resolve-tool, keep-known-arguments ---------------------------------------------------


def test_resolve_tool_sends_a_call_where_it_fits(applied: Propose) -> None:
    wrong = call("get_loan", {"a": "L101", "b": "fee"}, error=True)
    after = applied(resolve_tool, situation([wrong], component="get_loan"))["agent/actions.py"]
    assert run_dispatch(after, "get_loan", {"a": "L101", "b": "fee"}) == (
        "read_loan",
        {"loan_id": "L101", "field": "fee"},
    )
    assert run_dispatch(after, "read_reader", {"reader_id": "R001", "field": "phone"}) == (
        "read_reader",
        {"reader_id": "R001", "field": "phone"},
    )


def test_resolve_tool_does_not_apply() -> None:
    right = call("read_loan", {"loan_id": "L101", "field": "fee"}, error=True)
    assert "No failing call names a tool" in refused(resolve_tool, [right])


def test_keep_known_arguments_leaves_surplus_ones_out(applied: Propose) -> None:
    wrong = call("read_loan", {"loan_id": "L1", "field": "fee", "more": "now"}, error=True)
    after = applied(keep_known_arguments, situation([wrong]))["agent/actions.py"]
    assert run_dispatch(after, "read_loan", {"loan_id": "L1", "field": "fee", "x": "1"}) == (
        "read_loan",
        {"loan_id": "L1", "field": "fee"},
    )
    assert run_dispatch(after, "sing", {"song": "low"}) == ("sing", {"song": "low"})


def test_keep_known_arguments_does_not_apply() -> None:
    right = call("read_loan", {"loan_id": "L1", "field": "fee"}, error=True)
    assert "No failing call passes" in refused(keep_known_arguments, [right])


# --- extract-action, ask-again, raise-reply-limit -----------------------------------------


def test_extract_action_finds_the_call_in_a_longer_reply(applied: Propose) -> None:
    kind = {"kind": "unparsed_action", "component": "model-text"}
    case = situation([reply("Let me see: read_loan(L101, fee)!")], **kind)
    names: dict[str, Any] = {}
    exec(applied(extract_action, case)["agent/actions.py"], names)
    assert names["parse"]("Let me see: read_loan(L101, fee)!") == "read_loan(L101, fee)"
    assert names["parse"]("read_loan(read_loan(L1, reader), fee)") == (
        "read_loan(read_loan(L1, reader), fee)"
    )
    assert names["parse"]("No idea.") is None
    assert "No failing reply holds a call" in refused(extract_action, [reply("No idea.")], **kind)


def test_ask_again_edits_the_loop(applied: Propose) -> None:
    case = situation([reply("Sure!")], kind="unparsed_action", component="model-text")
    after = applied(ask_again, case)["agent/loop.py"]
    replies = iter(["Sure!", "read_loan(L101, due)", "done"])
    asked: list[Any] = []

    class Client:
        def create(self, messages: list[Any], max_tokens: int) -> str:
            asked.append(messages)
            return next(replies)

    names: dict[str, Any] = {"parse": lambda text: text if "(" in text else None}
    exec(after, names)
    with pytest.raises(StopIteration):
        names["run"]("When is L101 due?", Client())
    assert asked[1][1] == {"role": "assistant", "content": "Sure!"}
    assert asked[1][2]["content"].endswith("like this: read_loan(L101, due)")
    assert len(asked) == 4


def test_ask_again_does_not_apply() -> None:
    kind = {"kind": "unparsed_action", "component": "model-text"}
    loop = without_types("agent/loop.py", "def ask(m):\n    pass\n")
    assert "No function assigns" in refused(ask_again, [reply("?")], files=loop, **kind)
    never = LIBRARY["agent/actions.py"].replace("return None", "return ()")
    files = without_types("agent/actions.py", never)
    assert "does not give None" in refused(ask_again, [reply("?")], files=files, **kind)


def test_raise_reply_limit_doubles_the_constant(applied: Propose) -> None:
    case = situation([reply("read_loan(L1", finish_reason="length")], kind="truncated_reply")
    assert "LIMIT = 64\n" in applied(raise_reply_limit, case)["agent/loop.py"]
    bare = without_types("agent/loop.py", "def ask(m, c):\n    return c.create(max_tokens=32)\n")
    said = refused(raise_reply_limit, [reply("?")], kind="truncated_reply", files=bare)
    assert "from no constant" in said


def test_two_repairs_of_one_function_compose(applied: Propose) -> None:
    wrong = call("read_loan", {"loan_id": "L101", "field": "amount", "x": "1"}, error=True)
    first = applied(resolve_argument, situation([wrong]))
    second = applied(keep_known_arguments, situation([wrong], files=first))
    assert run_dispatch(
        second["agent/actions.py"], "read_loan", {"loan_id": "L1", "field": "amount", "x": "1"}
    ) == ("read_loan", {"loan_id": "L1", "field": "fee"})


def test_a_missing_seam_is_said() -> None:
    wrong = call("read_loan", {"loan_id": "L101", "field": "amount"}, error=True)
    answers = dict(propose(situation([wrong], seams={})))
    assert answers
    assert all(
        isinstance(a, NotApplicable) and "names no usable seam" in a.reason
        for a in answers.values()
    )


class Shelf:
    """Stands for what the tools act on; keeps the calls."""

    def __init__(self, results: dict[str, str]) -> None:
        self.results, self.calls = results, list[tuple[str, dict[str, str]]]()

    def run(self, name: str, arguments: dict[str, str]) -> str:
        self.calls.append((name, dict(arguments)))
        return self.results.get(name, "")


def run_dispatch(source: str, name: str, arguments: dict[str, str]) -> tuple[str, dict[str, str]]:
    """The one tool call that the harness makes of an action."""
    names: dict[str, Any] = {}
    exec(source, names)
    shelf = Shelf({})
    names["dispatch"](shelf, name, arguments)
    (made,) = shelf.calls
    return made
