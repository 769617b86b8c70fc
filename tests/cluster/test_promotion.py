import pytest

from bot.cluster.promotion import promote
from bot.records import Attribution, Label, Promotion


@pytest.mark.parametrize(
    ("label", "tasks", "promotion"),
    [
        ("harness", 0, "none"),
        ("harness", 1, "watch"),
        ("harness", 2, "repair"),
        ("undetermined", 0, "none"),
        ("undetermined", 1, "watch"),
        ("undetermined", 2, "trial"),
        ("undetermined", 99, "trial"),
        ("model", 0, "none"),
        ("model", 99, "watch"),
        ("task", 1, "watch"),
        ("task", 99, "watch"),
    ],
)
def test_what_becomes_of_a_pattern(label: Label, tasks: int, promotion: Promotion) -> None:
    answer = Attribution(label=label, probability=0.5, reasons=[])
    assert promote(answer, tasks) == promotion
