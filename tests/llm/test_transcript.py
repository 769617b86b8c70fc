"""The record of every call: a killed run goes on from it, and it replays without a network."""

import asyncio
import os
import resource
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from bot.config import Budget, PanelTable
from bot.errors import InputError, RepositoryError
from bot.llm.answers import Ask, Failed, T, Turn
from bot.llm.budget import BudgetMeter
from bot.llm.client import open_client
from bot.llm.scripted import Answer, Fault, ScriptedServer
from bot.llm.transcript import CallRecord, Transcript, replaying
from tests.llm.asking import GOOD, GOOD_TEXT, LABEL, QUICK, TURNS, Cause, always, kind, run

pytestmark = pytest.mark.usefixtures("own_cache")


def record(label: str, answer: str = GOOD_TEXT) -> CallRecord:
    return CallRecord(
        label=label, digest="sha256:0", model="m", turns=TURNS, answer=answer, outcome="answered"
    )


def ask(source: Ask, label: str = LABEL, turns: Sequence[Turn] = TURNS) -> Any:
    return asyncio.run(_ask(source, label, turns))


async def _ask(source: Ask, label: str, turns: Sequence[Turn]) -> Cause | Failed:
    return await source(label, turns, Cause)


def test_every_call_is_on_disk_when_it_has_ended(tmp_path: Path) -> None:
    path = tmp_path / "deep" / "calls.jsonl"
    with Transcript.open(path) as transcript:
        transcript.append(record("a/1/analyst/0"))
        assert path.read_text() == transcript.to_text()
        assert path.stat().st_mode & 0o077 == 0
        with pytest.raises(RepositoryError, match="Another run"):
            Transcript.open(path)
    with Transcript.open(path) as again:
        assert again.records == [record("a/1/analyst/0")]
        again.append(record("b/1/analyst/0"))
    assert Transcript.from_text(path.read_text()).records == again.records


@pytest.mark.parametrize("torn", [b"{", b'{"label": "b/1', "é".encode()[:1], b"\x00" * 100])
def test_a_torn_last_line_is_dropped_and_the_file_goes_on(tmp_path: Path, torn: bytes) -> None:
    path = tmp_path / "calls.jsonl"
    with Transcript.open(path) as transcript:
        transcript.append(record("a/1/analyst/0"))
    whole = path.read_bytes()
    path.write_bytes(whole + torn)
    with Transcript.open(path) as again:
        assert [known.label for known in again.records] == ["a/1/analyst/0"]
        assert path.read_bytes() == whole
        again.append(record("b/1/analyst/0"))
    assert len(Transcript.from_text(path.read_text()).records) == 2


def test_a_disk_that_fills_up_leaves_whole_lines(tmp_path: Path) -> None:
    path = tmp_path / "calls.jsonl"
    with Transcript.open(path) as transcript:
        transcript.append(record("a/1/analyst/0"))
        before = path.read_bytes()
        soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
        resource.setrlimit(resource.RLIMIT_FSIZE, (len(before) + 100, hard))
        try:
            with pytest.raises(RepositoryError, match="cannot be written"):
                transcript.append(record("b/1/analyst/0", "x" * 1000))
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
        assert path.read_bytes() == before
        transcript.append(record("c/1/analyst/0"))
    labels = [known.label for known in Transcript.from_text(path.read_text()).records]
    assert labels == ["a/1/analyst/0", "c/1/analyst/0"]


def test_a_place_that_cannot_be_written_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    for path in (tmp_path, tmp_path / "file" / "calls.jsonl"):
        with pytest.raises(RepositoryError, match="cannot be written"):
            Transcript.open(path)


def test_damage_in_the_middle_is_told_and_nothing_is_changed(tmp_path: Path) -> None:
    path = tmp_path / "calls.jsonl"
    path.write_text("not a record\n" + record("a/1/analyst/0").model_dump_json() + "\n{torn")
    before = path.read_bytes()
    with pytest.raises(InputError, match="line 1"):
        Transcript.open(path)
    assert path.read_bytes() == before


def test_a_writer_killed_in_the_middle_loses_at_most_the_last_call(tmp_path: Path) -> None:
    path = tmp_path / "calls.jsonl"
    code = (
        "import sys\n"
        "from pathlib import Path\n"
        "from bot.llm.answers import Turn\n"
        "from bot.llm.transcript import CallRecord, Transcript\n"
        "with Transcript.open(Path(sys.argv[1])) as transcript:\n"
        "    for number in range(10**9):\n"
        "        turns = [Turn('user', 'x' * 300_000)]\n"
        "        label = f'p/1/analyst/{number}'\n"
        "        transcript.append(CallRecord(label=label, digest='d', model='m', turns=turns,\n"
        "            answer='', outcome='empty'))\n"
        "        print(number, flush=True)\n"
    )
    for _ in range(3):
        known = len(Transcript.from_text(path.read_text()).records) if path.exists() else 0
        writer = subprocess.Popen(
            [sys.executable, "-c", code, str(path)], stdout=subprocess.PIPE, text=True
        )
        assert writer.stdout is not None
        while int(writer.stdout.readline()) < 5:
            pass
        time.sleep(0.003)
        os.kill(writer.pid, signal.SIGKILL)
        rest = writer.stdout.read().split()
        writer.wait()
        said = int(rest[-1]) + 1 if rest and path.exists() else 6
        with Transcript.open(path) as transcript:
            assert said <= len(transcript.records) - known <= said + 1
            assert path.read_text() == transcript.to_text()


