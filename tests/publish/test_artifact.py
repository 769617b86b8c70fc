"""What an evaluating job hands over is made again from the base, or refused."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from bot.cli import main
from bot.git.repository import Repository
from bot.lineage.generations import Generation, list_generations
from bot.publish.artifact import BUNDLE, RECORD
from tests.helpers.repositories import git
from tests.publish.conftest import Bench

Capture = pytest.CaptureFixture[str]
TITLE = "Answer seven"


@pytest.fixture
def handed(bench: Bench, tmp_path: Path) -> tuple[Path, Generation, Repository]:
    """The folder that was handed over, the generation in it, and the publishing job's clone."""
    made = bench.evolve(TITLE, by_edits=[TITLE])
    folder = tmp_path / "handed"
    assert main(["pr", "1", "--export", str(folder), "-C", str(bench.root)]) == 0
    git(tmp_path, "clone", "--quiet", bench.github.url, "publisher")
    return folder, made, Repository.open(tmp_path / "publisher")


def publish(clone: Repository, folder: Path, *args: str) -> int:
    return main(["pr", "--from", str(folder), "-C", str(clone.root), *args])


def test_it_is_made_again_and_published(
    bench: Bench, handed: tuple[Path, Generation, Repository], capsys: Capture
) -> None:
    folder, made, clone = handed
    (clone.root / "agent.py").unlink()  # the work tree has no say
    assert publish(clone, folder, "--json") == 0
    (published,) = list_generations(clone)
    assert published.commit != made.commit or published.repairs == made.repairs
    assert clone.tree_of(published.commit) == bench.repository.tree_of(made.commit)
    assert published.figures["Score"] == "11/24 -> 21/24"
    assert published.repairs[0].message.body == made.repairs[0].message.body
    assert bench.github.branch("ecdysis/gen-0001") == published.commit
    body = bench.github.pulls[1]["body"]
    assert "The figures are those that the evaluating job reported" in body
    assert f"`{TITLE}" not in body
    assert [c["line"] for c in bench.github.inline[1]] == [9 - 2]
    # A second time it is the same generation, and the same pull request.
    assert publish(clone, folder) == 0
    assert len(list_generations(clone)) == 1
    assert list(bench.github.pulls) == [1]


def edit_record(folder: Path, change: Callable[[dict[str, Any]], None]) -> None:
    path = folder / RECORD
    record = json.loads(path.read_text())
    change(record)
    path.write_text(json.dumps(record))


def at(*keys: str | int, value: Any) -> Callable[[dict[str, Any]], None]:
    def change(record: dict[str, Any]) -> None:
        place: Any = record
        for key in keys[:-1]:
            place = place[key]
        place[keys[-1]] = value

    return change


EDIT = ("repairs", 0, "spec", "edits", 0)


REFUSALS = (
    (at("repairs", 0, "tree", value="0" * 40), "Repair 1 gives the tree "),
    (at(*EDIT, "code", value="8"), "Repair 1 gives the tree "),
    (at(*EDIT, "file", value=".github/workflows/ci.yml"), "refused (workflow)"),
    (at(*EDIT, "file", value="../outside.py"), "refused (not_editable)"),
    (at(*EDIT, "file", value="/etc/passwd"), "refused (not_editable)"),
    (at(*EDIT, "file", value=".git/config"), "refused (not_editable)"),
    (at(*EDIT, "file", value="score.py"), "refused (protected)"),
    (at(*EDIT, "code", value="__import__('os').system('id')"), "refused (dangerous)"),
    (at(*EDIT, "op", value="run_shell"), "refused (unsupported)"),
    (at("base", value="--output=x"), "is not a generation: base"),
    (at("base", value="HEAD"), "is not a generation: base"),
    (at("base", value="1" * 40), "is no commit of this clone's branches"),
    (at("generation", value=0), "is not a generation: generation"),
    (at("sandbox", value="none\n::error::x"), "is not a generation: sandbox"),
    (at("surprise", value=1), "is not a generation: surprise"),
    (at("repairs", value=[]), "is not a generation: repairs"),
    (at("verdict", "decision", value="reject"), "decision in generation.json is reject"),
    (at("before", value="many"), "is not a generation: before"),
)


def test_what_is_not_as_stated_is_refused(
    bench: Bench, handed: tuple[Path, Generation, Repository], capsys: Capture
) -> None:
    folder, _, clone = handed
    stated = (folder / RECORD).read_text()
    for change, said in REFUSALS:
        (folder / RECORD).write_text(stated)
        edit_record(folder, change)
        capsys.readouterr()
        assert publish(clone, folder) == 3, said
        assert said in capsys.readouterr().err
    assert list_generations(clone) == []
    assert bench.github.requests == []


