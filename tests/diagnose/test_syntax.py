import pytest

from bot.diagnose.syntax import Syntax, learn_syntax, parsed_actions
from bot.records import Episode, ModelStep, ToolStep


def episode(*calls: tuple[str, str, dict[str, str]]) -> Episode:
    steps: list[ModelStep | ToolStep] = []
    for reply, name, arguments in calls:
        steps.append(ModelStep(content=reply))
        steps.append(ToolStep(name=name, arguments=arguments, result="ok"))
    return Episode(task_id="t", outcome="pass", steps=steps)


TWO = {"city": "Oslo", "day": "12"}
ONE = {"city": "Oslo"}


@pytest.mark.parametrize(
    ("reply", "expected"),
    [
        ("weather(Oslo, 12)", "weather(Bern, 3)"),
        ('weather("Oslo","12")', 'weather("Bern","3")'),
        ("weather(city='Oslo', day='12')", "weather(city='Bern', day='3')"),
        ("TOOL: weather city=Oslo day=12", "TOOL: weather city=Bern day=3"),
        ("Action: weather[Oslo, 12]", "Action: weather[Bern, 3]"),
        (
            'Sure!\n{"tool": "weather", "args": {"city": "Oslo", "day": "12"}}',
            '{"tool": "weather", "args": {"city": "Bern", "day": "3"}}',
        ),
        (
            '{"name": "weather", "city": "Oslo", "day": "12"}',
            '{"name": "weather", "city": "Bern", "day": "3"}',
        ),
    ],
)
def test_the_way_of_writing_is_learnt_from_parsed_actions(reply: str, expected: str) -> None:
    syntax = learn_syntax([episode((reply, "weather", TWO))])
    assert syntax is not None
    assert syntax.write("weather", {"city": "Bern", "day": "3"}) == expected


def test_several_arguments_outvote_single_ones() -> None:
    syntax = learn_syntax(
        [episode(("f(x)", "f", {"a": "x"})), episode(("f(x,y)", "f", {"a": "x", "b": "y"}))]
    )
    assert syntax == Syntax(separator=",")


def test_nothing_parsed_or_nothing_reproducible_is_none() -> None:
    assert learn_syntax([]) is None
    assert learn_syntax([episode(("please look it up", "weather", ONE))]) is None


def test_deep_json_does_not_hurt() -> None:
    reply = '{"name": "weather", "x": ' + "[" * 5000
    assert learn_syntax([episode((reply, "weather", ONE))]) is None


def test_a_tool_call_that_no_reply_precedes_is_left_out() -> None:
    lone = Episode(task_id="t", outcome="fail", steps=[ToolStep(name="f")])
    assert list(parsed_actions([lone])) == []
