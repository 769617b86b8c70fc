"""Many episodes at once: order, workers, budgets, calls, worlds, and giving up."""

import json
import os
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from bot.batch.record import CallRecord
from bot.batch.run import Job, Runner
from bot.batch.store import EpisodeStore
from bot.batch.tasks import load_splits
from bot.commands.revision import load_table
from bot.config import Budget, ModelTable
from bot.errors import BudgetSpent, EndpointError
from bot.git.repository import Repository
from bot.llm.budget import BudgetMeter
from bot.llm.scripted import Fault, ScriptedServer
from bot.records import Episode, ModelStep
from bot.sandbox import ResourceLimits
from tests.helpers.harnesses import run_train, runner, tiny

ASK = """
import urllib.error, urllib.request
def ask(text="hi", **more):
    message = {"role": "user", "content": text}
    body = json.dumps({"model": "mine", "messages": [message], **more}).encode()
    url = os.environ["OPENAI_BASE_URL"] + "/chat/completions"
    request = urllib.request.Request(url, body, {"Content-Type": "application/json"})
    return json.load(urllib.request.urlopen(request))["choices"][0]["message"]["content"]
"""
WORKER = """
import json, os, secrets, sys, time
who = secrets.token_hex(8)
for line in sys.stdin:
    task = json.loads(line)
    number, answer = task["input"]["q"], "42"
    def say(**fields):
        fields = {"task_id": task["task_id"], "answer": answer, "who": who, **fields}
        print(json.dumps(fields), flush=True)
"""
WORLD = """
import json, os, socketserver
state = os.path.join(os.environ["ECDYSIS_STATE"], "log")
class Requests(socketserver.StreamRequestHandler):
    def handle(self):
        for line in self.rfile:
            with open(state, "ab") as log:
                log.write(line)
            self.wfile.write(b"done\\n")
with socketserver.ThreadingUnixStreamServer(os.environ["ECDYSIS_ENVIRONMENT"], Requests) as world:
    open(os.environ["ECDYSIS_STATE"] + "/pid", "w").write(str(os.getpid()))
    world.serve_forever()
"""


