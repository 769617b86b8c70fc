"""Every promise of every level, against programs that try to break it.

Without a sandbox each of them succeeds: that is what shows that the attempt is a real one.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack

import pytest

from bot.sandbox import Finished
from bot.sandbox.levels import LEVELS, PROMISES
from tests.sandbox.conftest import make_sandbox
from tests.sandbox.escapes import ESCAPES, Escape
from tests.sandbox.scene import SECRET, Scene, open_scene

pytestmark = pytest.mark.xdist_group("escapes")

NAMED = {escape.name.replace(" ", "-"): escape for escape in ESCAPES}
TRIED = ["off", *LEVELS]
RACES = 8
Outcome = tuple[bool, Finished]


def attempt(scene: Scene, escape: Escape, level: str) -> Outcome:
    """Whether the program got out, and what it said.

    Some races need several tries on a busy machine, so without a sandbox it gets a few.
    """
    for _ in range(RACES if level == "off" else 1):
        scene.reset()
        sandbox = None if level == "off" else make_sandbox(level)
        with escape.around(scene):
            done = scene.run(sandbox, escape.text(), escape.limits)
            escaped = escape.evidence(scene, done)
        if escaped:
            break
    return escaped, done


def is_promised(escape: Escape, level: str) -> bool:
    return level == "off" or escape.promise in LEVELS[level].promises


@pytest.fixture(scope="module")
def outcomes(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[dict[str, Future[Outcome]]]:
    """What the selected tests need; the levels are tried side by side, for they mostly wait."""
    wanted = {item.callspec.id for item in request.session.items if hasattr(item, "callspec")}
    running: dict[str, Future[Outcome]] = {}
    with ExitStack() as stack, pytest.MonkeyPatch.context() as patch:
        patch.setenv("A_KEY", SECRET)
        for level in TRIED:
            scene = stack.enter_context(open_scene(tmp_path_factory.mktemp(level)))
            pool = stack.enter_context(ThreadPoolExecutor(1))
            for name, escape in NAMED.items():
                if f"{name}-{level}" in wanted and is_promised(escape, level):
                    running[f"{name}-{level}"] = pool.submit(attempt, scene, escape, level)
        yield running


@pytest.mark.parametrize("level", TRIED)
@pytest.mark.parametrize("name", NAMED)
def test_an_escape(name: str, level: str, outcomes: dict[str, Future[Outcome]]) -> None:
    escape = NAMED[name]
    if not is_promised(escape, level):
        assert escape.promise in LEVELS[level].withheld
        return
    if level == "off" and escape.as_root and os.geteuid() != 0:
        pytest.skip("only root could do this without a sandbox")
    escaped, done = outcomes[f"{name}-{level}"].result()
    assert escaped == (level == "off"), done


def test_every_promise_is_tried() -> None:
    assert {escape.promise for escape in ESCAPES} == set(PROMISES)


def test_this_machine_keeps_every_promise_of_its_levels() -> None:
    for name, level in LEVELS.items():
        assert make_sandbox(name).promises == level.promises
