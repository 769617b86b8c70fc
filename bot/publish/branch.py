"""The branch of a pull request on the remote: pushed with a lease, never over a person's commit."""

from __future__ import annotations

import base64
import os
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from urllib.parse import urlsplit

from bot.display import printable, remember_secret, scrub
from bot.errors import GitHubError, RepositoryError, UsageError
from bot.git.names import check_oid, check_ref_name
from bot.git.repository import Repository
from bot.publish.github import Place

MOST_SUFFIXES = 20
_REFUSALS = (
    (("stale info", "fetch first", "non-fast-forward", "cannot lock ref"), "moved"),
    (("without `workflow", "refusing to allow"), "workflow"),
    (
        (
            *("error: 401", "error: 403", "authentication failed", "could not read username"),
            *("permission denied", "denied to", "repository not found", "' not found"),
        ),
        "access",
    ),
    (("protected branch", "gh006", "gh013", "rule violations", "hook declined"), "protected"),
)
"""What git says of a push, in lower case, and the kind of refusal that it means."""


@dataclass(frozen=True)
class Remote:
    """A remote of this repository; `env` lets git push to it with the bot's token."""

    name: str
    url: str
    env: Mapping[str, str] = field(default_factory=dict)


def open_remote(repository: Repository, name: str) -> Remote:
    """The remote `name`. UsageError: there is none of that name."""
    known = repository.git("remote").splitlines()
    if name not in known or name.startswith("-"):
        raise UsageError(
            f"There is no remote {printable(name, 80)!r}.",
            f"The remotes here: {', '.join(known) or 'none'}.",
        )
    return Remote(name, repository.git("remote", "get-url", "--push", name).split("\n")[0])


def with_token(remote: Remote, place: Place, token: str) -> Remote:
    """The remote, with the token for it where it is on the server that the token is for.

    A checkout in Actions leaves a header with its own token in the configuration, which wins over
    one in the URL: so the headers are emptied first. The token stands in the environment, in no
    argument and in no file. Other servers, and SSH, are left to git's own credentials.
    """
    parts = urlsplit(remote.url)
    same = parts.scheme in ("https", "http") and parts.netloc == urlsplit(place.web).netloc
    env = {"GIT_TERMINAL_PROMPT": "0"}
    if same:
        secret = base64.b64encode(f"x-access-token:{token}".encode()).decode()
        remember_secret(secret)
        key = f"http.{remote.url}.extraheader"
        given = os.environ.get("GIT_CONFIG_COUNT", "")
        first = int(given) if given.isdigit() else 0
        for number, value in enumerate(("", f"AUTHORIZATION: basic {secret}"), first):
            env[f"GIT_CONFIG_KEY_{number}"], env[f"GIT_CONFIG_VALUE_{number}"] = key, value
        env["GIT_CONFIG_COUNT"] = str(first + 2)
    return Remote(remote.name, remote.url, env)


@dataclass(frozen=True)
class Spot:
    """Where to push: `expected` is what the branch must hold now, None where it must not exist.

    `head` is what it holds afterwards; where it is what it holds now, nothing is to be pushed.
    """

    branch: str
    head: str
    expected: str | None = None


def choose_spot(
    repository: Repository,
    remote: Remote,
    branch: str,
    commit: str,
    *,
    ours: Collection[str],
    fixed: bool,
) -> Spot:
    """The branch for `commit`: `branch`, or where others use that name, one with a suffix.

    `ours` are commits that the bot pushed; with `fixed` an open pull request shows the branch, so
    that no other will do. Raises RepositoryError where somebody else's commits are on it.
    """
    listed = list_branches(repository, remote)
    if "refs/heads/ecdysis" in listed:
        raise RepositoryError(
            f"A branch named ecdysis on {remote.name} is in the way of {branch}.",
            f"Rename it: git push {remote.name} ecdysis:my-ecdysis :ecdysis",
        )
    tree = repository.tree_of(commit)
    for number in range(1, MOST_SUFFIXES):
        name = branch if number == 1 else f"{branch}-{number}"
        tip = listed.get(f"refs/heads/{name}")
        if tip is None:
            return Spot(name, commit)
        if tip == commit or _tree_of(repository, remote, name, tip) == tree:
            return Spot(name, tip, tip)
        if tip in ours:
            return Spot(name, commit, tip)
        if fixed:
            raise RepositoryError(
                f"{name} on {remote.name} holds commits that are not the bot's (the newest is by "
                f"{_author(repository, tip)}), and they are not overwritten.",
                "Merge or close its pull request, or move those commits to another branch.",
            )
    raise RepositoryError(f"{branch} and its suffixes are all in use.", "Delete old branches.")


