"""The `[tool.ecdysis]` table: how one harness is built, run, scored and evolved."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable
from pathlib import PurePosixPath
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator, model_validator

from bot.errors import InputError

EMBEDDED = "embedded"
CONFIG_FILES = ("ecdysis.toml", "pyproject.toml")
SEAMS = ("prompt", "parse_action", "dispatch_tool", "model_call", "finish")


class Table(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Splits(Table):
    """Tasks files, relative to the repository's root; disjoint by task id and by input."""

    train: str
    select: str
    test: str | None = None

    def paths(self) -> dict[str, str]:
        """Split name → path, for the splits that are declared."""
        return {name: path for name, path in self.model_dump().items() if path}

    def hidden_paths(self) -> list[str]:
        """The files that nobody who looks for a repair may see."""
        return [path for name, path in self.paths().items() if name != "train"]


class ModelTable(Table):
    """The model that the harness talks to, through the bot's proxy."""

    base_url: str = EMBEDDED  # an OpenAI-compatible endpoint, or "embedded"
    name: str = "SmolLM2-135M-Instruct"
    api_key_env: str | None = None  # the environment variable that holds the key; never the key
    temperature: float | None = 0.0  # forced on every request; null leaves it to the harness
    seed: int | None = 1
    slots: int = Field(4, ge=1, le=256)  # episodes at once; for the embedded server also its slots
    prompt_cache: bool = True  # embedded server only: reuse of prompt prefixes
    context: int = Field(2048, ge=256)  # embedded server only: tokens per slot
    timeout_s: float = Field(120, gt=0)  # one call
    # Prices; null is unknown, and then budget.usd is refused. Cached prompt tokens cost what
    # others do unless they have a price of their own. The embedded model costs nothing.
    usd_per_million_prompt: float | None = Field(None, ge=0)
    usd_per_million_cached: float | None = Field(None, ge=0)
    usd_per_million_completion: float | None = Field(None, ge=0)


ROLES = ("analyst", "critic", "engineer", "moderator")
_OF_A_MODEL = frozenset(
    {"usd_per_million_prompt", "usd_per_million_cached", "usd_per_million_completion"}
)
_OF_A_SERVER = frozenset({"name", "api_key_env"}) | _OF_A_MODEL


class RoleTable(ModelTable):
    """The model of one role. What it leaves out is taken from `[tool.ecdysis.panel]`."""

    max_output_tokens: int = Field(4096, ge=64)  # of one answer, thoughts included


class PanelTable(RoleTable):
    """`[tool.ecdysis.panel]`: the roles' model, and how long they may talk.

    A role with a table of its own (`[tool.ecdysis.panel.engineer]`) inherits the rest; but never
    a key or a name where it names another `base_url`, nor prices where it names another model.
    """

    rounds: int = Field(2, ge=1, le=8)  # of objection and answer, for one pattern
    context_tokens: int = Field(16_000, ge=256)  # evidence and code that one question may hold
    ask_s: float = Field(600, gt=0)  # one question, its retries included
    analyst: RoleTable | None = None
    critic: RoleTable | None = None
    engineer: RoleTable | None = None
    moderator: RoleTable | None = None

    @model_validator(mode="before")
    @classmethod
    def _inherit(cls, table: Any) -> Any:
        if not isinstance(table, dict):
            return table
        shared = {key: table[key] for key in RoleTable.model_fields if key in table}
        filled = dict(table)
        for role in ROLES:
            own = table.get(role)
            if isinstance(own, dict):
                dropped: frozenset[str] = frozenset()
                if own.get("base_url", shared.get("base_url")) != shared.get("base_url"):
                    dropped = _OF_A_SERVER
                elif own.get("name", shared.get("name")) != shared.get("name"):
                    dropped = _OF_A_MODEL
                kept = {key: value for key, value in shared.items() if key not in dropped}
                filled[role] = {**kept, **own}
        return filled

    def of(self, role: str) -> RoleTable:
        """The model of `role`; the shared one where it has none of its own."""
        own: RoleTable | None = getattr(self, role) if role in ROLES else None
        return own or self

    def models(self) -> dict[str, RoleTable]:
        """Role → model, for every role."""
        return {role: self.of(role) for role in ROLES}


class Budget(Table):
    """Hard caps over one command; None is no cap."""

    model_calls: int | None = Field(None, ge=0)
    tokens: int | None = Field(None, ge=0)
    usd: float | None = Field(None, ge=0)
    wall_s: float | None = Field(None, ge=0)


class Limits(Table):
    """What one process of the harness, its environment or its scorer may use."""

    episode_s: float = Field(120, gt=0)  # wall time of one episode
    score_s: float = Field(60, gt=0)
    setup_s: float = Field(900, gt=0)
    tests_s: float = Field(300, gt=0)
    memory_mb: int = Field(4096, ge=64)  # address space of one process, memory of all together
    file_mb: int = Field(64, ge=1)  # the largest file it may write, stdout included
    processes: int = Field(256, ge=1)
    open_files: int = Field(256, ge=16)
    disk_mb: int = Field(1024, ge=1)  # what it may write to disk altogether
    model_calls: int = Field(64, ge=1)  # of one episode
    episode_mb: int = Field(8, ge=1)  # the largest episode that is read back


