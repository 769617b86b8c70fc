"""What a commit's message gives for the pull request."""

from bot.commands.pr_facts import split_body
from bot.lineage.message import RepairMessage, parse_message
from tests.helpers.repairs import make_pattern, make_spec


def test_a_message_is_taken_apart() -> None:
    explanation = (
        "Nobody told the model which fields exist, and so it guesses them, as models do.\n\n"
        "Cause: the prompt.\n\n"
        "Objection (overfitting): It may name fields of these very tasks, and of no other ones, "
        "at all. Answer: It reads the contract.\n\n"
        "Objection (harm): None.\n\n"
        "Not done: one example per field; a longer prompt"
    )
    quotes = [f"lookup_order({n}, destination)" for n in range(12)]
    message = RepairMessage(make_spec(), make_pattern(*quotes), explanation).write(1)
    explained, objections, not_done = split_body(parse_message(message).body)
    assert " ".join(explained.split()) == (
        "Nobody told the model which fields exist, and so it guesses them, as models do. "
        "Cause: the prompt."
    )
    assert objections == [
        "(overfitting): It may name fields of these very tasks, and of no other ones, at all. "
        "Answer: It reads the contract.",
        "(harm): None.",
    ]
    assert not_done == ["one example per field", "a longer prompt"]
