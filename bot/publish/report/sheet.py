"""One self-contained HTML page from a template: no script, nothing loaded from anywhere.

All text on such a page is hostile: it comes from trajectories, models and commit messages.
Whatever the template puts in is made printable, scrubbed and escaped, in this order, by the
environment itself; and the page's policy lets a browser use nothing but the one style sheet
inside it.
"""

from __future__ import annotations

import base64
import hashlib
from importlib import resources
from typing import Any

import jinja2
from markupsafe import Markup

from bot import __version__
from bot.display import printable, scrub

LOOK = resources.files("bot.publish.report").joinpath("look.css")


def render_sheet(package: str, name: str, values: dict[str, Any]) -> str:
    """The page of the template `NAME.html` in `package`, with the common look and `NAME.css`.

    The template finds `policy` and `style` for its head, and `version`, beside its `values`.
    """
    own = resources.files(package).joinpath(f"{name}.css")
    style = LOOK.read_text("utf-8") + own.read_text("utf-8")
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    environment = jinja2.Environment(
        loader=jinja2.FunctionLoader(
            lambda file: resources.files(package).joinpath(file).read_text("utf-8")
        ),
        autoescape=True,
        finalize=_clean,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    return environment.get_template(f"{name}.html").render(
        # The style is the package's own; any other one is refused by its digest.
        style=Markup(style),
        policy=f"default-src 'none'; style-src 'sha256-{digest}'; base-uri 'none'; "
        "form-action 'none'",
        version=__version__,
        **values,
    )


def _clean(value: Any) -> Any:
    """What stands in the page for a value: the template's own markup passes, text is cleaned."""
    if isinstance(value, str) and not isinstance(value, Markup):
        return scrub(printable(value, lines=True))
    return value
