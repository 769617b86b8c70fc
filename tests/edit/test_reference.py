from bot.edit.operations import OPERATIONS
from bot.edit.reference import describe_operations


def test_every_operation_is_described_with_its_fields() -> None:
    text = describe_operations()
    assert [line[3:] for line in text.split("\n") if line.startswith("## ")] == list(OPERATIONS)
    assert (
        "## set_default\nSet the default value of a parameter of the function or method `target`.\n"
        "`parameter` is its name, `code` the value. Calls are not touched.\n"
        "Fields: code, target, parameter; may have target_number."
    ) in text
    assert "Postcondition" not in text
    assert len(text) < 10_000
