"""Real processes: harnesses, scorers, environments and endpoints that do what they should not."""

import os
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from bot.batch.run import Job, Runner
from bot.batch.tasks import load_splits, parse_tasks
from bot.commands.revision import load_table
from bot.config import Budget, ModelTable
from bot.errors import BudgetSpent, EndpointError, InputError
from bot.git.repository import Repository
from bot.llm.budget import BudgetMeter
from bot.llm.scripted import Fault, ScriptedServer
from bot.records import Episode, HarnessStep
from bot.sandbox import ResourceLimits, Sandbox
from tests.helpers.harnesses import run_train, runner, second_harness, tiny

ASK = """
import urllib.request
def ask(text="hi"):
    body = json.dumps({"model": "mine", "messages": [{"role": "user", "content": text}]}).encode()
    url = os.environ["OPENAI_BASE_URL"] + "/chat/completions"
    request = urllib.request.Request(url, body, {"Content-Type": "application/json"})
    return json.load(urllib.request.urlopen(request))["choices"][0]["message"]["content"]
"""


@pytest.fixture(autouse=True)
def _cache(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path_factory.getbasetemp() / "environments-cache"
    monkeypatch.setenv("ECDYSIS_CACHE", str(folder))
    monkeypatch.setenv("ECDYSIS_QUIET", "1")
    monkeypatch.setattr("bot.llm.proxy.RETRIES", 0)


def one(folder: Path, agent: str, sandbox: Sandbox | None = None, **options: object) -> Episode:
    repository = tiny(folder, agent, **options)  # type: ignore[arg-type]
    (episode,) = run_train(repository, sandbox=sandbox)
    return episode


def harness_step(episode: Episode) -> HarnessStep:
    (step,) = [s for s in episode.steps if isinstance(s, HarnessStep)]
    return step


def test_a_harness_that_works(tmp_path: Path) -> None:
    episode = one(tmp_path, "write(answer='42', end_reason='answer')")
    assert (episode.outcome, episode.score, episode.end_reason) == ("pass", 1.0, "answer")
    assert (episode.source, episode.task_id, episode.trial) == ("tiny", "t0", 0)
    assert episode.model == "scripted"


def test_a_crash_at_import_is_the_harnesss_failure(tmp_path: Path) -> None:
    episode = one(tmp_path, "def f():\n    raise KeyError('x')\nf()")
    assert (episode.outcome, episode.end_reason) == ("fail", "exception")
    step = harness_step(episode)
    assert (step.event, step.type, step.message) == ("exception", "KeyError", "'x'")
    assert [frame.rsplit(":", 1)[0] for frame in step.frames] == ["agent.py:<module>", "agent.py:f"]


@pytest.mark.parametrize(
    ("agent", "said"),
    [
        ("pass", "wrote no episode"),
        ("open(episode_file, 'w').write('{')", "not JSON"),
        ("open(episode_file, 'w').write('[1]')", "no JSON object"),
        ("write(steps=[{'kind': 'dance'}])", "malformed episode: steps"),
        ("write(task_id='t1')", "episode of another task"),
        ("os.symlink('/etc/passwd', episode_file)", "wrote no episode"),
        ("open(episode_file, 'w').write('[' * 100000)", "not JSON"),
        ("write(answer='x' * (9 << 20))", "over 8 MB"),
    ],
)
def test_a_missing_or_malformed_episode_is_the_harnesss_failure(
    agent: str, said: str, tmp_path: Path
) -> None:
    episode = one(tmp_path, agent)
    assert (episode.outcome, episode.end_reason) == ("fail", "exception")
    assert said in (episode.error or "")
    assert episode.steps, "the failure has a place"


def test_a_score_of_its_own_is_taken_out(tmp_path: Path) -> None:
    episode = one(
        tmp_path, "write(answer='7', score=1.0, outcome='pass', score_breakdown={'a': 1})"
    )
    assert (episode.outcome, episode.score) == ("fail", 0.0)
    assert (episode.model_extra or {})["ignored_fields"] == ["outcome", "score", "score_breakdown"]


def test_printing_does_not_matter(tmp_path: Path) -> None:
    episode = one(tmp_path, "print('x' * 100000); print('\\x1b[31m', file=sys.stderr); write()")
    assert episode.outcome == "pass"


def test_a_hang_ends_at_its_time_and_so_do_its_children(tmp_path: Path) -> None:
    marker = tmp_path.parent / f"{tmp_path.name}-pid"
    agent = f"""
import subprocess
child = subprocess.Popen(["sleep", "1000"])
grandchild = subprocess.Popen(["setsid", "sleep", "1000"])
open({str(marker)!r}, "w").write(f"{{child.pid}} {{grandchild.pid}}")
time.sleep(1000)
"""
    started = time.monotonic()
    episode = one(tmp_path, agent, tables="[limits]\nepisode_s = 1.5\n", sandbox=ResourceLimits())
    assert time.monotonic() - started < 10
    assert (episode.outcome, episode.end_reason) == ("fail", "timeout")
    assert all(gone(int(pid)) for pid in marker.read_text().split())


def test_children_that_hold_the_output_do_not_hold_us(tmp_path: Path) -> None:
    marker = tmp_path.parent / f"{tmp_path.name}-pid"
    agent = f"""
import subprocess
child = subprocess.Popen(["sleep", "1000"])
open({str(marker)!r}, "w").write(str(child.pid))
write()
"""
    started = time.monotonic()
    assert one(tmp_path, agent, sandbox=ResourceLimits()).outcome == "pass"
    assert time.monotonic() - started < 10
    assert gone(int(marker.read_text()))


def gone(pid: int) -> bool:
    until = time.monotonic() + 3
    while time.monotonic() < until:
        try:
            os.kill(pid, 0)
            with open(f"/proc/{pid}/stat") as file:  # noqa: PTH123
                if file.read().rsplit(")", 1)[1].split()[0] == "Z":
                    return True
        except (ProcessLookupError, FileNotFoundError):
            return True
        time.sleep(0.02)
    return False


def test_expected_is_nowhere_to_be_found(tmp_path: Path) -> None:
    agent = """
found = []
for folder in (".", os.path.dirname(task_file), workdir):
    for place, _, names in os.walk(folder):
        for name in names:
            text = open(os.path.join(place, name), errors="replace").read()
            if '"expected"' in text and name not in ("agent.py", "score.py"):
                found.append(name)
found += [name for name in os.environ if "SECRET" in name]
write(answer=",".join(found) or "nothing", git=os.path.exists(".git"))
"""
    os.environ["ECDYSIS_TEST_SECRET"] = "x"
    episode = one(tmp_path, agent)
    del os.environ["ECDYSIS_TEST_SECRET"]
    assert episode.answer == "nothing"
    assert (episode.model_extra or {})["git"] is False


@pytest.mark.parametrize(
    ("score", "said"),
    [
        ("raise SystemExit(3)", "exited with 3"),
        ("print('fine')", "printed no JSON object"),
        ("print('{\"score\": 1}')", "printed outcome wrong"),
        ('print(\'{"score": "1", "outcome": "pass"}\')', "printed score wrong"),
        ('print(\'{"score": NaN, "outcome": "pass"}\')', "printed no JSON object"),
        ("import time; time.sleep(60)", "did not end within its time"),
    ],
)
def test_a_broken_scorer_makes_the_episode_invalid(score: str, said: str, tmp_path: Path) -> None:
    episode = one(tmp_path, "write()", score=score, tables="[limits]\nscore_s = 1\n")
    assert (episode.outcome, episode.end_reason, episode.score) == (
        "invalid",
        "infrastructure",
        None,
    )
    assert said in (episode.error or "")


def test_an_environment_that_ends_makes_the_episode_invalid(tmp_path: Path) -> None:
    table = 'environment = ["{python}", "-c", "raise SystemExit(\'no world\')"]\n'
    episode = one(tmp_path, "write()", table=table)
    assert episode.outcome == "invalid"
    assert "no world" in (episode.error or "")


def test_an_environment_that_never_listens(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bot.batch.world.START_S", 0.5)
    table = 'environment = ["{python}", "-c", "import time; time.sleep(60)"]\n'
    episode = one(tmp_path, "write()", table=table)
    assert episode.outcome == "invalid"
    assert "did not listen" in (episode.error or "")


def test_the_endpoints_faults_are_invalid_and_a_refused_key_stops_the_run(tmp_path: Path) -> None:
    agent = ASK + "\ntry:\n    ask()\nexcept Exception:\n    pass\nwrite()"
    with ScriptedServer(lambda request: Fault(500)) as server:
        episode = one(tmp_path / "a", agent, base_url=server.base_url)
    assert episode.outcome == "invalid"
    assert "endpoint failed" in (episode.error or "")
    with (
        ScriptedServer(lambda request: Fault(401)) as server,
        pytest.raises(EndpointError, match="refuses the key"),
    ):
        one(tmp_path / "b", agent, base_url=server.base_url)


def test_a_spent_budget_keeps_what_ended(tmp_path: Path) -> None:
    with ScriptedServer(lambda request: "yes") as server:
        repository = tiny(tmp_path, ASK + "\nask()\nwrite()", base_url=server.base_url, tasks=4)
        budget = BudgetMeter(Budget(model_calls=2), ModelTable())
        tree = repository.tree_of("HEAD")
        tasks = load_splits(repository, tree, load_table(repository, "HEAD"))["train"]
        kept = []

        def run_all(work: Runner) -> None:
            for _, episode in work.run(Job(tree, task) for task in tasks):
                kept.append(episode.outcome)

        with runner(repository, budget=budget, parallel=1) as work, pytest.raises(BudgetSpent):
            run_all(work)
        assert kept == ["pass", "pass"]
        assert len(server.requests) == 2


def test_usage_and_digests_are_the_proxys(tmp_path: Path) -> None:
    agent = ASK + "\nwrite(steps=[{'kind': 'model', 'content': ask()}], usage={'model_calls': 99})"
    with ScriptedServer(lambda request: "a b c") as server:
        episode = one(tmp_path, agent, base_url=server.base_url)
    assert episode.usage.model_calls == 1
    assert episode.usage.completion_tokens == 3
    assert episode.steps[0].kind == "model"
    assert (episode.steps[0].request_digest or "").startswith("sha256:")
    assert server.requests[0]["model"] == "scripted"


def test_protected_files_come_from_the_base(tmp_path: Path) -> None:
    repository = tiny(tmp_path, "write(answer='7')")
    base = repository.tree_of("HEAD")
    cheat = 'print(\'{"score": 1.0, "outcome": "pass"}\')'
    changes: dict[str, bytes | None] = {"score.py": cheat.encode()}
    candidate = repository.write_tree(base, changes)
    tasks = load_splits(repository, base, load_table(repository, "HEAD"))["train"]
    with runner(repository) as work:
        ((_, episode),) = work.run([Job(candidate, tasks[0])])
    assert episode.outcome == "fail"
    assert episode.harness == candidate


def test_hidden_files_are_not_in_an_episodes_copy_but_tests_have_them(tmp_path: Path) -> None:
    table = 'hidden = ["secret/**"]\ntests = ["{python}", "-c", "open(\'secret/a.txt\')"]\n'
    agent = (
        "write(answer='42' if not os.path.exists('secret') or not os.listdir('secret') else 'no')"
    )
    repository = tiny(tmp_path, agent, table=table, files={"secret/a.txt": "x"})
    assert [e.outcome for e in run_train(repository)] == ["pass"]
    with runner(repository) as work:
        tests = work.run_tests(repository.tree_of("HEAD"))
        assert tests is not None
        assert tests.code == 0
        assert work.check_imports(repository.tree_of("HEAD"), ["score.py"]) is not None


def test_scratch_folders_are_gone_afterwards(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(scratch))
    assert run_train(tiny(tmp_path / "h", "write()"))[0].outcome == "pass"
    assert list(scratch.iterdir()) == []


# --- workers ------------------------------------------------------------------------------

WORKER_TABLE = """\
worker = true
"""

WORKER = """\
import json, os, sys, time
print("starting up")
for line in sys.stdin:
    task = json.loads(line)
    print("about to work")
    {body}
    episode = {{"task_id": task["task_id"], "answer": "42", "pid": os.getpid()}}
    print(json.dumps(episode), flush=True)
"""


def worker_repository(folder: Path, body: str, tasks: int, limits: str = "") -> Repository:
    repository = tiny(folder, "", table=WORKER_TABLE, tasks=tasks, tables=limits)
    files: dict[str, bytes | None] = {"agent.py": WORKER.format(body=body).encode()}
    tree = repository.write_tree("HEAD", files)
    head = repository.resolve_commit("HEAD")
    new = repository.commit_tree(tree, [head], "Worker")
    repository.update_ref(repository.git("symbolic-ref", "HEAD"), new, head)
    return repository


def test_a_worker_serves_many_tasks_and_stray_lines_are_counted(tmp_path: Path) -> None:
    episodes = run_train(worker_repository(tmp_path, "pass", 5), parallel=1)
    assert [e.outcome for e in episodes] == ["pass"] * 5
    assert len({(e.model_extra or {})["pid"] for e in episodes}) == 1
    assert (episodes[0].model_extra or {})["stray_lines"] == 2


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        ("if task['task_id'] == 't1': os._exit(9)", "exception"),
        ("if task['task_id'] == 't1': time.sleep(100)", "timeout"),
    ],
)
def test_a_worker_that_dies_or_hangs_is_started_anew(
    body: str, reason: str, tmp_path: Path
) -> None:
    repository = worker_repository(tmp_path, body, 3, "[limits]\nepisode_s = 1.5\n")
    episodes = run_train(repository, parallel=1)
    assert [e.outcome for e in episodes] == ["pass", "fail", "pass"]
    assert episodes[1].end_reason == reason


