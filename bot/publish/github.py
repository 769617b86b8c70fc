"""The few calls of GitHub's REST API that the bot makes. The only socket of this room.

Writes are at least a second apart, limits are waited for where that is short, reads are repeated
after a fault of the server; a write is not, since it may have been done: a second run looks first.
"""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from email.message import Message
from http.client import HTTPException
from typing import Any
from urllib.error import HTTPError, URLError
from urllib.parse import quote, urlencode, urljoin, urlsplit
from urllib.request import HTTPRedirectHandler, Request, build_opener

from bot.display import printable, remember_secret, scrub
from bot.errors import GitHubError, UsageError

API_VERSION = "2022-11-28"
WRITE_PAUSE_S = 1.0
LONGEST_WAIT_S = 120.0
TIMEOUT_S = 30.0
ATTEMPTS = 4
LARGEST_ANSWER = 16 << 20
MOST_PAGES = 100
_NAME = re.compile(r"[A-Za-z0-9_.-]{1,100}")
_LOGIN = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9_-]{0,98})(?:\[bot\])?")
_NEXT = re.compile(r'<([^>]+)>\s*;[^,]*\brel="?next"?')


class Answered(GitHubError):
    """GitHub answered with an error: `status`, and `said`, its own words."""

    def __init__(self, status: int, said: str, what: str) -> None:
        self.status, self.said = status, said
        super().__init__(f"GitHub refuses {what} ({status}): {said}.", _next_step(status))


def _next_step(status: int) -> str:
    steps = {
        401: "Check the token in GITHUB_TOKEN or GH_TOKEN: it may have expired.",
        403: "The token needs write access to contents and pull requests.",
        404: "Check the name of the repository, and that the token may see it.",
        422: "Look at the repository's pull requests and branches.",
    }
    return steps.get(status, "Try again later; what was done so far is kept.")


@dataclass(frozen=True)
class Place:
    """A repository on GitHub or on a server of one's own. `api` and `web` end without a slash."""

    owner: str
    name: str
    api: str = "https://api.github.com"
    web: str = "https://github.com"

    def __post_init__(self) -> None:
        for part in (self.owner, self.name):
            if not _NAME.fullmatch(part) or part in (".", ".."):
                raise UsageError(
                    f"{printable(part, 80)!r} is not a name on GitHub.", "Write OWNER/NAME."
                )

    @property
    def slug(self) -> str:
        return f"{self.owner}/{self.name}"

    def compare_link(self, base: str | None, branch: str, title: str) -> str:
        """The page on which a person opens the pull request by hand, its title filled in.

        Without `base` it is for the default branch.
        """
        ends = quote(branch, safe="/")
        if base is not None:
            ends = f"{quote(base, safe='/')}...{ends}"
        query = urlencode({"expand": "1", "title": title})
        return f"{self.web}/{self.slug}/compare/{ends}?{query}"


def find_place(slug: str | None, remote_url: str, environ: Mapping[str, str]) -> Place:
    """The repository that `slug` (OWNER/NAME), else GITHUB_REPOSITORY, else the remote names.

    GITHUB_API_URL and GITHUB_SERVER_URL, which Actions sets, name a server of one's own; without
    them it is the remote's host. UsageError: nothing names one.
    """
    host, _, path = _split_remote(remote_url)
    slug = slug or environ.get("GITHUB_REPOSITORY") or path
    owner, _, name = slug.partition("/")
    if not owner or not name:
        raise UsageError(
            "It is not known which repository on GitHub this is.",
            "Name it: --repository OWNER/NAME.",
        )
    api, web = environ.get("GITHUB_API_URL"), environ.get("GITHUB_SERVER_URL")
    if not api and not web and host and host != "github.com":
        web = f"https://{host}"
    if not api:
        api = f"{web.rstrip('/')}/api/v3" if web and not _is_public(web) else Place.api
    if not web:
        web = Place.web if api.rstrip("/") == Place.api else api.rstrip("/").removesuffix("/api/v3")
    for url in (api, web):
        if urlsplit(url).scheme not in ("http", "https") or not urlsplit(url).hostname:
            raise UsageError(
                f"{printable(url, 100)!r} is not the address of a server.",
                "Check GITHUB_API_URL and GITHUB_SERVER_URL.",
            )
    return Place(owner, name, api.rstrip("/"), web.rstrip("/"))


def _is_public(web: str) -> bool:
    return urlsplit(web).hostname == "github.com"


def _split_remote(url: str) -> tuple[str, str, str]:
    """Host, scheme and OWNER/NAME of a remote's URL; empty where it is a path."""
    match = re.fullmatch(r"(?:[\w.-]+@)?([\w.-]+):(?!//)(.+)", url)
    if match and "://" not in url:
        host, scheme, path = match.group(1), "ssh", match.group(2)
    else:
        parts = urlsplit(url)
        host, scheme, path = parts.hostname or "", parts.scheme, parts.path
    if not host:
        return "", "", ""
    return host, scheme, path.strip("/").removesuffix(".git")


