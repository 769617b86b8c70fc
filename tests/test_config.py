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