def test_the_second_harness_runs_as_a_worker(tmp_path: Path) -> None:
    with ScriptedServer(lambda request: "convert: 4, kg") as server:
        episodes = run_train(second_harness(tmp_path / "kitchen", server.base_url))
    assert len(episodes) == 30
    assert {e.outcome for e in episodes} == {"pass", "fail"}
    assert all(e.answer == "4000" for e in episodes)
    assert len(server.requests) == 30


# --- tasks --------------------------------------------------------------------------------


def overlapping(second: str) -> Callable[[Path], Repository]:
    return lambda folder: tiny(folder, "write()", files={"select.jsonl": second})


@pytest.mark.parametrize(
    ("second", "said"),
    [
        ('{"task_id": "t0", "input": {"q": "other"}}\n', "has the same id"),
        ('{"task_id": "s0", "input": {"q": 0}}\n', "has the same input"),
        ("", "holds no task"),
        ('{"task_id": "s0", "input": {}\n', "line 1 is not JSON"),
        ('{"task_id": "", "input": {}}\n', "line 1: task_id"),
        ('{"task_id": "s0", "input": {}}\n{"task_id": "s0", "input": {}}\n', "stands in line 1"),
    ],
)
def test_splits_are_checked(second: str, said: str, tmp_path: Path) -> None:
    repository = overlapping(second)(tmp_path)
    with pytest.raises(InputError, match=said):
        load_splits(repository, repository.tree_of("HEAD"), load_table(repository, "HEAD"))


def test_a_bom_and_blank_lines_are_no_fault() -> None:
    content = b'\xef\xbb\xbf{"task_id": "a", "input": {}}\n\n{"task_id": "b", "input": {}}'
    assert [task.task_id for task in parse_tasks(content, "x")] == ["a", "b"]
    (task, _) = parse_tasks(content.replace(b'"a",', b'"a", "expected": 1, "check": 2,'), "x")
    assert set(task.without_expected()) == {"format_version", "task_id", "input", "tags"}
