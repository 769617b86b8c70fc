"""`ecdysis pr`: the pull request of a generation."""

from __future__ import annotations

import json
import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from bot.commands.options import json_option, repo_option
from bot.errors import GitHubError, NothingFound, RepositoryError, UsageError

if TYPE_CHECKING:
    from bot.git.repository import Repository
    from bot.lineage.generations import Generation
    from bot.publish.branch import Remote
    from bot.publish.facts import GenerationFacts
    from bot.publish.github import GitHub, Place
    from bot.publish.pull_request import Published, Pull
    from bot.publish.requests import Request


@dataclass(frozen=True)
class Wishes:
    """What the command line says."""

    remote: str
    repository: str | None
    base: str | None
    stack: bool
    quotes: bool
    reported_by: str | None


@click.command("pr")
@click.argument("name", metavar="[GENERATION]", required=False)
@repo_option
@click.option("--remote", default="origin", show_default=True, help="Where the branch is pushed.")
@click.option(
    "--repository",
    "slug",
    metavar="OWNER/NAME",
    help="The repository on GitHub.  [default: GITHUB_REPOSITORY, else the remote's]",
)
@click.option("--base", metavar="BRANCH", help="The branch to merge into.  [default: GitHub's]")
@click.option("--stack", is_flag=True, help="Open it although another one is open.")
@click.option("--no-quotes", is_flag=True, help="Leave what episodes said out of the text.")
@click.option(
    "--from",
    "artifact",
    metavar="FOLDER",
    type=click.Path(path_type=Path, file_okay=False),
    help="Take the generation from what an evaluating job handed over; trust nothing in it.",
)
@click.option(
    "--export",
    metavar="FOLDER",
    type=click.Path(path_type=Path, file_okay=False),
    help="Hand the generation over to a publishing job: write FOLDER; reach nothing.",
)
@click.option("--dry-run", is_flag=True, help="Print the text; push and open nothing.")
@json_option
def command(
    name: str | None,
    repo: Path,
    remote: str,
    slug: str | None,
    base: str | None,
    stack: bool,
    no_quotes: bool,
    artifact: Path | None,
    export: Path | None,
    dry_run: bool,
    as_json: bool,
) -> None:
    """Push GENERATION (default: the newest) and open its pull request, or bring that up to date.

    Run again, it makes no second one: it answers what people with write access asked for in
    comments, points stacked pull requests at the branch below when their base was merged, and
    records a pull request that was closed as a rejection. Commits of others on the branch are
    never overwritten. While one pull request is open no other is opened, unless --stack says so.

    The token comes from GITHUB_TOKEN or GH_TOKEN; GITHUB_API_URL names a server of your own.

    Exit code 1: it was rejected, or waits for the one that is open. 8: GitHub refuses.
    """
    from bot.git.repository import Repository

    if artifact is not None and (name is not None or export is not None):
        raise UsageError("--from brings the generation.", "Leave GENERATION and --export out.")
    repository = Repository.open(repo)
    generation = choose_generation(repository, name, artifact)
    wishes = Wishes(
        remote, slug, base, stack, not no_quotes, "the evaluating job" if artifact else None
    )
    if export is not None:
        from bot.commands.pr_artifact import export_generation

        path = export_generation(repository, generation, export)
        click.echo(json.dumps({"file": str(path)}) if as_json else f"Written: {path}")
    elif dry_run:
        preview(repository, generation, wishes, as_json)
    else:
        answer = synchronise(repository, generation, wishes)
        show(answer, as_json)
        if answer["status"] in ("closed", "waiting"):
            raise NothingFound(answer["reason"], answer["next"])


def choose_generation(
    repository: Repository, name: str | None, artifact: Path | None
) -> Generation:
    """The generation that was named or handed over, else the newest."""
    from bot.lineage.generations import find_generation, newest_generation

    if artifact is not None:
        from bot.commands.pr_artifact import import_generation

        return import_generation(repository, artifact)
    if name is not None:
        return find_generation(repository, name)
    newest = newest_generation(repository)
    if newest is None:
        raise NothingFound("There are no generations yet.", "Make one: ecdysis evolve")
    return newest


