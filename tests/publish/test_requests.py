"""Requests in comments: who is heard, what is read, what is done about it, and that once."""

import json
from typing import Any

import pytest

from bot.cli import main
from bot.lineage.generations import find_generation
from bot.lineage.rejected import list_rejected
from bot.publish.requests import answer_to, answered_sources, read_requests
from tests.helpers.github_api import Fault
from tests.helpers.repositories import git
from tests.publish.conftest import Bench

Capture = pytest.CaptureFixture[str]


def comment(body: str, login: str = "maya", **more: Any) -> dict[str, Any]:
    return {
        "id": 7,
        "user": {"login": login, "type": "User"},
        "body": body,
        "created_at": "2026-01-01T00:00:00Z",
        "updated_at": "2026-01-01T00:00:00Z",
        **more,
    }


def read(*comments: dict[str, Any], reviews: list[dict[str, Any]] | None = None) -> list[str]:
    permissions = {"maya": "write", "ada": "admin", "reader": "read", "bot": "write"}
    found = read_requests(
        list(comments),
        reviews or [],
        permission=lambda login: permissions.get(login, "none"),
        own="bot",
    )
    return [f"{r.kind} {r.number or ''}".strip() for r in found]


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("/ecdysis drop 2", ["drop 2"]),
        ("/ecdysis retry", ["retry"]),
        ("/ecdysis explain 1\r\n/ecdysis drop 1", ["explain 1", "drop 1"]),
        ("Hello\n\n/ecdysis  drop\t2 \nbye", ["drop 2"]),
        ("please /ecdysis drop 2", []),
        ("> /ecdysis drop 2", []),
        ("    /ecdysis drop 2", []),
        ("```\n/ecdysis drop 2\n```", []),
        ("````\n```\n/ecdysis drop 2\n````\n/ecdysis drop 3", ["drop 3"]),
        ("~~~\n/ecdysis drop 2\n~~~\n/ecdysis drop 1", ["drop 1"]),
        ("/ecdysis drop 2; rm -rf", []),
        ("/ecdysis drop -1", []),
        ("/ecdysis drop 9999", []),
        ("/ecdysis merge", []),
        ("/ecdysisdrop 2", []),
        ("", []),
    ],
)
def test_what_is_a_command(body: str, expected: list[str]) -> None:
    assert read(comment(body)) == expected


@pytest.mark.parametrize(
    ("login", "expected"),
    [("maya", ["retry"]), ("ada", ["retry"]), ("reader", []), ("stranger", []), ("", [])],
)
def test_only_who_may_write_is_heard(login: str, expected: list[str]) -> None:
    assert read(comment("/ecdysis retry", login)) == expected


def test_programs_ghosts_and_edited_comments_are_not_heard() -> None:
    assert read(comment("/ecdysis retry", user={"login": "maya", "type": "Bot"})) == []
    assert read(comment("/ecdysis retry", user=None)) == []
    assert read({**comment(""), "body": None}) == []
    assert read(comment("/ecdysis retry", updated_at="2026-01-01T00:00:01Z")) == []


def test_the_bots_own_words_are_not_commands() -> None:
    own = answer_to("comment-1", "/ecdysis retry")
    assert read(comment(own, "bot")) == []
    # A person who uses the same account for both is heard.
    assert read(comment("/ecdysis retry", "bot")) == ["retry"]


def test_what_was_answered_is_not_read_again() -> None:
    asked = comment("/ecdysis retry")
    assert read(asked, comment(answer_to("comment-7", "Noted."), "bot")) == []
    # Only the bot itself can say that it has answered.
    assert read(asked, comment(answer_to("comment-7", "Noted."), "stranger")) == ["retry"]
    assert answered_sources([comment("x\n" + answer_to("comment-7", ""), "bot")], "bot") == set()


def test_a_review_that_requests_changes() -> None:
    def review(login: str, state: str = "CHANGES_REQUESTED") -> dict[str, Any]:
        user = {"login": login, "type": "User"}
        return {"id": 3, "user": user, "body": "No. @ada\n/ecdysis drop 1", "state": state}

    assert read(reviews=[review("maya")]) == ["changes"]
    assert read(reviews=[review("reader"), review("stranger")]) == []
    assert read(reviews=[review("maya", "DISMISSED"), review("maya", "COMMENTED")]) == []
    (found,) = read_requests([], [review("maya")], permission=lambda _: "write", own="bot")
    assert found.words == "No. @ ada"


def test_the_permission_is_asked_for_once_and_only_where_it_matters() -> None:
    asked: list[str] = []

    def permission(login: str) -> str:
        asked.append(login)
        return "write"

    comments = [
        comment("/ecdysis retry", id=1),
        comment("/ecdysis retry", id=2),
        comment("nice", "b"),
    ]
    assert len(read_requests(comments, [], permission=permission, own="bot")) == 2
    assert asked == ["maya"]


# --- on a real repository -----------------------------------------------------------------


def pr(bench: Bench, capsys: Capture) -> dict[str, Any]:
    capsys.readouterr()
    assert main(["pr", "--json", "-C", str(bench.root)]) == 0
    said: dict[str, Any] = json.loads(capsys.readouterr().out)
    return said


