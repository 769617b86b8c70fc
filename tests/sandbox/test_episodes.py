"""Hostile harnesses in real episodes: what they want from the bot, they do not get."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from bot.llm.scripted import ScriptedServer
from bot.records import Episode
from bot.sandbox import Sandbox
from tests.helpers.harnesses import SCORER, run_train, runner, tiny
from tests.sandbox.conftest import make_sandbox

TRY = """
import glob, shutil, socket, subprocess
def attempt(deed):
    try:
        return deed()
    except OSError as error:
        return "refused"
"""
WORLD = """
import os, socketserver
open(os.environ["ECDYSIS_STATE"] + "/orders", "w").write("kept by the world")
class Requests(socketserver.StreamRequestHandler):
    def handle(self):
        self.wfile.write(b"at your service\\n")
address = os.environ["ECDYSIS_ENVIRONMENT"]
socketserver.ThreadingUnixStreamServer(address, Requests).serve_forever()
"""
SLOW_SCORER = """
import os, sys, time
time.sleep(0.6)
answer = open(sys.argv[3] + "/answer").read()
print('{"score": %d, "outcome": "%s"}' % (answer == "42", "pass" if answer == "42" else "fail"))
"""
DAEMON = """
open(workdir + "/answer", "w").write("7")
code = "import time; time.sleep(0.3); open('answer', 'w').write('42'); time.sleep(1)"
subprocess.Popen(
    [sys.executable, "-c", code], cwd=workdir, env={}, start_new_session=True,
    stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
)
write(answer="7")
"""


@pytest.fixture(autouse=True)
def _cache(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ECDYSIS_CACHE", str(tmp_path_factory.getbasetemp() / "environments-cache"))
    monkeypatch.setenv("ECDYSIS_QUIET", "1")


@pytest.fixture(params=["landlock", "bubblewrap"])
def strong(request: pytest.FixtureRequest) -> Sandbox:
    return make_sandbox(request.param)


def one(folder: Path, agent: str, sandbox: Sandbox, **options: Any) -> Episode:
    (episode,) = run_train(tiny(folder, TRY + agent, **options), sandbox=sandbox)
    return episode


def found(episode: Episode, name: str = "found") -> Any:
    return (episode.model_extra or {})[name]


def test_the_model_is_reached_through_the_proxy_alone(sandbox: Sandbox, tmp_path: Path) -> None:
    agent = """
import urllib.request
url = os.environ["OPENAI_BASE_URL"] + "/chat/completions"
body = json.dumps({"model": "x", "messages": [{"role": "user", "content": "hi"}]}).encode()
said = json.load(urllib.request.urlopen(urllib.request.Request(url, body)))
direct = attempt(lambda: socket.create_connection(("127.0.0.1", PORT), 2).close() or "reached")
write(answer=said["choices"][0]["message"]["content"], found=direct)
"""
    with ScriptedServer(lambda request: "42") as server:
        port = str(urlsplit(server.base_url).port)
        episode = one(tmp_path, agent.replace("PORT", port), sandbox, base_url=server.base_url)
        assert len(server.requests) == 1
    assert (episode.outcome, episode.usage.model_calls) == ("pass", 1)
    kept_out = "tcp-ports" in sandbox.promises
    assert found(episode) == ("refused" if kept_out else "reached")


def test_the_world_answers_and_is_out_of_reach(strong: Sandbox, tmp_path: Path) -> None:
    agent = """
address = os.environ["ECDYSIS_ENVIRONMENT"]
with socket.socket(socket.AF_UNIX) as world:
    world.connect(address)
    said = world.makefile().readline().strip()
state = os.path.dirname(os.path.dirname(address)) + "/state"
deeds = [
    lambda: os.listdir(state),
    lambda: open(state + "/orders").read(),
    lambda: open(state + "/orders", "w").write("x"),
    lambda: os.remove(address),
    lambda: os.rename(address, workdir + "/s"),
    lambda: open(task_file, "w").write("{}"),
]
write(said=said, found=[attempt(deed) for deed in deeds])
"""
    score = """
import json, os
kept = open(os.environ["ECDYSIS_STATE"] + "/orders").read()
print(json.dumps({"score": 1, "outcome": "pass", "score_breakdown": {"kept": kept}}))
"""
    episode = one(
        tmp_path,
        agent,
        strong,
        score=score,
        table='environment = ["{python}", "world.py"]\n',
        files={"world.py": WORLD},
    )
    assert found(episode, "said") == "at your service"
    assert set(found(episode)) == {"refused"}
    assert episode.score_breakdown == {"kept": "kept by the world"}


def test_the_expected_answer_is_not_to_be_found(sandbox: Sandbox, tmp_path: Path) -> None:
    agent = f"""
