"""One pull request per generation: found, opened, brought up to date; never made twice."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from bot.errors import GitHubError, NothingFound
from bot.publish.body import Marker, read_marker, write_body, write_title
from bot.publish.comments import reviewed_heads, write_review
from bot.publish.facts import LABEL, LABELS, GenerationFacts, choose_labels, weaknesses
from bot.publish.github import Answered, GitHub

MOST_OPEN = 5
"""Open pull requests of the bot in one repository; each run opens at most one more."""

BRANCHES = "ecdysis/"
"""How the names of all branches of the bot start."""

State = Literal["open", "merged", "closed"]


@dataclass(frozen=True)
class Pull:
    """A pull request that the bot made. `base` and `branch` are names of branches."""

    number: int
    state: State
    url: str
    title: str
    body: str
    base: str
    branch: str
    author: str
    draft: bool
    marker: Marker
    labels: tuple[str, ...] = ()


def read_pull(github: GitHub, answer: Mapping[str, Any]) -> Pull | None:
    """GitHub's pull request, if the bot made it: marked, and from this very repository."""
    marker = read_marker(answer.get("body"))
    head = answer.get("head") or {}
    whose = str((head.get("repo") or {}).get("full_name") or "")
    # A deleted fork has no repository; a deleted branch of this one still names it.
    if marker is None or whose.lower() != github.place.slug.lower():
        return None
    state: State = "open" if answer.get("state") == "open" else "closed"
    if answer.get("merged_at"):
        state = "merged"
    return Pull(
        number=int(answer["number"]),
        state=state,
        url=str(answer.get("html_url") or ""),
        title=str(answer.get("title") or ""),
        body=str(answer.get("body") or ""),
        base=str((answer.get("base") or {}).get("ref") or ""),
        branch=str(head.get("ref") or ""),
        author=str((answer.get("user") or {}).get("login") or ""),
        draft=bool(answer.get("draft")),
        marker=marker,
        labels=tuple(str(label.get("name")) for label in answer.get("labels") or []),
    )


def _made_by_the_bot(github: GitHub, answers: Iterable[Mapping[str, Any]]) -> list[Pull]:
    return [pull for pull in (read_pull(github, answer) for answer in answers) if pull is not None]


def open_pulls(github: GitHub) -> list[Pull]:
    """The bot's open pull requests, newest first."""
    return _made_by_the_bot(github, github.pulls(state="open"))


def find_pull(
    github: GitHub, opened: Sequence[Pull], *, number: int, branch: str, tree: str
) -> Pull | None:
    """The pull request of a generation: the open one, else the one that was decided on.

    An open one that shows the same tree is the same change, whatever its number; a closed one
    likewise, which is how a decision outlives the branch's name.
    """
    for pull in opened:
        if pull.marker.generation == number or pull.marker.tree == tree:
            return pull
    head = f"{github.place.owner}:{branch}"
    for pull in _made_by_the_bot(github, github.pulls(head=head)):
        if pull.marker.tree == tree:  # else another change that once had this number
            return pull
    for closed, marker in closed_markers(github):
        if marker.tree == tree:
            found = read_pull(github, github.pull(closed))
            if found is not None:
                return found
    return None


def closed_markers(github: GitHub) -> Iterator[tuple[int, Marker]]:
    """Number and marker of what is closed or merged and has the bot's label, newest first.

    Only who may write here can set a label; still, `read_pull` is to be asked before it counts.
    """
    for issue in github.issues(state="closed", labels=LABEL):
        marker = read_marker(issue.get("body"))
        if marker is not None and issue.get("pull_request"):
            yield int(issue["number"]), marker


def retarget(github: GitHub, opened: Sequence[Pull]) -> dict[int, str]:
    """Point pull requests whose base was merged at the branch below it; number → new base."""
    moved = {}
    for pull in opened:
        base = pull.base
        for _ in range(MOST_OPEN):  # the branch below may have been merged, too
            if not base.startswith(BRANCHES):
                break
            head = f"{github.place.owner}:{base}"
            below = next(iter(_made_by_the_bot(github, github.pulls(head=head))), None)
            if below is None or below.state != "merged":
                break
            base = below.base
        if base != pull.base:
            github.update_pull(pull.number, base=base)
            moved[pull.number] = base
    return moved


@dataclass(frozen=True)
class Published:
    """What became of a pull request: `opened`, `updated` or `unchanged`."""

    status: Literal["opened", "updated", "unchanged"]
    number: int
    url: str
    draft: bool
    labels: tuple[str, ...]
    comments: int = 0


