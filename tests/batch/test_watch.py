"""Which lines of a harness run: real processes, at every level of isolation there is here."""

import json
import os
import shutil
import subprocess
import sys
import time
from functools import cache
from pathlib import Path

import pytest

from bot.batch.run import Job
from bot.batch.tasks import load_splits
from bot.batch.watch import CAP, Notes, Plan, write_plan
from bot.commands.revision import load_table
from bot.git.repository import Repository
from bot.records import Episode, Ran
from bot.sandbox import choose_sandbox
from bot.sandbox.choose import try_level
from bot.sandbox.levels import LEVELS
from tests.helpers.harnesses import SPLITS, TABLE, runner, tiny

pytestmark = pytest.mark.xdist_group("watch")

LIBRARY = '''\
"""Lines that end in a letter are asked for by it."""
import multiprocessing, os, subprocess, sys, threading
LIMIT = 3  # a constant
TABLE = {
    "x": 1,
    "y": 2,  # an entry
}
PROMPT = """
Be kind.
Be brief.
"""  # a text
class Kind:
    size = 4  # a class
    def never(self):
        return self.size  # never
def signature(
    one,
    two=2,  # a parameter
):
    """What it does."""  # a docstring
    return one
def bare(
    one,
    two=2,  # a bare
):
    return one
def choose(number):
    if number == 1:
        return "one"  # a branch
    # a comment
    return join(
        "other",
        "wise",  # an argument
    )
def join(*words):
    return "".join(words)
def in_thread():
    return 1  # a thread
def in_child():
    return 1  # a child
def in_program():
    return 1  # a program
def main(number):
    signature(1)
    choose(number)
    worker = threading.Thread(target=in_thread)
    worker.start()
    worker.join()
    pid = os.fork()
    if pid == 0:
        in_child()
        os._exit(0)
    os.waitpid(pid, 0)
    code = "from pack.library import in_program; in_program()"
    subprocess.run([sys.executable, "-c", code], check=True)
    return open(os.path.dirname(__file__) + "/prompt.txt").read()
'''

AGENT = """
sys.path.insert(0, os.getcwd())
from pack.library import main
write(said=main(task["input"]["q"]), path=sys.path)
"""


def number_of(text: str, mark: str) -> int:
    (line,) = [n for n, line in enumerate(LIBRARY.splitlines(), 1) if line.endswith(mark)]
    return line


FILE = "pack/library.py"
MARKS = ("constant", "entry", "text", "class", "never", "parameter", "docstring", "branch")
MARKS += ("bare", "comment", "argument", "thread", "child", "program")
AT = {mark: number_of(LIBRARY, mark) for mark in MARKS}
LINES = {FILE: AT.values(), "pack/prompt.txt": [1], "pack/other.txt": [1], "pack/lost.py": [1, 2]}
PACK = {FILE: LIBRARY, "pack/__init__.py": "", "pack/lost.py": "def f():\n    return 1\n"}
PACK |= {"pack/prompt.txt": "Hello.\n", "pack/other.txt": "Unread.\n"}


@cache
def interpreters() -> list[str]:
    """Of each minor version from 3.11 on that this machine has, one."""
    found = {sys.version_info[:2]: sys.executable}
    say = "import sys; print(sys.version_info[1], sys.executable)"
    homes = Path.home().glob(".pyenv/versions/3.*/bin/python")
    for program in [*(f"python3.{minor}" for minor in range(11, 16)), *map(str, sorted(homes))]:
        if shutil.which(program):
            done = subprocess.run([program, "-c", say], capture_output=True, text=True, check=False)
            if done.returncode == 0 and int(done.stdout.split()[0]) >= 11:
                minor, path = done.stdout.split()
                found.setdefault((3, int(minor)), path)
    return list(found.values())


def watch(repository: Repository, lines: object = None, **options: object) -> list[Episode]:
    """The train tasks, watched, in the order of their ids."""
    tree = repository.tree_of("HEAD")
    tasks = load_splits(repository, tree, load_table(repository, "HEAD"))["train"]
    with runner(repository, **options) as work:
        work.watch(tree, lines or LINES)  # type: ignore[arg-type]
        episodes = [episode for _, episode in work.run(Job(tree, task) for task in tasks)]
    return sorted(episodes, key=lambda episode: episode.task_id)


def run_by(arguments: str) -> str:
    """The table of a tiny harness that is started otherwise."""
    model = '[model]\nbase_url = "http://127.0.0.1:9/v1"\nname = "scripted"\n'
    return TABLE.replace('"agent.py"', arguments, 1) + SPLITS + model


