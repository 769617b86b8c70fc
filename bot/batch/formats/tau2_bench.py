"""tau2-bench results: `{info, tasks, simulations}`, one simulation an episode.

What a task expects stands in `tasks[].evaluation_criteria.actions`; the parts of the reward (the
database, the actions, what is to be communicated) become the score's breakdown.
"""

from __future__ import annotations

from typing import Any

from bot.batch.formats.messages import arguments_of, text_of
from bot.batch.formats.values import (
    as_count,
    as_dict,
    as_list,
    as_number,
    as_text,
    needed_text,
    shown,
)
from bot.records import (
    Action,
    Episode,
    Expected,
    ModelStep,
    Outcome,
    Step,
    ToolStep,
    Usage,
    UserStep,
)

NAME = "tau2-bench"
ITEMS = "simulations"
_ENDS = {
    "user_stop": "user_stop",
    "agent_stop": "answer",
    "max_steps": "budget",
    "timeout": "timeout",
    "too_many_errors": "loop",
    "agent_error": "exception",
    "context_window_exceeded": "context",
    "infrastructure_error": "infrastructure",
    "user_error": "infrastructure",
    "unexpected_error": "infrastructure",
}
_BROKEN_OFF = {name for name, end in _ENDS.items() if end == "infrastructure"}


def recognises(skeleton: Any) -> str | None:
    """Why a document is taken for tau2-bench's, or None."""
    if isinstance(skeleton, dict) and {"info", "tasks", "simulations"} <= skeleton.keys():
        return "tau2-bench results: info, tasks and simulations"
    return None


def read_item(item: Any, skeleton: Any, file_name: str) -> Episode:
    """The episode of one simulation. Raises ValueError, with what is wrong, for a half one."""
    run = as_dict(item)
    task_id = needed_text(run, "task_id")
    if not isinstance(run.get("messages"), list) and run.get("ticks"):
        raise ValueError("it holds ticks of a voice conversation, which are not read")
    ended = as_text(run.get("termination_reason"))
    reward = as_dict(run.get("reward_info"))
    score = as_number(reward.get("reward"))
    error = _error(ended, reward, score)
    outcome: Outcome = "invalid" if error is not None else "pass" if (score or 0) >= 1 else "fail"
    if error is None and score is None:
        raise ValueError(f"reward_info.reward is {shown(reward.get('reward'))}, not a number")
    messages = as_list(run.get("messages"))
    steps = read_steps(messages)
    trial = run.get("trial")
    said = [step.content for step in steps if isinstance(step, ModelStep) and step.content]
    return Episode(
        source=f"{NAME}/{_domain(skeleton)}",
        task_id=task_id,
        trial=trial if type(trial) is int else 0,
        model=as_text(as_dict(_info(skeleton).get("agent_info")).get("llm")) or "",
        steps=steps,
        answer=said[-1] if said else None,
        end_reason=None if ended is None else _ENDS.get(ended, f"source:{ended}"),
        error=error,
        score=None if outcome == "invalid" else score,
        outcome=outcome,
        score_breakdown=_breakdown(reward),
        wall_s=as_number(run.get("duration")),
        usage=_usage(messages),
        expected=_expected(skeleton, task_id),
    )


def _error(ended: str | None, reward: dict[str, Any], score: float | None) -> str | None:
    """Why a simulation counts for nothing; None where it counts.

    tau2 gives 0 to what its evaluator could not judge, and leaves out of its metrics what broke
    off around the agent, or for a full context without a reward.
    """
    if ended in _BROKEN_OFF or (ended == "context_window_exceeded" and score is None):
        return ended
    fault = as_text(as_dict(reward.get("info")).get("error"))
    return None if fault is None else f"the evaluation failed: {fault}"


