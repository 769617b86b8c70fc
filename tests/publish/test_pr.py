"""`ecdysis pr` against a fake GitHub that takes real pushes."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from bot.cli import main
from bot.errors import RepositoryError
from bot.git.repository import Repository
from bot.lineage.rejected import list_rejected
from bot.publish import pull_request
from bot.publish.body import read_marker
from bot.publish.branch import choose_spot, open_remote, push, with_token
from bot.publish.github import Place
from tests.helpers.github_api import TOKEN, Fault, refuse_pushes
from tests.helpers.repositories import git, user_state, write_files
from tests.publish.conftest import Bench, evolve

PULLS = "/repos/shop/desk/pulls"
Capture = pytest.CaptureFixture[str]


def pr(bench: Bench, *args: str) -> int:
    return main(["pr", *args, "-C", str(bench.root)])


def answer(capsys: Capture) -> dict[str, Any]:
    said: dict[str, Any] = json.loads(capsys.readouterr().out)
    return said


def test_it_is_pushed_opened_labelled_and_commented(bench: Bench, capsys: Capture) -> None:
    made = bench.evolve()
    before = user_state(bench.root)
    assert pr(bench, "--json") == 0
    said = answer(capsys)
    assert said["status"] == "opened"
    assert said["url"] == f"{bench.github.base}/shop/desk/pull/1"
    assert said["labels"] == ["ecdysis", "ecdysis: environment-contract", "ecdysis: undetermined"]
    assert (said["draft"], said["weaknesses"]) == (False, [])
    assert bench.github.branch("ecdysis/gen-0001") == made.commit
    pull = bench.github.pulls[1]
    assert (pull["head"], pull["base"]) == ("ecdysis/gen-0001", "main")
    assert pull["title"] == "gen-0001: Answer seven"
    assert f"ecdysis gate {made.base[:12]} {made.commit[:12]}" in pull["body"]  # type: ignore[index]
    assert bench.github.labels == said["labels"]
    assert user_state(bench.root) == before


def test_each_hunk_has_its_comment_on_a_line_of_the_whole_diff(bench: Bench) -> None:
    titles = ("Say it loud", "Raise the limit", "Answer seven")
    bench.evolve(*titles, by_edits=titles[1:])
    assert pr(bench) == 0
    lines = git(bench.github.git_dir, "show", "ecdysis/gen-0001:agent.py").split("\n")
    comments = {lines[comment["line"] - 1]: comment["body"] for comment in bench.github.inline[1]}
    assert {line: body.partition(".")[0] for line, body in comments.items()} == {
        "    return text.upper()": "Repair 1",
        "LIMIT = 9": "Repair 2",
        "ANSWER = 7  # a number": "Repair 3",
    }
    assert "set_constant in LIMIT: One is few." in comments["LIMIT = 9"]
    assert {comment["side"] for comment in bench.github.inline[1]} == {"RIGHT"}


def test_a_second_run_makes_and_writes_nothing(bench: Bench, capsys: Capture) -> None:
    bench.evolve()
    assert pr(bench) == 0
    written = bench.github.writes()
    capsys.readouterr()
    assert pr(bench) == 0
    assert "Pull request 1 unchanged" in capsys.readouterr().out
    assert bench.github.writes() == written


def test_a_run_that_was_cut_off_is_made_up_for(bench: Bench, capsys: Capture) -> None:
    """The pull request was opened, and the answer was lost."""
    bench.evolve()
    bench.github.faults = [Fault("POST", f"{PULLS}$", 502, after=True)]
    assert pr(bench) == 8
    assert list(bench.github.pulls) == [1]
    assert pr(bench) == 0
    assert list(bench.github.pulls) == [1]
    assert bench.github.pulls[1]["labels"][0] == "ecdysis"


def test_already_exists_means_update(bench: Bench, capsys: Capture) -> None:
    """Another run opened it after this one had looked."""
    bench.evolve()
    assert pr(bench) == 0
    bench.github.pulls[1]["body"] += "old"
    bench.github.faults = [
        Fault("GET", "/pulls$", 200, body=[], times=2),
        Fault("GET", "/issues$", 200, body=[]),
    ]
    capsys.readouterr()
    assert pr(bench, "--json") == 0
    assert (answer(capsys)["number"], list(bench.github.pulls)) == (1, [1])
    assert bench.github.writes()[-2:] == [f"POST {PULLS}", f"PATCH {PULLS}/1"]


def test_weak_isolation_makes_a_draft(bench: Bench, capsys: Capture) -> None:
    weaken(bench)
    assert pr(bench, "--json") == 0
    said = answer(capsys)
    assert said["draft"] is True
    assert "isolation level limits" in said["weaknesses"][0]
    assert "ecdysis: weak evidence" in said["labels"]
    assert bench.github.pulls[1]["draft"] is True
    assert "> [!WARNING]" in bench.github.pulls[1]["body"]


def weaken(bench: Bench) -> None:
    from bot.lineage.generations import record_generation
    from tests.helpers.repairs import make_figures, make_message

    tree = bench.repository.write_tree("HEAD", {"new.py": b"x = 1\n"})
    record_generation(
        bench.repository,
        base_commit="HEAD",
        repairs=[(tree, make_message())],
        figures=make_figures(sandbox="limits"),
    )


def test_where_there_are_no_drafts(bench: Bench, capsys: Capture) -> None:
    bench.github.drafts = False
    weaken(bench)
    assert pr(bench, "--json") == 0
    said = answer(capsys)
    assert said["draft"] is False
    assert "ecdysis: weak evidence" in said["labels"]


def test_peoples_labels_and_title_stay(bench: Bench) -> None:
    bench.evolve()
    assert pr(bench) == 0
    bench.github.pulls[1]["labels"] += ["priority", "ecdysis: weak evidence"]
    bench.github.pulls[1]["title"] = "A better title"
    bench.github.pulls[1]["body"] += "\r\nedited"
    assert pr(bench) == 0
    assert bench.github.pulls[1]["labels"] == [
        *("priority", "ecdysis", "ecdysis: environment-contract", "ecdysis: undetermined")
    ]
    assert bench.github.pulls[1]["title"] == "A better title"
    assert "edited" not in bench.github.pulls[1]["body"]


# --- commits of others --------------------------------------------------------------------


def commit_on_server(bench: Bench, branch: str, files: dict[str, str]) -> str:
    """A person's commit on top of a branch of the server."""
    clone = bench.root.parent / "person"
    git(bench.root.parent, "clone", "--quiet", "-b", branch, str(bench.github.git_dir), "person")
    write_files(clone, files)
    git(clone, "add", "--all")
    git(clone, "-c", "user.name=Maya", "commit", "--quiet", "-m", "Mine")
    git(clone, "push", "--quiet", "origin", branch)
    return git(clone, "rev-parse", "HEAD")


