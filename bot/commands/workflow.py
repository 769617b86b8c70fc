"""The workflow that `ecdysis init --workflow` writes: the action, in two jobs."""

from __future__ import annotations

import json
import re
from importlib import metadata
from importlib.resources import files
from pathlib import Path

from bot.config import EMBEDDED, ROLES, HarnessTable, ModelTable
from bot.errors import UsageError

WORKFLOW = Path(".github/workflows/ecdysis.yml")
FOLDER = ".github/actions/evolve"
_ACTION = re.compile(r"[A-Za-z0-9][\w.-]*/[A-Za-z0-9_.][\w.-]*@[0-9a-f]{40}")


def write_workflow(table: HarnessTable, action: str) -> str:
    """The workflow's text for a harness; `action` is `OWNER/NAME@COMMIT` of the bot's repository.

    Each key of the table becomes a secret of the same name. UsageError: no such action.
    """
    if not _ACTION.fullmatch(action):
        raise UsageError(
            f"{action!r} does not say which action to use.",
            "Write OWNER/NAME@COMMIT, with the 40 digits of the commit: tags can be moved.",
        )
    repository, _, commit = action.partition("@")
    text = (files("bot.commands") / "workflow.yml").read_text(encoding="utf-8")
    text = text.replace("@ACTION@", f"{repository}/{FOLDER}@{commit}")
    return text.replace("@WITH@", "".join(f"{line}\n" for line in _inputs(table)))


def _inputs(table: HarnessTable) -> list[str]:
    lines = ['          panel: "true"'] if table.panel is not None else []
    if any(model.base_url == EMBEDDED for model in all_models(table)):
        lines.append('          embedded: "true"')
    names = key_names(table)
    if names:
        # Only the bot's proxy sees them; the harness never does.
        lines.append("          keys: |")
        lines += [f"            {name}=${{{{ secrets.{name} }}}}" for name in names]
    return ["        with:", *lines] if lines else []


def key_names(table: HarnessTable) -> list[str]:
    """The variables that hold keys of the table's models, sorted."""
    return sorted({model.api_key_env for model in all_models(table) if model.api_key_env})


def all_models(table: HarnessTable) -> list[ModelTable]:
    """The harness's model, those that may veto, those of the panel's roles."""
    panel = table.panel
    roles = [panel.of(role) for role in ROLES] if panel is not None else []
    return [table.model, *table.other_models, *roles]


def installed_action() -> str | None:
    """The action of the very revision that is installed, where it was installed from GitHub."""
    try:
        told = metadata.distribution("ecdysis-bot").read_text("direct_url.json")
    except metadata.PackageNotFoundError:
        return None
    origin = json.loads(told or "{}")
    commit = origin.get("vcs_info", {}).get("commit_id", "")
    place = re.search(r"([^/:]+/[^/]+?)(?:\.git)?/?$", origin.get("url", ""))
    action = f"{place[1]}@{commit}" if place else ""
    return action if _ACTION.fullmatch(action) else None
