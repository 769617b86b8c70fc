"""The harness's own environment: a virtual environment, built once per content.

Its key is what it depends on: the setup command, the interpreter, and the files that the table's
`depends` names. It is kept in the user's cache and shared between runs and repositories.
"""

from __future__ import annotations

import contextlib
import fcntl
import fnmatch
import hashlib
import json
import os
import re
import shutil
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from bot.config import HarnessTable
from bot.display import printable, say, scrub
from bot.errors import InputError
from bot.git.repository import Repository
from bot.sandbox import (
    Finished,
    ProcessLimits,
    Sandbox,
    View,
    interpreter_paths,
    remove_tree,
    run_trusted,
)

_INSTALLER = re.compile(r"(PIP|UV|SSL|REQUESTS|CURL)_", re.IGNORECASE)
_PASSED = re.compile(
    r"PATH|HOME|LANG|LC_.*|TMPDIR|PIP_.*|UV_.*|XDG_.*|SSL_.*|REQUESTS_CA_BUNDLE|CURL_CA_BUNDLE"
    r"|(?:https?|no|all)_proxy",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class BuiltEnvironment:
    """The interpreter, and folders of the harness that an editable install put on its path.

    `roots` are relative to the harness's root.
    """

    python: Path
    roots: tuple[str, ...]

    def readable(self) -> tuple[Path, ...]:
        """What a process must be shown to run the interpreter."""
        return interpreter_paths(self.python)

    def import_path(self, copy: Path) -> str:
        """PYTHONPATH for a copy of the harness: its own files, not those of the setup's copy."""
        return os.pathsep.join(str(copy / root) for root in self.roots)


def build_environment(
    repository: Repository, tree: str, table: HarnessTable, cache: Path, sandbox: Sandbox
) -> BuiltEnvironment:
    """The environment for a harness revision, from the cache or built now.

    Raises InputError when the interpreter is missing or `setup` fails, with the end of what it
    printed. An interrupted build leaves nothing behind that would be taken for a whole one.
    """
    interpreter = shutil.which(table.python) if table.python else sys.executable
    if interpreter is None:
        raise InputError(
            f"The interpreter {table.python!r} (python in the table) is not here.",
            "Install it, or correct the table.",
        )
    key = _key(repository, tree, table, interpreter)
    folder = cache / "environments" / key
    with _lock(cache / "environments" / f"{key}.lock"):
        if not (folder / "built.json").is_file():
            remove_tree(folder)
            try:
                _build(repository, tree, table, interpreter, folder, sandbox)
            except BaseException:
                remove_tree(folder)
                raise
    built = json.loads((folder / "built.json").read_text(encoding="utf-8"))
    return BuiltEnvironment(folder / "venv" / "bin" / "python", tuple(built["roots"]))


def _build(
    repository: Repository,
    tree: str,
    table: HarnessTable,
    interpreter: str,
    folder: Path,
    sandbox: Sandbox,
) -> None:
    folder.mkdir(parents=True)
    env = {name: value for name, value in os.environ.items() if _PASSED.fullmatch(name)}
    # Without a setup nothing will be installed: an environment without pip is there at once.
    bare = [] if table.setup else ["--without-pip"]
    command = [interpreter, "-m", "venv", *bare, str(folder / "venv")]
    _check(command, run_trusted(command, cwd=folder, env=env, wall_s=300), 300)
    roots: list[str] = []
    if table.setup:
        say("Building the harness's environment (once for this setup)")
        copy = folder / "harness"
        splits = set(table.splits.paths().values())
        repository.export(tree, copy, skip=splits.__contains__)
        python = str(folder / "venv" / "bin" / "python")
        command = [part.replace("{python}", python) for part in table.setup]
        _set_up(command, folder, env, table, sandbox)
        roots = sorted(_editable_roots(folder / "venv", copy))
    (folder / "built.json").write_text(json.dumps({"roots": roots}), encoding="utf-8")


def _set_up(
    command: list[str], folder: Path, env: dict[str, str], table: HarnessTable, sandbox: Sandbox
) -> None:
    """Run `setup`: with the network, but in the sandbox.

    It may run what lies in the base revision, of which an earlier candidate can be a part.
    """
    venv, copy, home = (folder / name for name in ("venv", "harness", "home"))
    home.mkdir()
    settings = Path(env.get("XDG_CONFIG_HOME") or Path.home() / ".config")
    tools = map(Path, env.get("PATH", "").split(os.pathsep))
    view = View(
        readable=(
            *interpreter_paths(venv / "bin" / "python"),
            *(place for place in tools if place.is_dir()),
            *_installer_files(env, settings),
            *(Path(name).expanduser() for name in table.readable),
        ),
        writable=(venv, copy, home),
        network=True,
    )
    limits = ProcessLimits(
        table.limits.setup_s,
        memory_mb=1 << 20,
        file_mb=1 << 16,
        processes=4096,
        open_files=4096,
        disk_mb=1 << 17,
    )
    env = {**env, "HOME": str(home), "TMPDIR": str(home), "XDG_CONFIG_HOME": str(settings)}
    done = sandbox.run(command, cwd=copy, env=env, limits=limits, view=view)
    remove_tree(home)
    _check(command, done, limits.wall_s)


def _installer_files(env: Mapping[str, str], settings: Path) -> Iterator[Path]:
    """What pip and uv read: their settings, and the files and folders that these name.

    Indexes and wheels on disk, certificates; never a folder that holds the user's home.
    """
    homes = [Path("/etc/pip.conf"), Path("/etc/xdg/pip"), settings / "pip", settings / "uv"]
    texts = [value for name, value in env.items() if _INSTALLER.match(name)]
    for place in homes:
        if place.exists():
            yield place
            for file in [place] if place.is_file() else place.iterdir():
                with contextlib.suppress(OSError):
                    texts.append(file.read_text(encoding="utf-8", errors="replace"))
    for found in re.findall(r"(?<![\w:/])(?:file://)?(/[^\s,\"':;]+)", "\n".join(texts)):
        place = Path(found)
        if place.name == "simple":  # an index; the files lie beside it
            place = place.parent
        if place.exists() and not Path.home().is_relative_to(place):
            yield place


def _check(command: list[str], done: Finished, wall_s: float) -> None:
    if done.code == 0:
        return
    said = scrub(printable((done.stderr or done.stdout).decode("utf-8", "replace")[-800:]))
    what = f"took over {wall_s:g} s" if done.timed_out else f"failed (exit {done.code})"
    if done.over:
        what = f"was ended ({done.over})"
    raise InputError(
        f"Building the harness's environment: `{printable(' '.join(command), 200)}` {what}: {said}",
        "Mend `setup` in the table, or what it installs.",
    )


def _key(repository: Repository, tree: str, table: HarnessTable, interpreter: str) -> str:
    digest = hashlib.sha256()
    real = Path(interpreter).resolve()
    parts = [json.dumps(table.setup), str(real), str(real.stat().st_mtime_ns), sys.version]
    if table.setup:
        for entry in repository.list_files(tree):
            name = entry.path.rsplit("/", 1)[-1]
            if any(
                fnmatch.fnmatch(entry.path, p) or fnmatch.fnmatch(name, p) for p in table.depends
            ):
                parts += [entry.path, entry.oid]
    for part in parts:
        digest.update(part.encode("utf-8", "surrogateescape") + b"\0")
    return digest.hexdigest()[:32]


def _editable_roots(venv: Path, copy: Path) -> set[str]:
    """Folders of `copy` that site-packages points to, relative to `copy`.

    `pip install -e` writes them into a `.pth` file, or into an `__editable__` finder as the
    places of packages; a package's place stands for the folder that holds it.
    """
    roots = set()
    pattern = re.compile(re.escape(str(copy)) + r"[^'\"\n]*")
    for path in venv.glob("lib/python*/site-packages/*"):
        is_finder = path.name.startswith("__editable__") and path.suffix == ".py"
        if path.suffix != ".pth" and not is_finder:
            continue
        for found in pattern.findall(path.read_text(encoding="utf-8", errors="replace")):
            place = Path(found.strip())
            if is_finder or place.suffix == ".py":
                place = place.parent
            if place.exists():
                roots.add(str(place.relative_to(copy)))
    return roots


@contextmanager
def _lock(path: Path) -> Iterator[None]:
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", encoding="ascii") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield
