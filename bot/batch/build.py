"""The harness's own environment: a virtual environment, built once per content.

Its key is what it depends on: the setup command, the interpreter, and the files that the table's
`depends` names. It is kept in the user's cache and shared between runs and repositories.
"""

from __future__ import annotations

import fcntl
import fnmatch
import hashlib
import json
import os
import re
import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from bot.config import HarnessTable
from bot.display import printable, say, scrub
from bot.errors import InputError
from bot.git.repository import Repository
from bot.sandbox import interpreter_paths, run_trusted

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
    repository: Repository, tree: str, table: HarnessTable, cache: Path
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
            shutil.rmtree(folder, ignore_errors=True)
            try:
                _build(repository, tree, table, interpreter, folder)
            except BaseException:
                shutil.rmtree(folder, ignore_errors=True)
                raise
    built = json.loads((folder / "built.json").read_text(encoding="utf-8"))
    return BuiltEnvironment(folder / "venv" / "bin" / "python", tuple(built["roots"]))


def _build(
    repository: Repository, tree: str, table: HarnessTable, interpreter: str, folder: Path
) -> None:
    folder.mkdir(parents=True)
    env = {name: value for name, value in os.environ.items() if _PASSED.fullmatch(name)}
    # Without a setup nothing will be installed: an environment without pip is there at once.
    bare = [] if table.setup else ["--without-pip"]
    _errand([interpreter, "-m", "venv", *bare, str(folder / "venv")], folder, env, 300)
    roots: list[str] = []
    if table.setup:
        say("Building the harness's environment (once for this setup)")
        copy = folder / "harness"
        splits = set(table.splits.paths().values())
        repository.export(tree, copy, skip=splits.__contains__)
        python = str(folder / "venv" / "bin" / "python")
        command = [part.replace("{python}", python) for part in table.setup]
        _errand(command, copy, env, table.limits.setup_s)
        roots = sorted(_editable_roots(folder / "venv", copy))
    (folder / "built.json").write_text(json.dumps({"roots": roots}), encoding="utf-8")


def _errand(command: list[str], cwd: Path, env: dict[str, str], wall_s: float) -> None:
    done = run_trusted(command, cwd=cwd, env=env, wall_s=wall_s)
    if done.code == 0:
        return
    said = scrub(printable((done.stderr or done.stdout).decode("utf-8", "replace")[-800:]))
    what = f"took over {wall_s:g} s" if done.timed_out else f"failed (exit {done.code})"
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
