from __future__ import annotations

import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from bot.diagnose.panel.prompt_files import prompt


def test_what_is_filled_in_is_not_filled_in_again() -> None:
    assert "why: $fault ${fault} $$" in prompt("correction", fault="why: $fault ${fault} $$")


def test_every_name_must_be_filled_in() -> None:
    with pytest.raises(KeyError, match="round"):
        prompt("moderator")


@pytest.mark.slow
def test_the_prompts_are_in_the_wheel(tmp_path: Path) -> None:
    root = Path(__file__).resolve().parents[3]
    made = [sys.executable, "-m", "pip", "wheel", "-q", "--no-deps", "-w", str(tmp_path), str(root)]
    subprocess.run(made, check=True, capture_output=True)
    (wheel,) = tmp_path.glob("*.whl")
    zipfile.ZipFile(wheel).extractall(tmp_path / "installed")
    code = (
        "from bot.diagnose.panel.prompt_files import prompt, __file__ as where\n"
        "print(where, prompt('critic'))"
    )
    done = subprocess.run(
        [sys.executable, "-P", "-c", code],
        check=True,
        capture_output=True,
        cwd=tmp_path,
        env={"PYTHONPATH": str(tmp_path / "installed")},
        text=True,
    )
    where, _, said = done.stdout.partition(" ")
    assert where.startswith(str(tmp_path / "installed"))
    assert said.strip() == prompt("critic")
