"""Run tasks on harness revisions: one process a task, or declared workers; then score.

The candidate does not mark its own exam: it gets tasks without `expected`, its model through the
proxy, the world through a process of its own; the scorer runs afterwards, from the base revision,
in a process in which nothing of the candidate can be imported.
"""

from __future__ import annotations

import contextlib
import json
import queue
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType

from bot.batch.build import build_environment
from bot.batch.episode import make_episode, parse_written, read_written
from bot.batch.score import apply_score, make_invalid
from bot.batch.surroundings import Attempt, Place, Surroundings
from bot.batch.watch import Lines, Notes, Plan, can_watch, write_plan
from bot.batch.workplace import Workplace
from bot.batch.world import WorldFailed, start_world
from bot.config import HarnessTable
from bot.errors import BudgetSpent, EcdysisError, InputError
from bot.git.repository import Repository
from bot.llm.budget import BudgetMeter
from bot.llm.embedded import cache_folder
from bot.llm.endpoint import Endpoint
from bot.llm.proxy import Call, Proxy
from bot.records import Episode, Task
from bot.sandbox import Finished, Running, Sandbox, remove_tree


@dataclass(frozen=True)
class Job:
    """One episode to be run: a task on the harness of a tree."""

    tree: str
    task: Task
    trial: int = 0

    @property
    def key(self) -> tuple[str, str, int]:
        """(tree, task id, trial): what tells it from the other jobs."""
        return self.tree, self.task.task_id, self.trial


