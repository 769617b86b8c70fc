import json
import random
import time

import pytest

from bot.llm.repetition import repeats_itself


@pytest.mark.parametrize("piece", ["\n", "a", "the tool ", '{"step": 1}, ', "x" * 100 + "\n"])
def test_one_piece_over_and_over_is_seen(piece: str) -> None:
    assert repeats_itself("It began well. " + piece * (2000 // len(piece)))
    assert not repeats_itself(piece * (1000 // len(piece)))


def test_numbers_that_count_on_hide_nothing_for_long() -> None:
    lines = [f"{number}. The tool fails at step {number + 3}.\n" for number in range(1000)]
    assert not repeats_itself("".join(lines[:60]))
    assert repeats_itself("".join(lines))


def test_long_lists_and_code_are_no_repetition() -> None:
    steps = [{"episode": f"task-{number:04d}", "step": number % 7} for number in range(60)]
    assert not repeats_itself(json.dumps(steps))
    with open(json.__file__, encoding="utf-8") as file:  # noqa: PTH123
        assert not repeats_itself(file.read())
    assert not repeats_itself("=" * 79 + "\n" + "-" * 79 + "\n")
    words = random.Random(1).choices(["tool", "step", "order", "city"], k=2000)
    assert not repeats_itself(" ".join(words))


def test_a_look_at_a_long_text_is_short() -> None:
    text = "ab" * 1_000_000
    started = time.monotonic()
    assert repeats_itself(text)
    assert not repeats_itself(text + "".join(map(chr, range(200, 2000))))
    assert time.monotonic() - started < 0.5
