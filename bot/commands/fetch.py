"""`ecdysis fetch`: the bot's refs and notes, into a clone."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

import click

from bot.commands.options import repo_option
from bot.errors import UsageError
from bot.git.names import check_oid

if TYPE_CHECKING:
    from bot.git.repository import Repository

REFSPECS = ("refs/ecdysis/*:refs/ecdysis/*", "refs/notes/ecdysis*:refs/notes/ecdysis*")


@click.command("fetch")
@click.argument("remote", default="origin")
@repo_option
def command(remote: str, repo: Path) -> None:
    """Get generations, rejected candidates, notes and the ledger from REMOTE (default: origin).

    A plain `git fetch` brings the branches only. Nothing local is overwritten: a ref that went
    another way here is reported and left as it is. Only the watch list is united with the one
    of REMOTE, so that evidence adds up over clones.
    """
    from bot.display import count
    from bot.git.repository import Repository
    from bot.lineage.watchlist import WATCHLIST_REF

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
    gained = fetch_watchlist(repository, remote)
    # The watch list has been seen to; where it went two ways git would refuse it.
    repository.git("fetch", "--no-tags", "--quiet", remote, *wanted, f"^{WATCHLIST_REF}")
    after = repository.refs("refs/ecdysis/") | repository.refs("refs/notes/ecdysis")
    changed = sum(before.get(name) != oid for name, oid in after.items())
    click.echo(f"{count(changed, 'ref')} new or moved. Next: ecdysis log")
    if gained:
        click.echo(f"The watch list gained {count(gained, 'contribution')}: ecdysis watchlist")


def fetch_watchlist(repository: Repository, remote: str) -> int:
    """Unite the remote's watch list with the one here; how many contributions are new."""
    from bot.lineage.watchlist import WATCHLIST_REF, merge_watchlist

    listed = repository.git("ls-remote", remote, WATCHLIST_REF).splitlines()
    tips = {name: oid for oid, _, name in (line.partition("\t") for line in listed)}
    if WATCHLIST_REF not in tips:
        return 0
    repository.git("fetch", "--no-tags", "--quiet", "--no-write-fetch-head", remote, WATCHLIST_REF)
    return merge_watchlist(repository, check_oid(tips[WATCHLIST_REF]))
