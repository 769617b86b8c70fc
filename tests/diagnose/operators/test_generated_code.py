"""The code that operators write, run on its own: what it changes and what it leaves alone."""

import re
from typing import Any

from bot.diagnose.code import literal
from bot.diagnose.contract import parse_contract
from bot.diagnose.operators import follow_identifier, resolve_argument, resolve_tool

LIBRARY = parse_contract(
    [
        {
            "name": "read_loan",
            "parameters": {
                "type": "object",
                "properties": {
                    "loan_id": {"format": "loan-id", "pattern": "^L\\d{3}$"},
                    "field": {
                        "oneOf": [
                            {"const": "due", "description": "the day on which it is to come back"},
                            {"const": "fee", "description": "the amount to pay for being late"},
                            {"const": "reader", "description": "the number of who borrowed it"},
                        ]
                    },
                },
            },
            "returns": {"reader": {"format": "reader-id"}},
        },
        {
            "name": "read_reader",
            "parameters": {
                "type": "object",
                "properties": {
                    "reader_id": {"format": "reader-id", "pattern": "^R\\d{3}$"},
                    "field": {"oneOf": [{"const": "phone", "description": "telephone"}]},
                },
            },
        },
        {
            "name": "extend_loan",
            "parameters": {
                "type": "object",
                "properties": {"loan_id": {"format": "loan-id", "pattern": "^L\\d{3}$"}},
            },
        },
    ],
    "test",
)


def run(code: str) -> dict[str, Any]:
    names: dict[str, Any] = {"re": re}
    exec(compile(code, "generated", "exec"), names)
    return names


def argument_resolver() -> Any:
    table = {t.name: resolve_argument.value_words(t) for t in LIBRARY}
    code = resolve_argument.CODE.format(constant="T", table=literal(table), function="resolve")
    return run(code)["resolve"]


def test_a_value_in_other_words_is_resolved() -> None:
    resolve = argument_resolver()
    assert resolve("read_loan", {"loan_id": "L101", "field": "amount"}) == {
        "loan_id": "L101",
        "field": "fee",
    }
    assert resolve("read_loan", {"field": "late_payment"})["field"] == "fee"


def test_known_unknown_and_ambiguous_values_stay() -> None:
    resolve = argument_resolver()
    for field in ("due", "colour", "amount_day", ""):
        assert resolve("read_loan", {"field": field}) == {"field": field}
    assert resolve("no_such_tool", {"field": "amount"}) == {"field": "amount"}
    assert resolve("read_loan", {}) == {}


def follower() -> Any:
    patterns = follow_identifier.identifier_patterns(LIBRARY)
    sources = follow_identifier.identifier_sources(LIBRARY, patterns)
    assert sources == {
        "reader-id": {
            "loan-id": {
                "tool": "read_loan",
                "parameter": "loan_id",
                "arguments": {"field": "reader"},
            }
        }
    }
    code = follow_identifier.CODE.format(
        function="follow",
        patterns="P",
        formats="F",
        sources="S",
        pattern_table=literal(patterns),
        format_table=literal({"read_reader": {"reader_id": "reader-id"}}),
        source_table=literal(sources),
    )
    return run(code)["follow"]


def test_an_identifier_of_another_kind_is_followed() -> None:
    calls = []

    def call(tool: str, values: dict[str, str]) -> str:
        calls.append((tool, values))
        return "the reader is R007."

    followed = follower()("read_reader", {"reader_id": "L101", "field": "phone"}, call)
    assert followed == {"reader_id": "R007", "field": "phone"}
    assert calls == [("read_loan", {"loan_id": "L101", "field": "reader"})]


def test_what_fits_or_leads_nowhere_stays() -> None:
    def call(tool: str, values: dict[str, str]) -> str:
        return "error: no such loan"

    follow = follower()
    for value in ("R001", "X9", "L101", ""):
        arguments = {"reader_id": value, "field": "phone"}
        assert follow("read_reader", arguments, call) == arguments
    assert follow("read_loan", {"loan_id": "L101"}, call) == {"loan_id": "L101"}


def tool_resolver() -> Any:
    table = resolve_tool.parameter_table(LIBRARY)
    code = resolve_tool.CODE.format(
        constant="T", table=literal(table), function="resolve", assign="assign"
    )
    return run(code)["resolve"]


def test_an_action_goes_to_the_tool_that_its_arguments_fit() -> None:
    resolve = tool_resolver()
    assert resolve("get_loan", {"a": "L101", "b": "fee"}) == (
        "read_loan",
        {"loan_id": "L101", "field": "fee"},
    )
    assert resolve("read_reader", {"reader_id": "L101", "field": "amount"}) == (
        "read_loan",
        {"loan_id": "L101", "field": "fee"},
    )
    assert resolve("late_fee", {"a": "L101"}) == (
        "read_loan",
        {"loan_id": "L101", "field": "fee"},
    )


def test_an_action_that_fits_its_tool_stays() -> None:
    resolve = tool_resolver()
    for name, arguments in (
        ("read_loan", {"loan_id": "L101", "field": "due"}),
        ("extend_loan", {"loan_id": "L101"}),
        ("read_reader", {"reader_id": "R001", "field": "phone"}),
        # An identifier of another kind, and a field of this tool: no other tool takes both.
        ("read_reader", {"reader_id": "L101", "field": "phone"}),
        # Surplus arguments do not make it another tool's call; one value is too little.
        ("extend_loan", {"loan_id": "L101", "more": "due"}),
        ("burn_loan", {"loan_id": "L101"}),
        ("sing", {"song": "low"}),
    ):
        assert resolve(name, arguments) == (name, arguments)
