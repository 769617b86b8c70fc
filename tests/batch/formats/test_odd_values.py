"""Records with anything anywhere are read or refused, and never crash."""

import copy
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bot.batch.formats import (
    harbor,
    inspect_ai,
    mini_swe_agent,
    promptfoo,
    swe_agent,
    tau2_bench,
    terminal_bench,
)
from bot.batch.formats.atif import read_steps
from bot.batch.formats.swe_bench import read_results
from bot.cluster.events import failure_events
from bot.records import Episode
from tests.helpers import foreign

RESULTS: Any = {"mend-1": "fail"}


def mini_record() -> dict[str, Any]:
    info = {"exit_status": "KeyError", "traceback": "x", "model_stats": {"api_calls": 1}}
    last = {"role": "exit", "content": "", "extra": {"exit_status": "KeyError"}}
    messages = [*foreign.mini_swe_messages(), {"output": [{"content": "x"}]}, last]
    return {"info": info, "messages": messages, "trajectory_format": "mini-swe-agent-1"}


def of_a_trajectory(trajectory: Any, file_name: str) -> Episode:
    return Episode(task_id="t", outcome="fail", steps=read_steps(trajectory))


CASES: dict[str, tuple[Any, Callable[[Any, str], Episode]]] = {
    "swe-agent": (
        {**foreign.swe_agent_file(), "replay_config": {"agent": {"model": {"name": "m"}}}},
        lambda record, name: swe_agent.read_record(record, name, RESULTS),
    ),
    "mini-swe-agent": (
        mini_record(),
        lambda record, name: mini_swe_agent.read_record(record, name, RESULTS),
    ),
    "inspect": (
        {"sample": foreign.inspect_sample(1, "I"), "log": foreign.inspect_log()},
        lambda record, name: inspect_ai.read_item(record["sample"], record["log"], name),
    ),
    "tau2-bench": (
        {"run": foreign.tau2_simulation(0.0), "results": foreign.tau2_results()},
        lambda record, name: tau2_bench.read_item(record["run"], record["results"], name),
    ),
    "promptfoo": (
        {"result": foreign.promptfoo_result(0, False, 1), "rest": foreign.promptfoo_results()},
        lambda record, name: promptfoo.read_item(record["result"], record["rest"], name),
    ),
    "harbor": (foreign.harbor_result(0.0, "AgentTimeoutError"), harbor.read_record),
    "atif": (foreign.atif_trajectory(), of_a_trajectory),
    "terminal-bench": (foreign.terminal_trial(False, "odd"), terminal_bench.read_record),
}
NUMBERS = st.integers(-5, 5) | st.just(10**30) | st.floats()
JSON = st.recursive(
    st.none() | st.booleans() | NUMBERS | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["role", "content", "extra", "a"]), inner, max_size=3)
    ),
    max_leaves=6,
)


@pytest.mark.parametrize("name", CASES)
@settings(max_examples=150)
@given(data=st.data(), odd=JSON)
def test_anything_anywhere(name: str, data: st.DataObject, odd: Any) -> None:
    record, read = copy.deepcopy(CASES[name][0]), CASES[name][1]
    place = record
    while True:
        keys = list(place) if isinstance(place, dict) else list(range(len(place)))
        key = data.draw(st.sampled_from(keys))
        if not isinstance(place[key], dict | list) or not place[key] or data.draw(st.booleans()):
            place[key] = odd
            break
        place = place[key]
    try:
        episode = read(record, "mend-1.json")
    except ValueError:
        return
    assert [step.index for step in episode.steps] == list(range(len(episode.steps)))
    for event in failure_events(episode):
        assert 0 <= event.step < len(episode.steps)
    episode.model_dump_json()


@given(JSON)
def test_any_results(document: Any) -> None:
    with suppress(ValueError):
        assert read_results(document)
