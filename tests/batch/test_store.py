"""Episodes on disk: whatever kills the writer, what was whole is there again."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from bot.batch.store import EpisodeStore
from bot.errors import InputError
from bot.records import Episode, HarnessStep, ModelStep

WRITER = """
import sys
from pathlib import Path
from bot.batch.store import EpisodeStore
from bot.records import Episode
with EpisodeStore(Path(sys.argv[1])) as store:
    for number in range(10**6):
        store.append(Episode(task_id=f"t{number}", outcome="pass", answer="x" * 5000))
        print(number, flush=True)
"""


def episode(task_id: str, outcome: str = "pass", **more: object) -> Episode:
    return Episode.model_validate({"task_id": task_id, "outcome": outcome, **more})


def filled(path: Path, *episodes: Episode) -> bytes:
    with EpisodeStore(path) as store:
        for one in episodes:
            store.append(one)
    return path.read_bytes()


def kept(path: Path) -> list[str]:
    with EpisodeStore(path) as store:
        return [e.task_id for e in store.valid_episodes()]


def test_a_new_store_makes_its_folder_and_is_empty(tmp_path: Path) -> None:
    path = tmp_path / "a" / "b" / "e.jsonl"
    assert kept(path) == []
    assert path.read_bytes() == b""


def test_an_episode_is_in_the_file_at_once_and_comes_back_equal(tmp_path: Path) -> None:
    path = tmp_path / "e.jsonl"
    one = episode(
        "t",
        "fail",
        answer="naïve\u2028\r\nline",
        score=0.5,
        steps=[ModelStep(content="a"), HarnessStep(event="exception", frames=["a:b:1"])],
        mood={"own": [1]},
    )
    with EpisodeStore(path) as store:
        store.append(one)
        assert path.read_bytes().count(b"\n") == 1
        assert store.valid_episodes() == [one]
    with EpisodeStore(path) as store:
        assert store.valid_episodes() == [one]


def test_invalid_episodes_stay_in_the_file_but_are_to_be_run_again(tmp_path: Path) -> None:
    path = tmp_path / "e.jsonl"
    content = filled(path, episode("a"), episode("b", "invalid"), episode("c", "fail"))
    assert kept(path) == ["a", "c"]
    assert path.read_bytes() == content


@pytest.mark.parametrize("torn", ['{"task_id": "c", "outc', "{", "\ufeff", "\x00\x00\x00"])
def test_a_torn_last_line_is_cut_away(torn: str, tmp_path: Path) -> None:
    path = tmp_path / "e.jsonl"
    whole = filled(path, episode("a"), episode("b"))
    path.write_bytes(whole + torn.encode())
    with EpisodeStore(path) as store:
        assert [e.task_id for e in store.valid_episodes()] == ["a", "b"]
        store.append(episode("c"))
    assert path.read_bytes().startswith(whole)
    assert [json.loads(line)["task_id"] for line in path.read_text().splitlines()] == list("abc")


def test_a_whole_line_without_its_end_was_not_finished(tmp_path: Path) -> None:
    path = tmp_path / "e.jsonl"
    path.write_bytes(filled(path, episode("a"), episode("b"))[:-1])
    assert kept(path) == ["a"]


def test_every_place_where_a_write_may_break_off(tmp_path: Path) -> None:
    path = tmp_path / "e.jsonl"
    first = len(filled(path, episode("a")))
    content = filled(path, episode("b"))
    for end in range(len(content) + 1):
        path.write_bytes(content[:end])
        assert kept(path) == ["a", "b"][: (end >= first) + (end == len(content))]


@pytest.mark.parametrize(
    "line", ["", "nonsense", "[]", '{"task_id": "x"}', '{"task_id": "", "outcome": "pass"}']
)
def test_another_bad_line_is_named(line: str, tmp_path: Path) -> None:
    path = tmp_path / "e.jsonl"
    content = filled(path, episode("a")) + line.encode() + b"\n" + filled(path)
    path.write_bytes(content)
    with pytest.raises(InputError, match="line 2 is no episode") as raised, EpisodeStore(path):
        pass
    assert str(path) in raised.value.message
    assert path.read_bytes() == content


def test_a_killed_writer_loses_nothing_that_it_reported(tmp_path: Path) -> None:
    path = tmp_path / "e.jsonl"
    writer = subprocess.Popen([sys.executable, "-c", WRITER, str(path)], stdout=subprocess.PIPE)
    assert writer.stdout is not None
    reported = [int(writer.stdout.readline()) for _ in range(50)]
    os.kill(writer.pid, signal.SIGKILL)
    reported += [int(line) for line in writer.stdout.read().splitlines(keepends=True)]
    writer.wait()
    writer.stdout.close()
    names = kept(path)
    assert names[: len(reported)] == [f"t{n}" for n in reported]
    assert len(names) - len(reported) in (0, 1)