def preview(repository: Repository, generation: Generation, wishes: Wishes, as_json: bool) -> None:
    """Print what the pull request would say. Nothing is asked of GitHub."""
    from bot.commands.pr_facts import gather
    from bot.publish.body import write_body, write_title
    from bot.publish.comments import write_review
    from bot.publish.facts import choose_labels, weaknesses

    target = wishes.base or "the default branch"
    facts = gather(repository, generation, target=target, **told(wishes))
    if as_json:
        answer = {
            "format_version": 1,
            "generation": generation.number,
            "status": "dry-run",
            "title": write_title(facts),
            "body": write_body(facts),
            "draft": bool(weaknesses(facts)),
            "weaknesses": weaknesses(facts),
            "labels": choose_labels(facts),
            "review": write_review(facts),
        }
        click.echo(json.dumps(answer))
        return
    with foreign_output():
        click.echo(f"{write_title(facts)}\n\n{write_body(facts)}", nl=False)


def told(wishes: Wishes) -> dict[str, Any]:
    return {"quotes": wishes.quotes, "reported_by": wishes.reported_by}


@contextmanager
def foreign_output() -> Iterator[None]:
    """In a log of Actions, lines of foreign text must not be taken for commands of the runner."""
    if os.environ.get("GITHUB_ACTIONS") != "true":
        yield
        return
    word = secrets.token_hex(16)
    click.echo(f"::stop-commands::{word}")
    try:
        yield
    finally:
        click.echo(f"::{word}::")


def synchronise(repository: Repository, generation: Generation, wishes: Wishes) -> dict[str, Any]:
    """Bring GitHub and the lineage into line; what `--json` prints."""
    from bot.publish.branch import open_remote, unshallow, with_token
    from bot.publish.github import GitHub, find_place
    from bot.publish.pull_request import find_pull, open_pulls, retarget

    remote = open_remote(repository, wishes.remote)
    place = find_place(wishes.repository, remote.url, os.environ)
    token = read_token(place, generation, wishes)
    remote = with_token(remote, place, token)
    if generation.base is None:
        from bot.lineage.generations import find_generation

        unshallow(repository, remote)
        generation = find_generation(repository, str(generation.number))
    github = GitHub(place, token)
    record_decisions(repository, github)
    opened = open_pulls(github)
    moved = retarget(github, opened)
    opened = [replace(pull, base=moved.get(pull.number, pull.base)) for pull in opened]
    pull = find_pull(
        github,
        opened,
        number=generation.number,
        branch=generation.branch,
        tree=repository.tree_of(generation.commit),
    )
    answer = {
        "format_version": 1,
        "generation": generation.number,
        "retargeted": {str(number): base for number, base in moved.items()},
        "requests": [],
    }
    if pull is not None and pull.state != "open":
        return answer | settle(repository, generation, github, pull)
    if pull is not None and pull.marker.generation != generation.number:
        return answer | waiting(pull, "shows the same change already", "Review that one.")
    if pull is None and opened and not wishes.stack:
        return answer | waiting(
            opened[0], "is open", "Merge or close it first; --stack opens another one on top of it."
        )
    return answer | bring_up_to_date(
        Desk(repository, github, remote, wishes, opened), generation, pull
    )


def read_token(place: Place, generation: Generation, wishes: Wishes) -> str:
    """The token. GitHubError: there is none, or the run is for a fork, which is given none."""
    link = place.compare_link(wishes.base, generation.branch, f"gen-{generation.number:04d}")
    if is_for_a_fork(os.environ.get("GITHUB_EVENT_PATH"), place.slug):
        raise GitHubError(
            "This run is for a pull request from a fork: it has no secrets and may write nothing.",
            "Run the command on a branch of the repository itself.",
        )
    token = os.environ.get("GITHUB_TOKEN") or os.environ.get("GH_TOKEN") or ""
    if not token.strip():
        raise GitHubError(
            "There is no token to open a pull request with.",
            "Set GITHUB_TOKEN or GH_TOKEN; or push by hand "
            f"(git push {wishes.remote} {generation.branch}) and open it here: {link}",
        )
    return token.strip()


def is_for_a_fork(event: str | None, slug: str) -> bool:
    """Whether the event of this run in Actions is a pull request from another repository."""
    try:
        told = json.loads(Path(event or "").read_text(encoding="utf-8"))
        head = told["pull_request"]["head"]["repo"]
    except (OSError, ValueError, KeyError, TypeError):
        return False
    # The repository of a fork that was deleted is null.
    return head is None or str(head.get("full_name", "")).lower() != slug.lower()