def test_a_persons_commit_is_never_overwritten(bench: Bench, capsys: Capture) -> None:
    bench.evolve()
    assert pr(bench) == 0
    theirs = commit_on_server(bench, "ecdysis/gen-0001", {"new.txt": "mine"})
    written = bench.github.writes()
    assert pr(bench) == 4
    assert "commits that are not the bot's (the newest is by Maya)" in capsys.readouterr().err
    assert bench.github.branch("ecdysis/gen-0001") == theirs
    assert bench.github.writes() == written


def test_a_push_in_the_last_moment_is_not_overwritten(bench: Bench) -> None:
    made = bench.evolve()
    place = Place("shop", "desk", bench.github.base + "/api/v3", bench.github.base)
    remote = with_token(open_remote(bench.repository, "origin"), place, TOKEN)
    arguments = {"ours": set(made.commits), "fixed": False}
    spot = choose_spot(bench.repository, remote, made.branch, made.commit, **arguments)  # type: ignore[arg-type]
    git(bench.github.git_dir, "update-ref", f"refs/heads/{made.branch}", "main")
    with pytest.raises(RepositoryError, match="pushed to the branch on origin meanwhile"):
        push(bench.repository, remote, spot)
    assert bench.github.branch(made.branch) == bench.github.branch("main")


