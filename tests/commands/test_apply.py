"""`ecdysis apply`: what a program sees of a refusal."""

import json
from pathlib import Path

import pytest

from bot.cli import main
from tests.helpers.harnesses import tiny
from tests.helpers.order_desk import as_json

SPEC = {
    "title": "t",
    "pattern": "p",
    "layer": "procedural-skill",
    "hypothesis": "h",
    "origin": "test",
    "edits": [{"op": "set_constant", "file": "agent.py", "target": "ANSER", "code": "7"}],
}


def test_a_refusal_as_json(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    repository = tiny(tmp_path / "h", "ANSWER = 6\n")
    path = tmp_path / "spec.json"
    path.write_text(json.dumps(SPEC))
    assert main(["apply", str(path), "-C", str(repository.root), "--json"]) == 3
    captured = capsys.readouterr()
    message = "This file assigns no 'ANSER'. The nearest names are ANSWER."
    assert as_json(captured.out) == {
        "files": [],
        "changed": [],
        "refusal": {"kind": "not_found", "message": message, "edit": 0},
    }
    assert f"Refused (not_found), edit 1: {message} Nothing was changed." in captured.err
    assert repository.uncommitted() == []


def test_a_spec_that_cannot_be_read(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    repository = tiny(tmp_path / "h", "ANSWER = 6\n")
    bad = tmp_path / "bad.json"
    bad.write_bytes(b"\xff\xfe")
    for path, why in (
        (tmp_path / "no.json", "No such file or directory"),
        (bad, "it is not UTF-8"),
    ):
        assert main(["apply", str(path), "-C", str(repository.root)]) == 3
        assert capsys.readouterr().err.startswith(f"ecdysis: {path} cannot be read: {why}.")
