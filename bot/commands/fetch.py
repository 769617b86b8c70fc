"""`ecdysis fetch`: the bot's refs and notes, into a clone."""

from __future__ import annotations

import json
import re
from dataclasses import asdict
from pathlib import Path

import click

from bot.commands.options import json_option, repo_option
from bot.errors import UsageError


@click.command("fetch")
@click.argument("remote", default="origin")
@repo_option
@json_option
def command(remote: str, repo: Path, as_json: bool) -> None:
    """Get generations, rejected candidates, notes and the ledger from REMOTE (default: origin).

    A plain `git fetch` brings the branches only. Nothing local is overwritten: a ref that went
    another way here is reported and left as it is. Only the notes and the watch list are united
    with those of REMOTE, so that evidence adds up over clones.
    """
    from bot.display import count
    from bot.git.repository import Repository
    from bot.lineage.fetching import fetch

    repository = Repository.open(repo)
    known = repository.git("remote").splitlines()
    if remote not in known or not re.fullmatch(r"[\w.][\w./-]*", remote):
        names = ", ".join(known) or "none"
        raise UsageError(f"There is no remote {remote!r}.", f"The remotes here: {names}.")
    fetched = fetch(repository, remote)
    if as_json:
        click.echo(json.dumps({"format_version": 1, **asdict(fetched)}))
        return
    if not fetched.there:
        click.echo(
            f"{remote} has no refs of the bot. Push them: git push {remote} 'refs/ecdysis/*'"
        )
        return
    for ref in fetched.left:
        click.echo(f"{ref} went another way here and is left as it is.")
    click.echo(f"{count(len(fetched.moved), 'ref')} new or moved. Next: ecdysis log")
    if fetched.gained:
        click.echo(
            f"The watch list gained {count(fetched.gained, 'contribution')}: ecdysis watchlist"
        )