def test_a_branch_of_others_is_left_alone_and_a_suffix_taken(bench: Bench, capsys: Capture) -> None:
    git(bench.github.git_dir, "update-ref", "refs/heads/ecdysis/gen-0001", "main")
    theirs = commit_on_server(bench, "ecdysis/gen-0001", {"x": "y"})
    made = bench.evolve()
    assert pr(bench, "--json") == 0
    assert answer(capsys)["branch"] == "ecdysis/gen-0001-2"
    assert bench.github.branch("ecdysis/gen-0001") == theirs
    assert bench.github.branch("ecdysis/gen-0001-2") == made.commit
    assert bench.github.pulls[1]["head"] == "ecdysis/gen-0001-2"
    assert "git fetch origin ecdysis/gen-0001-2 &&" in bench.github.pulls[1]["body"]
    assert pr(bench, "--json") == 0
    assert answer(capsys)["status"] == "unchanged"


def test_a_branch_with_the_same_files_is_taken_as_it_is(bench: Bench, capsys: Capture) -> None:
    made = bench.evolve()
    same = bench.repository.commit_tree(
        bench.repository.tree_of(made.commit), [str(made.base)], "The same files"
    )
    git(
        bench.root, "push", "--quiet", str(bench.github.git_dir), f"{same}:refs/heads/{made.branch}"
    )
    assert pr(bench) == 0
    assert bench.github.branch(made.branch) == same
    assert read_marker(bench.github.pulls[1]["body"]).head == same  # type: ignore[union-attr]
    assert bench.github.reviews[1][0]["commit_id"] == same


def test_a_branch_named_ecdysis_is_in_the_way(bench: Bench, capsys: Capture) -> None:
    git(bench.github.git_dir, "update-ref", "refs/heads/ecdysis", "main")
    bench.evolve()
    assert pr(bench) == 4
    assert "A branch named ecdysis on origin is in the way" in capsys.readouterr().err


def test_a_tag_of_the_same_name_does_not_matter(bench: Bench) -> None:
    made = bench.evolve()
    git(bench.root, "tag", "ecdysis/gen-0001", "HEAD")
    git(bench.github.git_dir, "tag", "ecdysis/gen-0001", "main")
    assert pr(bench) == 0
    assert bench.github.branch("ecdysis/gen-0001") == made.commit


# --- decisions ----------------------------------------------------------------------------


def test_a_closed_pull_request_is_a_decision(bench: Bench, capsys: Capture) -> None:
    bench.evolve("Answer seven", "Say it loud")
    assert pr(bench) == 0
    bench.github.say(1, "maya", "Six is what the desk means. @ada\nCloses #4")
    bench.github.say(1, "stranger", "I think it is fine")
    bench.github.say(1, "ada", "An edited opinion", edited=True)
    bench.github.close(1, "ada")
    git(bench.github.git_dir, "update-ref", "-d", "refs/heads/ecdysis/gen-0001")
    written = bench.github.writes()
    for _ in range(2):
        capsys.readouterr()
        assert pr(bench) == 1
        assert "Pull request 1 was closed by ada, and stays closed." in capsys.readouterr().err
    assert bench.github.pulls[1]["state"] == "closed"
    assert bench.github.writes() == written
    rejected = list_rejected(bench.repository)
    assert {one.title for one in rejected} == {"Answer seven", "Say it loud"}
    for one in rejected:
        assert one.reason.startswith("Pull request 1 was closed by ada.")
        assert "maya: Six is what the desk means. @ ada Closes # 4" in one.reason
        assert "stranger" not in one.reason
        assert "edited" not in one.reason
        assert len(git(bench.root, "rev-list", one.ref).split()) == 1


def test_a_decision_on_another_generation_is_recorded_too(bench: Bench) -> None:
    first = bench.evolve("Answer seven")
    assert pr(bench) == 0
    bench.evolve("Say it loud", base=first.commit)
    assert pr(bench, "--stack") == 0
    bench.github.say(1, "maya", "Not this one")
    bench.github.close(1, "maya")
    assert pr(bench) == 0
    (rejected,) = list_rejected(bench.repository)
    assert rejected.title == "Answer seven"
    assert rejected.reason == "Pull request 1 was closed by maya. maya: Not this one"
    assert bench.github.pulls[2]["state"] == "open"


def test_the_decision_outlives_the_number(bench: Bench, tmp_path: Path, capsys: Capture) -> None:
    """A fresh clone makes the same change under another number."""
    bench.evolve()
    assert pr(bench) == 0
    bench.github.close(1, "ada")
    git(tmp_path, "clone", "--quiet", bench.github.url, "fresh")
    fresh = Repository.open(tmp_path / "fresh")
    evolve(fresh, "Raise the limit")
    made = evolve(fresh, "Answer seven")
    assert main(["pr", str(made.number), "-C", str(fresh.root)]) == 1
    assert "stays closed" in capsys.readouterr().err
    assert list(bench.github.pulls) == [1]