def waiting(pull: Pull, why: str, following: str) -> dict[str, Any]:
    reason = f"Pull request {pull.number} {why}: {pull.url}."
    return {
        "status": "waiting",
        "number": pull.number,
        "url": pull.url,
        "reason": reason,
        "next": following,
    }


def settle(
    repository: Repository, generation: Generation, github: GitHub, pull: Pull
) -> dict[str, Any]:
    """What a person has decided: merged, or closed, which is recorded with their words."""
    from bot.commands.pr_requests import reject
    from bot.publish.requests import closing_words

    told: dict[str, Any] = {"status": pull.state, "number": pull.number, "url": pull.url}
    if pull.state == "merged":
        return told
    closer = str((github.issue(pull.number).get("closed_by") or {}).get("login") or "somebody")
    words = closing_words(
        github.comments(pull.number),
        github.reviews(pull.number),
        permission=github.permission,
        own=github.login() or pull.author,
    )
    reason = f"Pull request {pull.number} was closed by {closer}." + (
        f"\n\n{words}" if words else ""
    )
    kept = [
        reject(repository, generation, number, reason)
        for number in range(1, len(generation.repairs) + 1)
    ]
    return told | {
        "reason": f"Pull request {pull.number} was closed by {closer}, and stays closed.",
        "next": "The rejection is recorded."
        if all(kept)
        else "`ecdysis fetch` gets the notes, without which it cannot be recorded.",
        "words": words,
    }


def record_decisions(repository: Repository, github: GitHub) -> None:
    """Record the other generations whose pull requests were closed since the last run."""
    from bot.lineage.generations import list_generations
    from bot.lineage.rejected import list_rejected
    from bot.publish.pull_request import closed_markers, read_pull

    closed = list(closed_markers(github))
    if not closed:
        return
    recorded = {one.digest for one in list_rejected(repository)}
    left = {
        generation.number: generation
        for generation in list_generations(repository)
        if not {repair.message.trailers.get("Spec", "") for repair in generation.repairs} & recorded
    }
    for number, marker in closed:
        generation = left.get(marker.generation)
        if generation is None or repository.tree_of(generation.commit) != marker.tree:
            continue
        pull = read_pull(github, github.pull(number))
        if pull is not None and pull.state == "closed":
            settle(repository, generation, github, pull)


@dataclass(frozen=True)
class Desk:
    """What bringing a pull request up to date needs."""

    repository: Repository
    github: GitHub
    remote: Remote
    wishes: Wishes
    opened: list[Pull]


def bring_up_to_date(desk: Desk, generation: Generation, pull: Pull | None) -> dict[str, Any]:
    """Do what was asked for in comments, push, write, answer: in that order, so that a run that
    is killed is made up for by the next one.
    """
    from bot.commands.pr_facts import gather
    from bot.commands.pr_requests import (
        done_drops,
        drop_repairs,
        open_drops,
        record_dropped,
        write_answers,
    )
    from bot.publish.branch import choose_spot, push
    from bot.publish.facts import weaknesses
    from bot.publish.pull_request import Published, publish
    from bot.publish.requests import answer_to

    target, stacked_on, notes = choose_target(desk, generation, pull)
    more = {**told(desk.wishes), "stacked_on": stacked_on, "notes": notes}
    requests = read_all_requests(desk, pull)
    if (
        pull is not None
        and desk.wishes.reported_by is not None
        and not requests
        and desk.repository.tree_of(generation.commit) == pull.marker.tree
    ):
        # An evaluating job that found the same again, with other seconds and dates.
        facts = gather(desk.repository, generation, target=target, **more)
        labels = tuple(pull.labels)
        same = Published("unchanged", pull.number, pull.url, pull.draft, labels)
        shown = replace(facts, branch=pull.branch, commit=pull.marker.head)
        return describe(same, shown, requests) | {"weaknesses": weaknesses(facts)}
    answers: dict[str, str] = {}
    if pull is not None and requests:
        was = generation
        drops, refusal = open_drops(requests, generation), ""
        if drops:
            rebuilt = drop_repairs(desk.repository, generation, drops)
            generation, refusal = rebuilt.generation, rebuilt.refusal
            if not refusal:
                record_dropped(desk.repository, was, drops, pull.number)
        answers = write_answers(
            requests,
            was,
            lambda: gather(desk.repository, was, target=target, **more),
            done=done_drops(was),
            refusal=refusal,
        )
    spot = choose_spot(
        desk.repository,
        desk.remote,
        pull.branch if pull else generation.branch,
        generation.commit,
        ours={pull.marker.head} if pull else set(generation.commits),
        fixed=pull is not None,
    )
    push(desk.repository, desk.remote, spot)
    facts = gather(desk.repository, generation, target=target, **more)
    facts = replace(facts, branch=spot.branch, commit=spot.head)
    published = publish(desk.github, facts, pull)
    for source, text in answers.items():
        desk.github.comment(published.number, answer_to(source, text))
    return describe(published, facts, requests) | {"weaknesses": weaknesses(facts)}


