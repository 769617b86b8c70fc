"""What `ecdysis doctor` looks at: each check is one function and gives findings, never raises."""

from __future__ import annotations

import os
import re
import shutil
import tempfile
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from bot.config import HarnessTable, ModelTable
from bot.display import count
from bot.errors import EcdysisError, EndpointError, RepositoryError

if TYPE_CHECKING:
    from bot.git.repository import Repository

ENOUGH_DISK_MB = 1024
ENOUGH_SELECT_TASKS = 20


@dataclass(frozen=True)
class Finding:
    """One line of the report. `stop` means that a run would end with `exit_code`."""

    name: str
    status: Literal["ok", "warning", "stop"]
    text: str
    remedy: str = ""
    exit_code: int = 0


def stopped(name: str, error: EcdysisError) -> Finding:
    """The finding that a run would stop with this error."""
    return Finding(name, "stop", error.message, error.next_step, error.exit_code)


def check_git() -> list[Finding]:
    """The version of git, and whether it is new enough."""
    from bot.git.calls import MINIMUM_VERSION, Caller, load_gitpython

    try:
        caller = Caller(load_gitpython().GitCommandWrapperType(), Path(tempfile.gettempdir()))
        said = caller.line("version")
    except EcdysisError as error:
        return [stopped("git", error)]
    numbers = re.search(r"(\d+)\.(\d+)", said)
    if numbers and (int(numbers[1]), int(numbers[2])) < MINIMUM_VERSION:
        wanted = ".".join(map(str, MINIMUM_VERSION))
        return [Finding("git", "warning", f"{said} is old", f"Use git {wanted} or newer.")]
    return [Finding("git", "ok", said)]


def check_repository(repository: Repository) -> list[Finding]:
    """Whether commits can be made here. Unborn stops a run; the rest deserves a word."""
    from bot.lineage.generations import next_number

    name = "repository"
    state = repository.state()
    found = []
    if state.unborn:
        error = RepositoryError("There are no commits yet.", "Commit your harness first.")
        found.append(stopped(name, error))
    else:
        found.append(Finding(name, "ok", str(repository.root)))
    found += [Finding(name, "warning", problem) for problem in state.problems() if not state.unborn]
    try:
        number = next_number(repository)
        found.append(Finding("generations", "ok", f"the next one is gen-{number:04d}"))
    except EcdysisError as error:
        found.append(stopped("generations", error))
    if not state.bare and not state.unborn:
        found += check_work_tree(repository)
    return found


def check_work_tree(repository: Repository) -> list[Finding]:
    """Whether changes lie there that no commit holds: the bot does not see them."""
    options = ("--porcelain", "--untracked-files=no", "--ignore-submodules")
    try:
        changed = repository.git("status", *options)
    except EcdysisError:  # a damaged index, a work tree elsewhere: the bot uses neither
        return []
    if not changed:
        return []
    files = count(len(changed.splitlines()), "tracked file")
    text = f"{files} with uncommitted changes, which the bot does not see"
    return [Finding("work tree", "warning", text, "Commit what shall count.")]


def check_identity(repository: Repository) -> list[Finding]:
    """Who the commits will be by."""
    identity = repository.identity()
    text = f"commits are by {identity.name} <{identity.email}>"
    if not identity.configured:
        text += ", as user.name and user.email are not set"
    if identity.sign:
        text += ", signed (commit.gpgsign): the key must be usable without a prompt"
    return [Finding("identity", "ok", text)]


def check_splits(repository: Repository, tree: str, table: HarnessTable) -> list[Finding]:
    """Whether the task files are there, valid and disjoint, with enough hidden tasks."""
    from bot.batch.tasks import load_splits
    from bot.lineage.ledger import count_test_reads

    try:
        splits = load_splits(repository, tree, table)
        reads = count_test_reads(repository)
    except EcdysisError as error:
        return [stopped("splits", error)]
    sizes = ", ".join(f"{name} {size}" for name, size in splits.sizes.items())
    found = [Finding("splits", "ok", f"{sizes}; disjoint")]
    if len(splits["select"]) < ENOUGH_SELECT_TASKS:
        found.append(
            Finding(
                "splits",
                "warning",
                f"only {count(len(splits['select']), 'select task')}: small gains stay undecidable",
                "Add hidden tasks.",
            )
        )
    if reads:
        text = f"the sealed test split was read {count(reads, 'time')}"
        found.append(Finding("test split", "ok", text))
    return found


def check_seams(repository: Repository, tree: str, table: HarnessTable) -> list[Finding]:
    """Whether each declared seam is a function that exists, and the tool contract is one."""
    from bot.diagnose.contract import load_contract
    from bot.diagnose.seams import find_seam

    def read(path: str) -> bytes | None:
        return repository.read_file(tree, path)

    found = []
    if table.contract:
        try:
            tools = load_contract(table.contract, read)
            found.append(Finding("contract", "ok", count(len(tools), "tool")))
        except EcdysisError as error:
            found.append(Finding("contract", "warning", error.message, error.next_step))
    if not table.seams:
        text = "none declared: the catalog has no place to act"
        found.append(Finding("seams", "warning", text, "Fill in [tool.ecdysis.seams]."))
    for name, where in table.seams.items():
        seam = find_seam(name, table, read)
        if seam:
            place = f"{name} is {seam.file}:{seam.function}"
            found.append(Finding("seams", "ok", place))
        else:
            text = f"{name} = {where!r} names no function of this revision"
            found.append(
                Finding("seams", "warning", text, "Correct [tool.ecdysis.seams], or remove it.")
            )
    return found