@pytest.fixture(autouse=True)
def _cache(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ECDYSIS_CACHE", str(tmp_path_factory.getbasetemp() / "environments-cache"))
    monkeypatch.setenv("ECDYSIS_QUIET", "1")
    monkeypatch.setattr("bot.llm.proxy.RETRIES", 0)


def jobs(repository: Repository, *, trials: int = 1) -> list[Job]:
    tree = repository.tree_of("HEAD")
    tasks = load_splits(repository, tree, load_table(repository, "HEAD"))["train"]
    return [Job(tree, task, trial) for trial in range(trials) for task in tasks]


def worker(folder: Path, body: str, tasks: int, limits: str = "") -> Repository:
    """A worker whose loop over tasks ends in `body`."""
    indented = "".join(f"    {line}\n" for line in body.splitlines())
    files = {"agent.py": WORKER + indented}
    return tiny(folder, "", table="worker = true\n", tables=limits, tasks=tasks, files=files)


def extra(episode: Episode, name: str) -> Any:
    return (episode.model_extra or {})[name]


def ids(pairs: Iterator[tuple[Job, Episode]]) -> list[str]:
    return [episode.task_id for _, episode in pairs]


# --- order --------------------------------------------------------------------------------


def test_one_at_a_time_keeps_the_given_order(tmp_path: Path) -> None:
    repository = tiny(tmp_path, "write(trial=77, at=time.time())", tasks=3)
    wanted = jobs(repository, trials=2)
    with runner(repository, parallel=1) as work:
        pairs = list(work.run(reversed(wanted)))
    assert [job for job, _ in pairs] == wanted[::-1]
    assert [(e.task_id, e.trial) for _, e in pairs] == [
        ("t2", 1),
        ("t1", 1),
        ("t0", 1),
        ("t2", 0),
        ("t1", 0),
        ("t0", 0),
    ]
    times = [extra(e, "at") for _, e in pairs]
    assert times == sorted(times)


def test_in_parallel_whoever_ends_first_comes_first(tmp_path: Path) -> None:
    agent = "n = task['input']['q']\ntime.sleep(0 if n else 3)\nwrite(answer=str(n))"
    repository = tiny(tmp_path, agent, tasks=5)
    with runner(repository, parallel=2) as work:
        pairs = list(work.run(jobs(repository)))
    assert [job.task.task_id for job, _ in pairs] == ["t1", "t2", "t3", "t4", "t0"]
    # Each job has its own episode.
    assert all(job.task.task_id == e.task_id == f"t{e.answer}" for job, e in pairs)


def test_never_more_at_once_than_asked_for(tmp_path: Path) -> None:
    now, most, lock = 0, 0, threading.Lock()

    def script(request: dict[str, Any]) -> str:
        nonlocal now, most
        with lock:
            now += 1
            most = max(most, now)
        time.sleep(0.15)
        with lock:
            now -= 1
        return "yes"

    with ScriptedServer(script) as server:
        repository = tiny(tmp_path, ASK + "ask()\nwrite()", base_url=server.base_url, tasks=6)
        assert len(run_train(repository, parallel=3)) == 6
    assert most == 3


def test_jobs_of_two_revisions_run_side_by_side(tmp_path: Path) -> None:
    repository = tiny(tmp_path, "write()", tasks=2)
    base = jobs(repository)
    content = (tmp_path / "agent.py").read_bytes().replace(b"write()", b"write(answer='7')")
    other = repository.write_tree("HEAD", {"agent.py": content})
    mixed = [job for one in base for job in (one, Job(other, one.task))]
    with runner(repository) as work:
        outcomes = {(e.harness, e.task_id): e.outcome for _, e in work.run(mixed)}
    assert outcomes == {
        (tree, task): outcome
        for tree, outcome in ((base[0].tree, "pass"), (other, "fail"))
        for task in ("t0", "t1")
    }


# --- what an episode is given -------------------------------------------------------------


def test_each_episode_has_a_fresh_copy(tmp_path: Path) -> None:
    agent = """
seen = os.path.exists("note") or os.listdir(workdir) != []
open("note", "w").close(); open(os.path.join(workdir, "note"), "w").close()
open("agent.py", "a").write("raise SystemExit(1)")
write(answer="no" if seen else "42", home=os.environ["HOME"] == workdir)
"""
    episodes = run_train(tiny(tmp_path, agent, tasks=3), parallel=1)
    assert [e.outcome for e in episodes] == ["pass"] * 3
    assert all(extra(e, "home") for e in episodes)
    assert not (tmp_path / "note").exists()


def test_only_named_variables_are_passed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WANTED", "1")
    monkeypatch.setenv("UNWANTED", "1")
    monkeypatch.setenv("MODEL_KEY", "the-real-key")
    agent = "write(names=sorted(os.environ), key=os.environ['OPENAI_API_KEY'])"
    repository = tiny(tmp_path, agent, table='pass_env = ["WANTED", "NOT_SET"]\n')
    (episode,) = run_train(repository)
    names = set(extra(episode, "names"))
    assert {"WANTED", "OPENAI_BASE_URL", "OPENAI_MODEL"} <= names
    assert not names & {"UNWANTED", "MODEL_KEY", "NOT_SET", "ECDYSIS_ENVIRONMENT", "PYTHONPATH"}
    assert "the-key" not in extra(episode, "key")


@pytest.mark.parametrize(
    "agent",
    [
        "import shutil\nshutil.rmtree(os.path.dirname(task_file))",
        "os.rename(os.path.dirname(task_file), os.path.dirname(task_file) + 'x')",
        "os.mkfifo(episode_file)",
        "os.mkdir(episode_file)",
        "x = []\nfor _ in range(900): x = [x]\nwrite(mine=x)",
        "x = {}\nfor _ in range(500): x = {'a': x}\n"
        "write(steps=[{'kind': 'tool', 'name': 'a', 'arguments': x}])",
        "write(answer='\\ud800')",
    ],
)
def test_what_one_harness_does_to_its_folder_or_episode_stops_no_other(
    agent: str, tmp_path: Path
) -> None:
    spoil = "".join(f"    {line}\n" for line in agent.splitlines())
    code = f"if task['input']['q'] == 1:\n{spoil}else:\n    write()"
    repository = tiny(tmp_path / "h", code, tasks=3)
    with EpisodeStore(tmp_path / "e.jsonl") as store, runner(repository, parallel=1) as work:
        for _, episode in work.run(jobs(repository)):
            store.append(episode)
        assert [e.outcome for e in store.valid_episodes()] == ["pass", "fail", "pass"]
        assert store.valid_episodes()[1].end_reason == "exception"


# --- model calls --------------------------------------------------------------------------


def test_calls_are_those_of_the_episode(tmp_path: Path) -> None:
    agent = ASK + "for n in range(task['input']['q'] + 1): ask(f\"{task['task_id']} {n}\")\nwrite()"
    seen: dict[str, list[str]] = {}

    def note(job: Job, calls: list[Any]) -> None:
        seen[job.task.task_id] = [call.request["messages"][0]["content"] for call in calls]

    with ScriptedServer(lambda request: request["messages"][0]["content"].upper()) as server:
        repository = tiny(tmp_path, agent, base_url=server.base_url, tasks=3)
        episodes = run_train(repository, on_calls=note, parallel=3)
    assert seen == {"t0": ["t0 0"], "t1": ["t1 0", "t1 1"], "t2": ["t2 0", "t2 1", "t2 2"]}
    # The harness reported no step: they are the proxy's.
    steps = [[s.content for s in e.steps if isinstance(s, ModelStep)] for e in episodes]
    assert steps == [["T0 0"], ["T1 0", "T1 1"], ["T2 0", "T2 1", "T2 2"]]
    assert [e.usage.model_calls for e in episodes] == [1, 2, 3]


def test_an_episode_has_only_so_many_calls(tmp_path: Path) -> None:
    agent = (
        ASK
        + """
said = []
for n in range(4):
    try:
        said.append(ask())
    except urllib.error.HTTPError as error:
        said.append(error.code)
write(said=said)
"""
    )
    with ScriptedServer(lambda request: "yes") as server:
        repository = tiny(
            tmp_path,
            agent,
            base_url=server.base_url,
            tasks=2,
            tables="[limits]\nmodel_calls = 2\n",
        )
        episodes = run_train(repository)
        assert len(server.requests) == 4
    assert [extra(e, "said") for e in episodes] == [["yes", "yes", 429, 429]] * 2
    assert [e.outcome for e in episodes] == ["pass", "pass"]


def test_calls_of_any_content_are_recorded(tmp_path: Path) -> None:
    """Integers beyond 64 bits and half characters are no reason to lose a run."""
    agent = ASK + "answer = ask('naïve', user=str(2**80), extra=2**80)\nwrite()"
    path = tmp_path / "calls.jsonl"
    with ScriptedServer(lambda request: "half \ud800") as server, CallRecord(path) as record:
        repository = tiny(tmp_path / "h", agent, base_url=server.base_url)
        (episode,) = run_train(repository, on_calls=record.add)
    with EpisodeStore(tmp_path / "e.jsonl") as store:
        store.append(episode)
        assert [s.content for s in store.valid_episodes()[0].steps if s.kind == "model"] == [
            "half ?"
        ]
    (line,) = path.read_text().splitlines()
    call = json.loads(line)
    assert call["request"]["extra"] == 2**80
    assert call["request"]["messages"][0]["content"] == "naïve"
    assert (call["task_id"], call["status"], call["error"]) == ("t0", 200, None)


def test_a_fault_that_the_harness_got_over_is_no_infrastructure_failure(tmp_path: Path) -> None:
    agent = (
        ASK
        + """
try:
    ask()
except urllib.error.HTTPError:
    ask()
write()
"""
    )
    answers: list[Any] = ["yes", Fault(503)]
    with ScriptedServer(lambda request: answers.pop()) as server:
        (episode,) = run_train(tiny(tmp_path, agent, base_url=server.base_url))
    assert (episode.outcome, episode.usage.model_calls) == ("pass", 2)


@pytest.mark.parametrize("fault", [Fault(503), Fault(drop=True)])
def test_an_endpoint_that_fails_makes_invalid_whatever_the_harness_makes_of_it(
    fault: Fault, tmp_path: Path
) -> None:
    for number, agent in enumerate(
        (ASK + "ask()\nwrite()", ASK + "try: ask()\nexcept Exception: write()")
    ):
        with ScriptedServer(lambda request: fault) as server:
            (episode,) = run_train(tiny(tmp_path / str(number), agent, base_url=server.base_url))
        assert (episode.outcome, episode.end_reason) == ("invalid", "infrastructure")
        assert (episode.error or "").startswith("The model endpoint failed: ")


def test_the_harnesss_own_bad_request_is_its_own_failure(tmp_path: Path) -> None:
    with ScriptedServer(lambda request: Fault(400)) as server:
        (episode,) = run_train(tiny(tmp_path, ASK + "ask()", base_url=server.base_url))
    assert (episode.outcome, episode.end_reason) == ("fail", "exception")


def test_a_refused_key_stops_the_run_and_starts_nothing_more(tmp_path: Path) -> None:
    agent = ASK + "ask()\nwrite()"
    with ScriptedServer(lambda request: Fault(401)) as server:
        repository = tiny(tmp_path, agent, base_url=server.base_url, tasks=20)
        kept: list[str] = []
        with runner(repository, parallel=2) as work, pytest.raises(EndpointError) as raised:
            kept += ids(work.run(jobs(repository)))
        assert len(server.requests) <= 4
    assert kept == []
    assert raised.value.exit_code == 5


def test_a_spent_budget_stops_what_would_still_start(tmp_path: Path) -> None:
    budget = BudgetMeter(Budget(tokens=6), ModelTable())
    kept: list[str] = []

    def collect(work: Runner, repository: Repository) -> None:
        for _, episode in work.run(jobs(repository)):
            kept.append(episode.task_id)

    with ScriptedServer(lambda request: "one two") as server:  # 3 tokens with the prompt
        agent = ASK + "ask()\nwrite()"
        repository = tiny(tmp_path, agent, base_url=server.base_url, tasks=5)
        with (
            runner(repository, budget=budget, parallel=1) as work,
            pytest.raises(BudgetSpent, match="tokens = 6 of 6"),
        ):
            collect(work, repository)
        assert len(server.requests) == 2
    assert kept == ["t0", "t1"]


def test_a_budget_that_is_spent_in_an_episode_makes_that_one_invalid_and_unreported(
    tmp_path: Path,
) -> None:
    agent = ASK + "for _ in range(task['input']['q'] * 5 + 1):\n    ask()\nwrite()"
    budget = BudgetMeter(Budget(model_calls=3), ModelTable())
    kept: list[str] = []

    def collect(work: Runner, repository: Repository) -> None:
        for _, episode in work.run(jobs(repository)):
            kept.append(episode.task_id)

    with ScriptedServer(lambda request: "yes") as server:
        repository = tiny(tmp_path, agent, base_url=server.base_url, tasks=3)
        with (
            runner(repository, budget=budget, parallel=1) as work,
            pytest.raises(BudgetSpent, match="model_calls = 3 of 3"),
        ):
            collect(work, repository)
        assert len(server.requests) == 3
    assert kept == ["t0"]


# --- the world ----------------------------------------------------------------------------


def test_the_world_is_fresh_judged_and_gone(tmp_path: Path) -> None:
    agent = """
import socket
with socket.socket(socket.AF_UNIX) as world:
    world.connect(os.environ["ECDYSIS_ENVIRONMENT"])
    lines = world.makefile("rw")
    for _ in range(2):
        lines.write(task["task_id"] + "\\n"); lines.flush(); lines.readline()
write()
"""
    score = """
import json, os, sys
state = os.environ["ECDYSIS_STATE"]
world = {name: open(os.path.join(state, name)).read() for name in sorted(os.listdir(state))}
print(json.dumps({"score": 1, "outcome": "pass", "score_breakdown": world}))
"""
    table = 'environment = ["{python}", "world.py"]\n'
    repository = tiny(tmp_path, agent, score=score, table=table, tasks=3, files={"world.py": WORLD})
    # In the weakest sandbox, whose process ids are ours too.
    with runner(repository, parallel=2, sandbox=ResourceLimits()) as work:
        assert not work.state_self_reported
        episodes = [episode for _, episode in work.run(jobs(repository))]
    assert len(episodes) == 3
    for episode in episodes:
        assert episode.score_breakdown["log"] == f"{episode.task_id}\n" * 2
        assert not Path(f"/proc/{episode.score_breakdown['pid']}").exists()


# --- workers ------------------------------------------------------------------------------


def test_workers_share_the_tasks(tmp_path: Path) -> None:
    repository = worker(tmp_path, "time.sleep(0.2)\nsay()", 4)
    episodes = run_train(repository, parallel=2)
    assert [e.outcome for e in episodes] == ["pass"] * 4
    assert len({extra(e, "who") for e in episodes}) == 2


@pytest.mark.parametrize(
    "body",
    [
        "import shutil\nsay()\nif number == 0: shutil.rmtree(os.path.dirname(os.getcwd()))",
        "say()\nif number == 0: os._exit(3)",
        "import shutil\nsay()\nif number == 0:\n    shutil.rmtree(os.getcwd()); os._exit(3)",
    ],
)
def test_a_worker_that_spoils_its_folder_or_ends_between_tasks_is_replaced(
    body: str, tmp_path: Path
) -> None:
    episodes = run_train(worker(tmp_path, body + "\ntime.sleep(0.2)", 3), parallel=1)
    assert [e.outcome for e in episodes] == ["pass"] * 3
    assert extra(episodes[0], "who") != extra(episodes[1], "who")
    assert extra(episodes[1], "who") == extra(episodes[2], "who")


def test_a_crash_of_a_worker_has_its_place(tmp_path: Path) -> None:
    body = "def f():\n    raise KeyError('x')\nif number == 1: f()\nsay()"
    episodes = run_train(worker(tmp_path, body, 3), parallel=1)
    assert [e.outcome for e in episodes] == ["pass", "fail", "pass"]
    (step,) = episodes[1].steps
    assert step.kind == "harness"
    assert (step.event, step.type) == ("exception", "KeyError")
    assert [f.rsplit(":", 1)[0] for f in step.frames] == ["agent.py:<module>", "agent.py:f"]


@pytest.mark.parametrize(
    ("body", "strays"),
    [
        ("print('{')\nprint('[1]')\nprint()\nprint('{}')\nsay()", 4),
        ("say(task_id='t9')\nsay()", 1),
        ("sys.stdout.buffer.write(b'\\xff\\x00\\n')\nsay()", 1),
        ("print('x' * 100_000)\nsay()", 1),
    ],
)
def test_stray_lines_are_counted_and_passed_over(body: str, strays: int, tmp_path: Path) -> None:
    (episode,) = run_train(worker(tmp_path, body, 1))
    assert (episode.outcome, extra(episode, "stray_lines")) == ("pass", strays)


def test_an_answer_that_comes_too_late_is_not_taken_for_another_tasks(tmp_path: Path) -> None:
    body = "if number == 0:\n    time.sleep(1.6)\nsay(answer=str(number))"
    episodes = run_train(worker(tmp_path, body, 3, "[limits]\nepisode_s = 0.8\n"), parallel=1)
    assert [(e.end_reason, e.answer) for e in episodes] == [
        ("timeout", None),
        (None, "1"),
        (None, "2"),
    ]


def test_a_worker_cannot_score_itself_either(tmp_path: Path) -> None:
    body = "say(answer='7', score=1.0, outcome='pass', expected=task.get('expected'))"
    (episode,) = run_train(worker(tmp_path, body, 1))
    assert (episode.outcome, episode.score) == ("fail", 0.0)
    assert extra(episode, "ignored_fields") == ["outcome", "score"]
    assert episode.expected is None


# --- giving up ----------------------------------------------------------------------------


def test_whoever_wants_no_more_waits_for_nothing(tmp_path: Path) -> None:
    notes = tmp_path / "notes"
    notes.mkdir()
    agent = f"""
open(os.path.join({str(notes)!r}, task["task_id"]), "w").write(str(os.getpid()))
if task["input"]["q"]:
    time.sleep(100)
else:
    time.sleep(0.5)
write()
"""
    repository = tiny(tmp_path / "h", agent, tasks=6)
    started = time.monotonic()
    with runner(repository, parallel=3, sandbox=ResourceLimits()) as work:
        results = work.run(jobs(repository))
        _, first = next(results)
        results.close()  # type: ignore[attr-defined]
    assert first.task_id == "t0"
    assert time.monotonic() - started < 8
    begun = {path.name: int(path.read_text()) for path in notes.iterdir() if path.read_text()}
    assert set(begun) >= {"t0", "t1", "t2"}
    assert len(begun) <= 4
    assert not any(alive(pid) for pid in begun.values())


def alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True