def test_another_change_under_the_number_of_a_closed_one_is_new(bench: Bench) -> None:
    bench.evolve()
    assert pr(bench) == 0
    bench.github.close(1, "ada")
    for place in ("heads", "remotes/origin"):
        git(bench.root, "update-ref", "-d", f"refs/{place}/ecdysis/gen-0001")
    git(bench.root, "update-ref", "-d", "refs/ecdysis/generations/0001")
    made = bench.evolve("Raise the limit")
    assert made.number == 1
    assert pr(bench) == 0
    assert bench.github.pulls[2]["head"] == "ecdysis/gen-0001-2"


def test_merged_is_merged(bench: Bench, capsys: Capture) -> None:
    bench.evolve()
    assert pr(bench) == 0
    bench.github.merge(1)
    assert pr(bench, "--json") == 0
    out = capsys.readouterr().out.splitlines()[-1]
    assert json.loads(out)["status"] == "merged"
    assert list_rejected(bench.repository) == []


def test_the_same_change_under_two_numbers_is_one_pull_request(
    bench: Bench, capsys: Capture
) -> None:
    bench.evolve()
    assert pr(bench) == 0
    bench.evolve()
    assert pr(bench, "2", "--stack") == 1
    assert "Pull request 1 shows the same change already" in capsys.readouterr().err
    assert list(bench.github.pulls) == [1]


def test_what_strangers_open_is_not_the_bots(bench: Bench, capsys: Capture) -> None:
    """A fork's pull request with the bot's marker and the name of its branch."""
    made = bench.evolve()
    tree = bench.repository.tree_of(made.commit)
    forged = f"<!-- ecdysis generation=1 head={made.commit} tree={tree} -->\nHello"
    bench.github.add_pull(
        "ecdysis/gen-0001", "main", "Mine", forged, author="stranger", owner="stranger"
    )
    assert pr(bench, "--json") == 0
    assert answer(capsys)["number"] == 2
    assert bench.github.pulls[1]["title"] == "Mine"


# --- stacking -----------------------------------------------------------------------------


def test_no_second_one_while_one_is_open(bench: Bench, capsys: Capture) -> None:
    first = bench.evolve("Answer seven")
    assert pr(bench) == 0
    bench.evolve("Say it loud", base=first.commit)
    assert pr(bench) == 1
    assert "Pull request 1 is open" in capsys.readouterr().err
    assert bench.github.branch("ecdysis/gen-0002") is None


@pytest.mark.parametrize("squash", [False, True])
def test_a_stacked_one_is_pointed_down_when_its_base_is_merged(
    bench: Bench, capsys: Capture, squash: bool
) -> None:
    first = bench.evolve("Answer seven")
    assert pr(bench) == 0
    bench.evolve("Say it loud", base=first.commit)
    assert pr(bench, "--stack") == 0
    assert bench.github.pulls[2]["base"] == "ecdysis/gen-0001"
    assert "Stacked on #1" in bench.github.pulls[2]["body"]
    (comment,) = bench.github.inline[2]
    assert comment["body"].startswith("Repair 1.")
    bench.github.merge(1, squash=squash)
    capsys.readouterr()
    assert pr(bench, "--json") == 0
    said = answer(capsys)
    assert said["retargeted"] == {"2": "main"}
    assert bench.github.pulls[2]["base"] == "main"
    assert bench.github.pulls[2]["state"] == "open"
    assert "Stacked on" not in bench.github.pulls[2]["body"]


def test_a_limit_on_open_ones(
    bench: Bench, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pull_request, "MOST_OPEN", 1)
    bench.evolve("Answer seven")
    assert pr(bench) == 0
    bench.evolve("Say it loud")
    assert pr(bench, "--stack") == 1
    assert "1 pull requests of the bot are open" in capsys.readouterr().err


