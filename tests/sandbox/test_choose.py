"""Which level is taken: by what a probe can do, on machines that forbid one thing or another."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any, get_args

import pytest

from bot.commands.options import sandbox_option
from bot.config import HarnessTable
from bot.llm.scripted import ScriptedServer
from bot.sandbox import ProcessLimits, ResourceLimits, choose_sandbox, interpreter_paths
from bot.sandbox.bubblewrap import Bubblewrap
from bot.sandbox.choose import in_ci, try_level
from bot.sandbox.landlock import WITH_GUARD, Landlock, kernel_abi
from bot.sandbox.levels import BUBBLEWRAP, LANDLOCK, LEVELS, LIMITS
from bot.sandbox.probe import find_problem
from tests.helpers.harnesses import tiny
from tests.sandbox.conftest import ENV, PYTHON, seeing

ROOT = Path(__file__).parents[2]
PACKAGES = [Path(place) for place in sys.path if place.endswith("-packages")]
PATH = os.pathsep.join([str(ROOT), *filter(None, sys.path)])

# Forbids namespaces, as many containers do, and Landlock, as old kernels do; then runs a program.
POOR_MACHINE = """
import ctypes, os, struct, sys
from bot.sandbox.seccomp import filter_program
libc = ctypes.CDLL(None, use_errno=True)
def install(program):
    buffer = ctypes.create_string_buffer(program, len(program))
    filters = struct.pack("@HP", len(program) // 8, ctypes.addressof(buffer))
    assert libc.prctl(22, ctypes.c_ulong(2), filters, ctypes.c_ulong(0), 0) == 0
libc.prctl(38, 1, 0, 0, 0)
install(filter_program(shared_machine=False))
lines = [(0x20, 0, 0, 0), (0x15, 0, 1, 444), (6, 0, 0, 0x50000 | 38), (6, 0, 0, 0x7FFF0000)]
install(b"".join(struct.pack("=HBBI", *line) for line in lines))
os.execvp(sys.argv[1], sys.argv[1:])
"""
CHOOSE = """
import json
from bot.errors import EcdysisError
from bot.sandbox.choose import choose_sandbox, reasons
found = {}
for demand in ("auto", "bubblewrap", "landlock", "limits"):
    try:
        sandbox = choose_sandbox(demand)
        found[demand] = [sandbox.level, sorted(sandbox.promises)]
    except EcdysisError as error:
        found[demand] = [error.exit_code, str(error)]
print(json.dumps({**found, "reasons": reasons()}))
"""


def on_poor_machine(*command: str, **env: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [PYTHON, "-c", POOR_MACHINE, *command],
        env={**ENV, "PYTHONPATH": PATH, **env},
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )


def test_here_every_level_can_be_had_and_the_strongest_is_taken() -> None:
    assert choose_sandbox().level == "bubblewrap"
    for name, level in LEVELS.items():
        sandbox = choose_sandbox(name)
        assert (sandbox.level, sandbox.promises) == (name, level.promises)
    assert choose_sandbox("landlock") is not choose_sandbox("landlock")


def test_stronger_levels_promise_more() -> None:
    assert BUBBLEWRAP.promises > LANDLOCK.promises > LIMITS.promises
    assert LIMITS.withheld >= {"reads", "writes", "network", "signals", "leftovers"}


def test_what_is_claimed_and_not_kept_is_found() -> None:
    weak = ResourceLimits()
    assert find_problem(weak) == ""
    weak.promises = frozenset({"reads", "udp", "time"})
    assert find_problem(weak) == "a process in it got out (reads, udp)"
    weak.promises = BUBBLEWRAP.promises
    for promise in ("writes", "signals", "names", "tcp-ports", "network", "processes-unseen"):
        assert promise in find_problem(weak)


@pytest.mark.parametrize(
    ("program", "said"),
    [("/bin/false", "ended with 1"), ("/no/such/bwrap", "/no/such/bwrap"), ("/usr", "/usr")],
)
def test_a_bubblewrap_that_does_not_work_is_found(program: str, said: str) -> None:
    assert said in find_problem(Bubblewrap(program))


@pytest.mark.parametrize("abi", range(4, 1 + kernel_abi()))
@pytest.mark.parametrize("guarded", [True, False])
def test_older_landlocks_hold_what_they_promise(abi: int, guarded: bool) -> None:
    sandbox = Landlock(abi, guarded=guarded)
    assert find_problem(sandbox) == ""
    assert ("signals" in sandbox.promises) == (abi >= 6)
    assert ("network" in sandbox.promises) == guarded
    assert sandbox.promises >= {"reads", "writes", "tcp-ports", "udp", "processes-unseen"}


def test_where_namespaces_are_forbidden_landlock_is_taken(tmp_path: Path) -> None:
    """Inside our own bubblewrap; there a supervisor may not take over connections either."""
    done = choose_sandbox("bubblewrap").run(
        [PYTHON, "-c", CHOOSE],
        cwd=tmp_path,
        env={**ENV, "PYTHONPATH": PATH, "TMPDIR": str(tmp_path)},
        limits=ProcessLimits(wall_s=30),
        view=seeing(tmp_path, readable=(ROOT / "bot", *PACKAGES)),
    )
    found = json.loads(done.stdout)
    assert found["auto"] == ["landlock", sorted(LANDLOCK.promises - WITH_GUARD)]
    code, said = found["bubblewrap"]
    assert code == 7
    assert said.startswith("The sandbox bubblewrap was asked for, but does not hold here: bwrap:")
    assert "apt install bubblewrap" in said
    assert found["reasons"].startswith("bubblewrap: bwrap: ")


def test_a_poor_machine_has_limits_alone() -> None:
    found: dict[str, Any] = json.loads(on_poor_machine(PYTHON, "-c", CHOOSE).stdout)
    assert found["auto"] == ["limits", sorted(LIMITS.promises)]
    assert found["limits"] == found["auto"]
    assert found["landlock"][0] == 7
    assert "Use Linux 6.7 or newer" in found["landlock"][1]


def test_in_ci_a_poor_machine_refuses_unless_it_is_accepted_by_name(tmp_path: Path) -> None:
    found = json.loads(on_poor_machine(PYTHON, "-c", CHOOSE, CI="true").stdout)
    code, said = found["auto"]
    assert code == 7
    assert said.startswith("This is a CI job")
    assert "--sandbox limits" in said
    assert found["limits"][0] == "limits"
    with ScriptedServer(lambda request: "x") as server:
        repository = tiny(tmp_path / "h", "write()", base_url=server.base_url)
        env = {"CI": "1", "ECDYSIS_CACHE": str(tmp_path / "cache"), "ECDYSIS_QUIET": "1"}
        run = (PYTHON, "-m", "bot", "run", "-C", str(repository.root))
        refused = on_poor_machine(*run, **env)
        assert refused.returncode == 7
        assert "This is a CI job" in refused.stderr
        accepted = on_poor_machine(*run, "--sandbox", "limits", **env)
        assert accepted.returncode == 0
        assert "isolation: limits" in accepted.stdout
        doctor = on_poor_machine(PYTHON, "-m", "bot", "doctor", "-C", str(repository.root), **env)
        assert doctor.returncode == 7
        named = tiny(
            tmp_path / "n", "write()", base_url=server.base_url, table='sandbox = "limits"\n'
        )
        by_table = on_poor_machine(*run[:-1], str(named.root), **env)
        assert (by_table.returncode, by_table.stderr) == (0, "")


def test_a_system_that_is_not_linux_has_limits() -> None:
    code = """
import os, select, signal, socket, sys
sys.platform = "darwin"
for module, name in ((os, "memfd_create"), (os, "pidfd_open"), (signal, "pidfd_send_signal"),
                     (socket, "AF_NETLINK"), (select, "epoll"), (os, "sched_getaffinity")):
    delattr(module, name)
from bot.sandbox import ProcessLimits, choose_sandbox
from pathlib import Path
sandbox = choose_sandbox()
done = sandbox.run(["echo", "ran"], cwd=Path("/"), env={"PATH": os.environ["PATH"]},
                   limits=ProcessLimits(wall_s=5))
print(sandbox.level, "memory" in sandbox.promises, done.stdout.decode())
"""
    env = {**ENV, "PYTHONPATH": PATH}
    done = subprocess.run([PYTHON, "-c", code], env=env, capture_output=True, check=False)
    assert done.stdout.split() == [b"limits", b"False", b"ran"], done.stderr


@pytest.mark.parametrize(
    ("value", "expected"),
    [("true", True), ("1", True), ("", False), ("false", False), ("0", False), (None, False)],
)
def test_ci_is_told_by_its_variable(
    value: str | None, expected: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("CI", raising=False)
    if value is not None:
        monkeypatch.setenv("CI", value)
    assert in_ci() is expected


def test_a_level_is_probed_once() -> None:
    assert try_level("landlock") is try_level("landlock")


def test_table_and_command_line_know_the_same_levels() -> None:
    names = ["auto", *LEVELS]
    assert list(get_args(HarnessTable.model_fields["sandbox"].annotation)) == names

    @sandbox_option
    def command() -> None: ...

    assert list(command.__click_params__[0].type.choices) == names  # type: ignore[attr-defined]


def test_an_interpreter_is_shown_with_every_link_to_it(tmp_path: Path) -> None:
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", tmp_path / "v"], check=True)
    shown = interpreter_paths(tmp_path / "v" / "bin" / "python")
    assert shown[0] == tmp_path / "v"
    real = Path(os.path.realpath(sys.executable)).parent
    assert real in shown or real.is_relative_to("/usr")
    assert Path.home() not in shown
    assert not any(Path.home().is_relative_to(place) for place in shown)