def ran_in(episode: Episode) -> Ran:
    assert episode.error is None, episode.error
    assert episode.ran is not None
    return episode.ran


def at(*marks: str) -> list[int]:
    return sorted(AT[mark] for mark in marks)


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("cache")


@pytest.fixture(autouse=True)
def one_environment_for_all(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ECDYSIS_CACHE", str(cache))


@pytest.mark.parametrize("python", interpreters())
def test_what_ran_in_each_episode(tmp_path: Path, python: str) -> None:
    table = f"python = {json.dumps(python)}\n"
    one, two = watch(tiny(tmp_path / "r", AGENT, files=PACK, tasks=2, table=table))
    always = ("parameter", "docstring", "thread", "child", "program")
    assert ran_in(one).lines == {FILE: at(*always, "argument")}
    assert ran_in(two).lines == {FILE: at(*always, "branch")}
    for episode in (one, two):
        ran = ran_in(episode)
        imported = {*ran.imported[FILE]}
        # A description can act without a call.
        assert imported >= {*at("constant", "entry", "text", "class", "parameter", "docstring")}
        assert not imported & {*at("never", "branch", "argument", "comment")}
        others = ("argument", "branch", "never", "bare")
        assert ran.runnable == {FILE: at("thread", "child", "program", *others)}
        assert ran.opened == ["pack/prompt.txt"]
        assert not ran.blind


@pytest.mark.parametrize("level", [name for name in LEVELS if try_level(name).make])
def test_at_each_level_of_isolation(tmp_path: Path, level: str) -> None:
    # A fork is all that each level allows alike.
    (episode,) = watch(tiny(tmp_path / "r", AGENT, files=PACK), sandbox=choose_sandbox(level))
    ran = ran_in(episode)
    assert ran.lines[FILE] == at(
        *("parameter", "docstring", "argument", "thread", "child", "program")
    )
    assert ran.opened == ["pack/prompt.txt"]


def test_the_harness_notices_nothing(tmp_path: Path) -> None:
    """Its own `sitecustomize` runs, its path is as ever; it cannot write what ran itself."""
    site = "import os\nos.environ['OWN_SITE'] = 'yes'\n"
    agent = AGENT.replace("write(", "write(ran={'lines': {'x': 1}}, site=os.environ['OWN_SITE'], ")
    start = (
        "import os, sys\n"
        "paths = [*filter(None, [os.environ.get('PYTHONPATH')]), os.getcwd() + '/site']\n"
        "os.environ['PYTHONPATH'] = os.pathsep.join(paths)\n"
        "os.execv(sys.executable, [sys.executable, 'agent.py', *sys.argv[1:]])\n"
    )
    files = {**PACK, "site/sitecustomize.py": site, "start.py": start}
    files["ecdysis.toml"] = run_by('"start.py"')
    (episode,) = watch(tiny(tmp_path / "r", agent, files=files))
    extra = episode.model_extra or {}
    assert extra["site"] == "yes"
    assert AT["argument"] in ran_in(episode).lines[FILE]
    assert not any(place.endswith("/w") for place in extra["path"])
    assert "ignored_fields" not in extra


def test_an_unwatched_revision_says_nothing(tmp_path: Path) -> None:
    repository = tiny(tmp_path / "r", AGENT.replace("write(", "write(ran={}, "), files=PACK)
    tree = repository.tree_of("HEAD")
    task = load_splits(repository, tree, load_table(repository, "HEAD"))["train"][0]
    with runner(repository) as work:
        work.watch("another tree", LINES)
        ((_, episode),) = work.run([Job(tree, task)])
    assert episode.ran is None
    assert episode.error is None


@pytest.mark.parametrize("python", interpreters())
def test_a_worker_is_watched_task_by_task(tmp_path: Path, python: str) -> None:
    agent = """
import json, sys
sys.path.insert(0, ".")
from pack.library import choose
prompt = open("pack/prompt.txt").read()
for line in sys.stdin:
    task = json.loads(line)
    choose(task["input"]["q"])
    print(json.dumps({"task_id": task["task_id"], "answer": "42"}), flush=True)
"""
    table = f"worker = true\npython = {json.dumps(python)}\n"
    files = {**PACK, "agent.py": agent}
    episodes = watch(tiny(tmp_path / "r", "", files=files, tasks=4, table=table), parallel=1)
    other, one = at("argument"), at("branch")
    assert [ran_in(e).lines[FILE] for e in episodes] == [other, one, other, other]
    for episode in episodes:
        assert {*at("constant", "class")} <= {*ran_in(episode).imported[FILE]}
        assert ran_in(episode).opened == ["pack/prompt.txt"]


@pytest.mark.parametrize(
    "start",
    [
        "subprocess.run([sys.executable, '-I', '-c', '1'], check=True)",
        "subprocess.run([sys.executable, '-c', '1'], env={}, check=True)",
        "subprocess.run([sys.executable, '-c', '1'], env={'PYTHONPATH': '/x'}, check=True)",
        "open('sitecustomize.py', 'w').close()\n"
        "os.environ['PYTHONPATH'] = os.getcwd() + os.pathsep + os.environ['PYTHONPATH']\n"
        "subprocess.run([sys.executable, '-c', '1'], check=True)",
        "os.spawnv(os.P_WAIT, sys.executable, ['python', '-E', '-c', '1'])",
        "os.system(sys.executable + ' -I -c 1')",
        "subprocess.run(sys.executable + ' -S -c 1', shell=True, check=True)",
    ],
)
def test_a_process_that_cannot_be_watched_is_told_of(tmp_path: Path, start: str) -> None:
    (episode,) = watch(tiny(tmp_path / "r", f"import subprocess\n{start}\nwrite()"))
    assert ran_in(episode).blind


def test_without_site_packages_nothing_is_known(tmp_path: Path) -> None:
    files = {**PACK, "ecdysis.toml": run_by('"-I", "agent.py"')}
    (episode,) = watch(tiny(tmp_path / "r", AGENT, files=files))
    assert episode.error is None
    assert episode.ran is None


def test_lines_of_the_script_that_is_run(tmp_path: Path) -> None:
    agent = "def f():\n    return 1\ndef g():\n    return 2\nf()\nwrite()\n"
    repository = tiny(tmp_path / "r", agent)
    text = (tmp_path / "r" / "agent.py").read_text().splitlines()
    lines = [text.index(f"    return {n}") + 1 for n in (1, 2)]
    (episode,) = watch(repository, {"agent.py": lines})
    assert ran_in(episode).lines == {"agent.py": lines[:1]}
    assert ran_in(episode).runnable == {"agent.py": lines}


@pytest.mark.parametrize(
    "content",
    [
        b"0\twatched\t\t\n0\tran\ta.py\t1,2\n",
        b"0\twatched\t\t\n0\tran\ta.py\t1,2,7\n0\tran\tb.py\t1\n0\topened\tb.md\t\n1\tran\ta.py\t9\n",
        b"\xff\xfe\n0\twatched\t\t\nnonsense\n0\tran\ta.py\t1,x\n0\tran\ta.py\t1,2\n0\tran\ta.py\t9",
    ],
)
def test_notes_that_are_torn_or_forged(tmp_path: Path, content: bytes) -> None:
    notes = Notes(Plan(tmp_path, {"a.py": frozenset({1, 2, 9})}), tmp_path / "ran")
    notes.make()
    assert notes.read() is None
    (notes.folder / "lines").write_bytes(content)
    ran = notes.read()
    assert ran is not None
    assert ran == Ran(lines={"a.py": [1, 2]})


def test_notes_that_are_no_file_or_endless(tmp_path: Path) -> None:
    notes = Notes(Plan(tmp_path, {"a.py": frozenset({1, 2, 9})}), tmp_path / "ran")
    notes.make()
    secret = tmp_path / "secret"
    secret.write_text("0\twatched\t\t\n")
    (notes.folder / "lines").symlink_to(secret)
    assert notes.read() is None
    (notes.folder / "lines").unlink()
    os.mkfifo(notes.folder / "lines")
    assert notes.read() is None
    (notes.folder / "lines").unlink()
    (notes.folder / "lines").write_bytes(b"0\twatched\t\t\n" + b"x" * (2 * CAP))
    begun = time.monotonic()
    assert notes.read() == Ran()
    assert time.monotonic() - begun < 1


@pytest.mark.parametrize("python", interpreters())
def test_a_watched_process_is_silent(tmp_path: Path, python: str) -> None:
    """Nothing is printed, whether or not there is another `sitecustomize` or a plan."""
    tracer = write_plan(tmp_path / "w", {"a.py": [1]}).folder
    (tmp_path / "ran").mkdir()
    for file in ("plan", "sitecustomize.py"):
        env = {"PYTHONPATH": str(tracer), "ECDYSIS_RAN": str(tmp_path / "ran")}
        command = [python, "-c", "import sitecustomize; print(sitecustomize.__name__)"]
        done = subprocess.run(command, env=env, capture_output=True, text=True, check=False)
        assert (done.stdout, done.stderr) == ("sitecustomize\n", "")
        (tracer / file).unlink()