def publish(github: GitHub, facts: GenerationFacts, existing: Pull | None) -> Published:
    """Open the pull request of a branch that was pushed, or bring it up to date.

    Raises GitHubError with the page on which a person can open it, where the bot may not.
    """
    title, body = write_title(facts), write_body(facts)
    status: Literal["opened", "updated", "unchanged"] = "unchanged"
    created = existing is None
    if existing is None:
        existing, created = _create(github, facts, title, body)
    changes: dict[str, str] = {}
    if not created and existing.body.replace("\r\n", "\n") != body:
        changes["body"] = body
    if existing.marker.head != facts.commit and existing.title != title:
        changes["title"] = title  # else a person may have worded it
    if existing.base != facts.target and facts.stacked_on is not None:
        changes["base"] = facts.target
    if changes:
        github.update_pull(existing.number, **changes)
        status = "updated"
    labels = _set_labels(github, existing, choose_labels(facts))
    comments = _review(github, facts, existing.number)
    if created:
        status = "opened"
    elif comments or set(labels) != set(existing.labels):
        status = "updated"
    return Published(status, existing.number, existing.url, existing.draft, tuple(labels), comments)


def _create(github: GitHub, facts: GenerationFacts, title: str, body: str) -> tuple[Pull, bool]:
    """The pull request, and whether it is new: another run may have opened it meanwhile."""
    fields: dict[str, Any] = {
        "title": title,
        "head": facts.branch,
        "base": facts.target,
        "body": body,
        "draft": bool(weaknesses(facts)),
    }
    try:
        return _known(github, github.create_pull(**fields)), True
    except Answered as error:
        said = error.said.lower()
        if error.status == 422 and "already exists" in said:
            head = f"{github.place.owner}:{facts.branch}"
            for pull in _made_by_the_bot(github, github.pulls(state="open", head=head)):
                return pull, False
            raise GitHubError(
                f"{facts.branch} has a pull request that the bot did not make.",
                "Close it, or delete its branch, then run the command again.",
            ) from None
        if error.status == 422 and "no commits between" in said:
            raise NothingFound(
                f"{facts.target} holds all of generation {facts.number} already.",
                "There is nothing to review.",
            ) from None
        if error.status == 422 and fields["draft"] and "draft" in said:
            # Not every plan has drafts; the label and the first lines say it as well.
            return _known(github, github.create_pull(**{**fields, "draft": False})), True
        if error.status in (403, 404):
            link = github.place.compare_link(facts.target, facts.branch, title)
            raise GitHubError(
                f"The branch {facts.branch} is pushed, but GitHub lets the bot open no pull "
                f"request ({error.said}).",
                f"Open it here: {link} or allow it: in the repository's settings, under Actions, "
                "General, Workflow permissions; or give the bot the token of a GitHub App.",
            ) from None
        raise


def _known(github: GitHub, answer: Mapping[str, Any]) -> Pull:
    pull = read_pull(github, answer)
    if pull is None:
        raise GitHubError(
            "GitHub gave back another pull request than was asked for.", "Look at it."
        )
    return pull


def _set_labels(github: GitHub, pull: Pull, wanted: Sequence[str]) -> list[str]:
    """The bot's labels as they should be, people's as they are; all of them."""
    others = [name for name in pull.labels if name not in LABELS]
    names = [*others, *wanted]
    if set(names) == set(pull.labels):
        return names
    known = set(github.labels())
    for name in wanted:
        if name not in known:
            color, description = LABELS[name]
            github.create_label(name, color, description)
    github.set_labels(pull.number, names)
    return names


def _review(github: GitHub, facts: GenerationFacts, number: int) -> int:
    """Comment on the hunks, once for each commit; how many comments were made."""
    if not any(repair.hunks for repair in facts.repairs):
        return 0
    if facts.commit in reviewed_heads(github.reviews(number)):
        return 0
    fields = write_review(facts)
    try:
        github.review(number, **fields)
    except Answered as error:
        if error.status != 422 or not fields["comments"]:
            raise
        # The base moved, and with it the lines that GitHub takes comments on.
        without = [f"- `{c['path']}` line {c['line']}: {c['body']}" for c in fields["comments"]]
        body = "\n".join([fields["body"], "", *without])[:60_000]
        github.review(number, **{**fields, "body": body, "comments": []})
        return 0
    return len(fields["comments"])
