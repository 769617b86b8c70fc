import pytest

from bot.config import parse_config
from bot.errors import InputError

GOOD = """
[tool.ecdysis]
source = "desk"
run = ["{python}", "-m", "harness", "{task}", "{episode}", "{workdir}"]
score = ["{python}", "-m", "scoring", "{task}", "{episode}", "{workdir}"]
editable = ["harness/**/*.py"]
[tool.ecdysis.splits]
train = "tasks/train.jsonl"
select = "tasks/select.jsonl"
"""


def test_defaults() -> None:
    table = parse_config(GOOD, "pyproject.toml")
    assert table.model.base_url == "embedded"
    assert table.trials == 1
    assert table.splits.paths() == {"train": "tasks/train.jsonl", "select": "tasks/select.jsonl"}


def test_ecdysis_toml_may_leave_the_prefix_out() -> None:
    text = GOOD.replace("[tool.ecdysis]\n", "").replace("[tool.ecdysis.", "[")
    assert parse_config(text, "ecdysis.toml").source == "desk"
    assert parse_config(GOOD, "ecdysis.toml").source == "desk"


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (("source =", "sources ="), "source"),
        (('"{task}", "{episode}", "{workdir}"]\nscore', '"{task}"]\nscore'), "{episode}"),
        (("[tool.ecdysis.splits]", "[tool.ecdysis.split]"), "splits"),
        (('"tasks/train.jsonl"', '"../train.jsonl"'), "inside the repository"),
        (("source = ", "source = 1 #"), "source"),
        (("[tool.ecdysis]", "[tool.ecdysis"), "not valid TOML"),
        (
            ("[tool.ecdysis.splits]", '[tool.ecdysis.seams]\nfoo = "a:b"\n[tool.ecdysis.splits]'),
            "unknown seam",
        ),
    ],
)
def test_each_fault_is_named(change: tuple[str, str], said: str) -> None:
    with pytest.raises(InputError) as caught:
        parse_config(GOOD.replace(*change), "pyproject.toml")
    assert said in caught.value.message
    assert caught.value.next_step


def test_a_missing_table_says_what_to_run() -> None:
    with pytest.raises(InputError, match=r"no \[tool.ecdysis\] table"):
        parse_config("[project]\nname = 'x'\n", "pyproject.toml")


PANEL = """
[tool.ecdysis.panel]
base_url = "https://models.example/v1"
name = "small"
api_key_env = "PANEL_KEY"
temperature = 0.2
usd_per_million_prompt = 1.0
usd_per_million_cached = 0.1
usd_per_million_completion = 4.0
max_output_tokens = 2000
rounds = 3
[tool.ecdysis.panel.engineer]
name = "large"
usd_per_million_prompt = 5.0
[tool.ecdysis.panel.critic]
base_url = "https://elsewhere.example/v1"
name = "other"
[tool.ecdysis.panel.moderator]
max_output_tokens = 500
"""


def test_a_role_inherits_from_the_panel() -> None:
    assert parse_config(GOOD, "pyproject.toml").panel is None
    panel = parse_config(GOOD + PANEL, "pyproject.toml").panel
    assert panel is not None
    assert (panel.rounds, panel.context_tokens) == (3, 16_000)
    models = panel.models()
    assert list(models) == ["analyst", "critic", "engineer", "moderator"]
    assert models["analyst"] is panel
    engineer, moderator = models["engineer"], models["moderator"]
    assert (engineer.base_url, engineer.api_key_env) == (panel.base_url, "PANEL_KEY")
    assert (engineer.temperature, engineer.max_output_tokens) == (0.2, 2000)
    assert (moderator.name, moderator.max_output_tokens) == ("small", 500)
    assert moderator.usd_per_million_cached == 0.1


def test_a_role_inherits_no_key_for_another_server_and_no_price_of_another_model() -> None:
    panel = parse_config(GOOD + PANEL, "pyproject.toml").panel
    assert panel is not None
    critic, engineer = panel.of("critic"), panel.of("engineer")
    assert (critic.name, critic.api_key_env) == ("other", None)
    assert critic.usd_per_million_prompt is None
    assert (engineer.usd_per_million_prompt, engineer.usd_per_million_completion) == (5.0, None)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (("rounds = 3", "rounds = 0"), "panel.rounds"),
        (("[tool.ecdysis.panel.critic]", "[tool.ecdysis.panel.judge]"), "panel.judge"),
        (("max_output_tokens = 500", "max_tokens = 500"), "panel.moderator.max_tokens"),
        (("usd_per_million_prompt = 5.0", "usd_per_million_prompt = -1"), "panel.engineer.usd"),
    ],
)
def test_faults_of_the_panels_table_are_named(change: tuple[str, str], said: str) -> None:
    with pytest.raises(InputError) as caught:
        parse_config(GOOD + PANEL.replace(*change), "pyproject.toml")
    assert said in caught.value.message
