"""What an operator is handed is of the train split alone."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.diagnose.operators.conftest import reply, situation


def test_an_episode_of_another_split_is_refused() -> None:
    case = situation([reply("no call", task="t1")])
    stranger = reply("no call", task="select-1")
    for field in ("episodes", "showing"):
        with pytest.raises(ValueError, match="select-1 is not one of the train tasks"):
            replace(case, **{field: [stranger]})