def test_a_replay_without_a_network_gives_equal_answers() -> None:
    answers: list[Answer] = ["{oops", GOOD_TEXT]
    asked = run(lambda request: answers.pop(0))
    assert asked.result == GOOD
    kept = Transcript.from_text(asked.transcript.to_text())
    offline = replaying(kept, None)
    assert ask(offline) == GOOD
    first, again = kept.records
    assert first.digest == again.digest  # a complaint is worded by Python and pydantic
    assert [turn.role for turn in again.turns] == ["system", "user", "assistant", "user"]
    assert kind(ask(offline, "lookup-order/1/critic/0")) == "unreachable"
    assert kind(ask(offline, turns=[Turn("user", "something else")])) == "unreachable"
    assert len(kept.records) == 2


@pytest.mark.parametrize("answer", ["", "{", '{"layer": 1}', Fault(500), Fault(401), "<html>"])
def test_a_failure_replays_as_the_same_failure(answer: Answer) -> None:
    asked = run(always(answer))
    assert isinstance(asked.result, Failed)
    kept = Transcript.from_text(asked.transcript.to_text())
    assert ask(replaying(kept, None)) == asked.result


def test_a_run_that_was_killed_goes_on_after_its_last_call(tmp_path: Path) -> None:
    """Three questions; the run stops at the second, which is broken at first."""
    path = tmp_path / "calls.jsonl"
    labels = [f"p/{number}/moderator/0" for number in range(3)]
    answers: list[Answer] = [GOOD_TEXT, "{oops", GOOD_TEXT, GOOD_TEXT]

    async def work(server: ScriptedServer, up_to: int, name: str = "m") -> list[Any]:
        table = PanelTable(base_url=server.base_url, name=name)
        with Transcript.open(path) as transcript:
            async with open_client(
                table, BudgetMeter(Budget(), table), transcript, retry=QUICK
            ) as client:
                source = replaying(transcript, client)
                return [await source(label, TURNS, Cause) for label in labels[:up_to]]

    with ScriptedServer(lambda request: answers.pop(0)) as server:
        assert asyncio.run(work(server, 2)) == [GOOD, GOOD]
        lines = path.read_bytes().splitlines(keepends=True)
        assert len(lines) == 3
        path.write_bytes(b"".join(lines[:2]) + lines[2][:50])  # killed while it wrote the repair
        answers[:] = [GOOD_TEXT, GOOD_TEXT]
        assert asyncio.run(work(server, 3)) == [GOOD, GOOD, GOOD]
        assert answers == []
        assert [known.label for known in Transcript.from_text(path.read_text()).records] == [
            *(labels[0], labels[1], labels[1] + "/repair-1", labels[2])
        ]
        assert asyncio.run(work(server, 3)) == [GOOD, GOOD, GOOD]  # nothing is asked any more
        answers[:] = [GOOD_TEXT] * 3
        asyncio.run(work(server, 3, name="another-model"))
        assert answers == []


def test_what_failed_in_passing_is_asked_again_by_a_run_that_goes_on() -> None:
    asked = run(always(Fault(500)))
    kept = asked.transcript
    assert kind(ask(replaying(kept, None))) == "unreachable"

    async def work(server: ScriptedServer) -> Any:
        table = PanelTable(base_url=server.base_url, name="scripted")
        async with open_client(table, BudgetMeter(Budget(), table), kept, retry=QUICK) as client:
            return await replaying(kept, client)(LABEL, TURNS, Cause)

    with ScriptedServer(always(GOOD_TEXT)) as server:
        assert asyncio.run(work(server)) == GOOD
    assert ask(replaying(kept, None)) == GOOD


def test_a_script_in_place_of_a_client_is_recorded_too() -> None:
    asked: list[str] = []

    async def script(label: str, turns: Sequence[Turn], answer: type[T]) -> T | Failed:
        asked.append(label)
        if "critic" in label:
            return Failed("wrong_schema", "The critic says nothing useful.")
        return answer.model_validate_json(GOOD_TEXT)

    kept = Transcript()
    critic = "lookup-order/1/critic/0"
    for source in (replaying(kept, script), replaying(kept, script), replaying(kept, None)):
        assert ask(source) == GOOD
        assert kind(ask(source, critic)) == "wrong_schema"
    assert asked == [LABEL, critic]
    assert [known.model for known in kept.records] == ["scripted", "scripted"]


def test_secrets_in_a_question_are_neither_sent_nor_kept() -> None:
    secret = "ghp_" + "a1B2" * 9
    turns = [Turn("user", f"The trajectory says: token {secret}.")]

    async def talk(client: Ask) -> list[Any]:
        return [await client(LABEL, turns, Cause)]

    asked = run(always(GOOD_TEXT), talk=talk)
    assert secret not in str(asked.server.requests) + asked.transcript.to_text()
    assert "token [secret]." in asked.server.requests[0]["messages"][0]["content"]
    assert ask(replaying(asked.transcript, None), turns=turns) == GOOD