class GateTable(Table):
    """How the hidden split decides."""

    looks: int = Field(6, ge=1, le=1000)  # it may stop early at so many points; 1: never early
    # How many times what an episode of the unchanged harness costs a candidate's may: a veto above.
    most_growth: dict[Literal["tokens", "calls", "seconds"], Annotated[float, Field(gt=0)]] = Field(
        default_factory=dict
    )


class HarnessTable(Table):
    """`[tool.ecdysis]`. Commands are argument lists; `{python}` is the harness's interpreter."""

    source: str = Field(min_length=1)
    run: list[str] = Field(min_length=1)
    score: list[str] = Field(min_length=1)
    setup: list[str] = Field(default_factory=list)
    environment: list[str] = Field(default_factory=list)
    tests: list[str] = Field(default_factory=list)
    worker: bool = False
    python: str | None = None  # interpreter to build the environment from; default: the bot's own
    depends: list[str] = ["pyproject.toml", "setup.py", "setup.cfg", "requirements*.txt", "*.lock"]
    editable: list[str] = Field(min_length=1)
    protected: list[str] = Field(default_factory=list)
    allow: list[str] = Field(default_factory=list)  # dangers that an edit may bring, as refused
    hidden: list[str] = Field(default_factory=list)  # never in the copy that an episode runs in
    pass_env: list[str] = Field(default_factory=list)
    sandbox: Literal["auto", "bubblewrap", "landlock", "limits"] = "auto"  # auto: the strongest
    readable: list[str] = Field(default_factory=list)  # files outside that the harness may read
    contract: str | None = None  # tool contract: "module:NAME" (a literal) or a JSON file
    trials: int = Field(1, ge=1, le=100)
    splits: Splits
    model: ModelTable = ModelTable()
    other_models: list[ModelTable] = Field(default_factory=list)
    panel: PanelTable | None = None
    budget: Budget = Budget()
    limits: Limits = Limits()
    gate: GateTable = GateTable()
    seams: dict[str, str] = Field(default_factory=dict)

    def never_edited(self) -> list[str]:
        """Globs of what no edit may touch, whatever `editable` says.

        Beside `protected`: the splits, this table itself, and what `setup` depends on, which
        builds the next environment with the network at hand.
        """
        setup = [f"**/{name}" for name in self.depends] if self.setup else []
        return [*self.protected, *self.splits.paths().values(), *CONFIG_FILES, *setup]

    @field_validator("seams")
    @classmethod
    def _known_seams(cls, seams: dict[str, str]) -> dict[str, str]:
        for name, where in seams.items():
            if name not in SEAMS:
                raise ValueError(f"unknown seam {name!r}; the seams are {', '.join(SEAMS)}")
            if where.count(":") != 1:
                raise ValueError(f"seam {name!r} must be 'module:function', not {where!r}")
        return seams

    @model_validator(mode="after")
    def _commands_have_their_places(self) -> HarnessTable:
        if not self.worker:
            text = " ".join(self.run)
            for place in ("{task}", "{episode}"):
                if place not in text:
                    raise ValueError(f"run must contain {place} (or set worker = true)")
        for place in ("{task}", "{episode}"):
            if place not in " ".join(self.score):
                raise ValueError(f"score must contain {place}")
        for path in self.splits.paths().values():
            if path.startswith("/") or ".." in PurePosixPath(path).parts:
                raise ValueError(f"split {path!r} must be a path inside the repository")
        return self


class PathGlobs:
    """Globs over repository paths: `*` stays inside a folder, `**` crosses folders."""

    def __init__(self, globs: Iterable[str]) -> None:
        self._patterns = [re.compile(_glob_regex(glob)) for glob in globs]

    def match(self, path: str) -> bool:
        return any(pattern.fullmatch(path) for pattern in self._patterns)


def _glob_regex(glob: str) -> str:
    regex, position = "", 0
    while position < len(glob):
        for word, means in (("**/", "(?:[^/]+/)*"), ("**", ".*"), ("*", "[^/]*"), ("?", "[^/]")):
            if glob.startswith(word, position):
                regex, position = regex + means, position + len(word)
                break
        else:
            regex, position = regex + re.escape(glob[position]), position + 1
    return regex


def parse_config(text: str, where: str) -> HarnessTable:
    """The table in `text`, the content of the TOML file named `where`.

    Raises InputError when the TOML is broken, the table is missing, or a value does not fit;
    the message names the key.
    """
    try:
        document = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise InputError(f"{where} is not valid TOML: {error}.", "Mend the file.") from None
    table: Any = document
    if PurePosixPath(where).name == "pyproject.toml":
        table = document.get("tool", {}).get("ecdysis")
    elif "tool" in document:
        table = document["tool"].get("ecdysis", document)
    if not table:
        raise InputError(
            f"{where} has no [tool.ecdysis] table.",
            "`ecdysis init` proposes one from the code.",
        )
    try:
        return HarnessTable.model_validate(table)
    except ValidationError as error:
        first = error.errors()[0]
        key = ".".join(str(part) for part in first["loc"]) or "the table"
        more = error.error_count() - 1
        rest = f" (and {more} more)" if more else ""
        raise InputError(
            f"[tool.ecdysis] in {where}: {key}: {first['msg']}{rest}.",
            "The README lists every key; correct it and try again.",
        ) from None