class GitHub:
    """One repository's API with one token, which is never printed."""

    def __init__(
        self,
        place: Place,
        token: str,
        *,
        sleep: Callable[[float], None] = time.sleep,
        clock: Callable[[], float] = time.time,
    ) -> None:
        remember_secret(token)
        self.place = place
        self._token = token
        self._sleep, self._clock = sleep, clock
        self._wrote = float("-inf")
        # No redirect is followed blindly: the token goes to the API's own host only.
        self._open = build_opener(_NoRedirect).open

    # --- what the bot asks for -------------------------------------------------------------

    def login(self) -> str | None:
        """Whose token this is; None for an installation's token, which may not ask."""
        try:
            found = self.call("GET", "/user")
        except Answered as error:
            if error.status in (403, 404):
                return None
            raise
        return str(found.get("login") or "") or None

    def default_branch(self) -> str:
        return str(self.call("GET", self._repo())["default_branch"])

    def pulls(self, **query: str) -> Iterator[dict[str, Any]]:
        """Pull requests, newest first: `state`, `head` (OWNER:BRANCH), `base`."""
        return self.pages(self._repo("pulls"), {"state": "all", **query})

    def pull(self, number: int) -> dict[str, Any]:
        return self.call("GET", self._repo("pulls", number))

    def create_pull(self, **fields: Any) -> dict[str, Any]:
        return self.call("POST", self._repo("pulls"), fields)

    def update_pull(self, number: int, **fields: Any) -> dict[str, Any]:
        return self.call("PATCH", self._repo("pulls", number), fields)

    def issue(self, number: int) -> dict[str, Any]:
        return self.call("GET", self._repo("issues", number))

    def issues(self, **query: str) -> Iterator[dict[str, Any]]:
        """Issues and pull requests: `labels`, `state`."""
        return self.pages(self._repo("issues"), {"state": "all", **query})

    def comments(self, number: int) -> list[dict[str, Any]]:
        return list(self.pages(self._repo("issues", number, "comments")))

    def comment(self, number: int, body: str) -> None:
        self.call("POST", self._repo("issues", number, "comments"), {"body": body})

    def reviews(self, number: int) -> list[dict[str, Any]]:
        return list(self.pages(self._repo("pulls", number, "reviews")))

    def review(self, number: int, **fields: Any) -> None:
        self.call("POST", self._repo("pulls", number, "reviews"), fields)

    def labels(self) -> list[str]:
        """The names of the repository's labels."""
        return [str(label["name"]) for label in self.pages(self._repo("labels"))]

    def create_label(self, name: str, color: str, description: str) -> None:
        fields = {"name": name, "color": color, "description": description}
        self.call("POST", self._repo("labels"), fields)

    def set_labels(self, number: int, names: list[str]) -> None:
        """All labels of a pull request."""
        self.call("PUT", self._repo("issues", number, "labels"), {"labels": names})

    def permission(self, login: str) -> str:
        """`admin`, `write`, `read` or `none`, as it is now."""
        if not _LOGIN.fullmatch(login):
            return "none"
        try:
            found = self.call("GET", self._repo("collaborators", login, "permission"))
        except Answered as error:
            if error.status == 404:
                return "none"
            raise
        return str(found.get("permission", "none"))

    def _repo(self, *parts: str | int) -> str:
        tail = "".join(f"/{quote(str(part), safe='')}" for part in parts)
        return f"/repos/{self.place.slug}{tail}"

    # --- how it is asked -------------------------------------------------------------------

    def pages(self, path: str, query: Mapping[str, str] | None = None) -> Iterator[dict[str, Any]]:
        """Every item of a list, over all its pages; GitHubError beyond a hundred pages."""
        url = f"{path}?{urlencode({'per_page': '100', **(query or {})})}"
        for _ in range(MOST_PAGES):
            items, headers = self._ask("GET", url, None)
            if not isinstance(items, list):
                raise GitHubError(f"GitHub's answer to {path} is no list.", "Try again later.")
            yield from items
            following = _NEXT.search(headers.get("Link") or "")
            if not following:
                return
            url = following.group(1)
        raise GitHubError(f"{path} has more than {MOST_PAGES} pages.", "Close what is old.")

    def call(
        self, method: str, path: str, fields: Mapping[str, Any] | None = None
    ) -> dict[str, Any]:
        """The object that GitHub answers, {} where it is none.

        Raises Answered, or GitHubError where there is no answer.
        """
        answer = self._ask(method, path, fields)[0]
        return answer if isinstance(answer, dict) else {}

    def _ask(self, method: str, path: str, fields: Mapping[str, Any] | None) -> tuple[Any, Message]:
        url = path if "://" in path else f"{self.place.api}{path}"
        what = f"{method} {urlsplit(url).path}"
        for attempt in range(ATTEMPTS):
            last = attempt == ATTEMPTS - 1
            self._space_out(method)
            try:
                status, headers, content = self._exchange(method, url, fields)
            except (URLError, HTTPException, OSError) as error:
                if last or method != "GET":
                    said = scrub(printable(str(error), 200))
                    raise GitHubError(
                        f"GitHub cannot be reached at {self.place.api} ({said}).",
                        "Check the network, then run the command again.",
                    ) from None
                self._sleep(2.0**attempt)
                continue
            if status in (301, 302, 307, 308) and not last:
                url = self._redirected(url, headers, what)
                continue
            if status < 300:
                return _read_json(content, what), headers
            said = _words(content)
            wait = self._limit(status, headers, said, attempt)
            if wait is not None:
                if last or wait > LONGEST_WAIT_S:
                    raise GitHubError(
                        f"GitHub's rate limit is reached ({said}); it asks to wait {wait:.0f} s.",
                        "Run the command again after that; it goes on from there.",
                    )
                self._sleep(wait)
                continue
            if status >= 500 and method == "GET" and not last:
                self._sleep(2.0**attempt)
                continue
            raise Answered(status, said, what)
        raise GitHubError(f"GitHub redirects {what} without end.", "Check GITHUB_API_URL.")

    def _space_out(self, method: str) -> None:
        """Writes close together meet GitHub's secondary limit."""
        if method == "GET":
            return
        ahead = self._wrote + WRITE_PAUSE_S - self._clock()
        if 0 < ahead <= WRITE_PAUSE_S:
            self._sleep(ahead)
        self._wrote = self._clock()

    def _exchange(
        self, method: str, url: str, fields: Mapping[str, Any] | None
    ) -> tuple[int, Message, bytes]:
        if not url.startswith(f"{self.place.api}/"):
            raise GitHubError("GitHub's answer leads to another server.", "Check GITHUB_API_URL.")
        request = Request(url, method=method)
        request.add_header("Accept", "application/vnd.github+json")
        request.add_header("X-GitHub-Api-Version", API_VERSION)
        request.add_header("User-Agent", "ecdysis-bot")
        request.add_unredirected_header("Authorization", f"Bearer {self._token}")
        if fields is not None:
            request.data = json.dumps(fields).encode()
            request.add_header("Content-Type", "application/json")
        try:
            with self._open(request, timeout=TIMEOUT_S) as answer:
                content = answer.read(LARGEST_ANSWER + 1)
                status, headers = answer.status, answer.headers
        except HTTPError as error:
            with error:
                return error.code, error.headers, error.read(LARGEST_ANSWER)
        if len(content) > LARGEST_ANSWER:
            raise GitHubError("GitHub's answer is too large.", "Try again later.")
        return status, headers, content

    def _redirected(self, url: str, headers: Message, what: str) -> str:
        """Where a renamed repository is now: on the same server, or nowhere."""
        target = urljoin(url, headers.get("Location") or "")
        if urlsplit(target)[:2] != urlsplit(url)[:2]:
            raise GitHubError(
                f"GitHub redirects {what} to another server, which is not followed.",
                "Check GITHUB_API_URL.",
            )
        return target

    def _limit(self, status: int, headers: Message, said: str, attempt: int) -> float | None:
        """Seconds to wait because of a limit; None where this is no limit."""
        if status not in (403, 429):
            return None
        after = headers.get("Retry-After") or ""
        if after.strip().isdigit():
            return float(after)
        if headers.get("X-RateLimit-Remaining") == "0":
            reset = headers.get("X-RateLimit-Reset") or ""
            return max(float(reset) - self._clock(), 0) + 1 if reset.isdigit() else 60.0
        if status == 429 or "secondary rate limit" in said.lower() or "abuse" in said.lower():
            return float(60 << attempt)  # GitHub asks for at least a minute, then longer
        return None


class _NoRedirect(HTTPRedirectHandler):
    def redirect_request(self, *args: Any, **more: Any) -> None:
        return None


def _read_json(content: bytes, what: str) -> Any:
    if not content.strip():
        return {}
    try:
        return json.loads(content)
    except ValueError:
        raise GitHubError(
            f"GitHub's answer to {what} is not JSON.", "Check GITHUB_API_URL."
        ) from None


def _words(content: bytes) -> str:
    """What an error says, in one line without secrets."""
    try:
        body = json.loads(content)
    except ValueError:
        body = {}
    said = [str(body.get("message") or "no reason given")] if isinstance(body, dict) else ["?"]
    errors = body.get("errors") if isinstance(body, dict) else None
    for item in errors if isinstance(errors, list) else []:
        said.append(str(item.get("message") or item) if isinstance(item, dict) else str(item))
    return scrub(printable("; ".join(said), 300)).rstrip(".")
