"""A fake of GitHub for tests: a real HTTP server with a real git repository, and no more.

It is not GitHub. It keeps pull requests, comments, reviews, labels and permissions in memory, gives
the answers that the bot must cope with, and takes pushes through `git http-backend`. Every request
and every answer is checked against what GitHub publishes (`github_facts.py`); what is wrong is
kept in `violations`, and a test fails on it when the server is closed.
"""

from __future__ import annotations

import base64
import json
import os
import re
import shlex
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from bot.publish.comments import commentable_lines
from tests.helpers.github_facts import check_exchange
from tests.helpers.repositories import git

TOKEN = "ghs_" + "fake" * 9
PREFIX = "/api/v3"
LONGEST_BODY = 65_536


@dataclass
class Fault:
    """An answer that is given instead of the right one, `times` times."""

    method: str
    path: str  # a regular expression
    status: int
    message: str = "Fault"
    headers: dict[str, str] = field(default_factory=dict)
    times: int = 1
    body: Any = None  # instead of the message
    after: bool = False  # the request is carried out before the answer is spoilt


class Refused(Exception):
    """The fake answers with an error."""

    def __init__(self, status: int, message: str, *errors: str) -> None:
        super().__init__(message)
        self.status, self.message, self.errors = status, message, errors


@dataclass
class FakeGitHub:
    """One repository `shop/desk`, as an account with the token sees it."""

    folder: Path
    bot: str | None = "ecdysis"  # None: an installation's token, which has no user
    permissions: dict[str, str] = field(default_factory=dict)  # login → admin, write, read, none
    pulls: dict[int, dict[str, Any]] = field(default_factory=dict)
    comments: dict[int, list[dict[str, Any]]] = field(default_factory=dict)
    reviews: dict[int, list[dict[str, Any]]] = field(default_factory=dict)
    inline: dict[int, list[dict[str, Any]]] = field(default_factory=dict)  # comments of reviews
    labels: list[str] = field(default_factory=list)
    faults: list[Fault] = field(default_factory=list)
    page_size: int = 100
    drafts: bool = True
    requests: list[tuple[str, str, Any]] = field(default_factory=list)
    violations: list[str] = field(default_factory=list)
    base: str = ""
    slug: str = "shop/desk"
    counter: int = 0

    @property
    def git_dir(self) -> Path:
        return self.folder / f"{self.slug}.git"

    @property
    def url(self) -> str:
        return f"{self.base}/{self.slug}.git"

    @property
    def login(self) -> str:
        return self.bot or "ecdysis[bot]"

    def writes(self) -> list[str]:
        """`METHOD path` of every request that changes something, in order."""
        return [f"{method} {path}" for method, path, _ in self.requests if method != "GET"]

    # --- what people do --------------------------------------------------------------------

    def say(self, number: int, login: str, body: str, *, edited: bool = False) -> dict[str, Any]:
        """A comment of an account."""
        comment = self._text(login, body)
        comment["updated_at"] = "2026-01-02T00:00:00Z" if edited else comment["created_at"]
        self.comments.setdefault(number, []).append(comment)
        return comment

    def request_changes(self, number: int, login: str, body: str) -> None:
        review = {
            **self._review(login, body),
            "state": "CHANGES_REQUESTED",
            "commit_id": self._pull(number)["head"]["sha"],
        }
        self.reviews.setdefault(number, []).append(review)

    def close(self, number: int, login: str) -> None:
        self.pulls[number] |= {"state": "closed", "closed_by": login}

    def merge(self, number: int, *, squash: bool = False) -> None:
        """Merge on the server as its button does: by a merge commit, or by one with all of it."""
        pull = self.pulls[number]
        base, head = pull["base"], f"refs/heads/{pull['head']}"
        tree = git(self.git_dir, "rev-parse", f"{head}^{{tree}}")
        below = f"refs/heads/{base}"
        parents = ["-p", below] if squash else ["-p", below, "-p", head]
        commit = git(self.git_dir, "commit-tree", tree, *parents, "-m", f"Merge {number}")
        git(self.git_dir, "update-ref", f"refs/heads/{base}", commit)
        pull |= {"state": "closed", "merged_at": "2026-01-03T00:00:00Z"}

    def branch(self, name: str) -> str | None:
        """What a branch holds; None where there is none."""
        found = git(self.git_dir, "for-each-ref", "--format=%(objectname)", f"refs/heads/{name}")
        return found or None

    # --- what the API does -----------------------------------------------------------------

    def answer(
        self, method: str, path: str, query: dict[str, str], body: Any
    ) -> tuple[int, Any, dict[str, str]]:
        """Status, JSON and headers."""
        self.requests.append((method, path, body))
        fault = next((f for f in self.faults if f.times and self._hits(f, method, path)), None)
        if fault is not None:
            fault.times -= 1
            if fault.after:
                self._route(method, path, query, body)
            spoilt = {"message": fault.message} if fault.body is None else fault.body
            return fault.status, spoilt, fault.headers
        try:
            status, answer = self._route(method, path, query, body)
        except Refused as error:
            errors = [{"message": text} for text in error.errors]
            return error.status, {"message": error.message, "errors": errors}, {}
        wrong = check_exchange(method, path, query, body, status, answer)
        if wrong:
            self.violations.append(wrong)
        headers: dict[str, str] = {}
        if isinstance(answer, list) and method == "GET":
            answer, headers = self._page(path, query, answer)
        return status, answer, headers

    def _hits(self, fault: Fault, method: str, path: str) -> bool:
        return fault.method == method and re.search(fault.path, path) is not None

    def _page(
        self, path: str, query: dict[str, str], items: list[Any]
    ) -> tuple[list[Any], dict[str, str]]:
        size = min(int(query.get("per_page", "30")), self.page_size)
        page = int(query.get("page", "1"))
        headers = {}
        if page * size < len(items):
            rest = "&".join(f"{k}={v}" for k, v in query.items() if k != "page")
            link = f"{self.base}{PREFIX}{path}?{rest}&page={page + 1}"
            headers["Link"] = f'<{link}>; rel="next", <{link}>; rel="last"'
        return items[(page - 1) * size : page * size], headers

    def _route(self, method: str, path: str, query: dict[str, str], body: Any) -> tuple[int, Any]:
        if path == "/user":
            if self.bot is None:
                raise Refused(403, "Resource not accessible by integration")
            return 200, {"login": self.bot, "type": "User", "user_view_type": "public"}
        root = f"/repos/{self.slug}"
        if not path.lower().startswith(root):
            raise Refused(404, "Not Found")
        parts = path[len(root) :].strip("/").split("/")
        match method, parts:
            case "GET", [""]:
                return 200, {"full_name": self.slug, "default_branch": "main"}
            case "GET", ["pulls"]:
                return 200, [self._pull(n) for n in self._matching(query)]
            case "POST", ["pulls"]:
                return 201, self._create(body)
            case "GET", ["pulls", number]:
                return 200, self._pull(self._number(number))
            case "PATCH", ["pulls", number]:
                return 200, self._update(self._number(number), body)
            case "GET", ["pulls", number, "reviews"]:
                return 200, self.reviews.get(self._number(number), [])
            case "POST", ["pulls", number, "reviews"]:
                return 200, self._add_review(self._number(number), body)
            case "GET", ["issues"]:
                wanted = set(query.get("labels", "").split(",")) - {""}
                found = [n for n in self._matching(query) if wanted <= set(self.pulls[n]["labels"])]
                return 200, [self._issue(n) for n in found]
            case "GET", ["issues", number]:
                return 200, self._issue(self._number(number))
            case "GET", ["issues", number, "comments"]:
                return 200, self.comments.get(self._number(number), [])
            case "POST", ["issues", number, "comments"]:
                self._limit(body["body"])
                return 201, self.say(self._number(number), self.login, body["body"])
            case "PUT", ["issues", number, "labels"]:
                self.pulls[self._number(number)]["labels"] = list(body["labels"])
                return 200, [{"name": name} for name in body["labels"]]
            case "GET", ["labels"]:
                return 200, [{"name": name} for name in self.labels]
            case "POST", ["labels"]:
                if body["name"] in self.labels:
                    raise Refused(422, "Validation Failed", "already_exists")
                self.labels.append(body["name"])
                return 201, {"name": body["name"], "color": body["color"]}
            case "GET", ["collaborators", login, "permission"]:
                return 200, {"permission": self.permissions.get(login, "read")}
        raise Refused(404, "Not Found")

    def _number(self, text: str) -> int:
        if int(text) not in self.pulls:
            raise Refused(404, "Not Found")
        return int(text)

    def _matching(self, query: dict[str, str]) -> list[int]:
        state = query.get("state", "open")
        found = []
        for number, pull in sorted(self.pulls.items(), reverse=True):
            head = f"{pull['owner']}:{pull['head']}"
            if (
                state in ("all", pull["state"])
                and query.get("head", head) == head
                and query.get("base", pull["base"]) == pull["base"]
            ):
                found.append(number)
        return found

    def _create(self, body: dict[str, Any]) -> dict[str, Any]:
        self._limit(body["body"])
        head, base = body["head"], body["base"]
        if self.branch(head) is None or self.branch(base) is None:
            raise Refused(422, "Validation Failed", "head or base is invalid")
        key = (head, base, "shop", "open")
        if any((p["head"], p["base"], p["owner"], p["state"]) == key for p in self.pulls.values()):
            raise Refused(
                422, "Validation Failed", f"A pull request already exists for shop:{head}."
            )
        if not git(self.git_dir, "rev-list", f"refs/heads/{base}..refs/heads/{head}"):
            raise Refused(422, "Validation Failed", f"No commits between {base} and {head}")
        if body.get("draft") and not self.drafts:
            raise Refused(422, "Draft pull requests are not supported in this repository.")
        return self._pull(self.add_pull(head, base, body["title"], body["body"], body["draft"]))

    def add_pull(
        self,
        head: str,
        base: str,
        title: str,
        body: str,
        draft: bool = False,
        *,
        author: str | None = None,
        owner: str = "shop",
    ) -> int:
        """A pull request, of the bot or of anybody."""
        number = len(self.pulls) + 1
        self.pulls[number] = {
            "head": head,
            "base": base,
            "title": title,
            "body": body,
            "draft": draft,
            "state": "open",
            "author": author or self.login,
            "owner": owner,
            "labels": [],
            "merged_at": None,
            "closed_by": None,
        }
        return number

    def _update(self, number: int, body: dict[str, Any]) -> dict[str, Any]:
        self._limit(body.get("body", ""))
        if "base" in body and self.branch(body["base"]) is None:
            raise Refused(422, "Validation Failed", "Proposed base branch was not found")
        self.pulls[number] |= body
        return self._pull(number)

    def _add_review(self, number: int, body: dict[str, Any]) -> dict[str, Any]:
        pull = self.pulls[number]
        self._limit(body["body"])
        base, head = f"refs/heads/{pull['base']}", f"refs/heads/{pull['head']}"
        diff = git(self.git_dir, "diff", "--no-color", f"{base}...{head}")
        lines = commentable_lines(diff)
        for comment in body["comments"]:
            if (comment["side"], comment["line"]) not in lines.get(comment["path"], set()):
                raise Refused(422, "Unprocessable Entity", "Line could not be resolved")
        review = {**self._review(self.login, body["body"]), "commit_id": body["commit_id"]}
        if body["commit_id"] not in git(self.git_dir, "rev-list", head).split():
            raise Refused(422, "Unprocessable Entity", "Commit is not part of the pull request")
        self.reviews.setdefault(number, []).append(review)
        self.inline.setdefault(number, []).extend(body["comments"])
        return review

    def _limit(self, body: str) -> None:
        if len(body) > LONGEST_BODY:
            raise Refused(
                422, "Validation Failed", "body is too long (maximum is 65536 characters)"
            )

    def _pull(self, number: int) -> dict[str, Any]:
        pull = self.pulls[number]
        return {
            "number": number,
            "state": pull["state"],
            "title": pull["title"],
            "body": pull["body"],
            "draft": pull["draft"],
            "merged_at": pull["merged_at"],
            "html_url": f"{self.base}/{self.slug}/pull/{number}",
            "user": self._user(pull["author"]),
            "labels": [{"name": name} for name in pull["labels"]],
            "head": {
                "ref": pull["head"],
                "sha": self.branch(pull["head"]) or "",
                "repo": {"full_name": f"{pull['owner']}/desk"},
            },
            "base": {"ref": pull["base"], "sha": self.branch(pull["base"]) or ""},
        }

    def _issue(self, number: int) -> dict[str, Any]:
        pull = self.pulls[number]
        return {
            "number": number,
            "state": pull["state"],
            "title": pull["title"],
            "body": pull["body"],
            "closed_by": self._user(pull["closed_by"]) if pull["closed_by"] else None,
            "pull_request": {"html_url": f"{self.base}/{self.slug}/pull/{number}"},
        }

    def _user(self, login: str) -> dict[str, Any]:
        return {"login": login, "type": "Bot" if login.endswith("[bot]") else "User"}

    def _text(self, login: str, body: str) -> dict[str, Any]:
        self.counter += 1
        return {
            "id": 1000 + self.counter,
            "user": self._user(login),
            "body": body,
            "created_at": "2026-01-01T00:00:00Z",
            "updated_at": "2026-01-01T00:00:00Z",
        }

    def _review(self, login: str, body: str) -> dict[str, Any]:
        self.counter += 1
        return {
            "id": 1000 + self.counter,
            "user": self._user(login),
            "body": body,
            "state": "COMMENTED",
            "submitted_at": "2026-01-01T00:00:00Z",
        }


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    github: FakeGitHub
    lock = threading.Lock()

    def log_message(self, format: str, *args: object) -> None:
        return

    def _serve(self) -> None:
        body = self._read()
        parts = urlsplit(self.path)
        if parts.path.startswith(PREFIX):
            self._serve_api(parts.path[len(PREFIX) :], parts.query, body)
        else:
            self._serve_git(parts.path, parts.query, body)

    do_GET = do_POST = do_PATCH = do_PUT = do_DELETE = _serve

    def _read(self) -> bytes:
        if self.headers.get("Transfer-Encoding", "") == "chunked":
            parts = []
            while size := int(self.rfile.readline(), 16):
                parts.append(self.rfile.read(size))
                self.rfile.readline()
            self.rfile.readline()
            return b"".join(parts)
        return self.rfile.read(int(self.headers.get("Content-Length") or 0))

    def _serve_api(self, path: str, query: str, body: bytes) -> None:
        if self.headers.get("Authorization") != f"Bearer {TOKEN}":
            self._send(401, {"message": "Bad credentials"}, {})
            return
        fields = json.loads(body) if body else None
        with self.lock:
            status, answer, headers = self.github.answer(
                self.command, path, dict(parse_qsl(query)), fields
            )
        self._send(status, answer, headers)

    def _send(self, status: int, answer: Any, headers: dict[str, str]) -> None:
        content = json.dumps(answer).encode()
        self.send_response(status)
        for name, value in {**headers, "Content-Length": str(len(content))}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(content)

    def _serve_git(self, path: str, query: str, body: bytes) -> None:
        wants = base64.b64encode(f"x-access-token:{TOKEN}".encode()).decode()
        given = self.headers.get_all("Authorization") or []
        if "receive-pack" in self.path and [h.lower() for h in given] != [f"basic {wants}".lower()]:
            self.send_response(401)
            self.send_header("WWW-Authenticate", 'Basic realm="fake"')
            self.send_header("Content-Length", "0")
            self.end_headers()
            return
        env = {
            "PATH": os.environ["PATH"],
            "GIT_PROJECT_ROOT": str(self.github.folder),
            "GIT_HTTP_EXPORT_ALL": "1",
            "GIT_CONFIG_NOSYSTEM": "1",
            "PATH_INFO": path,
            "QUERY_STRING": query,
            "REQUEST_METHOD": self.command,
            "CONTENT_TYPE": self.headers.get("Content-Type", ""),
            "CONTENT_LENGTH": str(len(body)),
            "HTTP_CONTENT_ENCODING": self.headers.get("Content-Encoding", ""),
            "GIT_PROTOCOL": self.headers.get("Git-Protocol", ""),
            "REMOTE_USER": "bot",
            "REMOTE_ADDR": "127.0.0.1",
        }
        done = subprocess.run(
            ["git", "http-backend"], input=body, env=env, capture_output=True, check=False
        )
        head, _, content = done.stdout.partition(b"\r\n\r\n")
        status = 200
        headers = []
        for line in head.decode().split("\r\n"):
            name, _, value = line.partition(": ")
            if name == "Status":
                status = int(value.split()[0])
            elif name:
                headers.append((name, value))
        self.send_response(status)
        for name, value in [*headers, ("Content-Length", str(len(content)))]:
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(content)


@contextmanager
def fake_github(folder: Path, **settings: Any) -> Iterator[FakeGitHub]:
    """The server, with an empty bare repository; its end asserts that nothing broke the rules."""
    github = FakeGitHub(folder, **settings)
    github.git_dir.mkdir(parents=True)
    git(github.git_dir, "init", "--quiet", "--bare")
    git(github.git_dir, "config", "http.receivepack", "true")
    handler = type("BoundHandler", (Handler,), {"github": github})
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    server.daemon_threads = True
    github.base = f"http://127.0.0.1:{server.server_address[1]}"
    thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    try:
        yield github
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
    assert github.violations == []


def refuse_pushes(github: FakeGitHub, words: str) -> None:
    """Refuse every push, in the words of GitHub."""
    hook = github.git_dir / "hooks" / "pre-receive"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text(f"#!/bin/sh\necho {shlex.quote(words)} >&2\nexit 1\n", encoding="utf-8")
    hook.chmod(0o755)
