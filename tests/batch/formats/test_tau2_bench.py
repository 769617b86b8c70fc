import time
from pathlib import Path
from typing import Any

import pytest

from bot.batch.formats.tau2_bench import read_item, read_steps
from bot.errors import InputError
from bot.records import ToolStep
from tests.helpers.foreign import read, tau2_results, tau2_simulation


def test_simulations_become_episodes(tmp_path: Path) -> None:
    results = tau2_results(
        tau2_simulation(1.0),
        tau2_simulation(0.0, "max_steps"),
        tau2_simulation(None, "infrastructure_error"),
        tau2_simulation(0.0, "too_new_a_word"),
    )
    episodes, _ = read(tmp_path / "results.json", results)
    assert [(e.outcome, e.end_reason) for e in episodes] == [
        ("pass", "user_stop"),
        ("fail", "budget"),
        ("invalid", "infrastructure"),
        ("fail", "source:too_new_a_word"),
    ]
    first = episodes[0]
    assert (first.source, first.model, first.task_id, first.trial) == (
        "tau2-bench/desk",
        "model-1",
        "t1",
        1,
    )
    assert first.score_breakdown == {"db": 1.0}
    call = first.steps[2]
    assert call.kind == "tool"
    assert (call.name, call.error, call.result) == ("cancel", True, "no such order")
    assert first.expected is not None
    assert first.expected.actions is not None
    assert first.expected.actions[0].arguments == {"order": "3"}


def test_a_simulation_without_a_reward_is_said_with_its_place(tmp_path: Path) -> None:
    results = tau2_results(tau2_simulation(1.0), tau2_simulation(None))
    with pytest.raises(InputError, match=r"simulations 2: reward_info.reward is None"):
        read(tmp_path / "results.json", results)


def test_what_broke_off_or_was_not_judged_is_invalid(tmp_path: Path) -> None:
    fault = {"error": "KeyError: 'order'", "note": "graded as 0"}
    results = tau2_results(
        tau2_simulation(0.0, "infrastructure_error"),
        tau2_simulation(0.0, "user_error"),
        tau2_simulation(0.0, "unexpected_error"),
        tau2_simulation(None, "context_window_exceeded"),
        tau2_simulation(0.0, "context_window_exceeded"),
        tau2_simulation(0.0, "agent_error"),
        tau2_simulation(0.0, reward_info={"reward": 0.0, "info": fault}),
    )
    episodes, _ = read(tmp_path / "results.json", results)
    assert [(e.outcome, e.end_reason, e.score, e.error) for e in episodes] == [
        ("invalid", "infrastructure", None, "infrastructure_error"),
        ("invalid", "infrastructure", None, "user_error"),
        ("invalid", "infrastructure", None, "unexpected_error"),
        ("invalid", "context", None, "context_window_exceeded"),
        ("fail", "context", 0.0, None),
        ("fail", "exception", 0.0, None),
        ("invalid", "user_stop", None, "the evaluation failed: KeyError: 'order'"),
    ]


def test_results_find_their_calls_and_none_is_lost() -> None:
    calls = [{"id": "", "name": "look", "arguments": {"at": at}} for at in (1, 2)]
    users = [{"id": "u", "name": "toggle", "arguments": {}, "requestor": "user"}]
    steps = read_steps(
        [
            {"role": "assistant", "content": None, "tool_calls": calls},
            {
                "role": "tool",
                "tool_messages": [
                    {"id": "", "role": "tool", "content": "one", "requestor": "assistant"},
                    {"id": "", "role": "tool", "content": "gone", "error": True},
                ],
            },
            {"role": "user", "content": None, "tool_calls": users},
            {"role": "tool", "id": "u", "content": "on", "requestor": "user"},
            {"role": "tool", "id": "z", "content": "of no call on record"},
        ]
    )
    assert [step.index for step in steps] == list(range(len(steps)))
    tools = [step for step in steps if isinstance(step, ToolStep)]
    assert [(t.name, t.arguments, t.result, t.error) for t in tools] == [
        ("look", {"at": 1}, "one", False),
        ("look", {"at": 2}, "gone", True),
        ("tool", {}, "of no call on record", False),
    ]


def test_expected_actions_are_the_agent_s_of_its_own_task() -> None:
    def task(name: str, *actions: dict[str, Any]) -> dict[str, Any]:
        criteria = {"actions": list(actions), "communicate_info": ["327"]}
        return {"id": name, "evaluation_criteria": criteria}

    by_user = {"name": "toggle", "arguments": {}, "requestor": "user"}
    first, second = tau2_results(), tau2_results()
    first["tasks"] = [task("t0"), task("t1", {"name": "look"}, by_user)]
    second["tasks"] = [task("t1", {"name": "cancel"}), {"id": "t2"}]
    for document, task_id, names in [
        (first, "t1", ["look"]),
        (second, "t1", ["cancel"]),
        (first, "t0", []),
        (second, "t2", None),
        (second, "t3", None),
    ]:
        expected = read_item(tau2_simulation(1.0, task_id=task_id), document, "x").expected
        if names is None:
            assert expected is None
            continue
        assert expected is not None
        assert expected.actions is not None
        assert [action.name for action in expected.actions] == names
        assert expected.outputs == ["327"]


def test_tokens_and_time_are_told() -> None:
    simulation = tau2_simulation(1.0, duration=12.5)
    assert read_item(simulation, tau2_results(), "x").usage.model_calls is None
    for message in simulation["messages"]:
        message["usage"] = {"prompt_tokens": 10, "completion_tokens": 3}
    episode = read_item(simulation, tau2_results(), "x")
    assert (episode.wall_s, episode.usage.model_calls) == (12.5, 2)
    assert (episode.usage.prompt_tokens, episode.usage.completion_tokens) == (20, 6)


def test_a_voice_conversation_is_refused() -> None:
    with pytest.raises(ValueError, match="ticks of a voice conversation"):
        read_item(tau2_simulation(1.0, messages=None, ticks=[{}]), tau2_results(), "x")


def test_many_simulations_of_many_tasks_are_read_in_a_straight_line() -> None:
    document = tau2_results()
    document["tasks"] = [{"id": str(number)} for number in range(20_000)]
    simulation = tau2_simulation(1.0, task_id="19999", messages=[])
    started = time.process_time()
    for _ in range(2_000):
        read_item(simulation, document, "x")
    assert time.process_time() - started < 2