def list_branches(repository: Repository, remote: Remote) -> dict[str, str]:
    """Full ref name → oid of the remote's branches that are, or would hide, the bot's."""
    try:
        listing = repository.git(
            "ls-remote", remote.name, "refs/heads/ecdysis", "refs/heads/ecdysis/*", env=remote.env
        )
    except RepositoryError as error:
        raise _explained(error, remote, "read from") from None
    found = {}
    for line in listing.splitlines():
        oid, _, name = line.partition("\t")
        found[name] = oid
    return found


def fetch_branch(repository: Repository, remote: Remote, branch: str) -> None:
    """Get the objects of a branch; no ref moves. Full names, for a tag may have the same one."""
    ref = check_ref_name(f"refs/heads/{branch}")
    repository.git(
        *("fetch", "--quiet", "--no-tags", "--no-write-fetch-head", "--no-recurse-submodules"),
        *("--refmap=", remote.name, ref),
        env=remote.env,
    )


def unshallow(repository: Repository, remote: Remote) -> None:
    """Get the history that a shallow clone lacks; nothing where it is whole."""
    if repository.state().shallow:
        repository.git(
            *("fetch", "--quiet", "--no-tags", "--no-recurse-submodules", "--unshallow"),
            remote.name,
            env=remote.env,
        )


def _tree_of(repository: Repository, remote: Remote, branch: str, tip: str) -> str | None:
    try:
        if tip not in repository.read_commits([check_oid(tip)]):
            fetch_branch(repository, remote, branch)
        return repository.tree_of(tip)
    except RepositoryError:
        return None


def _author(repository: Repository, tip: str) -> str:
    try:
        line = repository.git("log", "-1", "--format=%an", "--end-of-options", check_oid(tip))
    except RepositoryError:
        return "somebody else"
    return printable(line, 60) or "somebody else"


def push(repository: Repository, remote: Remote, spot: Spot) -> None:
    """Push what the spot lacks, only if the branch still holds what it did.

    Raises RepositoryError where it was moved meanwhile, GitHubError where it is refused.
    """
    if spot.head == spot.expected:
        return
    ref = check_ref_name(f"refs/heads/{spot.branch}")
    try:
        repository.git(
            *("push", "--quiet", "--no-follow-tags", "--recurse-submodules=no"),
            f"--force-with-lease={ref}:{spot.expected or ''}",
            *(remote.name, f"{check_oid(spot.head)}:{ref}"),
            env=remote.env,
        )
    except RepositoryError as error:
        raise _explained(error, remote, "push to") from None


def _explained(error: RepositoryError, remote: Remote, what: str) -> GitHubError | RepositoryError:
    said = error.message.lower()
    kind = next((kind for words, kind in _REFUSALS if any(w in said for w in words)), "")
    where = scrub(printable(remote.url, 200))
    if kind == "moved":
        return RepositoryError(
            f"Somebody pushed to the branch on {remote.name} meanwhile; nothing was overwritten.",
            "Run the command again.",
        )
    if kind == "workflow":
        return GitHubError(
            f"GitHub refuses the push to {where}: the base holds changes of workflow files that "
            "it does not know.",
            "Push the base branch yourself first, or give the token the right to workflows.",
        )
    if kind == "protected":
        return GitHubError(
            f"A rule of {where} refuses the push.",
            "Exempt ecdysis/* from it, or let the bot's account pass.",
        )
    if kind == "access":
        return GitHubError(
            f"The bot may not {what} {where}.",
            "It needs a token with write access to contents, in GITHUB_TOKEN or GH_TOKEN, or git's "
            "own credentials.",
        )
    return error
