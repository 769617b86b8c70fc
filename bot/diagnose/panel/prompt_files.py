"""The roles' prompts: files beside this module, with `$names` that are filled in."""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from string import Template


@cache
def _template(name: str) -> Template:
    path = files("bot.diagnose.panel") / "prompts" / f"{name}.md"
    return Template(path.read_text(encoding="utf-8"))


def prompt(name: str, **values: object) -> str:
    """The prompt of that name, filled in; what is filled in is not looked at again."""
    return _template(name).substitute(values).strip()
