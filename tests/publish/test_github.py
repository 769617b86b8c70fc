"""The client against a real HTTP server: pages, limits, faults, redirects, and the token."""

import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

from bot.errors import GitHubError, UsageError
from bot.publish import github as client
from bot.publish.github import Answered, GitHub, Place, find_place
from tests.helpers.github_api import PREFIX, TOKEN, FakeGitHub, Fault, fake_github
from tests.helpers.repositories import isolate_git


class Clock:
    """Time that passes only where somebody sleeps."""

    def __init__(self) -> None:
        self.now, self.slept = 1_000_000.0, list[float]()

    def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.now += seconds

    def time(self) -> float:
        return self.now


@pytest.fixture
def fake(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeGitHub]:
    isolate_git(monkeypatch, tmp_path)
    with fake_github(tmp_path / "server") as github:
        yield github


@pytest.fixture
def clock() -> Clock:
    return Clock()


def connect(fake: FakeGitHub, clock: Clock, token: str = TOKEN) -> GitHub:
    place = Place("shop", "desk", fake.base + PREFIX, fake.base)
    return GitHub(place, token, sleep=clock.sleep, clock=clock.time)


def test_all_pages_are_read(fake: FakeGitHub, clock: Clock) -> None:
    fake.labels = [f"label-{n}" for n in range(25)]
    fake.page_size = 10
    assert connect(fake, clock).labels() == fake.labels
    assert [path for _, path, _ in fake.requests] == ["/repos/shop/desk/labels"] * 3


