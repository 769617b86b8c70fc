import json
import subprocess
import sys

import pytest

from bot.cli import COMMANDS, main


def test_help_lists_every_command(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--help"]) == 0
    printed = capsys.readouterr().out
    for name in COMMANDS:
        assert f"\n  {name} " in printed


@pytest.mark.parametrize("name", list(COMMANDS))
def test_every_command_has_help(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([name, "--help"]) == 0
    assert "Usage: ecdysis " + name in capsys.readouterr().out


def test_an_unknown_command_is_a_usage_error_with_a_suggestion(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["diagnoze"]) == 2
    assert "Did you mean 'diagnose'?" in capsys.readouterr().err


@pytest.mark.parametrize("record", ["episode", "task", "spec", "verdict", "diagnosis"])
def test_schema_prints_a_json_schema(record: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["schema", record]) == 0
    schema = json.loads(capsys.readouterr().out)
    assert schema["properties"]["format_version"]["const"] == 1


def test_a_bug_leaves_a_log_and_exit_code_70(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def explode(*args: object, **kwargs: object) -> None:
        raise RuntimeError("boom")

    monkeypatch.setattr("bot.cli.cli.main", explode)
    assert main([]) == 70
    said = capsys.readouterr().err
    assert "this is a bug" in said
    assert "Traceback" not in said
    log = said.split("log ")[1].strip()
    with open(log, encoding="utf-8") as file:  # noqa: PTH123
        assert "RuntimeError: boom" in file.read()


def test_help_imports_nothing_heavy() -> None:
    code = (
        "import sys; from bot.cli import main; main(['--help']); "
        "print([m for m in ('pydantic', 'openai', 'libcst', 'git', 'xllamacpp') "
        "if m in sys.modules], file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stderr.strip() == "[]"
