import time
from email.utils import formatdate

import pytest

from bot.llm.retry import Retry, retry_after


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({}, None),
        ({"retry-after": "3"}, 3.0),
        ({"retry-after": " 0.25 "}, 0.25),
        ({"retry-after": "-5"}, 0.0),
        ({"retry-after-ms": "150"}, 0.15),
        ({"retry-after-ms": "150", "retry-after": "9"}, 0.15),
        ({"retry-after-ms": "soon", "retry-after": "9"}, 9.0),
        ({"retry-after": "Fri, 31 Dec 1999 23:59:59 GMT"}, 0.0),
        ({"retry-after": "soon"}, None),
        ({"retry-after": "nan"}, None),
        ({"retry-after": "inf"}, None),
        ({"retry-after": "Fri, 99 Dec 1999"}, None),
    ],
)
def test_what_a_server_asks_for(headers: dict[str, str], seconds: float | None) -> None:
    assert retry_after(headers) == seconds


def test_a_date_is_seconds_from_now() -> None:
    asked = retry_after({"retry-after": formatdate(time.time() + 60, usegmt=True)})
    assert asked is not None
    assert 58 < asked <= 60


def test_pauses_grow_are_spread_and_end() -> None:
    retry = Retry(tries=8, first_s=1.0, longest_s=10.0)
    for failures, longest in ((1, 1), (2, 2), (3, 4), (4, 8), (5, 10), (7, 10)):
        pauses = {retry.pause(failures, None) for _ in range(50)}
        assert all(pause is not None and longest / 2 <= pause <= longest for pause in pauses)
        assert len(pauses) > 40
    assert retry.pause(8, None) is None
    assert retry.pause(8, 0.0) is None


def test_a_server_is_not_hurried_and_not_waited_for_without_end() -> None:
    retry = Retry(longest_asked_s=120.0)
    pauses = [retry.pause(1, 30.0) for _ in range(50)]
    assert all(pause is not None and 30 <= pause <= 31 for pause in pauses)
    assert retry.pause(1, 121.0) is None