def test_a_list_without_end(
    fake: FakeGitHub, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(client, "MOST_PAGES", 2)
    fake.labels = ["a", "b", "c"]
    fake.page_size = 1
    with pytest.raises(GitHubError, match="more than 2 pages"):
        connect(fake, clock).labels()


@pytest.mark.parametrize(
    ("status", "headers", "message", "waits"),
    [
        (403, {"Retry-After": "7"}, "You have exceeded a secondary rate limit", [7.0]),
        (429, {"Retry-After": "3"}, "slow down", [3.0]),
        (429, {}, "slow down", [60.0]),
        (403, {}, "You have exceeded a secondary rate limit. Wait.", [60.0]),
        (
            403,
            {"X-RateLimit-Remaining": "0", "X-RateLimit-Reset": "1000040"},
            "API rate limit exceeded",
            [41.0],
        ),
    ],
)
def test_limits_are_waited_for(
    fake: FakeGitHub,
    clock: Clock,
    status: int,
    headers: dict[str, str],
    message: str,
    waits: list[float],
) -> None:
    fake.faults = [Fault("POST", "/labels$", status, message, headers)]
    connect(fake, clock).create_label("a", "ffffff", "b")
    assert clock.slept == waits
    assert fake.labels == ["a"]


def test_a_long_limit_ends_the_run(fake: FakeGitHub, clock: Clock) -> None:
    fake.faults = [Fault("GET", "/labels$", 403, "secondary rate limit", {"Retry-After": "3600"})]
    with pytest.raises(GitHubError, match="it asks to wait 3600 s") as caught:
        connect(fake, clock).labels()
    assert caught.value.exit_code == 8
    assert clock.slept == []


def test_a_limit_that_stays_ends_the_run(fake: FakeGitHub, clock: Clock) -> None:
    fake.faults = [Fault("GET", "/labels$", 429, "no", {"Retry-After": "1"}, times=99)]
    with pytest.raises(GitHubError, match="rate limit is reached"):
        connect(fake, clock).labels()
    assert len(clock.slept) == client.ATTEMPTS - 1


def test_a_read_is_repeated_after_a_fault_and_a_write_is_not(
    fake: FakeGitHub, clock: Clock
) -> None:
    fake.faults = [Fault("GET", "/labels$", 502, times=2), Fault("POST", "/labels$", 502)]
    github = connect(fake, clock)
    assert github.labels() == []
    assert clock.slept == [1.0, 2.0]
    with pytest.raises(Answered, match=r"refuses POST .*labels \(502\)"):
        github.create_label("a", "ffffff", "b")
    assert fake.writes() == ["POST /repos/shop/desk/labels"]


def test_writes_are_a_second_apart(fake: FakeGitHub, clock: Clock) -> None:
    github = connect(fake, clock)
    for name in "abc":
        github.create_label(name, "ffffff", "b")
        github.labels()
    assert clock.slept == [1.0, 1.0]


def test_the_token_is_in_no_error(fake: FakeGitHub, clock: Clock) -> None:
    wrong = "a-token-that-nobody-knows"
    fake.faults = []
    with pytest.raises(Answered) as caught:
        connect(fake, clock, wrong).labels()
    assert caught.value.status == 401
    fake.faults = [Fault("GET", "/labels$", 422, f"you said {TOKEN}")]
    with pytest.raises(Answered) as leaked:
        connect(fake, clock).labels()
    assert wrong not in str(caught.value)
    assert "you said [secret]" in str(leaked.value)


def test_a_renamed_repository_is_followed(fake: FakeGitHub, clock: Clock) -> None:
    fake.labels = ["a"]
    target = f"{fake.base}{PREFIX}/repos/Shop/Desk/labels"
    fake.faults = [Fault("GET", "/labels$", 301, "Moved", {"Location": target})]
    assert connect(fake, clock).labels() == ["a"]


@pytest.mark.parametrize("status", [301, 302, 307])
def test_no_other_server_gets_the_token(fake: FakeGitHub, clock: Clock, status: int) -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        other.settimeout(0.05)
        location = f"http://127.0.0.1:{other.getsockname()[1]}/x"
        fake.faults = [Fault("GET", "/labels$", status, "Moved", {"Location": location})]
        with pytest.raises(GitHubError, match="to another server"):
            connect(fake, clock).labels()
        with pytest.raises(TimeoutError):
            other.accept()


def test_a_next_page_on_another_server_is_not_asked(fake: FakeGitHub, clock: Clock) -> None:
    link = '<http://127.0.0.1:9/x>; rel="next"'
    fake.faults = [Fault("GET", "/labels$", 200, "", {"Link": link})]
    with pytest.raises(GitHubError):
        connect(fake, clock).labels()


def test_nobody_answers(clock: Clock) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        address = f"http://127.0.0.1:{server.getsockname()[1]}"
    github = GitHub(Place("a", "b", address, address), TOKEN, sleep=clock.sleep, clock=clock.time)
    with pytest.raises(GitHubError, match="cannot be reached"):
        github.labels()
    assert clock.slept == [1.0, 2.0, 4.0]


def test_an_account_that_cannot_be_one_is_not_asked_for(fake: FakeGitHub, clock: Clock) -> None:
    fake.permissions["maya"] = "write"
    github = connect(fake, clock)
    assert [github.permission(name) for name in ("maya", "ann")] == ["write", "read"]
    asked = len(fake.requests)
    assert github.permission("../../user") == "none"
    assert len(fake.requests) == asked


@pytest.mark.parametrize(
    ("slug", "remote", "environ", "expected"),
    [
        (None, "https://github.com/shop/desk.git", {}, Place("shop", "desk")),
        (None, "git@github.com:shop/desk.git", {}, Place("shop", "desk")),
        (None, "ssh://git@github.com:22/shop/desk", {}, Place("shop", "desk")),
        ("a/b", "https://github.com/shop/desk", {}, Place("a", "b")),
        (None, "/srv/x.git", {"GITHUB_REPOSITORY": "a/b"}, Place("a", "b")),
        (
            None,
            "git@git.firm.example:shop/desk",
            {},
            Place("shop", "desk", "https://git.firm.example/api/v3", "https://git.firm.example"),
        ),
        (
            None,
            "https://git.firm.example/shop/desk",
            {"GITHUB_API_URL": "https://git.firm.example/api/v3"},
            Place("shop", "desk", "https://git.firm.example/api/v3", "https://git.firm.example"),
        ),
        (
            None,
            "https://github.com/shop/desk",
            {"GITHUB_API_URL": "https://api.github.com", "GITHUB_SERVER_URL": "https://github.com"},
            Place("shop", "desk"),
        ),
    ],
)
def test_which_repository(
    slug: str | None, remote: str, environ: dict[str, str], expected: Place
) -> None:
    assert find_place(slug, remote, environ) == expected


@pytest.mark.parametrize(
    ("slug", "environ"),
    [
        (None, {}),
        ("no-slash", {}),
        ("a/b/c", {}),
        ("a/..", {}),
        ("a/b?x", {}),
        ("a/b", {"GITHUB_API_URL": "file:///etc"}),
    ],
)
def test_no_such_repository(slug: str | None, environ: dict[str, str]) -> None:
    with pytest.raises(UsageError):
        find_place(slug, "/srv/x.git", environ)


def test_the_compare_link() -> None:
    link = Place("shop", "desk").compare_link("main", "ecdysis/gen-0001", "gen-0001: a & b")
    assert link == (
        "https://github.com/shop/desk/compare/main...ecdysis/gen-0001"
        "?expand=1&title=gen-0001%3A+a+%26+b"
    )