def read_all_requests(desk: Desk, pull: Pull | None) -> list[Request]:
    from bot.publish.requests import read_requests

    if pull is None:
        return []
    return read_requests(
        desk.github.comments(pull.number),
        desk.github.reviews(pull.number),
        permission=desk.github.permission,
        own=desk.github.login() or pull.author,
    )


def choose_target(
    desk: Desk, generation: Generation, pull: Pull | None
) -> tuple[str, int | None, list[str]]:
    """The branch to merge into, the pull request whose branch that is, and what to note.

    A generation on top of one whose pull request is open goes onto that branch. RepositoryError:
    it stands on one that was rejected.
    """
    from bot.lineage.generations import generation_at
    from bot.publish.pull_request import MOST_OPEN, find_pull

    for below in desk.opened:
        if below.marker.head == generation.base and (pull is None or below.number != pull.number):
            if pull is None and len(desk.opened) >= MOST_OPEN:
                break
            return below.branch, below.number, []
    if pull is not None:
        return pull.base, None, []
    if len(desk.opened) >= MOST_OPEN:
        raise NothingFound(
            f"{len(desk.opened)} pull requests of the bot are open, and no more are opened.",
            "Merge or close some of them.",
        )
    target = desk.wishes.base or desk.github.default_branch()
    number = generation_at(desk.repository, generation.base or "")
    if not number:
        return target, None, []
    from bot.lineage.generations import find_generation

    lower = find_generation(desk.repository, str(number))
    known = find_pull(
        desk.github,
        desk.opened,
        number=number,
        branch=lower.branch,
        tree=desk.repository.tree_of(lower.commit),
    )
    if known is not None and known.state == "closed":
        raise RepositoryError(
            f"Generation {generation.number} stands on generation {number}, whose pull request "
            f"{known.number} was closed.",
            f"Move it: ecdysis rebase {generation.number} --onto {target}",
        )
    if known is not None and known.state == "merged":
        return target, None, []
    note = f"It stands on generation {number}, which has no pull request: its commits show here."
    return target, None, [note]


def describe(
    published: Published, facts: GenerationFacts, requests: list[Request]
) -> dict[str, Any]:
    return {
        "status": published.status,
        "number": published.number,
        "url": published.url,
        "branch": facts.branch,
        "base": facts.target,
        "draft": published.draft,
        "labels": list(published.labels),
        "comments": published.comments,
        "requests": [
            {"kind": r.kind, "number": r.number, "author": r.author, "words": r.words}
            for r in requests
        ],
    }


def show(answer: dict[str, Any], as_json: bool) -> None:
    """One JSON object, or a few lines that hold nothing foreign but names."""
    from bot.display import count, printable

    if as_json:
        click.echo(json.dumps(answer))
        return
    for number, base in answer["retargeted"].items():
        click.echo(f"Pull request {number} is now for {printable(base, 80)}.")
    if answer["status"] in ("closed", "waiting"):
        return
    draft = ", a draft" if answer.get("draft") else ""
    click.echo(f"Pull request {answer['number']} {answer['status']}{draft}: {answer['url']}")
    for sentence in answer.get("weaknesses", []):
        click.echo(f"  weak: {printable(sentence, 200)}")
    if answer["requests"]:
        click.echo(f"{count(len(answer['requests']), 'request')} answered.")
