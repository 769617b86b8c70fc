"""`ecdysis fetch`: the bot's refs and notes, into a clone."""

from __future__ import annotations

import re
from pathlib import Path

import click

from bot.commands.options import repo_option
from bot.errors import UsageError

REFSPECS = ("refs/ecdysis/*:refs/ecdysis/*", "refs/notes/ecdysis:refs/notes/ecdysis")


@click.command("fetch")
@click.argument("remote", default="origin")
@repo_option
def command(remote: str, repo: Path) -> None:
    """Get generations, rejected candidates, notes and the ledger from REMOTE (default: origin).

    A plain `git fetch` brings the branches only. Nothing local is overwritten: a ref that went
    another way here is reported and left as it is.
    """
    from bot.display import count
    from bot.git.repository import Repository

    repository = Repository.open(repo)
    known = repository.git("remote").splitlines()
    if remote not in known or not re.fullmatch(r"[\w.][\w./-]*", remote):
        names = ", ".join(known) or "none"
        raise UsageError(f"There is no remote {remote!r}.", f"The remotes here: {names}.")
    before = repository.refs("refs/ecdysis/") | repository.refs("refs/notes/ecdysis")
    wanted = [spec for spec in REFSPECS if repository.git("ls-remote", remote, spec.split(":")[0])]
    if not wanted:
        click.echo(
            f"{remote} has no refs of the bot. Push them: git push {remote} 'refs/ecdysis/*'"
        )
        return
    repository.git("fetch", "--no-tags", "--quiet", remote, *wanted)
    after = repository.refs("refs/ecdysis/") | repository.refs("refs/notes/ecdysis")
    changed = sum(before.get(name) != oid for name, oid in after.items())
    click.echo(f"{count(changed, 'ref')} new or moved. Next: ecdysis log")
