"""Every promise of every level, against programs that try to break it.

Without a sandbox each of them succeeds: that is what shows that the attempt is a real one.
"""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest

from bot.sandbox.levels import LEVELS, PROMISES
from tests.sandbox.conftest import make_sandbox
from tests.sandbox.escapes import ESCAPES, HEAD, Escape
from tests.sandbox.scene import Scene, open_scene


@pytest.fixture(scope="module")
def scene(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Scene]:
    with open_scene(tmp_path_factory.mktemp("scene")) as made:
        yield made


def names(escape: Escape) -> str:
    return escape.name.replace(" ", "-")


@pytest.mark.parametrize("level", ["off", *LEVELS])
@pytest.mark.parametrize("escape", ESCAPES, ids=names)
def test_an_escape(scene: Scene, escape: Escape, level: str) -> None:
    if level != "off" and escape.promise not in LEVELS[level].promises:
        assert PROMISES[escape.promise]
        assert escape.promise in LEVELS[level].withheld
        return
    if level == "off" and escape.as_root and os.geteuid() != 0:
        pytest.skip("only root could do this without a sandbox")
    scene.reset()
    sandbox = None if level == "off" else make_sandbox(level)
    with escape.around(scene):
        done = scene.run(sandbox, HEAD + escape.program, escape.limits)
        escaped = escape.evidence(scene, done)
    assert escaped == (level == "off"), done


def test_every_promise_is_tried() -> None:
    assert {escape.promise for escape in ESCAPES} == set(PROMISES)


def test_this_machine_keeps_every_promise_of_its_levels() -> None:
    for name, level in LEVELS.items():
        assert make_sandbox(name).promises == level.promises