def read_steps(messages: list[Any]) -> list[Step]:
    """Steps of tau2's messages: calls are `{id, name, arguments, requestor}`, results by id.

    Results are matched in order where several calls have one id. A tool message may hold several
    (`tool_messages`). Calls that the simulated user made, and their results, are left out: they
    are no action of the agent's.
    """
    steps: list[Step] = []
    unanswered: list[tuple[str, ToolStep]] = []
    for position, message in enumerate(messages):
        body = as_dict(message)
        at: dict[str, Any] = {"index": len(steps), "position": position}
        role, content = body.get("role"), text_of(body.get("content"))
        if role == "user":
            steps.append(UserStep(content=content, **at))
        elif role == "assistant":
            steps.append(ModelStep(content=content, **at))
            for call in map(as_dict, as_list(body.get("tool_calls"))):
                at["index"] = len(steps)
                name = needed_text(call, "name")
                step = ToolStep(name=name, arguments=arguments_of(call.get("arguments")), **at)
                steps.append(step)
                unanswered.append((str(call.get("id")), step))
        elif role == "tool":
            for result in map(as_dict, as_list(body.get("tool_messages")) or [body]):
                if result.get("requestor") != "user":
                    step = _answered(result, unanswered, steps, position)
                    step.result = text_of(result.get("content"))
                    step.error = result.get("error") is True
        elif role != "system":
            raise ValueError(f"message {position} has the role {shown(role)}")
    return steps


def _answered(
    result: dict[str, Any],
    unanswered: list[tuple[str, ToolStep]],
    steps: list[Step],
    position: int,
) -> ToolStep:
    """The call that a result belongs to; a new one where it is not on record."""
    for number, (name, step) in enumerate(unanswered):
        if name == str(result.get("id")):
            del unanswered[number]
            return step
    step = ToolStep(name="tool", index=len(steps), position=position)
    steps.append(step)
    return step


def _info(skeleton: Any) -> dict[str, Any]:
    return as_dict(as_dict(skeleton).get("info"))


def _domain(skeleton: Any) -> str:
    return as_text(as_dict(_info(skeleton).get("environment_info")).get("domain_name")) or "unnamed"


def _usage(messages: list[Any]) -> Usage:
    """What the agent's messages used, where they tell."""
    told = [as_dict(m.get("usage")) for m in map(as_dict, messages) if m.get("role") == "assistant"]
    used = [usage for usage in told if usage]
    if not used:
        return Usage()
    return Usage(
        model_calls=len(used),
        prompt_tokens=sum(as_count(usage.get("prompt_tokens")) or 0 for usage in used),
        completion_tokens=sum(as_count(usage.get("completion_tokens")) or 0 for usage in used),
    )


_newest: tuple[object, dict[str, dict[str, Any]]] | None = None
"""The newest document's tasks, and what is expected in each: all its simulations ask for one."""


def _criteria_of(skeleton: Any, task_id: str) -> dict[str, Any]:
    global _newest
    tasks = as_dict(skeleton).get("tasks")
    if _newest is None or _newest[0] is not tasks:
        by_id = {
            str(task.get("id")): as_dict(task.get("evaluation_criteria"))
            for task in map(as_dict, as_list(tasks))
        }
        _newest = tasks, by_id
    return _newest[1].get(task_id, {})


def _expected(skeleton: Any, task_id: str) -> Expected | None:
    criteria = _criteria_of(skeleton, task_id)
    if not isinstance(criteria.get("actions"), list):
        return None
    actions = [
        Action(name=str(action["name"]), arguments=as_dict(action.get("arguments")))
        for action in map(as_dict, criteria["actions"])
        if "name" in action and action.get("requestor", "assistant") == "assistant"
    ]
    told = [str(text) for text in as_list(criteria.get("communicate_info"))]
    return Expected(actions=actions, outputs=told)


def _breakdown(reward: dict[str, Any]) -> dict[str, Any]:
    parts: dict[str, Any] = {}
    for name, value in as_dict(reward.get("reward_breakdown")).items():
        if (number := as_number(value)) is not None:
            parts[str(name).lower()] = number
    for number, check in enumerate(map(as_dict, as_list(reward.get("nl_assertions")))):
        if isinstance(check.get("met"), bool):
            parts[f"assertion {number + 1}"] = float(check["met"])
    return parts