class Runner:
    """Runs jobs in parallel; use as a context manager.

    `base` is the tree that scorer, environment and protected files come from. `on_calls` gets the
    model calls of each episode, from the thread that ran it. Raises InputError when the
    harness's environment cannot be built.
    """

    def __init__(
        self,
        repository: Repository,
        table: HarnessTable,
        *,
        base: str,
        endpoint: Endpoint,
        budget: BudgetMeter,
        sandbox: Sandbox,
        parallel: int | None = None,
        on_calls: Callable[[Job, list[Call]], None] | None = None,
    ) -> None:
        self._repository, self.table, self._base = repository, table, base
        self._endpoint, self._budget, self.sandbox = endpoint, budget, sandbox
        self._parallel = parallel or table.model.slots
        self._on_calls = on_calls
        self._idle: dict[str, queue.SimpleQueue[Place]] = {}
        self._watched: dict[str, Plan] = {}  # by tree
        self._lock = threading.Lock()
        self._given_up = threading.Event()
        self.model = endpoint.name
        # A world that only the harness itself writes proves less: verdicts say so.
        self.state_self_reported = not table.environment

    def __enter__(self) -> Runner:
        for name in self.table.readable:
            if not Path(name).expanduser().exists():
                raise InputError(
                    f"{name!r} (readable in the table) is not here.", "Correct the table."
                )
        built = build_environment(
            self._repository, self._base, self.table, cache_folder(), self.sandbox
        )
        self.python = built.python
        self._around = Surroundings(self.table, built, self._endpoint.name)
        self._workplace = Workplace(self._repository, self.table, self._base)
        self._proxy = Proxy(
            self._endpoint,
            self._budget,
            calls_per_episode=self.table.limits.model_calls,
            address=self._workplace.folder / "m" if self.sandbox.own_network else None,
        )
        self._proxy.__enter__()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._retire_all()
        self._proxy.__exit__(kind, error, trace)
        self._workplace.close()

    # --- episodes -------------------------------------------------------------------------

    def watch(self, tree: str, lines: Lines) -> None:
        """From now on, episodes of `tree` say in `ran` which of the lines ran."""
        if can_watch(self.table.run):
            folder = self._workplace.private_folder() / "w"
            self._watched[tree] = write_plan(folder, lines)

    def run(self, jobs: Iterable[Job]) -> Iterator[tuple[Job, Episode]]:
        """Each job with its episode, as they end; they are started in the given order.

        Raises EndpointError when the endpoint refuses the key, and BudgetSpent when a cap is
        reached; episodes that ended before are yielded first.
        """
        waiting = iter(jobs)
        running: dict[Future[Episode], Job] = {}
        stop: EcdysisError | None = None
        pool = ThreadPoolExecutor(self._parallel, thread_name_prefix="episode")
        try:
            while True:
                while stop is None and len(running) < self._parallel:
                    try:
                        self._budget.check()
                    except BudgetSpent as spent:
                        stop = spent
                        break
                    job = next(waiting, None)
                    if job is None:
                        break
                    running[pool.submit(self._run_one, job)] = job
                if not running:
                    break
                ended, _ = wait(running, return_when=FIRST_COMPLETED)
                for future in ended:
                    job = running.pop(future)
                    episode = future.result()
                    stop = stop or self._proxy.fatal or self._proxy.spent
                    if stop is None or episode.outcome != "invalid":
                        yield job, episode
            if stop is not None:
                raise stop
        except BaseException:
            # Given up (Ctrl-C, or nobody wants the rest): what runs is killed, not waited for.
            self._given_up.set()
            pool.shutdown(wait=False, cancel_futures=True)
            self.sandbox.kill_all()
            raise
        finally:
            pool.shutdown(wait=True, cancel_futures=True)
            self._retire_all()

    def _run_one(self, job: Job) -> Episode:
        started = time.monotonic()
        place = self._take_place(job)
        world: Running | None = None
        try:
            place.lease.begin()
            identity = {
                "source": self.table.source,
                "task_id": job.task.task_id,
                "trial": job.trial,
                "model": self._endpoint.name,
                "harness": job.tree,
            }
            try:
                if self.table.environment:
                    world = self._start_world(place)
            except WorldFailed as failed:
                episode = Episode(**identity, outcome="fail")
                make_invalid(episode, str(failed))
                return episode
            attempt = (self._ask_worker if self.table.worker else self._run_process)(
                place, job.task
            )
            calls = place.lease.calls()
            if self._on_calls is not None:
                self._on_calls(job, calls)
            episode = make_episode(
                attempt.body,
                identity=identity,
                calls=calls,
                finished=attempt.finished,
                timed_out=attempt.timed_out,
                why_not=attempt.why_not,
                root=place.copy,
            )
            if world is not None:
                world.stop(grace_s=2.0)
            failed_call = place.lease.unrecovered()
            if failed_call is not None:
                make_invalid(episode, f"The model endpoint failed: {failed_call.error}")
            elif self._proxy.spent is not None:
                make_invalid(episode, self._proxy.spent.message)
            elif self._given_up.is_set():
                make_invalid(episode, "The run was given up.")
            else:
                apply_score(episode, self._score(place, job.task, episode))
            episode.ran = place.notes.read() if place.notes is not None else None
            episode.wall_s = round(time.monotonic() - started, 3)
            return episode
        finally:
            if world is not None:
                world.stop()
            self._give_back(job.tree, place)

    def _run_process(self, place: Place, task: Task) -> Attempt:
        finished = self.sandbox.run(
            self._around.fill(self.table.run, place.task, place.episode, place.workdir),
            cwd=place.copy,
            env=self._around.harness_env(place),
            limits=self._around.limits(self.table.limits.episode_s),
            view=self._around.harness_view(place, self._proxy.door),
        )
        body, why_not = read_written(place.episode, self.table.limits.episode_mb)
        return Attempt(body, why_not, finished, finished.timed_out)

    def _ask_worker(self, place: Place, task: Task) -> Attempt:
        """Hand the task to the place's worker; it is started anew after a crash or time-out."""
        if place.worker is None or not place.worker.alive():
            place.worker = self.sandbox.start(
                self._around.fill(self.table.run, place.task, place.episode, place.workdir),
                cwd=place.copy,
                env=self._around.harness_env(place),
                # The worker lives for many tasks; each has its own time limit below.
                limits=self._around.limits(self.table.limits.episode_s * 1000),
                view=self._around.harness_view(place, self._proxy.door),
            )
        until = time.monotonic() + self.table.limits.episode_s
        why_not, stray = "The worker ended without an episode.", 0
        try:
            if place.notes is not None:
                place.notes.next_turn()
            place.worker.send(json.dumps(task.without_expected()).encode())
            while (line := place.worker.read_line(until - time.monotonic())) is not None:
                body, why_not = parse_written(line)
                if body is not None and body.get("task_id") == task.task_id:
                    if stray:
                        body["stray_lines"] = stray
                    return Attempt(body, "", None, False)
                stray += 1  # something printed among the episodes
        except TimeoutError:
            place.worker.stop()
            place.worker = None
            return Attempt(None, why_not, None, True)
        except BrokenPipeError:
            pass
        finished = place.worker.stop(grace_s=0.5)
        place.worker = None
        return Attempt(None, why_not, finished, False)

    def _score(self, place: Place, task: Task, episode: Episode) -> Finished:
        # A folder made only now: in its own, the candidate may have left links and files.
        private = self._workplace.private_folder()
        full, scored = private / "task.json", private / "episode.json"
        full.write_text(task.model_dump_json(), encoding="utf-8")
        body = episode.model_dump(
            exclude={"score", "outcome", "score_breakdown"}, exclude_none=True
        )
        scored.write_text(json.dumps(body), encoding="utf-8")
        base, home = self._workplace.pristine(self._base), private / "home"
        env = {**self._around.plain_env(home, base), "ECDYSIS_STATE": str(place.state)}
        try:
            return self.sandbox.run(
                self._around.fill(self.table.score, full, scored, place.workdir),
                cwd=base,
                env=env,
                limits=self._around.limits(self.table.limits.score_s),
                view=self._around.scorer_view(place, base, private, home),
            )
        finally:
            remove_tree(private)

    # --- checks of a candidate ------------------------------------------------------------

    def run_tests(self, tree: str) -> Finished | None:
        """The harness's own tests, in a copy, without a model; None where it has none."""
        if not self.table.tests:
            return None
        return self._check(tree, self._around.fill(self.table.tests), self.table.limits.tests_s)

    def check_imports(self, tree: str, files: Sequence[str]) -> str | None:
        """Import the Python files as modules; one sentence about the first that fails, or None."""
        modules = []
        for file in dict.fromkeys(files):
            if file.endswith(".py"):
                dotted = file.removesuffix(".py").removesuffix("/__init__").replace("/", ".")
                modules.append(dotted.removeprefix("src."))
        if not modules:
            return None
        code = "import importlib, sys\nfor name in sys.argv[1:]: importlib.import_module(name)"
        done = self._check(tree, [str(self.python), "-c", code, *modules], 60)
        if done.timed_out:
            return "importing it takes over 60 s."
        if done.code == 0:
            return None
        said = done.stderr.decode("utf-8", "replace").strip().splitlines()
        return said[-1] if said else f"exit {done.code}."

    def _check(self, tree: str, command: list[str], wall_s: float) -> Finished:
        folder = self._workplace.episode_folder()
        copy = self._workplace.copy(tree, folder / "copy", whole=True)
        home = folder / "home"
        return self.sandbox.run(
            command,
            cwd=copy,
            env=self._around.plain_env(home, copy),
            limits=self._around.limits(wall_s),
            view=self._around.check_view(copy, home),
        )

    # --- places, commands, environments ---------------------------------------------------

    def _take_place(self, job: Job) -> Place:
        """An idle worker's place, or a new one; the task's file lies in it."""
        task = json.dumps(job.task.without_expected())
        with self._lock:
            idle = self._idle.setdefault(job.tree, queue.SimpleQueue())
        while not idle.empty():
            with contextlib.suppress(queue.Empty):
                place = idle.get_nowait()
                # A worker that has ended, or that spoilt its folder, is not gone on with.
                with contextlib.suppress(OSError):
                    place.task.write_text(task, encoding="utf-8")
                    if place.worker is not None and place.worker.alive():
                        return place
                self._retire(place)
        folder = self._workplace.episode_folder()
        place = Place(folder, folder / "h", self._proxy.lease())
        if job.tree in self._watched:
            turn = place.task.with_name("turn") if self.table.worker else None
            place.notes = Notes(self._watched[job.tree], folder / "ran", turn)
        self._workplace.copy(job.tree, place.copy, whole=False)
        place.make_folders()
        place.task.write_text(task, encoding="utf-8")
        return place

    def _give_back(self, tree: str, place: Place) -> None:
        if self.table.worker and place.worker is not None:
            self._idle[tree].put(place)
        else:
            self._retire(place)

    def _retire(self, place: Place) -> None:
        if place.worker is not None:
            place.worker.stop(grace_s=0.5)
        place.lease.close()
        remove_tree(place.folder)

    def _retire_all(self) -> None:
        for idle in self._idle.values():
            while True:
                try:
                    self._retire(idle.get_nowait())
                except queue.Empty:
                    break

    def _start_world(self, place: Place) -> Running:
        remove_tree(place.state)
        place.state.mkdir()
        base, home = self._workplace.pristine(self._base), self._workplace.private_folder()
        env = {
            **self._around.plain_env(home, base),
            "ECDYSIS_ENVIRONMENT": str(place.address),
            "ECDYSIS_STATE": str(place.state),
            "ECDYSIS_TASK": str(place.task),
        }
        return start_world(
            self.sandbox,
            self._around.fill(self.table.environment),
            cwd=base,
            env=env,
            address=place.address,
            limits=self._around.limits(self.table.limits.episode_s + 60),
            view=self._around.world_view(place, base, home),
        )
