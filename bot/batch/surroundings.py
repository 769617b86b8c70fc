"""What the processes of a harness are started with: places, commands, variables, limits."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bot.batch.build import BuiltEnvironment
from bot.batch.watch import Notes
from bot.config import HarnessTable
from bot.llm.proxy import Lease
from bot.sandbox import Finished, ModelDoor, ProcessLimits, Running, View


@dataclass
class Place:
    """Folders of one harness process, and its access to the model."""

    folder: Path
    copy: Path
    lease: Lease
    worker: Running | None = None
    notes: Notes | None = None
    """Of the tracer, where lines of the revision are watched."""

    @property
    def workdir(self) -> Path:
        """Where the harness may keep files; the scorer can look at them."""
        return self.folder / "work"

    @property
    def task(self) -> Path:
        """The task's file, in a folder that only we write."""
        return self.folder / "in" / "task.json"

    @property
    def episode(self) -> Path:
        """The file that the harness writes, in a folder for it."""
        return self.folder / "out" / "episode.json"

    @property
    def state(self) -> Path:
        """What the environment keeps; the harness does not see it."""
        return self.folder / "state"

    @property
    def address(self) -> Path:
        """The environment's socket, in a folder in which the harness may only connect."""
        return self.folder / "e" / "s"

    def make_folders(self) -> None:
        for folder in (self.workdir, self.task.parent, self.episode.parent, self.address.parent):
            folder.mkdir()
        if self.notes is not None:
            self.notes.make()


@dataclass
class Attempt:
    """What one run of the harness on a task gave, before scoring."""

    body: dict[str, Any] | None
    why_not: str
    finished: Finished | None
    timed_out: bool


@dataclass(frozen=True)
class Surroundings:
    """How commands of one harness are filled in and surrounded; `model` is the model's name."""

    table: HarnessTable
    built: BuiltEnvironment
    model: str

    def fill(
        self,
        command: Sequence[str],
        task: Path | None = None,
        episode: Path | None = None,
        workdir: Path | None = None,
    ) -> list[str]:
        places = {
            "{python}": str(self.built.python),
            "{task}": str(task),
            "{episode}": str(episode),
            "{workdir}": str(workdir),
        }
        filled = []
        for part in command:
            for name, value in places.items():
                part = part.replace(name, value)
            filled.append(part)
        return filled

    def plain_env(self, home: Path, copy: Path) -> dict[str, str]:
        """What any process of a harness gets; nothing of the user's environment but these.

        Scorer and environment get another home than the candidate: it could leave start-up files.
        """
        home.mkdir(exist_ok=True)
        env = {
            "PATH": os.environ.get("PATH", os.defpath),
            "LANG": os.environ.get("LANG", "C.UTF-8"),
            "HOME": str(home),
            "TMPDIR": str(home),
            "PYTHONHASHSEED": "0",
            "PYTHONNOUSERSITE": "1",
            "PYTHONDONTWRITEBYTECODE": "1",
            "PYTHONUTF8": "1",
        }
        if self.built.roots:
            env["PYTHONPATH"] = self.built.import_path(copy)
        return env

    def harness_env(self, place: Place) -> dict[str, str]:
        """What a process of the harness gets; with the tracer's where the place is watched."""
        env = {
            **self.plain_env(place.workdir, place.copy),
            "OPENAI_BASE_URL": place.lease.base_url,
            "OPENAI_API_KEY": place.lease.token,
            "OPENAI_MODEL": self.model,
        }
        if self.table.environment:
            env["ECDYSIS_ENVIRONMENT"] = str(place.address)
        for name in self.table.pass_env:
            if name in os.environ:
                env[name] = os.environ[name]
        if place.notes is not None:
            paths = [str(place.notes.plan.folder), *filter(None, [env.get("PYTHONPATH")])]
            env |= {"PYTHONPATH": os.pathsep.join(paths), **place.notes.env()}
        return env

    def shown(self) -> tuple[Path, ...]:
        """What every process of a harness may read: its interpreter, and what the table names."""
        named = (Path(name).expanduser() for name in self.table.readable)
        return (*self.built.readable(), *named)

    def harness_view(self, place: Place, model: ModelDoor) -> View:
        notes = place.notes
        return View(
            readable=(*self.shown(), place.task.parent, *([notes.plan.folder] if notes else [])),
            writable=(
                *(place.copy, place.workdir, place.episode.parent),
                *([notes.folder] if notes else []),
            ),
            sockets=(place.address.parent,) if self.table.environment else (),
            model=model,
        )

    def world_view(self, place: Place, base: Path, home: Path) -> View:
        return View(
            readable=(*self.shown(), base, place.task.parent),
            writable=(home, place.state, place.address.parent),
            sockets=(place.address.parent,),
        )

    def scorer_view(self, place: Place, base: Path, private: Path, home: Path) -> View:
        state = (place.state,) if self.table.environment else ()
        seen = (*self.shown(), base, private, place.workdir, *state)
        return View(readable=seen, writable=(home,))

    def check_view(self, copy: Path, home: Path) -> View:
        # Tests often start a server of their own on a Unix socket.
        return View(readable=self.shown(), writable=(copy, home), sockets=(home,))

    def limits(self, wall_s: float) -> ProcessLimits:
        limits = self.table.limits
        return ProcessLimits(
            wall_s=wall_s,
            memory_mb=limits.memory_mb,
            file_mb=limits.file_mb,
            processes=limits.processes,
            open_files=limits.open_files,
            disk_mb=limits.disk_mb,
        )