def test_a_repair_is_dropped(bench: Bench, capsys: Capture) -> None:
    made = bench.evolve("Answer seven", "Raise the limit", by_edits=["Raise the limit"])
    pr(bench, capsys)
    bench.github.say(1, "stranger", "/ecdysis drop 2")
    bench.github.say(1, "maya", "/ecdysis drop 1\nSix is what the desk means. @ada")
    said = pr(bench, capsys)
    assert said["status"] == "updated"
    assert [(r["kind"], r["number"], r["author"]) for r in said["requests"]] == [
        ("drop", 1, "maya")
    ]
    now = find_generation(bench.repository, "1")
    assert [repair.message.title for repair in now.repairs] == ["Raise the limit"]
    assert now.base == made.base
    assert bench.github.branch("ecdysis/gen-0001") == now.commit
    code = git(bench.github.git_dir, "show", "ecdysis/gen-0001:agent.py")
    assert "LIMIT = 9" in code
    assert "ANSWER = 6" in code
    (rejected,) = list_rejected(bench.repository)
    assert rejected.title == "Answer seven"
    assert rejected.reason == (
        "Taken out of pull request 1 by maya. Six is what the desk means. @ ada"
    )
    pull = bench.github.pulls[1]
    assert pull["title"] == "gen-0001: Raise the limit"
    assert "There are no figures for exactly these repairs." in pull["body"]
    assert "11/24" not in pull["body"]
    assert "ecdysis: weak evidence" in pull["labels"]
    answer = bench.github.comments[1][-1]
    assert answer["user"]["login"] == "ecdysis"
    assert "Repair 1, Answer seven, is taken out and recorded as rejected." in answer["body"]


@pytest.mark.slow
def test_a_drop_that_was_cut_off_is_not_done_twice(bench: Bench, capsys: Capture) -> None:
    """The number of the comment would now mean another repair."""
    bench.evolve("Answer seven", "Raise the limit", by_edits=["Raise the limit"])
    pr(bench, capsys)
    bench.github.say(1, "maya", "/ecdysis drop 1")
    bench.github.faults = [Fault("PATCH", "/pulls/1$", 502)]
    assert main(["pr", "-C", str(bench.root)]) == 8
    assert len(bench.github.comments[1]) == 1
    pr(bench, capsys)
    now = find_generation(bench.repository, "1")
    assert [repair.message.title for repair in now.repairs] == ["Raise the limit"]
    assert "It is taken out and recorded as rejected." in bench.github.comments[1][-1]["body"]
    assert bench.github.pulls[1]["title"] == "gen-0001: Raise the limit"
    assert len(list_rejected(bench.repository)) == 1
    written = bench.github.writes()
    assert pr(bench, capsys)["requests"] == []
    assert bench.github.writes() == written


def test_numbers_that_are_none(bench: Bench, capsys: Capture) -> None:
    bench.evolve("Answer seven", "Say it loud")
    pr(bench, capsys)
    bench.github.say(1, "maya", "/ecdysis drop 3\n/ecdysis explain 0")
    said = pr(bench, capsys)
    assert len(said["requests"]) == 2
    text = bench.github.comments[1][-1]["body"]
    assert text.count("There are 2 repairs; write a number from 1 to 2.") == 2
    assert len(bench.github.comments[1]) == 2


def test_nothing_is_left_after_dropping_everything(bench: Bench, capsys: Capture) -> None:
    made = bench.evolve("Answer seven")
    pr(bench, capsys)
    bench.github.say(1, "maya", "/ecdysis drop 1")
    pr(bench, capsys)
    assert (
        "Nothing would be left. To reject it all, close this."
        in (bench.github.comments[1][-1]["body"])
    )
    assert bench.github.branch("ecdysis/gen-0001") == made.commit
    assert list_rejected(bench.repository) == []


def test_a_repair_is_explained(bench: Bench, capsys: Capture) -> None:
    bench.evolve("Answer seven", "Say it loud")
    pr(bench, capsys)
    bench.github.say(1, "maya", "/ecdysis explain 2")
    pr(bench, capsys)
    text = bench.github.comments[1][-1]["body"]
    assert text.startswith("<!-- ecdysis-answer to=comment-")
    assert "Cause: Say it loud was needed." in text
    assert "Answer seven" not in text
    assert "lookup_order(3201, destination)" in text


def test_retries_and_requested_changes_are_passed_on(bench: Bench, capsys: Capture) -> None:
    bench.evolve()
    pr(bench, capsys)
    bench.github.say(1, "maya", "/ecdysis retry")
    bench.github.request_changes(1, "ada", "Keep the limit")
    bench.github.request_changes(1, "stranger", "Drop it all")
    said = pr(bench, capsys)
    assert [(r["kind"], r["author"], r["words"]) for r in said["requests"]] == [
        ("retry", "maya", ""),
        ("changes", "ada", "Keep the limit"),
    ]
    assert pr(bench, capsys)["requests"] == []


def test_an_installations_token_knows_its_own_answers(bench: Bench, capsys: Capture) -> None:
    """It may not ask who it is; who opened the pull request tells."""
    bench.github.bot = None
    bench.evolve()
    pr(bench, capsys)
    bench.github.say(1, "maya", "/ecdysis retry")
    assert len(pr(bench, capsys)["requests"]) == 1
    assert bench.github.comments[1][-1]["user"]["login"] == "ecdysis[bot]"
    assert pr(bench, capsys)["requests"] == []


def test_a_permission_that_was_taken_away(bench: Bench, capsys: Capture) -> None:
    bench.evolve()
    pr(bench, capsys)
    bench.github.say(1, "maya", "/ecdysis drop 1")
    bench.github.permissions["maya"] = "read"
    assert pr(bench, capsys)["requests"] == []
