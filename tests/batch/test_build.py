"""The harness's own environment: built once for what it depends on, or not at all."""

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from bot.batch.build import BuiltEnvironment, build_environment
from bot.commands.revision import load_table
from bot.errors import InputError
from bot.git.repository import Repository
from bot.sandbox import Finished, choose_sandbox, run_trusted
from tests.helpers.harnesses import run_train, tiny

# What `pip install -e .` does to site-packages, without pip.
EDITABLE = """
import os, pathlib, sys, sysconfig
site = pathlib.Path(sysconfig.get_paths()["purelib"])
(site / "__editable__.desk.pth").write_text(os.getcwd() + "/src\\n")
with open(os.path.join(sys.prefix, "builds"), "a") as log:
    log.write(",".join(sorted(os.listdir("."))) + "\\n")
"""
BACKEND = """
import zipfile
def get_requires_for_build_editable(config_settings=None): return []
def build_editable(wheel_directory, config_settings=None, metadata_directory=None):
    import os
    name = "desk-1-py3-none-any.whl"
    with zipfile.ZipFile(os.path.join(wheel_directory, name), "w") as wheel:
        wheel.writestr("__editable__.desk.pth", os.path.abspath("src") + "\\n")
        about = "desk-1.dist-info/"
        wheel.writestr(about + "METADATA", "Metadata-Version: 2.1\\nName: desk\\nVersion: 1\\n")
        wheel.writestr(about + "WHEEL", "Wheel-Version: 1.0\\nTag: py3-none-any\\n")
        wheel.writestr(about + "RECORD", "")
    return name
"""
PYPROJECT = """
[build-system]
requires = []
build-backend = "backend"
backend-path = ["."]
[project]
name = "desk"
version = "1"
"""
AGENT = "import desk\nwrite(answer=desk.ANSWER, place=desk.__file__)\n"


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("ECDYSIS_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("ECDYSIS_QUIET", "1")
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    return tmp_path / "cache"


@pytest.fixture
def no_pip(monkeypatch: pytest.MonkeyPatch) -> None:
    """Environments without pip, which takes seconds to put in: the setups here need none."""

    def errand(argv: Sequence[str], **options: Any) -> Finished:
        if argv[1:3] == ["-m", "venv"]:
            argv = [*argv[:3], "--without-pip", *argv[3:]]
        return run_trusted(argv, **options)

    monkeypatch.setattr("bot.batch.build.run_trusted", errand)


def with_setup(
    folder: Path, code: str, agent: str = "write()", tables: str = "", table: str = ""
) -> Repository:
    files = {"setup.py": code, "src/desk.py": "ANSWER = '42'\n", "requirements.txt": "a\n"}
    table += 'setup = ["{python}", "setup.py"]\n'
    return tiny(folder, agent, table=table, tables=tables, files=files)


def build(repository: Repository, cache: Path, tree: str = "") -> BuiltEnvironment:
    table = load_table(repository, "HEAD")
    tree = tree or repository.tree_of("HEAD")
    return build_environment(repository, tree, table, cache, choose_sandbox())


def builds(cache: Path) -> list[str]:
    logs = (cache / "environments").glob("*/venv/builds")
    return [line for log in logs for line in log.read_text(encoding="utf-8").splitlines()]


def left(cache: Path) -> list[str]:
    return sorted(p.name for p in (cache / "environments").iterdir() if p.suffix != ".lock")


def test_without_a_setup_there_is_an_interpreter_and_nothing_else(
    tmp_path: Path, cache: Path
) -> None:
    built = build(tiny(tmp_path / "h", ""), cache)
    code = "import importlib.util, sys; print(importlib.util.find_spec('pip'), sys.prefix)"
    done = subprocess.run([built.python, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["None", str(built.python.parents[1])]
    assert built.roots == ()
    assert built.python.is_relative_to(cache)


@pytest.mark.usefixtures("no_pip")
def test_it_is_built_once_for_what_it_depends_on(tmp_path: Path, cache: Path) -> None:
    repository = with_setup(tmp_path / "h", EDITABLE)
    first = build(repository, cache)
    assert build(repository, cache) == first
    other_agent = repository.write_tree("HEAD", {"agent.py": b"pass"})
    assert build(repository, cache, other_agent) == first
    assert len(builds(cache)) == 1
    for changed in ("requirements.txt", "setup.py", "deep/poetry.lock"):
        content = (EDITABLE if changed == "setup.py" else "").encode() + b"# changed\n"
        tree = repository.write_tree("HEAD", {changed: content})
        assert build(repository, cache, tree).python != first.python
    assert len(builds(cache)) == 4
    assert len(left(cache)) == 4


@pytest.mark.usefixtures("no_pip")
def test_setup_sees_no_split_file(tmp_path: Path, cache: Path) -> None:
    build(with_setup(tmp_path / "h", EDITABLE), cache)
    assert builds(cache) == ["agent.py,ecdysis.toml,requirements.txt,score.py,setup.py,src"]


@pytest.mark.usefixtures("no_pip")
def test_setup_gets_the_networks_variables_and_no_key(
    tmp_path: Path, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secretsecretsecretsecret")
    monkeypatch.setenv("PIP_INDEX_URL", "https://pip.invalid")
    monkeypatch.setenv("https_proxy", "http://proxy.invalid")
    code = "import os, sys; open(sys.prefix + '/names', 'w').write(' '.join(os.environ))"
    built = build(with_setup(tmp_path / "h", code), cache)
    names = (built.python.parents[1] / "names").read_text().split()
    assert {"PATH", "HOME", "PIP_INDEX_URL", "https_proxy"} <= set(names)
    assert not {"OPENAI_API_KEY", "ECDYSIS_CACHE"} & set(names)


@pytest.mark.usefixtures("no_pip")
def test_the_copys_own_files_are_imported_not_those_of_the_setup(tmp_path: Path) -> None:
    repository = with_setup(tmp_path / "h", EDITABLE, AGENT)
    (episode,) = run_train(repository)
    assert (episode.outcome, episode.answer) == ("pass", "42")
    assert "/cache/" not in (episode.model_extra or {})["place"]
    # An edit of src/ is what runs, although the environment stays the same.
    change = {"src/desk.py": b"ANSWER = '43'\n"}
    head = repository.resolve_commit("HEAD")
    new = repository.commit_tree(repository.write_tree("HEAD", change), [head], "Edit")
    repository.update_ref(repository.git("symbolic-ref", "HEAD"), new, head)
    (edited,) = run_train(repository)
    assert edited.answer == "43"


@pytest.mark.parametrize(
    ("code", "said"),
    [
        (
            "import sys; print('out'); sys.exit('no \\x1b[31mcompiler')",
            "failed (exit 1): no compiler",
        ),
        ("import sys; print('only out'); sys.exit(4)", "failed (exit 4): only out"),
        ("import sys; sys.exit('Bearer abcdefgh12345678')", "Bearer [secret]"),
        ("import os; os.kill(os.getpid(), 9)", "failed (exit -9)"),
        ("import time; time.sleep(60)", "took over 1 s"),
    ],
)
@pytest.mark.usefixtures("no_pip")
def test_a_setup_that_fails_says_what_it_said_and_leaves_nothing(
    code: str, said: str, tmp_path: Path, cache: Path
) -> None:
    repository = with_setup(tmp_path / "h", code, tables="[limits]\nsetup_s = 1\n")
    with pytest.raises(InputError) as raised:
        build(repository, cache)
    assert said in raised.value.message
    assert "setup.py" in raised.value.message
    assert raised.value.next_step == "Mend `setup` in the table, or what it installs."
    assert left(cache) == []


def test_a_missing_interpreter(tmp_path: Path, cache: Path) -> None:
    repository = tiny(tmp_path / "h", "", table='python = "python-of-nowhere"\n')
    with pytest.raises(InputError, match="'python-of-nowhere'"):
        build(repository, cache)


@pytest.mark.slow
def test_a_killed_build_is_not_taken_for_a_whole_one(tmp_path: Path, cache: Path) -> None:
    pause = tmp_path / "pause"
    pause.write_text("60")
    code = EDITABLE + f"import time\ntime.sleep(float(open({str(pause)!r}).read()))\n"
    repository = with_setup(tmp_path / "h", code, table=f'readable = ["{pause}"]\n')
    bot = subprocess.Popen(
        [
            sys.executable,
            "-c",
            "import sys; from pathlib import Path; from bot.git.repository import Repository\n"
            "from tests.batch.test_build import build\n"
            "build(Repository.open(Path(sys.argv[1])), Path(sys.argv[2]))",
            str(tmp_path / "h"),
            str(cache),
        ]
    )
    until = time.monotonic() + 20
    while not builds(cache) and time.monotonic() < until:
        time.sleep(0.02)
    os.kill(bot.pid, signal.SIGKILL)
    bot.wait()
    assert len(left(cache)) == 1
    pause.write_text("0")
    built = build(repository, cache)
    assert len(builds(cache)) == 1
    assert built.roots == ("src",)


@pytest.mark.usefixtures("no_pip")
def test_two_that_want_it_at_once_build_it_once(tmp_path: Path, cache: Path) -> None:
    repository = with_setup(tmp_path / "h", EDITABLE)
    found: list[BuiltEnvironment] = []
    threads = [
        threading.Thread(target=lambda: found.append(build(repository, cache))) for _ in range(3)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 3
    assert len(set(found)) == 1
    assert len(builds(cache)) == 1


@pytest.mark.slow
def test_a_real_editable_install_of_a_src_layout(tmp_path: Path) -> None:
    table = 'setup = ["{python}", "-m", "pip", "install", "-q", "-e", "."]\n'
    files = {"pyproject.toml": PYPROJECT, "backend.py": BACKEND, "src/desk.py": "ANSWER = '42'\n"}
    repository = tiny(tmp_path / "h", AGENT, table=table, files=files)
    (episode,) = run_train(repository)
    assert (episode.outcome, episode.answer) == ("pass", "42")
    place = Path((episode.model_extra or {})["place"])
    assert place.parts[-2:] == ("src", "desk.py")
    assert not place.is_relative_to(tmp_path / "cache")


@pytest.mark.slow
@pytest.mark.parametrize("backend", ["hatchling", "setuptools"])
def test_an_editable_install_by_a_real_backend(backend: str, tmp_path: Path) -> None:
    """Each backend has its own way to point at the copy. Needs the package index."""
    module = {"hatchling": "hatchling.build", "setuptools": "setuptools.build_meta"}[backend]
    pyproject = (
        f'[build-system]\nrequires = ["{backend}"]\nbuild-backend = "{module}"\n'
        '[project]\nname = "desk"\nversion = "1"\n'
        '[tool.hatch.build.targets.wheel]\npackages = ["src/desk"]\n'
    )
    table = 'setup = ["{python}", "-m", "pip", "install", "-q", "-e", "."]\n'
    files = {"pyproject.toml": pyproject, "src/desk/__init__.py": "ANSWER = '42'\n"}
    (episode,) = run_train(tiny(tmp_path / "h", AGENT, table=table, files=files))
    assert (episode.outcome, episode.answer) == ("pass", "42")
    assert not Path((episode.model_extra or {})["place"]).is_relative_to(tmp_path / "cache")