def test_on_top_of_a_rejected_one(bench: Bench, capsys: Capture) -> None:
    first = bench.evolve("Answer seven")
    assert pr(bench) == 0
    bench.github.close(1, "ada")
    bench.evolve("Say it loud", base=first.commit)
    assert pr(bench) == 4
    assert "ecdysis rebase 2 --onto main" in capsys.readouterr().err
    assert list(bench.github.pulls) == [1]


def test_on_top_of_one_that_was_never_shown(bench: Bench) -> None:
    first = bench.evolve("Answer seven")
    bench.evolve("Say it loud", base=first.commit)
    assert pr(bench) == 0
    assert "It stands on generation 1, which has no pull request" in bench.github.pulls[1]["body"]


# --- what is refused ----------------------------------------------------------------------


def test_github_actions_may_not_open_pull_requests(bench: Bench, capsys: Capture) -> None:
    made = bench.evolve()
    said = "GitHub Actions is not permitted to create or approve pull requests."
    bench.github.faults = [Fault("POST", f"{PULLS}$", 403, said)]
    assert pr(bench) == 8
    error = capsys.readouterr().err
    assert "is pushed, but GitHub lets the bot open no pull request" in error
    link = f"{bench.github.base}/shop/desk/compare/main...ecdysis/gen-0001?expand=1&title=gen-0001"
    assert link in error
    assert bench.github.branch("ecdysis/gen-0001") == made.commit
    assert pr(bench) == 0