lines = attempt(lambda: open({str(tmp_path / "h" / "train.jsonl")!r}).read())
write(answer=json.loads(lines)["expected"]["answer"] if lines != "refused" else "refused")
"""
    episode = one(tmp_path / "h", agent, sandbox)
    if "reads" in sandbox.promises:
        assert (episode.answer, episode.outcome) == ("refused", "fail")
    else:
        assert (episode.answer, episode.outcome) == ("42", "pass")


def test_no_daemon_works_on_while_it_is_scored(sandbox: Sandbox, tmp_path: Path) -> None:
    episode = one(tmp_path, DAEMON, sandbox, score=SLOW_SCORER)
    expected = "fail" if "leftovers" in sandbox.promises else "pass"
    assert episode.outcome == expected, episode.error


def test_nothing_can_be_left_in_the_interpreters_environment(
    strong: Sandbox, tmp_path: Path
) -> None:
    agent = """
import sysconfig
place = sysconfig.get_paths()["purelib"]
evil = "print('{\\"score\\": 1, \\"outcome\\": \\"pass\\"}'); import os; os._exit(0)"
deeds = [
    lambda: open(place + "/sitecustomize.py", "w").write(evil),
    lambda: open(place + "/x.pth", "w").write("import os; os._exit(0)"),
    lambda: os.symlink("/bin/true", sys.prefix + "/bin/true"),
    lambda: os.rename(sys.prefix, sys.prefix + "-"),
]
write(answer="7", found=[attempt(deed) for deed in deeds])
"""
    episode = one(tmp_path, agent, strong)
    assert found(episode) == ["refused"] * 4
    assert (episode.outcome, episode.score) == ("fail", 0.0)


@pytest.mark.parametrize(
    ("agent", "said"),
    [
        ("for _ in range(60):\n    if os.fork() == 0: break\ntime.sleep(3)", "over 20 processes"),
        (
            "for n in range(30): open(f'{workdir}/{n}', 'wb').write(b'x' * (1 << 20))\n"
            "time.sleep(3)",
            "over 16 MB to disk",
        ),
    ],
)
def test_what_ends_a_sandbox_is_said(
    agent: str, said: str, strong: Sandbox, tmp_path: Path
) -> None:
    limits = "[limits]\nprocesses = 20\ndisk_mb = 16\n"
    episode = one(tmp_path, agent, strong, tables=limits)
    assert (episode.outcome, episode.end_reason) == ("fail", "exception")
    assert said in (episode.error or "")
    assert "was ended" in (episode.error or "")


def test_a_folder_nested_without_end_is_removed(strong: Sandbox, tmp_path: Path) -> None:
    agent = """
os.chdir(workdir)
for _ in range(1500):
    os.mkdir("d")
    os.chdir("d")
os.chmod(workdir, 0)
write()
"""
    with runner(tiny(tmp_path, TRY + agent), sandbox=strong) as work:
        folder = work._workplace.folder
        from tests.batch.test_run import jobs

        (pair,) = work.run(jobs(work._repository))
        assert pair[1].task_id == "t0"
        assert not list(folder.glob("[0-9]*"))
    assert not folder.exists()


def test_the_harnesss_tests_and_imports_run_in_it_too(strong: Sandbox, tmp_path: Path) -> None:
    key = tmp_path / "key"
    key.write_text("secret")
    steal = f"print(open({str(key)!r}).read())\n"
    repository = tiny(
        tmp_path / "h",
        "",
        table='tests = ["{python}", "steal.py"]\n',
        files={"steal.py": steal, "mine.py": "open('here', 'w').write('x')\n"},
    )
    tree = repository.tree_of("HEAD")
    with runner(repository, sandbox=strong) as work:
        done = work.run_tests(tree)
        assert done is not None
        assert done.code == 1
        assert b"secret" not in done.stdout
        assert str(key) in (work.check_imports(tree, ["steal.py"]) or "")
        assert work.check_imports(tree, ["mine.py"]) is None


def test_a_worker_is_shut_in_like_a_process(strong: Sandbox, tmp_path: Path) -> None:
    files = {
        "agent.py": f"""
import json, os, sys
for line in sys.stdin:
    task = json.loads(line)
    try:
        seen = open({str(tmp_path / "h" / "train.jsonl")!r}).read()
    except OSError:
        seen = "refused"
    print(json.dumps({{"task_id": task["task_id"], "answer": "42", "found": seen}}), flush=True)
"""
    }
    repository = tiny(tmp_path / "h", "", table="worker = true\n", tasks=3, files=files)
    episodes = run_train(repository, sandbox=strong)
    assert [(e.outcome, found(e)) for e in episodes] == [("pass", "refused")] * 3


def test_what_the_table_names_may_be_read(strong: Sandbox, tmp_path: Path) -> None:
    corpus = tmp_path / "corpus"
    corpus.mkdir()
    (corpus / "a").write_text("42")
    agent = f"write(answer=attempt(lambda: open({str(corpus / 'a')!r}).read()), "
    agent += f"found=attempt(lambda: open({str(corpus / 'a')!r}, 'w').write('x')))"
    table = f'readable = ["{corpus}"]\n'
    episode = one(tmp_path / "h", agent, strong, table=table, score=SCORER)
    assert (episode.outcome, found(episode)) == ("pass", "refused")