def check_model(name: str, table: ModelTable) -> Finding:
    """Whether this endpoint could be used; no call is made to it."""
    if table.base_url != "embedded":
        if not table.base_url.startswith(("http://", "https://")):
            error = EndpointError(
                f'base_url is {table.base_url!r}: neither a URL nor "embedded".', "Correct it."
            )
            return stopped(name, error)
        if table.api_key_env and not os.environ.get(table.api_key_env):
            error = EndpointError(
                f"The environment variable {table.api_key_env} is not set.",
                f"Set it: export {table.api_key_env}=...",
            )
            return stopped(name, error)
        return Finding(name, "ok", f"{table.name} at {table.base_url} (not called)")
    from bot.llm.embedded import cached_model

    if find_spec("xllamacpp") is None:
        error = EndpointError(
            "The embedded model needs the package xllamacpp.",
            "Type: pip install 'ecdysis-bot[embedded]'",
        )
        return stopped(name, error)
    if cached_model() is None:
        text = "the embedded model is not cached yet; the first run fetches 98 MB"
        return Finding(name, "warning", text, "Fetch it now: ecdysis model fetch")
    return Finding(name, "ok", f"{table.name}, embedded and cached")


def check_models(table: HarnessTable) -> list[Finding]:
    """The harness's model, and every other model that the table names."""
    others = [(f"other model {n}", model) for n, model in enumerate(table.other_models, 1)]
    models = table.panel.models() if table.panel else {}
    panel = [(f"panel {role}", model) for role, model in models.items()]
    return [check_model(name, model) for name, model in [("model", table.model), *others, *panel]]


def check_sandbox(demand: str = "auto") -> list[Finding]:
    """How strongly foreign code is isolated on this machine: what that promises, what it does not.

    `demand` is the table's `sandbox`.
    """
    from bot.sandbox.choose import choose_sandbox, reasons
    from bot.sandbox.levels import LEVELS, PROMISES

    name = "sandbox"
    try:
        sandbox = choose_sandbox(demand)
    except EcdysisError as error:
        return [stopped(name, error)]
    promised = "; ".join(words for key, words in PROMISES.items() if key in sandbox.promises)
    found = [Finding(name, "ok", f"{sandbox.level}: {promised}")]
    withheld = [words for key, words in PROMISES.items() if key not in sandbox.promises]
    if withheld:
        text = f"{sandbox.level} does not promise: {'; '.join(withheld)}"
        better = [level for level in LEVELS.values() if level.promises > sandbox.promises]
        steps = " ".join(f"For {level.name}: {level.remedy}" for level in better)
        why = "" if demand == sandbox.level else f"Here {reasons()}. "
        found.append(Finding(name, "warning", text, why + steps))
    lacking = LEVELS[sandbox.level].lacking
    if lacking:
        found.append(Finding(name, "ok", f"what a harness misses in it: {lacking}"))
    return found


def wanted_sandbox(folder: Path, rev: str) -> str:
    """The table's `sandbox`, "auto" where there is no table to be read."""
    from bot.commands.revision import load_table
    from bot.git.repository import Repository

    try:
        return load_table(Repository.open(folder), rev).sandbox
    except EcdysisError:
        return "auto"


def check_disk() -> list[Finding]:
    """Whether there is room for scratch copies of the harness."""
    place = tempfile.gettempdir()
    free = shutil.disk_usage(place).free // 2**20
    text = f"{free:,} MB free in {place}"
    if free < ENOUGH_DISK_MB:
        remedy = "Free some, or point TMPDIR to another disk."
        return [Finding("disk", "warning", text, remedy)]
    return [Finding("disk", "ok", text)]


def check_all(folder: Path, rev: str) -> list[Finding]:
    """Every check that can be made, in the order in which a run would need them."""
    from bot.commands.revision import load_table
    from bot.git.repository import Repository

    found = check_git() + check_sandbox(wanted_sandbox(folder, rev)) + check_disk()
    if any(finding.status == "stop" for finding in found):
        return found
    try:
        repository = Repository.open(folder)
        found += check_repository(repository) + check_identity(repository)
        if repository.state().unborn and rev == "HEAD":
            return found
        tree = repository.tree_of(rev)
    except EcdysisError as error:
        return [*found, stopped("repository", error)]
    try:
        table = load_table(repository, rev)
    except EcdysisError as error:
        return [*found, stopped("table", error)]
    found.append(Finding("table", "ok", f"[tool.ecdysis] for {table.source}"))
    found += check_splits(repository, tree, table)
    found += check_seams(repository, tree, table)
    return found + check_models(table)