def test_no_token(bench: Bench, capsys: Capture, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("GITHUB_TOKEN")
    bench.evolve()
    assert pr(bench) == 8
    error = capsys.readouterr().err
    assert "/compare/ecdysis/gen-0001?expand=1" in error
    assert bench.github.requests == []


def test_a_wrong_token_is_refused_and_not_shown(
    bench: Bench, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GITHUB_TOKEN", "wrong-wrong-wrong")
    bench.evolve()
    assert pr(bench) == 8
    shown = capsys.readouterr()
    assert "(401): Bad credentials" in shown.err
    assert "wrong-wrong" not in shown.err + shown.out


def test_a_run_for_a_fork_has_no_secrets(
    bench: Bench, capsys: Capture, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    event = tmp_path / "event.json"
    monkeypatch.setenv("GITHUB_EVENT_PATH", str(event))
    bench.evolve()
    for head in ({"full_name": "stranger/desk"}, None):
        event.write_text(json.dumps({"pull_request": {"head": {"repo": head}}}))
        assert pr(bench) == 8
        assert "from a fork: it has no secrets" in capsys.readouterr().err
    assert bench.github.requests == []
    event.write_text(json.dumps({"pull_request": {"head": {"repo": {"full_name": "Shop/Desk"}}}}))
    assert pr(bench) == 0


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (
            "error: GH006: Protected branch update failed for refs/heads/ecdysis/gen-0001.",
            "A rule of http://127.0.0.1",
        ),
        (
            "refusing to allow a GitHub App to create or update workflow "
            "`.github/workflows/ci.yml` without `workflows` permission",
            "the base holds changes of workflow files that it does not know",
        ),
        ("remote: Permission to shop/desk.git denied to ecdysis.", "The bot may not push to"),
    ],
)
def test_a_push_that_is_refused(bench: Bench, capsys: Capture, words: str, said: str) -> None:
    refuse_pushes(bench.github, words)
    bench.evolve()
    assert pr(bench) == 8
    assert said in capsys.readouterr().err
    assert bench.github.pulls == {}


def test_the_header_of_a_checkout_does_not_win(bench: Bench) -> None:
    """As actions/checkout leaves it: a header of its own, with a token that may not push."""
    key = f"http.{bench.github.base}/.extraheader"
    git(bench.root, "config", key, "AUTHORIZATION: basic d3Jvbmc6d3Jvbmc=")
    made = bench.evolve()
    assert pr(bench) == 0
    assert bench.github.branch("ecdysis/gen-0001") == made.commit
    assert git(bench.root, "config", key) == "AUTHORIZATION: basic d3Jvbmc6d3Jvbmc="


def test_the_users_own_settings_in_the_environment_stay(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GIT_CONFIG_COUNT", "1")
    monkeypatch.setenv("GIT_CONFIG_KEY_0", f"url.{bench.github.base}/.insteadOf")
    monkeypatch.setenv("GIT_CONFIG_VALUE_0", "http://127.0.0.1:9/")
    git(bench.root, "config", "remote.origin.url", "http://127.0.0.1:9/shop/desk.git")
    made = bench.evolve()
    assert pr(bench) == 0
    assert bench.github.branch(made.branch) == made.commit


def test_another_server_gets_no_token(bench: Bench) -> None:
    git(bench.root, "remote", "add", "other", "https://elsewhere.example/shop/desk.git")
    remote = open_remote(bench.repository, "other")
    assert with_token(remote, Place("shop", "desk"), TOKEN).env == {"GIT_TERMINAL_PROMPT": "0"}


def test_there_is_no_such_remote(bench: Bench, capsys: Capture) -> None:
    bench.evolve()
    assert pr(bench, "--remote", "upstream") == 2
    assert "The remotes here: origin." in capsys.readouterr().err


def test_nothing_to_show(bench: Bench, capsys: Capture) -> None:
    assert pr(bench) == 1
    assert "There are no generations yet." in capsys.readouterr().err


def test_what_main_holds_already(bench: Bench, capsys: Capture) -> None:
    made = bench.evolve()
    git(bench.root, "push", "--quiet", str(bench.github.git_dir), f"{made.commit}:refs/heads/main")
    assert pr(bench) == 1
    assert "main holds all of generation 1 already." in capsys.readouterr().err


# --- kinds of clones ----------------------------------------------------------------------


def test_from_a_shallow_detached_clone(bench: Bench, tmp_path: Path, capsys: Capture) -> None:
    """As a runner has it: depth 1, HEAD detached, only the branch in sight."""
    made = bench.evolve()
    git(bench.root, "push", "--quiet", str(bench.github.git_dir), made.branch)
    git(
        tmp_path,
        *("clone", "--quiet", "--depth", "1", "-b", made.branch),
        *(f"file://{bench.github.git_dir}", "shallow"),
    )
    shallow = tmp_path / "shallow"
    git(shallow, "remote", "set-url", "origin", bench.github.url)
    git(shallow, "checkout", "--quiet", "--detach")
    assert main(["pr", "-C", str(shallow), "--json"]) == 0
    assert answer(capsys)["branch"] == made.branch
    assert f"ecdysis gate {made.base[:12]}" in bench.github.pulls[1]["body"]  # type: ignore[index]
    assert not Repository.open(shallow).state().shallow


def test_a_full_clone_is_not_made_shallow(bench: Bench) -> None:
    bench.evolve()
    assert pr(bench) == 0
    assert not (bench.repository.git_dir / "shallow").exists()


def test_only_the_branch_is_pushed(bench: Bench) -> None:
    bench.evolve()
    git(bench.root, "tag", "-m", "mine", "v1", "ecdysis/gen-0001")
    git(bench.root, "config", "push.followTags", "true")
    assert pr(bench) == 0
    refs = git(bench.github.git_dir, "for-each-ref", "--format=%(refname)").split()
    assert refs == ["refs/heads/ecdysis/gen-0001", "refs/heads/main"]


# --- a look before -------------------------------------------------------------------------


def test_dry_run_reaches_nothing(
    bench: Bench, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("GITHUB_TOKEN")
    bench.evolve()
    assert pr(bench, "--dry-run") == 0
    printed = capsys.readouterr().out
    assert printed.startswith("gen-0001: Answer seven\n\n<!-- ecdysis generation=1 ")
    assert pr(bench, "--dry-run", "--json", "--no-quotes") == 0
    said = answer(capsys)
    assert said["body"].replace("\n", "") != ""
    assert "lookup_order(3201" not in said["body"]
    assert "lookup_order(3201" in printed
    assert len(said["review"]["comments"]) == 1
    assert bench.github.requests == []
    assert bench.github.branch("ecdysis/gen-0001") is None


def test_in_a_log_of_actions_foreign_lines_command_nothing(
    bench: Bench, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    bench.evolve()
    assert pr(bench, "--dry-run") == 0
    lines = capsys.readouterr().out.split("\n")
    match = re.fullmatch(r"::stop-commands::([0-9a-f]{32})", lines[0])
    assert match is not None
    assert lines[-2] == f"::{match.group(1)}::"


def test_help(capsys: Capture) -> None:
    assert main(["pr", "--help"]) == 0
    assert "--dry-run" in capsys.readouterr().out