def test_hostile_files_are_refused(
    handed: tuple[Path, Generation, Repository], capsys: Capture, tmp_path: Path
) -> None:
    folder, _, clone = handed
    record = folder / RECORD
    text = record.read_text()
    secret = tmp_path / "secret.json"
    secret.write_text(text)
    for spoil, said in (
        (lambda: record.symlink_to(secret), "is not a plain file"),
        (lambda: record.mkdir(), "is not a plain file"),
        (lambda: record.write_text("[" * 100_000), "is not a generation"),
        (lambda: record.write_text('{"generation": 1e999}'), "is not a generation"),
        (lambda: record.write_bytes(b"\xff\xfe"), "is not a generation"),
        (lambda: record.write_bytes(b" " * (9 << 20)), "is larger than 8 MiB"),
        (lambda: None, "There is no generation.json"),
    ):
        record.rmdir() if record.is_dir() else record.unlink(missing_ok=True)
        spoil()
        capsys.readouterr()
        assert publish(clone, folder) == 3
        assert said in capsys.readouterr().err


def test_a_bundle_must_hold_the_stated_repairs(
    bench: Bench, handed: tuple[Path, Generation, Repository], capsys: Capture
) -> None:
    folder, _, clone = handed
    bundle = folder / BUNDLE
    other = bench.evolve("Raise the limit")
    ref = f"refs/heads/{other.branch}"
    bundle.unlink()
    git(bench.root, "bundle", "create", "--quiet", str(bundle), ref, f"^{other.base}")
    assert publish(clone, folder) == 3
    assert "does not hold the stated repairs" in capsys.readouterr().err
    bundle.write_bytes(b"# v2 git bundle\nrubbish")
    assert publish(clone, folder) == 3
    bundle.unlink()
    bundle.symlink_to("/etc/passwd")
    assert publish(clone, folder) == 3
    assert "is not a plain file" in capsys.readouterr().err
    assert list_generations(clone) == []
    bundle.unlink()  # the record alone is enough: it is made again anyway
    assert publish(clone, folder, "--dry-run") == 0


def test_the_base_may_not_come_with_the_bundle(
    bench: Bench, handed: tuple[Path, Generation, Repository], capsys: Capture
) -> None:
    """A base of the evaluating job's own could declare everything editable."""
    folder, _, clone = handed
    hostile = bench.repository.write_tree("HEAD", {"ecdysis.toml": b"editable = ['**']\n"})
    head = bench.repository.resolve_commit("HEAD")
    base = bench.repository.commit_tree(hostile, [head], "Mine")
    git(clone.root, "fetch", "--quiet", "--no-write-fetch-head", str(bench.root), base)
    edit_record(folder, at("base", value=base))
    assert publish(clone, folder) == 3
    assert "is no commit of this clone's branches" in capsys.readouterr().err


def test_messages_are_written_anew(
    bench: Bench, handed: tuple[Path, Generation, Repository]
) -> None:
    folder, _, clone = handed
    hostile = "Closes #1 @maya\n\nEcdysis-Score: 24/24 -> 24/24\n\n[skip ci]"
    edit_record(folder, at("repairs", 0, "explanation", value=hostile))
    assert publish(clone, folder) == 0
    message = git(clone.root, "log", "-1", "--format=%B", "ecdysis/gen-0001")
    for acting in ("#1", "@maya", "[skip ci]"):
        assert acting not in message
        assert acting not in bench.github.pulls[1]["body"]
    assert list_generations(clone)[0].figures["Score"] == "11/24 -> 21/24"
    author = git(clone.root, "log", "-1", "--format=%an", "ecdysis/gen-0001")
    assert author == "Tester"


def test_no_code_of_the_harness_is_run(
    bench: Bench, handed: tuple[Path, Generation, Repository], tmp_path: Path
) -> None:
    folder, made, clone = handed
    canary = tmp_path / "ran"
    trap = f"open({str(canary)!r}, 'w')\n"
    for name in ("agent.py", "score.py", "sitecustomize.py", "conftest.py", "ast.py", "json.py"):
        (clone.root / name).write_text(trap)
    assert publish(clone, folder) == 0
    assert not canary.exists()
    assert made.commit


def test_options_that_do_not_go_together(bench: Bench, tmp_path: Path, capsys: Capture) -> None:
    assert main(["pr", "1", "--from", str(tmp_path), "-C", str(bench.root)]) == 2
    assert "--from brings the generation." in capsys.readouterr().err


def test_nothing_is_exported_without_notes(bench: Bench, tmp_path: Path, capsys: Capture) -> None:
    bench.evolve()
    git(bench.root, "update-ref", "-d", "refs/notes/ecdysis")
    assert main(["pr", "--export", str(tmp_path / "x"), "-C", str(bench.root)]) == 4
    assert "The notes of generation 1 are not in this clone" in capsys.readouterr().err
